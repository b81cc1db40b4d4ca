#pragma once

#include <memory>
#include <span>
#include <vector>

#include "alidade/confidence/learned_model.hpp"
#include "alidade/model/threads.hpp"
#include "alidade/model/transition_operator.hpp"
#include "alidade/types.hpp"
#include "set_backup.hpp"

namespace alidade::detail {

/// A value at the next step, and which ends of its expectation are asked for.
struct AskedValue {
    std::span<const double> value;  ///< one a state
    bool lower = false, upper = false;
};

/// Bounds of expectations of a few values over everything that a learned model leaves possible, step after
/// step: of base models for all pairs at once, by an operator; of others pair by pair, where they are asked
/// for.
class FollowingBounds {
public:
    FollowingBounds(const LearnedModel& learned, WorstCase worst, Threads threads);

    /// The values of step h, which must not change while it is asked about.
    void enter(Step h, std::vector<AskedValue> values);

    /// For one thread.
    class Reader {
    public:
        explicit Reader(const FollowingBounds& bounds)
            : bounds_(bounds),
              alone_(bounds.passes_ ? nullptr : std::make_unique<SetBackup>(bounds.learned_, bounds.worst_)) {
        }

        double lower(std::size_t value, Index pair) {
            if (bounds_.held_) return bounds_.ends_[value].lower[at(pair)];
            return alone_ ? (*alone_)(bounds_.h_, pair, bounds_.values_[value].value).lower : 0;
        }
        double upper(std::size_t value, Index pair) {
            if (bounds_.held_) return bounds_.ends_[value].upper[at(pair)];
            return alone_ ? (*alone_)(bounds_.h_, pair, bounds_.values_[value].value).upper : 0;
        }

    private:
        const FollowingBounds& bounds_;
        std::unique_ptr<SetBackup> alone_;
    };

private:
    struct Ends {
        std::vector<double> lower, upper;
    };

    const LearnedModel& learned_;
    WorstCase worst_;
    std::unique_ptr<TransitionOperator> passes_;  // none: pair by pair
    Step h_ = 0;
    bool held_ = false;  // ends of all pairs; at the last step there is nothing that follows
    std::vector<AskedValue> values_;
    std::vector<Ends> ends_;
};

}  // namespace alidade::detail
