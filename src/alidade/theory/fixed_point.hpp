#pragma once

#include <functional>

namespace alidade::detail {

/// The least whole K >= 1 with K >= demand(K), for a non-decreasing `demand`: what "K = C log(K)/epsilon^2"
/// means [theory §1.2]. Found by going upward from K = 1, which cannot pass it. K is a double because it
/// may exceed 2^63; beyond 2^53 it is whole to a double's accuracy. Throws InvalidArgument if no double is
/// large enough.
double least_fixed_point(const std::function<double(double)>& demand);

/// The largest x >= 0 with x <= constant + slope * sqrt(x); both at least 0.
double self_bounded(double constant, double slope);

}  // namespace alidade::detail
