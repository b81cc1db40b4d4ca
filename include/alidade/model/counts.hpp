#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "alidade/error.hpp"
#include "alidade/model/shape.hpp"
#include "alidade/model/successor_map.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// One trajectory: the states and actions of steps 0 .. H-1. What follows the last action is not
/// recorded, because no reward depends on it.
struct Episode {
    std::vector<State> states;    ///< H of them
    std::vector<Action> actions;  ///< H of them

    bool operator==(const Episode&) const = default;
};

/// Throws InvalidArgument naming the step whose state or action does not fit the shape.
void validate(const Episode& episode, const Shape& shape);

/// A transition that was seen and that no base model can produce: nothing can count it.
class ImpossibleTransition : public ModelContradiction {
public:
    ImpossibleTransition(const std::string& what, Step step, State state, Action action, State successor)
        : ModelContradiction(what), step_(step), state_(state), action_(action), successor_(successor) {}

    Step step() const noexcept { return step_; }
    State state() const noexcept { return state_; }
    Action action() const noexcept { return action_; }
    /// The state that followed.
    State successor() const noexcept { return successor_; }

private:
    Step step_;
    State state_;
    Action action_;
    State successor_;
};

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
