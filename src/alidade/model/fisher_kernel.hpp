#pragma once

#include <algorithm>
#include <cmath>

#include "alidade/model/planning_passes.hpp"
#include "alidade/types.hpp"
#include "lane_math.hpp"
#include "lanes.hpp"
#include "tangent_coordinates.hpp"

namespace alidade::detail {

/// One block, or one lane of it: pointers at its first number.
struct FisherBlock {
    const double* phi;  // [successor][feature][lane]
    const double* psi;  // [successor][coordinate][lane]
    Index successors;
};

/// What all blocks of a step share.
struct FisherShared {
    Index features, dimension;
    const double* weights;           // d
    const double* factor;            // p x p, column after column
    const double* inverse_diagonal;  // of the factor
    FisherBonus bonus;
    double allowance;
    /// By products with inverses instead of by divisions, of which there are a hundred a pair: for large
    /// models, whose runs had no bytes yet when this was made.
    bool by_inverses;
};

// What follows is written once, for one lane or several at once: `Number` is a vector or double.

template <class Number>
struct SquareTerm {
    const Number* x;
    ALIDADE_INLINE Number operator()(Index i) const { return x[i] * x[i]; }
};

template <class Number>
struct WeightedTerm {
    const double* weights;
    const Number* x;
    ALIDADE_INLINE Number operator()(Index i) const { return weights[i] * x[i]; }
};

/// x <- factor^-1 x, four rows at a time: within them column by column, then their sums from the rows below.
template <class Number>
ALIDADE_INLINE void solve_lower(const FisherShared& shared, Number* x) {
    constexpr Index panel = 4;
    const Index p = shared.dimension;
    for (Index first = 0; first < p; first += panel) {
        const Index end = std::min(p, first + panel);
        for (Index i = first; i < end; ++i) {
            const double* column = shared.factor + i * p;
            x[i] *= shared.inverse_diagonal[i];
            for (Index k = i + 1; k < end; ++k) x[k] -= x[i] * column[k];
        }
        for (Index k = end; k < p; ++k) {
            Number sum{};
            for (Index i = first; i < end; ++i) sum += x[i] * shared.factor[i * p + k];
            x[k] -= sum;
        }
    }
}

/// x_j = factor^-1 psi_j / sqrt(P_j) for every successor.
template <class Number>
ALIDADE_INLINE void scale_successors(const FisherBlock& block, const FisherShared& shared, Number* scaled) {
    const Index d = shared.features, p = shared.dimension;
    // I(s,a) = sum_j psi_j psi_j'/P_j, so the sum of x_j x_j' has the eigenvalues of J^-1 I [likelihood §5].
    // The floor is against division by zero.
    const Number floor = Number{} + 1e-300;
    for (Index j = 0; j < block.successors; ++j) {
        Number predicted{};
        for (Index i = 0; i < d; ++i)
            predicted += shared.weights[i] * number_at<Number>(block.phi, j * d + i);
        // P_j of the smoothed model: what is rare under it says most about the weights when it is seen.
        const Number root = root_of(predicted < floor ? floor : predicted);
        Number* x = scaled + j * p;
        if (shared.by_inverses) {
            const Number inverse = 1.0 / root;
            for (Index i = 0; i < p; ++i) x[i] = number_at<Number>(block.psi, j * p + i) * inverse;
        } else {
            for (Index i = 0; i < p; ++i) x[i] = number_at<Number>(block.psi, j * p + i) / root;
        }
        solve_lower(shared, x);
    }
}

/// `rows` rows of sum_j x_j x_j' from row `first` on, as far as the diagonal's block.
template <std::size_t rows, class Number>
ALIDADE_INLINE void gram_rows(const Number* scaled, Index successors, Index p, Index first, Number* gram) {
    for (Index column = 0; column < first + static_cast<Index>(rows); ++column) {
        Number total[rows] = {};
        for (Index j = 0; j < successors; ++j) {
            const Number* x = scaled + j * p;
            for (std::size_t r = 0; r < rows; ++r) total[r] += x[at(first) + r] * x[column];
        }
        for (std::size_t r = 0; r < rows; ++r) {
            const Index row = first + static_cast<Index>(r);
            gram[column * p + row] = total[r];
            gram[row * p + column] = total[r];
        }
    }
}

/// gram = L^-1 I(s,a) L^-T, p x p: its eigenvalues are what a visit adds to J, direction by direction.
template <class Number>
ALIDADE_INLINE void gram_of(const Number* scaled, Index successors, Index p, Number* gram) {
    Index row = 0;
    for (; row + 4 <= p; row += 4) gram_rows<4>(scaled, successors, p, row, gram);
    for (; row + 2 <= p; row += 2) gram_rows<2>(scaled, successors, p, row, gram);
    for (; row < p; ++row) gram_rows<1>(scaled, successors, p, row, gram);
}

/// `rows` rows of matrix * direction from row `first` on.
template <std::size_t rows, class Number>
ALIDADE_INLINE void image_rows(const Number* matrix, const Number* direction, Index p, Index first,
                               Number* image) {
    Number total[rows] = {};
    for (Index k = 0; k < p; ++k)
        for (std::size_t r = 0; r < rows; ++r) total[r] += matrix[at(k * p + first) + r] * direction[k];
    for (std::size_t r = 0; r < rows; ++r) image[at(first) + r] = total[r];
}

template <class Number>
ALIDADE_INLINE Number length_of(const Number* x, Index p) {
    return root_of(paired_sum<Number>(p, SquareTerm<Number>{x}));
}

/// The largest eigenvalue of a positive semidefinite matrix, nearly: a few power steps. It steers, no more.
template <class Number>
ALIDADE_INLINE Number leading_eigenvalue(const Number* matrix, Index p, bool by_inverses, Number* direction,
                                         Number* image) {
    const Number zero{}, one = all_lanes<Number>(1), least = all_lanes<Number>(1e-300);
    for (Index i = 0; i < p; ++i) direction[i] = matrix[i * p + i] + 1e-12;
    Number value{};
    for (int step = 0; step < 8; ++step) {
        Index row = 0;
        for (; row + 4 <= p; row += 4) image_rows<4>(matrix, direction, p, row, image);
        for (; row < p; ++row) image_rows<1>(matrix, direction, p, row, image);
        const Number norm = length_of(image, p), length = length_of(direction, p);
        // Where nothing can be learned, the direction is zero from here on, and so is the value: by products,
        // as GCC 12 fails on a choice that is made twice.
        const Number alive = where_positive<Number>(norm, one, zero);
        value = alive * (norm / greater_of(length, least));
        const Number divisor = greater_of(norm, least), inverse = alive / divisor;
        for (Index i = 0; i < p; ++i)
            direction[i] = by_inverses ? image[i] * inverse : alive * (image[i] / divisor);
    }
    return value;
}

/// The diagonal of the Cholesky factor of 1 + matrix, which is overwritten by it. All eigenvalues are at
/// least 1, so that no pivot has to be looked for.
template <class Number>
ALIDADE_INLINE void factor_shifted(Number* matrix, Index p, Number* diagonal) {
    for (Index k = 0; k < p; ++k) {
        Number square{};
        for (Index c = 0; c < k; ++c) square += matrix[c * p + k] * matrix[c * p + k];
        diagonal[k] = root_of(matrix[k * p + k] + 1.0 - square);
        for (Index row = k + 1; row < p; ++row) {
            Number sum{};
            for (Index c = 0; c < k; ++c) sum += matrix[c * p + row] * matrix[c * p + k];
            matrix[k * p + row] = (matrix[k * p + row] - sum) / diagonal[k];
        }
    }
}

/// The bonus, except for logarithms: with FisherBonus::gain `numbers` are the p diagonal elements whose
/// logarithms are to be added, otherwise one number, the bonus.
template <class Number>
ALIDADE_INLINE void bonus_numbers(const FisherBlock& block, const FisherShared& shared, Number* scratch,
                                  Number* numbers) {
    const Index p = shared.dimension;
    Number *scaled = scratch, *gram = scaled + block.successors * p, *direction = gram + p * p;
    scale_successors(block, shared, scaled);
    gram_of(scaled, block.successors, p, gram);
    // What one visit adds to ln det J: the information gained, whatever the direction [likelihood §5].
    // ln det(1 + J^-1 I), which is twice the sum of the logarithms of a Cholesky factor's diagonal.
    if (shared.bonus == FisherBonus::gain) {
        factor_shifted(gram, p, numbers);
        return;
    }
    const Number leading = leading_eigenvalue(gram, p, shared.by_inverses, direction, direction + p);
    // lambda_max(J^-1 I): the share by which a visit sharpens the direction that it sharpens most.
    if (shared.bonus == FisherBonus::leverage) {
        *numbers = leading;
        return;
    }
    // Half the sum of |delta . phi_j| is at most half of sqrt(delta' I delta), by Cauchy-Schwarz, and
    // |delta|_J is about sqrt(2B): a total variation, to leading order, which is never above 1.
    const Number one = Number{} + 1.0, moved = 0.5 * root_of(2 * shared.allowance * leading);
    *numbers = where_less<Number>(moved, one, moved, one);
}

inline double sum_of_logarithms(const double* diagonal, Index p) {
    double sum = 0;
    for (Index i = 0; i < p; ++i) sum += 2 * std::log(diagonal[i * lanes]);
    return sum;
}

/// E[next(s')]: first phi_next, feature by feature, then its product with the weights.
template <class Number>
ALIDADE_INLINE Number expected_next(const FisherBlock& block, Index d, const double* weights,
                                    const double* value, Number* sum) {
    constexpr Index together = 4;
    Index first = 0;
    for (; first + together <= d; first += together) {
        Number total[together] = {};
        for (Index j = 0; j < block.successors; ++j)
            for (Index i = 0; i < together; ++i)
                total[i] += number_at<Number>(value, j) * number_at<Number>(block.phi, j * d + first + i);
        for (Index i = 0; i < together; ++i) sum[first + i] = total[i];
    }
    for (; first < d; ++first) {
        Number total{};
        for (Index j = 0; j < block.successors; ++j)
            total += number_at<Number>(value, j) * number_at<Number>(block.phi, j * d + first);
        sum[first] = total;
    }
    return paired_sum<Number>(d, WeightedTerm<Number>{weights, sum});
}

ALIDADE_INLINE FisherBlock lane_of(const FisherBlock& block, Index lane) {
    return {block.phi + lane, block.psi + lane, block.successors};
}

/// Bonuses of all lanes of a block, as many at once as `Number` has.
struct BonusKernel {
    template <class Number>
    ALIDADE_INLINE static void run(const FisherBlock& block, const FisherShared& shared, double* scratch,
                                   double* numbers) {
        const Index count = shared.bonus == FisherBonus::gain ? shared.dimension : 1;
        Number* found = reinterpret_cast<Number*>(scratch);
        for (Index l = 0; l < lanes; l += width_of<Number>) {
            bonus_numbers<Number>(lane_of(block, l), shared, found + count, found);
            for (Index i = 0; i < count; ++i) set_number(numbers + l, i, found[i]);
        }
    }
};

/// E[next(s')] of all lanes; `value`, [successor][lane], is next(s').
struct BackupKernel {
    template <class Number>
    ALIDADE_INLINE static void run(const FisherBlock& block, Index d, const double* weights,
                                   const double* value, double* scratch, double* expected) {
        Number* sum = reinterpret_cast<Number*>(scratch);
        for (Index l = 0; l < lanes; l += width_of<Number>)
            set_number(expected + l, 0, expected_next<Number>(lane_of(block, l), d, weights, value + l, sum));
    }
};

}  // namespace alidade::detail
