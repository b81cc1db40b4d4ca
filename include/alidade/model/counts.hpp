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

/// What becomes of a transition that no base model can produce.
enum class Elsewhere {
    refused,  ///< it contradicts the model: ImpossibleTransition
    counted,  ///< it is data like any other, of a truth that may be off its mixture
};

/// A transition that was seen and that no base model can produce, where that contradicts the model.
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

/// An entry of a map of successors that was seen, and how often.
struct SeenEntry {
    Index entry = 0;         ///< of `Counts::elsewhere` it is the pair
    std::int64_t count = 0;  ///< at least 1

    bool operator==(const SeenEntry&) const = default;
};

/// How often each (step, state, action, successor) was seen, for steps 0 .. H-2: all that any of our
/// estimators needs of the data. Entries are those of a map of successors; only those that were seen take
/// memory, since there are never more of them than transitions. Where a truth may be off its mixture, each
/// pair has one more cell, "elsewhere", for all states that no base model leads to [misspecification §1].
class Counts {
public:
    Counts(SharedSuccessors successors, Index horizon, Elsewhere elsewhere = Elsewhere::refused);

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

    /// What was seen at step h < H-1, in the order of the entries. The first call after a change brings them
    /// into order, so that it must not be made by several threads at once.
    std::span<const SeenEntry> seen(Step h) const;
    /// What was seen at all steps together, in the order of the entries.
    std::vector<SeenEntry> pooled() const;
    /// Transitions of step h < H-1 to where no base model leads, pair by pair in their order; likewise not by
    /// several threads at once. There are none where they are refused.
    std::span<const SeenEntry> elsewhere(Step h) const;
    /// The same of all steps together.
    std::vector<SeenEntry> pooled_elsewhere() const;
    /// Whether any were counted.
    bool any_elsewhere() const;
    /// Whether episodes with such transitions are counted.
    bool counts_elsewhere() const noexcept { return policy_ == Elsewhere::counted; }
    /// How often an entry was seen at step h < H-1.
    std::int64_t count(Step h, Index entry) const;
    /// Visits of a pair at step h < H-1, those that led elsewhere included.
    std::int64_t visits(Step h, Index pair) const;
    /// Transitions counted, of all steps.
    std::int64_t transitions() const;

    /// Counts an entry of step h < H-1 `times` times more, none if 0.
    void add(Step h, Index entry, std::int64_t times);
    /// Counts a transition from a pair to where no base model leads. Throws InvalidArgument where they are
    /// refused.
    void add_elsewhere(Step h, Index pair, std::int64_t times);
    /// Counts one episode. Throws ModelContradiction naming (step, state, action, successor) if a
    /// transition is in no base model's support and such are refused; then nothing is counted.
    void add(const Episode& episode);
    /// Counts an episode that was seen `times` >= 1 times and may have ended early: 1 .. H states, and for
    /// each but the last, or for each, an action. Throws as above; then nothing is counted.
    void add(std::span<const State> states, std::span<const Action> actions, std::int64_t times = 1);
    Counts& operator+=(const Counts& other);
    void clear();

    /// One number an entry, step after step: for those who want them all. What led elsewhere is not among
    /// them.
    std::vector<std::int64_t> dense() const;
    /// The counts as plain integers, to be stored: as `dense` has them where those are few, otherwise -1 and
    /// then for all that were seen the position among the dense ones and the count. Where some led elsewhere,
    /// before all that: -2, the number of (step, pair) where they did, and of each its position (step times
    /// pairs, and the pair) and the count.
    std::vector<std::int64_t> record() const;
    /// Takes the place of all counts, but not of the episodes. Throws InvalidArgument unless it is a record
    /// of such counts, of either kind.
    void take_record(std::span<const std::int64_t> record);

    /// Whether the same was seen; not whether both would refuse the same.
    bool operator==(const Counts& other) const;

private:
    /// What was seen at a step: in order, and what came since.
    struct StepCounts {
        std::vector<SeenEntry> ordered, recent;
        void add(Index entry, std::int64_t times);
        void order();
    };
    /// Of all steps, in order.
    static std::vector<SeenEntry> together(const std::vector<StepCounts>& steps);
    std::size_t take_elsewhere(std::span<const std::int64_t> record, std::vector<StepCounts>& taken) const;

    SharedSuccessors successors_;
    Shape shape_;
    Elsewhere policy_;
    std::int64_t episodes_ = 0;
    mutable std::vector<StepCounts> steps_;
    mutable std::vector<StepCounts> elsewhere_;  // by pairs
};

}  // namespace alidade
