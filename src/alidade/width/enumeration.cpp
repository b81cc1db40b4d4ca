#include <algorithm>
#include <cmath>

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

/// norms[l] = |low_l + shift|^2 for all subset sums of the lower half; the largest of them. Compiled for
/// several instruction sets, of which the loader picks one; additions are not reordered, so all agree.
ALIDADE_VECTOR_CLONES double shifted_norms(const double* __restrict low, Index count, Index dimension,
                                           const double* __restrict shift, Index stride,
                                           double* __restrict norms) {
    for (Index l = 0; l < count; ++l) norms[l] = 0;
    for (Index i = 0; i < dimension; ++i) {
        const double* row = low + i * count;
        const double by = shift[i * stride];
        for (Index l = 0; l < count; ++l) norms[l] += (row[l] + by) * (row[l] + by);
    }
    double largest = norms[0];
    for (Index l = 1; l < count; ++l) largest = norms[l] > largest ? norms[l] : largest;
    return largest;
}

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
    // Squares are compared, and one root is taken at the end: the order is the same.
    double best = -1;
    Index best_low = 0, best_high = 0;
    for (Index k = 0; k < high; ++k) {
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
