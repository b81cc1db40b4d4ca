#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "alidade/model/episode.hpp"
#include "alidade/model/feature_map.hpp"
#include "alidade/model/shape.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// How often each (step, state, action, successor) was seen, for steps 0 .. H-2: all that any of our
/// estimators needs of the data. Arrays are over the feature map's entries.
class Counts {
public:
    Counts(SharedFeatures features, Index horizon);

    const Shape& shape() const noexcept { return shape_; }
    const FeatureMap& features() const noexcept { return *features_; }
    const SharedFeatures& shared_features() const noexcept { return features_; }
    /// Episodes counted.
    std::int64_t episodes() const noexcept { return episodes_; }
    void add_episodes(std::int64_t episodes) { episodes_ += episodes; }

    /// Counts of every entry at step h < H-1.
    std::span<const std::int64_t> at(Step h) const noexcept;
    std::span<std::int64_t> at(Step h) noexcept;
    /// Visits of a pair at step h < H-1.
    std::int64_t visits(Step h, Index pair) const noexcept;
    /// All counts, step after step.
    std::span<const std::int64_t> values() const noexcept { return values_; }
    std::span<std::int64_t> values() noexcept { return values_; }

    /// Counts one episode. Throws ModelContradiction naming (step, state, action, successor) if a
    /// transition is in no base model's support; then nothing is counted.
    void add(const Episode& episode);
    /// Counts an episode that was seen `times` >= 1 times and may have ended early: 1 .. H states, and for
    /// each but the last, or for each, an action. Throws as above; then nothing is counted.
    void add(std::span<const State> states, std::span<const Action> actions, std::int64_t times = 1);
    Counts& operator+=(const Counts& other);
    void clear();

    bool operator==(const Counts& other) const {
        return shape_ == other.shape_ && episodes_ == other.episodes_ && values_ == other.values_;
    }

private:
    SharedFeatures features_;
    Shape shape_;
    std::int64_t episodes_ = 0;
    std::vector<std::int64_t> values_;
};

/// The entry of (pair, successor), or -1 if the successor is not in the pair's support.
Index find_entry(const FeatureMap& features, Index pair, State successor);

}  // namespace alidade
