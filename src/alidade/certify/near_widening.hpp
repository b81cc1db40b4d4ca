#pragma once

#include <limits>
#include <span>
#include <vector>

#include "alidade/certify/deviation.hpp"
#include "alidade/confidence/learned_model.hpp"
#include "alidade/model/policy.hpp"
#include "alidade/model/reward.hpp"
#include "alidade/types.hpp"
#include "law_difference.hpp"
#include "set_backup.hpp"

namespace alidade::detail {

/// Rewards r with |r - r_0| <= scale * unit everywhere, for the recursions of one policy's loss. What it
/// refers to must outlive it.
struct NearRewards {
    const Reward& unit;
    double scale = 0;
    const Matrix& later;  ///< H+1 rows of S: the policy's value for the reward `unit` is at most this
    const Matrix& most;   ///< H rows of S: no loss under any of the rewards is above this
    /// H x S: whether the start can lead to (h, s) at all.
    const std::vector<char>& reachable;

    bool counts(Step h, State s) const {
        return reachable[static_cast<std::size_t>(h * later.cols() + s)] != 0;
    }
};

/// What a difference of rewards by `unit` can add to the policy's advantages under the truth, one state after
/// another: |A^r - A^{r_0}| <= w(h,s,a) where |r - r_0| <= unit [docs/algorithms/reward-classes.md, Theorem
/// C2]. It has the scratch memory of one thread.
class NearWidening {
public:
    NearWidening(const LearnedModel& learned, const DeviationTable& deviations, const Policy& policy,
                 const NearRewards& near);

    /// Goes to a state; all actions are asked about then.
    void enter(Step h, State s);
    /// w(h,s,a); exactly 0 for an action that the policy is certain to take.
    double operator()(Action a);

private:
    double of_what_follows(Action a);
    bool last() const { return h_ + 1 >= learned_.shape().horizon; }
    bool same_law(Action a) const;

    const LearnedModel& learned_;
    const DeviationTable& deviations_;
    const Policy& policy_;
    const NearRewards& near_;
    bool anywhere_;  // the truth may lead to any state
    SetBackup backup_;
    LawDifference difference_;
    Step h_ = -1;
    State s_ = 0;
    std::vector<double> next_;                  // N of the next step, one a state
    double everywhere_ = 0;                     // its largest
    std::vector<double> taken_, earns_, most_;  // of every action: pi, max P N, and the largest N it leads to
};

/// How much of `unit` an advantage of at most `advantage` <= 0 stands: the policy stays proved optimal for
/// that many times it. Infinite where nothing is added; -1 where the advantage may be positive.
double margin_of(double advantage, double widening);

/// An advantage of at most `advantage` under r_0 is at most this under all of the rewards.
double widened(double advantage, double widening, double scale);

/// H x S: whether some policy and some possible truth lead from the start to (h, s).
std::vector<char> reachable_states(const LearnedModel& learned);

}  // namespace alidade::detail
