#include "alidade/problem/aggregation.hpp"

#include <algorithm>
#include <cmath>

#include "alidade/error.hpp"

namespace alidade {

double shift_variation(double slope, double distance, double variation) {
    expects(slope >= 0 && distance >= 0 && variation >= 0,
            "slope {}, distance {} and variation {} of a shift; none may be negative", slope, distance,
            variation);
    return std::min(1.0, slope * distance * variation / 2);
}

double sampled_law_error(std::int64_t samples, Index cells, Index laws, double failure) {
    expects(samples >= 1 && cells >= 1 && laws >= 1,
            "{} samples of {} laws over {} cells; each number must be at least 1", samples, laws, cells);
    expects(failure > 0 && failure < 1, "failure probability is {}; it must be between 0 and 1", failure);
    // One cell holds every law.
    if (cells == 1) return 0;
    const auto n = static_cast<double>(samples);
    // E TV <= half the sum of sqrt(p_i (1-p_i)/n), which is largest for equal p_i.
    const double mean = std::sqrt(static_cast<double>(cells - 1) / n) / 2;
    // McDiarmid, and a union over the laws.
    const double excess = std::sqrt(std::log(static_cast<double>(laws) / failure) / (2 * n));
    return std::min(1.0, mean + excess);
}

}  // namespace alidade
