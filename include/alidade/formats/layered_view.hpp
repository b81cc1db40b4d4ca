#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "alidade/confidence/learned_model.hpp"
#include "alidade/formats/explicit_model.hpp"
#include "alidade/model/policy.hpp"
#include "alidade/model/reward.hpp"
#include "alidade/model/threads.hpp"
#include "alidade/model/transition_model.hpp"
#include "alidade/types.hpp"

namespace alidade {

struct LayeredOptions {
    /// Point: the learned model, P~. Interval: the smallest box that contains every transition probability of
    /// every member of the confidence sets, widened by the misspecification, or of every row's ball; each
    /// interval contains its point. Parametric: weights of the base models as parameters. A known model has
    /// the point view only.
    BranchKind view = BranchKind::point;
    /// One state for every (step, state), or, for homogeneous models only, the states themselves.
    bool unroll = true;
    bool step_labels = true;  ///< unrolled: every state has the label of its step
    /// Names and rewards; not unrolled, the rewards must be the same at all steps.
    std::vector<std::pair<std::string, Reward>> rewards;
    std::vector<std::string> action_names;  ///< A of them, or empty
    std::vector<std::string> state_names;   ///< S of them, which become labels, or empty
    /// Interval view: by the solver, so that ball and parameters bind at once; otherwise by closed forms,
    /// which are a little wider and take microseconds a transition.
    bool exact_intervals = true;
    Threads threads;  ///< for the intervals; the result does not depend on them
};

/// A model, learned or known, as model checkers keep it. Unrolled, state h*S+s is state s at step h, labelled
/// `step_h` if that is wanted; every choice of the last step leads to state H*S, labelled `end`, which leads
/// to itself. Otherwise state s is state s, and whoever reads it must count H steps. A start law over several
/// states adds one more state after all others, labelled `start`, whose single choice is that law and earns
/// nothing: one step more than H. Choice a is action a.
///
/// What holds with probability 1 - delta, for all transitions at once: in the interval view, every true
/// transition probability lies in its interval (with a misspecification, as far as the truth goes where some
/// base model goes); that the intervals of one step belong to the same weights is lost, so values computed
/// from them are sound but looser than this library's. In the parametric view, without a misspecification,
/// the true model is the file with its weights put in: parameter `w_h_i` (`w_i` if homogeneous) is the weight
/// of base model i at step h, the last base model has what is left to 1, and all of them are at least 0. For
/// general features `z_h_j` (`z_j`) is coordinate j in an orthonormal basis of the weights that make rows sum
/// to one. The confidence set itself is not in the file.
class LayeredView final : public ExplicitRows {
public:
    /// The model must outlive the view. Throws InvalidArgument for names or rewards that do not fit, if a
    /// model that depends on time is not to be unrolled, for intervals or parameters of a known model, and
    /// for parameters where no weights were learned.
    LayeredView(const TransitionModel& known, LayeredOptions options);
    LayeredView(const LearnedModel& learned, LayeredOptions options);

private:
    LayeredView(const TransitionModel& model, const LearnedModel* learned, LayeredOptions options);
    void do_read(Index state, ExplicitState& row) const override;
    void add_choice(Step h, State s, Action a, ExplicitState& row) const;
    void add_start(ExplicitState& row) const;
    void add_known(std::int64_t target, double probability, ExplicitState& row) const;
    void add_transitions(Step h, Index pair, ExplicitState& row) const;
    void add_affine(Step h, Index entry, ExplicitState& row) const;

    const TransitionModel& model_;
    const LearnedModel* learned_;  // what intervals and parameters are computed from; null if known
    LayeredOptions options_;
    std::vector<std::int32_t> own_labels_;  // of each state, if it has one
    std::vector<Interval> intervals_;       // interval view: the entries of each confidence set
    std::vector<double> affine_;            // parametric view: constant and slopes of each entry
};

/// The policy that a planner has found on an unrolled model: one choice for each of its H*S+1 states (H*S+2
/// with a start state); those of `end` and `start` do not matter. On a model that is not unrolled: S (or S+1)
/// choices, for all steps alike. Throws InvalidArgument naming a wrong length or the first choice out of
/// range.
Policy policy_from_flat(const Shape& shape, std::span<const std::int32_t> choices);

}  // namespace alidade
