#pragma once

#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "alidade/certify/deviation.hpp"
#include "alidade/certify/knowledge.hpp"
#include "alidade/certify/reward_free.hpp"
#include "alidade/confidence/learned_model.hpp"
#include "alidade/model/reward.hpp"
#include "alidade/model/shape.hpp"
#include "alidade/model/threads.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// The rewards that a certificate is to hold for, all at once: those that are nowhere above `caps`, and,
/// where a total is given, that in every episode add up to no more than it. With a total a reward may depend
/// on everything that was seen before: reaching a state, avoiding it, any event of the episode. Immutable.
/// Proofs: docs/algorithms/reward-classes.md.
class RewardClass {
public:
    /// Every reward in [0, 1]: what the reward-free certificate is about.
    static RewardClass all(const Shape& shape);
    /// Rewards in [0, 1] that may depend on the whole past and sum to at most `most` along every trajectory.
    /// Throws InvalidArgument unless `most` is in (0, H].
    static RewardClass total(const Shape& shape, double most = 1);
    /// Rewards in [0, 1] that are zero but at these steps, counted from 0. Throws InvalidArgument if there
    /// are none, or one that the horizon does not have.
    static RewardClass at_steps(const Shape& shape, std::span<const Step> steps);
    /// Rewards in [0, 1] that are zero but in these states. Throws InvalidArgument likewise.
    static RewardClass in_states(const Shape& shape, std::span<const State> states);
    /// Rewards with 0 <= r <= caps everywhere.
    static RewardClass below(Reward caps);

    /// Rewards that are in both classes. Throws InvalidArgument unless they have the same shape.
    RewardClass both(const RewardClass& other) const;

    const Shape& shape() const noexcept { return caps_.shape(); }
    const Reward& caps() const noexcept { return caps_; }
    /// Most that a reward may add up to in an episode; infinite where that is not said.
    double total() const noexcept { return total_; }
    /// Whether rewards may depend on the whole past: where a total is said.
    bool of_histories() const noexcept { return total_ < std::numeric_limits<double>::infinity(); }

private:
    RewardClass(Reward caps, double total);

    Reward caps_;
    double total_;
};

/// The claim: with probability 1 - failure_probability, for every reward of the class at once, a policy that
/// is optimal in the learned model loses at most `bound` on the real system (one, of step and state, that is
/// eps short of optimal in the model, at most `bound` + eps). Where rewards may depend on the past, policies
/// may, too.
struct ClassCertificate {
    double bound = 0;     ///< min(least candidate, most)
    double most = 0;      ///< no reward of the class adds up to more, in the mean over the start
    bool vacuous = true;  ///< the least candidate is `most` or more: the bound says nothing
    std::string method;   ///< the candidate that gave the bound
    std::vector<std::pair<std::string, double>> candidates;  ///< every candidate, not clipped at `most`
    double failure_probability = 0;                          ///< delta
    std::vector<Contribution> contributions;                 ///< the largest, in falling order
};

/// Certifies a class on the same confidence event as everything else, by the recursions of
/// `certify_reward_free` with N_h(s,a), the most that can still be earned after a step, in place of H-1-h.
/// `RewardClass::all` gives what that gives, less `optimal-span` and `two-chain`, which are not shown for
/// classes; the weights of `ltv` fall from step to step for that class alone. Where rewards may depend on the
/// past there is no `span`: values may then differ from state to state by all that is left to earn. Throws
/// InvalidArgument as it does, and unless the class has the model's shape.
ClassCertificate certify_class(const LearnedModel& learned, const DeviationTable& deviations,
                               const RewardClass& rewards, const RewardFreeOptions& options = {});
/// The same with deviations by the widths of the knowledge's sets, in about the time of one more certificate;
/// and, unless rewards may depend on the past or candidates are named, the knowledge's own certificate, of
/// any plan, as the further candidate `reward-free`.
ClassCertificate certify_class(const Knowledge& knowledge, const RewardClass& rewards,
                               const RewardFreeOptions& options = {});

}  // namespace alidade
