#pragma once

#include <cstdint>

namespace alidade::detail {

/// The binomial law around its mean, for 0 < p <= 1/2. The mean is an integer `base` plus `fraction`
/// (not always below one), so that differences to it stay exact for trials beyond 2^53.
struct BinomialLaw {
    BinomialLaw(std::int64_t number, double probability);

    /// log pmf(k) for 0 <= k <= trials, up to a constant that does not depend on k.
    double log_mass(std::int64_t k) const;

    std::int64_t trials;
    double p;
    std::int64_t base;
    double fraction;
};

}  // namespace alidade::detail
