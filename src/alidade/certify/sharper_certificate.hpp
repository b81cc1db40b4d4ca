#pragma once

#include "alidade/certify/reward_certificate.hpp"

namespace alidade::detail {

/// For the certificates on which most depends: choices that SharedLoss bounds by the convex sets themselves.
inline constexpr int most_sharpened = 16;

/// As `certify_reward`, with the reward-free certificate where the knowledge has one. With more than one
/// choice sharpened `advantage` is the same or smaller, and takes longer.
RewardCertificate certify_reward_sharply(const Knowledge& knowledge, const DeviationTable& deviations,
                                         const Reward& reward, const Policy& policy, Threads threads,
                                         int sharpened);

}  // namespace alidade::detail
