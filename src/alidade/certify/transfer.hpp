#pragma once

#include <vector>

#include "alidade/certify/reward_certificate.hpp"
#include "alidade/certify/reward_free.hpp"
#include "alidade/confidence/learned_mixture.hpp"
#include "alidade/confidence/learned_model.hpp"
#include "alidade/model/policy.hpp"
#include "alidade/types.hpp"
#include "reward_caps.hpp"

// From the mixture that a truth is near to the truth itself: what is certain of all mixtures that are left
// possible holds for the truth, less what the misspecification can do [misspecification, Lemma 7].
namespace alidade::detail {

/// Z_h = zeta n_h + (1 - zeta) Z_{h+1}, n_h the range of values after step h: no value of any policy, nor the
/// optimal one, under any reward of a class, differs by more between a truth and its mixture. H numbers, the
/// last zero; none where there is no misspecification.
std::vector<double> transfer_errors(const LearnedModel& learned, const RewardCaps& caps);

/// The same for one reward, at the start: no more than Z_0, and than the misspecification times the spans of
/// values in the mixtures, step by step.
struct TransferOfReward {
    double policy = 0;   ///< of V^pi
    double optimal = 0;  ///< of V*
};

/// `bounds` are those of mixtures alone (LearnedMixture::exact).
TransferOfReward transfer_of_reward(const LearnedMixture& learned, const Policy& policy,
                                    const ValueBounds& bounds);

}  // namespace alidade::detail
