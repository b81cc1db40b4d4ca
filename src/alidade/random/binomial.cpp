#include <cmath>
#include <cstdint>

#include "alidade/error.hpp"
#include "alidade/random/samplers.hpp"
#include "binomial_law.hpp"

namespace alidade {

namespace {

/// Below this mean the sampler inverts. Transformed rejection needs a mean of at least 10
/// [Hörmann 1993, The generation of binomial random variates, Alg. BTRS], and is faster from about here.
constexpr double smallest_rejection_mean = 16;

/// A binomial of a smaller mean exceeds this with probability below 1e-100.
constexpr std::int64_t largest_inverted = 200;

std::int64_t by_inversion(Stream& random, std::int64_t trials, double p) {
    const auto n = static_cast<double>(trials);
    const double odds = p / (1 - p);
    const double mass_of_zero = std::exp(n * std::log1p(-p));
    const std::int64_t last = trials < largest_inverted ? trials : largest_inverted;
    // Rounding can leave a sliver of the unit interval to no value; such a draw is repeated.
    while (true) {
        double u = sample_uniform(random);
        double mass = mass_of_zero;
        for (std::int64_t k = 0; k <= last; ++k) {
            if (u < mass) return k;
            u -= mass;
            mass *= odds * (n - static_cast<double>(k)) / static_cast<double>(k + 1);
        }
    }
}

std::int64_t by_rejection(Stream& random, std::int64_t trials, double p) {
    const detail::BinomialLaw law(trials, p);
    // Names and constants as in [Hörmann 1993, Alg. BTRS].
    const double deviation = std::sqrt(static_cast<double>(trials) * p * (1 - p));
    const double b = 1.15 + 2.53 * deviation;
    const double a = -0.0873 + 0.0248 * b + 0.01 * p;
    const double squeeze = 0.92 - 4.2 / b;
    while (true) {
        const double u = sample_uniform(random) - 0.5;
        const double v = sample_uniform(random);
        const double us = 0.5 - std::abs(u);
        const double step = std::floor((2 * a / us + b) * u + (law.fraction + 0.5));
        // Also keeps the conversion defined at us = 0; so far out the mass is zero.
        if (!(std::abs(step) < 0x1p61)) continue;
        const std::int64_t k = law.base + static_cast<std::int64_t>(step);
        if (us >= 0.07 && v <= squeeze) return k;
        if (k < 0 || k > trials) continue;
        const double alpha = (2.83 + 5.1 / b) * deviation;
        const auto mode = law.base + static_cast<std::int64_t>(std::floor(law.fraction + p));
        const double hat = v * alpha / (a / (us * us) + b);
        if (std::log(hat) <= law.log_mass(k) - law.log_mass(mode)) return k;
    }
}

}  // namespace

std::int64_t sample_binomial(Stream& random, std::int64_t trials, double probability) {
    expects(trials >= 0, "a binomial of {} trials; their number must be >= 0", trials);
    expects(probability >= 0 && probability <= 1, "a binomial of probability {}; it must lie in [0, 1]",
            probability);
    // 1 - p is exact above one half.
    if (probability > 0.5) return trials - sample_binomial(random, trials, 1 - probability);
    if (trials == 0 || probability == 0) return 0;
    if (static_cast<double>(trials) * probability < smallest_rejection_mean)
        return by_inversion(random, trials, probability);
    return by_rejection(random, trials, probability);
}

}  // namespace alidade
