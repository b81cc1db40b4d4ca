#pragma once

#include <span>
#include <vector>

#include "alidade/certify/reward_free.hpp"
#include "alidade/confidence/learned_mixture.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// The certificate that the paper's Algorithm 1 prints: 4 V_{k,1}(s_1) with
///   V_{k,h} = max_a clip_[0,H](theta^_h . phi_{V_{k,h+1}} + 2 u_{k,h})     [paper, Alg. 1 lines 12-13]
/// which bounds four times the value of the uncertainty on the true system, and with it the loss (the paper
/// has that value, which cannot be computed) [theory §1.2]. `estimates` are theta^ of every set, d weights
/// each; `bonuses` are u, sets x pairs, each at least the true one. There is no u at the last step: nothing
/// comes after it.
RewardFreeCertificate certify_as_in_paper(const LearnedMixture& learned, std::span<const Vector> estimates,
                                          std::span<const double> bonuses, Threads threads = {});

}  // namespace alidade::detail
