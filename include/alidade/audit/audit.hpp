#pragma once

#include <cstdint>

#include "alidade/certify/knowledge.hpp"
#include "alidade/model/mixture_model.hpp"
#include "alidade/model/reward.hpp"
#include "alidade/model/threads.hpp"
#include "alidade/problem/problem.hpp"
#include "alidade/types.hpp"

namespace alidade {

struct AuditOptions {
    Index rewards = 240;       ///< random rewards, >= 1: a third each 0/1, uniform and sparse
    Index climb_steps = 1000;  ///< steps of local search over 0/1 rewards in all, >= 0
    Index climb_starts = 3;    ///< from so many of the worst rewards found, >= 1
    std::uint64_t seed = 0;
    Threads threads;  ///< results do not depend on them
};

/// What an audit with the truth found. True losses are of the exact plan on the learned model.
struct AuditResult {
    Index rewards = 0;      ///< rewards tried, the steps of the search included
    double max_gap = 0;     ///< largest true loss found: a lower bound of the worst case
    double mean_gap = 0;    ///< mean true loss over the random rewards
    double max_bound = 0;   ///< largest loss bound given to a random reward
    double mean_bound = 0;  ///< mean loss bound over the random rewards
    /// Rewards whose true loss exceeds their loss bound or the reward-free certificate, or whose values
    /// leave their interval, by more than 1e-9. Zero unless the confidence event failed.
    Index violations = 0;
    double reward_free = 0;  ///< the certificate audited
    bool truth_in_confidence_set = false;
    double depth = 0;  ///< LearnedModel::depth: of weights, the largest distance from their estimate in radii
};

/// Compares every certificate with the truth: exact true losses over random and sparse rewards, then
/// local search for the worst one. Throws InvalidArgument if the shapes differ.
AuditResult audit(const Knowledge& knowledge, const MixtureModel& truth, const AuditOptions& options = {});
/// The same for a truth without weights, where rows are uncertain and not weights.
AuditResult audit(const Knowledge& knowledge, const TransitionModel& truth, const AuditOptions& options = {});

/// The same for a problem whose truth is known. Where it has a foreign part, it lies in the confidence set if
/// its weights do and no law is farther from their mixture than the misspecification that was learned with.
/// Throws InvalidArgument if the truth is not known.
AuditResult audit(const Knowledge& knowledge, const Problem& problem, const AuditOptions& options = {});

/// V* - V^pi on the truth for the exact plan of the learned model.
double true_loss(const LearnedModel& learned, const TransitionModel& truth, const Reward& reward);

}  // namespace alidade
