#include "binomial_law.hpp"

#include <array>
#include <cmath>

namespace alidade::detail {

namespace {

/// log k! - (log sqrt(2 pi) + (k + 1/2) log(k + 1) - (k + 1)).
double stirling_remainder(std::int64_t k) {
    constexpr std::array<double, 10> exact = {
        0.0810614667953272611, 0.0413406959554092970, 0.0276779256849983384, 0.0207906721037650934,
        0.0166446911898211931, 0.0138761288230707484, 0.0118967099458917695, 0.0104112652619720962,
        0.0092554621827127329, 0.0083305634333628708};
    if (k < 10) return exact[static_cast<std::size_t>(k)];
    // Stirling's series; the first term left out is below 1e-14.
    const double r = 1 / (static_cast<double>(k) + 1);
    const double r2 = r * r;
    return r * (1.0 / 12 - r2 * (1.0 / 360 - r2 * (1.0 / 1260 - r2 * (1.0 / 1680 - r2 / 1188))));
}

/// m (x log x - x + 1) - log(x) / 2 at x = 1 + t: one factorial's share of -log pmf, less its remainder.
double scaled_deviance(double m, double t) {
    if (std::abs(t) < 0.02) {
        // The bracket cancels near t = 0. The first terms left out are below 2e-13 of the sums.
        const double deviance =
            t * t *
            (1.0 / 2 -
             t * (1.0 / 6 - t * (1.0 / 12 - t * (1.0 / 20 - t * (1.0 / 30 - t * (1.0 / 42 - t / 56))))));
        const double logarithm =
            t * (1 - t * (1.0 / 2 - t * (1.0 / 3 - t * (1.0 / 4 - t * (1.0 / 5 - t * (1.0 / 6 - t / 7))))));
        return m * deviance - logarithm / 2;
    }
    const double logarithm = std::log1p(t);
    return m * ((1 + t) * logarithm - t) - logarithm / 2;
}

}  // namespace

BinomialLaw::BinomialLaw(std::int64_t number, double probability) : trials(number), p(probability) {
    // 2^11 divides the first part, hence a double holds it exactly.
    const std::int64_t low = trials & 0x7FF;
    const auto high = static_cast<double>(trials - low);
    const double product = high * p;
    const double error = std::fma(high, p, -product);
    base = static_cast<std::int64_t>(product);
    fraction = (product - static_cast<double>(base)) + (error + static_cast<double>(low) * p);
}

double BinomialLaw::log_mass(std::int64_t k) const {
    // With a = k+1, b = n-k+1, N = n+2 and Stirling's formula for both factorials, all large terms cancel in
    // the two deviances of a from N p and of b from N q.
    const double size = static_cast<double>(trials) + 2;
    const double a_mean = size * p;
    const double b_mean = size * (1 - p);
    const double excess = static_cast<double>(k - base) + ((1 - 2 * p) - fraction);
    return -scaled_deviance(a_mean, excess / a_mean) - scaled_deviance(b_mean, -excess / b_mean) -
           stirling_remainder(k) - stirling_remainder(trials - k);
}

}  // namespace alidade::detail
