#include "alidade/random/samplers.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "alidade/error.hpp"

namespace alidade {

namespace {

void expect_weight(double weight, std::size_t position) {
    if (!(weight >= 0)) [[unlikely]]
        expects(false, "weight {} at position {} must be a number >= 0", weight, position);
}

void expect_total(double total) {
    expects(total > 0 && std::isfinite(total), "the weights sum to {}; the sum must be positive and finite",
            total);
}

}  // namespace

double sample_uniform(Stream& random) {
    return static_cast<double>(random.next() >> 11) * 0x1p-53;
}

Index sample_index(Stream& random, Index count) {
    expects(count >= 1, "cannot draw a position among {}; the count must be >= 1", count);
    const auto range = static_cast<std::uint64_t>(count);
    // 2^64 mod range words are left out, so that each remainder keeps equally many.
    const std::uint64_t excess = (0 - range) % range;
    std::uint64_t word = random.next();
    while (word < excess) word = random.next();
    return static_cast<Index>(word % range);
}

Index sample_categorical(Stream& random, std::span<const double> weights) {
    double total = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        expect_weight(weights[i], i);
        total += weights[i];
    }
    expect_total(total);
    const double target = sample_uniform(random) * total;
    // The first partial sum above the target belongs to a positive weight, since a zero weight does not
    // move the sum. Only a subnormal total can round the target up to the total itself.
    double sum = 0;
    std::size_t last_positive = 0;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        sum += weights[i];
        if (sum > target) return static_cast<Index>(i);
        if (weights[i] > 0) last_positive = i;
    }
    return static_cast<Index>(last_positive);
}

void sample_multinomial(Stream& random, std::int64_t trials, std::span<const double> weights,
                        std::span<std::int64_t> counts) {
    expects(trials >= 0, "cannot split {} trials; their number must be >= 0", trials);
    expects(counts.size() == weights.size(), "{} counts for {} weights; the numbers must be equal",
            counts.size(), weights.size());
    // The counts hold the sums of the weights from each cell on until they are drawn. Adding from the back
    // keeps every ratio below accurate, where subtracting from the total would cancel.
    double tail = 0;
    for (std::size_t i = weights.size(); i-- > 0;) {
        expect_weight(weights[i], i);
        counts[i] = std::bit_cast<std::int64_t>(tail);
        tail += weights[i];
    }
    expect_total(tail);
    std::int64_t left = trials;
    for (std::size_t i = 0; i < weights.size(); ++i) {
        if (left == 0) {
            std::fill(counts.begin() + static_cast<std::ptrdiff_t>(i), counts.end(), 0);
            return;
        }
        const double after = std::bit_cast<double>(counts[i]);
        const double from = weights[i] + after;
        // The smaller part is drawn, so that a ratio next to one loses nothing. The last positive weight
        // has nothing after it and takes all that is left.
        if (weights[i] <= after) {
            counts[i] = sample_binomial(random, left, weights[i] / from);
            left -= counts[i];
        } else {
            const std::int64_t beyond = sample_binomial(random, left, after / from);
            counts[i] = left - beyond;
            left = beyond;
        }
    }
}

}  // namespace alidade
