#include <algorithm>
#include <cmath>
#include <cstring>

#include "../model/lanes.hpp"
#include "../model/vector_clones.hpp"
#include "alidade/width/width.hpp"

namespace alidade {

namespace {

/// All 2^bits subset sums of `bits` generators starting at `first`, coordinate after coordinate:
/// sums[i * 2^bits + subset]. Each subset adds its lowest generator to a smaller subset's sum.
void subset_sums(const WidthProblem& problem, Index first, Index bits, std::vector<double>& sums) {
    const Index p = problem.dimension, count = Index{1} << bits;
    sums.assign(static_cast<std::size_t>(p * count), 0.0);
    for (Index i = 0; i < p; ++i) {
        double* row = sums.data() + i * count;
        for (Index b = 0; b < bits; ++b) {
            const double g = problem.generators[static_cast<std::size_t>((first + b) * p + i)];
            for (Index subset = 0; subset < (Index{1} << b); ++subset)
                row[subset + (Index{1} << b)] = row[subset] + g;
        }
    }
}

/// So many subset sums side by side.
#if ALIDADE_LANES
using Sums = detail::FourLanes;
#else
using Sums = double;
#endif
constexpr Index together = detail::width_of<Sums>;

/// norms[l] = |low_l + shift|^2 for all subset sums of the lower half; the largest of them. Compiled for
/// several instruction sets, of which the loader picks one; additions are not reordered, so all agree. The
/// largest is had in lanes, since one after another each comparison would wait for the last.
ALIDADE_VECTOR_CLONES double shifted_norms(const double* __restrict low, Index count, Index dimension,
                                           const double* __restrict shift, Index stride,
                                           double* __restrict norms) {
    Sums most{};
    Index first = 0;
    for (; first + together <= count; first += together) {
        Sums sum{};
        for (Index i = 0; i < dimension; ++i) {
            Sums x;
            std::memcpy(&x, low + i * count + first, sizeof x);
            x += shift[i * stride];
            sum += x * x;
        }
        std::memcpy(norms + first, &sum, sizeof sum);
        most = sum > most ? sum : most;
    }
    double each[together], largest = 0;
    std::memcpy(each, &most, sizeof most);
    for (const double norm : each) largest = norm > largest ? norm : largest;
    // Fewer than that, if any.
    for (; first < count; ++first) {
        double sum = 0;
        for (Index i = 0; i < dimension; ++i) {
            const double x = low[i * count + first] + shift[i * stride];
            sum += x * x;
        }
        norms[first] = sum;
        largest = sum > largest ? sum : largest;
    }
    return largest;
}

/// |h|^2 of one subset sum.
double norm_of(const double* sum, Index dimension, Index stride) {
    double norm = 0;
    for (Index i = 0; i < dimension; ++i) norm += sum[i * stride] * sum[i * stride];
    return norm;
}

/// More than rounding changes.
constexpr double outwards = 1 + 1e-12;

}  // namespace

// Every vertex with V_{m-1} = 0 (the others mirror them), as |l + h|^2 over subset sums l of the first
// half and h of the second. The inner loop runs over l without a dependence from one to the next, which
// a Gray code has, and so vectorises.
double Width::enumerate(const WidthProblem& problem, std::span<std::uint8_t> witness) {
    const Index p = problem.dimension, free = problem.successors - 1;
    const Index low_bits = (free + 1) / 2, high_bits = free - low_bits;
    const Index low = Index{1} << low_bits, high = Index{1} << high_bits;
    subset_sums(problem, 0, low_bits, low_);
    subset_sums(problem, low_bits, high_bits, high_);
    norms_.resize(static_cast<std::size_t>(low));
    double longest = 0;
    for (Index l = 0; l < low; ++l) longest = std::max(longest, norm_of(low_.data() + l, p, low));
    longest = std::sqrt(longest);
    // Squares are compared, and one root is taken at the end: the order is the same.
    double best = -1;
    Index best_low = 0, best_high = 0;
    for (Index k = 0; k < high; ++k) {
        // |l + h| <= |l| + |h|: most of the second half cannot be more.
        const double reach = longest + std::sqrt(norm_of(high_.data() + k, p, high));
        if (reach * reach * outwards <= best) continue;
        const double largest = shifted_norms(low_.data(), low, p, high_.data() + k, high, norms_.data());
        if (largest > best) {
            best = largest;
            best_high = k;
            best_low = std::max_element(norms_.begin(), norms_.end()) - norms_.begin();
        }
    }
    for (Index j = 0; j < free; ++j)
        witness[static_cast<std::size_t>(j)] =
            static_cast<std::uint8_t>(j < low_bits ? (best_low >> j) & 1 : (best_high >> (j - low_bits)) & 1);
    witness[static_cast<std::size_t>(free)] = 0;
    return std::sqrt(best);
}

}  // namespace alidade
