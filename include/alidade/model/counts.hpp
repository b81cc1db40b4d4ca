#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "alidade/model/episode.hpp"
#include "alidade/model/shape.hpp"
#include "alidade/model/successor_map.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// How often each (step, state, action, successor) was seen, for steps 0 .. H-2: all that any of our
/// estimators needs of the data. Arrays are over the entries of a map of successors.
class Counts {
public:
    Counts(SharedSuccessors successors, Index horizon);

    const Shape& shape() const noexcept { return shape_; }
    const SuccessorMap& successors() const noexcept { return *successors_; }
    const SharedSuccessors& shared_successors() const noexcept { return successors_; }
    /// Whether the entries are those of `successors`; in another map they mean nothing.
    bool over(const SuccessorMap& successors) const {
        return successors_.get() == &successors || *successors_ == successors;
    }
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
    SharedSuccessors successors_;
    Shape shape_;
    std::int64_t episodes_ = 0;
    std::vector<std::int64_t> values_;
};

}  // namespace alidade
