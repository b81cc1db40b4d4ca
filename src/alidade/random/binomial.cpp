#include <array>
#include <cmath>

#include "alidade/error.hpp"
#include "alidade/random/samplers.hpp"

namespace alidade {

namespace {

/// Below this mean the sampler inverts. Transformed rejection needs a mean of at least 10
/// [Hörmann 1993, The generation of binomial random variates, Alg. BTRS], and is faster from about here.
constexpr double smallest_rejection_mean = 16;

/// A binomial of a smaller mean exceeds this with probability below 1e-100.
constexpr std::int64_t largest_inverted = 200;

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

/// The binomial law around its mean, for 0 < p <= 1/2. The mean is an integer `base` plus `fraction`
/// (not always below one), so that differences to it stay exact for trials beyond 2^53.
struct BinomialLaw {
    BinomialLaw(std::int64_t trials_, double p_) : trials(trials_), p(p_) {
        // 2^11 divides the first part, hence a double holds it exactly.
        const std::int64_t low = trials & 0x7FF;
        const auto high = static_cast<double>(trials - low);
        const double product = high * p;
        const double error = std::fma(high, p, -product);
        base = static_cast<std::int64_t>(product);
        fraction = (product - static_cast<double>(base)) + (error + static_cast<double>(low) * p);
    }

    /// log pmf(k), up to a constant that does not depend on k. With a = k+1, b = n-k+1, N = n+2 and
    /// Stirling's formula for both factorials, all large terms cancel in the two deviances of a from N p
    /// and of b from N q.
    double log_mass(std::int64_t k) const {
        const double size = static_cast<double>(trials) + 2;
        const double a_mean = size * p;
        const double b_mean = size * (1 - p);
        const double excess = static_cast<double>(k - base) + ((1 - 2 * p) - fraction);
        return -scaled_deviance(a_mean, excess / a_mean) - scaled_deviance(b_mean, -excess / b_mean) -
               stirling_remainder(k) - stirling_remainder(trials - k);
    }

    std::int64_t trials;
    double p;
    std::int64_t base;
    double fraction;
};

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
    const BinomialLaw law(trials, p);
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
