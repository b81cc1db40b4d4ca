#include "fixed_point.hpp"

#include <algorithm>
#include <cmath>

#include "alidade/error.hpp"

namespace alidade::detail {

double least_fixed_point(const std::function<double(double)>& demand) {
    constexpr int most = 100'000;
    double episodes = 1;
    for (int i = 0; i < most; ++i) {
        const double next = std::ceil(demand(episodes));
        expects(std::isfinite(next),
                "the number of episodes exceeds what a number of double precision holds");
        // The demand does not fall with K, so going up from 1 passes no solution [docs/bounds.md, Fixed
        // points].
        if (next <= episodes) return episodes;
        episodes = next;
    }
    throw BrokenInvariant(fmt::format("no fixed point after {} steps, at {} episodes", most, episodes));
}

double self_bounded(double constant, double slope) {
    // x <= constant + slope sqrt(x) is quadratic in sqrt(x), which is at most the larger root.
    const double root = (slope + std::sqrt(slope * slope + 4 * constant)) / 2;
    return root * root;
}

}  // namespace alidade::detail
