#pragma once

#include <algorithm>

#include "alidade/types.hpp"
#include "lanes.hpp"

namespace alidade::detail {

/// term(0) + .. + term(count-1), as four sums side by side and the rest after them. It is the order in which
/// Eigen adds on x86-64, and keeps the bytes of runs what they were when Eigen did this.
template <class Number, class Term>
ALIDADE_INLINE Number paired_sum(Index count, const Term& term) {
    if (count == 0) return Number{};
    if (count == 1) return term(0);
    Number even = term(0), odd = term(1);
    const Index twos = count / 2 * 2, fours = count / 4 * 4;
    if (twos > 2) {
        Number even_beside = term(2), odd_beside = term(3);
        for (Index i = 4; i < fours; i += 4) {
            even += term(i);
            odd += term(i + 1);
            even_beside += term(i + 2);
            odd_beside += term(i + 3);
        }
        even += even_beside;
        odd += odd_beside;
        if (twos > fours) {
            even += term(fours);
            odd += term(fours + 1);
        }
    }
    Number total = even + odd;
    if (count > twos) total += term(twos);
    return total;
}

/// What the tangent coordinates of features are made with.
struct Coordinates {
    Index features = 0, dimension = 0;
    const double* basis = nullptr;   ///< N, d x p, column after column
    const double* centre = nullptr;  ///< theta_0
    /// Helmert's basis of the simplex: the column k has no more than k+2 elements.
    bool helmert = false;
    /// Whether features that are all equal have coordinates that are exactly zero: base models that agree
    /// carry no information.
    bool equal_is_zero = false;
};

/// A term of theta_0 . phi. No lambda, which need not be inlined: vectors must not be returned by a function
/// that does not know the machine's.
template <class Number, class Load>
struct CentredTerm {
    const double* centre;
    const Load& load;
    ALIDADE_INLINE Number operator()(Index i) const { return centre[i] * load(i); }
};

/// psi = N' phi and theta_0 . phi of one entry, phi_i = load(i), psi_k to store(k, x); returns theta_0 . phi.
/// Written once, for one number or several lanes, with the same bits: sums of the even and of the odd
/// elements, which is Eigen's order.
template <class Number, class Load, class Store>
ALIDADE_INLINE Number tangent_coordinates(const Coordinates& given, const Load& load, const Store& store) {
    const Index d = given.features, twos = d / 2 * 2;
    const Number zero{}, one = zero + 1.0, first = load(Index{0});
    Number apart = given.equal_is_zero ? zero : one;
    if (given.equal_is_zero)
        for (Index i = 1; i < d; ++i) apart = load(i) == first ? apart : one;
    for (Index k = 0; k < given.dimension; ++k) {
        const double* const column = given.basis + k * d;
        const Index end = given.helmert ? std::min(twos, k + 2) : twos;
        Number even{}, odd{};
        for (Index i = 0; i < end; i += 2) even += column[i] * load(i);
        for (Index i = 1; i < end; i += 2) odd += column[i] * load(i);
        Number sum = even + odd;
        if (d > twos && (!given.helmert || k + 2 == d)) sum += column[twos] * load(twos);
        store(k, apart == zero ? zero : sum);
    }
    return paired_sum<Number>(d, CentredTerm<Number, Load>{given.centre, load});
}

}  // namespace alidade::detail
