#pragma once

#include <limits>

#include "eigenvalue_kernel.hpp"
#include "lane_math.hpp"
#include "lane_tiles.hpp"
#include "row_kernels.hpp"

namespace alidade::detail {

/// Probabilities up to this are taken to be zero.
constexpr double negligible_law = 1e-15;

/// What a block of eight pairs of base models brings to its divergences, and what they are.
struct DivergenceBlock {
    Tile tile;
    Index features = 0, dimension = 0;
    const double* counts = nullptr;   ///< [lane]: how many successors the pair has
    const double* weights = nullptr;  ///< theta~: d numbers
    /// p x d, column after column: radius times the inverse factor times the basis; with a successor's
    /// features it makes what its probability may differ by, in every direction.
    const double* map = nullptr;
    double* bounds = nullptr;   ///< [lane]: written
    double* strange = nullptr;  ///< [lane]: one where numbers are too small or too large for this
};

/// -ln(1 - f) for 0 <= f < 1.
template <class Number>
ALIDADE_INLINE Number minus_log_of_rest(const Number& f) {
    const Number small = all_lanes<Number>(0.25), half = all_lanes<Number>(0.5);
    const Number near = where_less<Number>(f, small, f, half),
                 far = where_less<Number>(f, small, half, 1.0 - f);
    return where_less<Number>(f, small, twice_artanh(near / (2.0 - near)), -logarithm(far));
}

/// (-ln(1-f) - f)/f^2 for 0 <= f < 1: increasing, 1/2 at 0.
template <class Number>
ALIDADE_INLINE Number fall_curvature(const Number& f) {
    const Number tiny = all_lanes<Number>(1e-3);
    const Number series = 0.5 + f * (1.0 / 3 + f * (0.25 + f * (0.2 + f * (1.0 / 6 + f / 7.0))));
    // The difference would lose its digits; the next term of the series is below 1e-16.
    const Number divisor = where_less<Number>(f, tiny, tiny, f);
    return where_less<Number>(f, tiny, series, (minus_log_of_rest(divisor) - divisor) / (divisor * divisor));
}

/// p (x - ln(1+x)) with x = q/p - 1: the part of a successor in KL(p, q); infinite where q is zero.
template <class Number>
ALIDADE_INLINE Number part_of_kl(const Number& p, const Number& q, Number& strange) {
    const Number zero{}, one = all_lanes<Number>(1), tiny = all_lanes<Number>(1e-3);
    const Number ratio = q / p, x = (q - p) / p, size = size_of(x);
    const Number series = 0.5 - x * (1.0 / 3 - x * (0.25 - x * (0.2 - x * (1.0 / 6 - x / 7.0))));
    const Number near = where_less<Number>(size, all_lanes<Number>(0.25), x, zero);
    // Numbers that are not normal have no logarithm here.
    const Number normal = all_lanes<Number>(1e-300), far = where_less<Number>(ratio, normal, one, ratio);
    const Number log =
        where_less<Number>(size, all_lanes<Number>(0.25), twice_artanh(near / (2.0 + near)), logarithm(far));
    const Number part = where_less<Number>(size, tiny, series * (p * x * x), p * (x - log));
    strange = where_positive<Number>(ratio, where_less<Number>(ratio, normal, one, strange), strange);
    return where_positive<Number>(ratio, part, all_lanes<Number>(std::numeric_limits<double>::infinity()));
}

/// One lane or several of a block.
template <class Number>
struct DivergenceLanes {
    Rows rows;
    Index p;
    const Number* law;         // of every successor
    const Number* generators;  // [successor][coordinate]
    const Number* reach;       // their norms
    Number* information;       // p x p
    Number* gained;            // p
    Number* room;              // 3p
};

/// Adds weight times g g' to the lower triangle.
template <class Number>
ALIDADE_INLINE void add_information(const Number* g, const Number& weight, Index p, Number* information) {
    for (Index c = 0; c < p; ++c)
        for (Index r = c; r < p; ++r) information[c * p + r] += weight * g[r] * g[c];
}

/// Whether squares can be taken: one where not.
template <class Number>
ALIDADE_INLINE Number out_of_scale(const Number* matrix, Index p) {
    const Number zero{}, one = all_lanes<Number>(1);
    Number most{};
    for (Index k = 0; k < p; ++k) most = greater_of(most, matrix[k * p + k]);
    // Far inside the range of numbers: an eigenvalue's reduction squares squares.
    const Number small = where_less<Number>(all_lanes<Number>(1e-40), most, zero, one);
    const Number large = where_less<Number>(most, all_lanes<Number>(1e40), zero, one);
    return small + large;
}

/// At most radius^2 lambda_max(sum_j w_j w_j' / P~_j); infinite where a successor has no probability.
template <class Number>
ALIDADE_INLINE Number chi_square_by_ball(const DivergenceLanes<Number>& lane, const Number& count,
                                         Number& strange) {
    const Number zero{}, one = all_lanes<Number>(1), none = all_lanes<Number>(negligible_law);
    for (Index i = 0; i < lane.p * lane.p; ++i) lane.information[i] = zero;
    Number excluded{};
    for (Index j = 0; j < lane.rows.successors; ++j) {
        const Number probability = lane.law[j];
        const Number there = where_less<Number>(all_lanes<Number>(static_cast<double>(j)), count, one, zero);
        const Number possible = where_less<Number>(none, probability, one, zero);
        excluded += there * (one - possible);
        add_information(lane.generators + j * lane.p,
                        possible / where_positive<Number>(possible, probability, one), lane.p,
                        lane.information);
    }
    strange += where_positive<Number>(excluded, zero, out_of_scale(lane.information, lane.p));
    const Number largest = largest_eigenvalue_above(lane.information, lane.p, lane.room);
    return where_positive<Number>(excluded, all_lanes<Number>(std::numeric_limits<double>::infinity()),
                                  largest);
}

/// The bound of KL in which successors whose probability is negligible, or may change by more than `doubt`
/// times itself, enter by the mass that they may gain [docs/algorithms/likelihood.md, Lemma 2].
template <class Number>
ALIDADE_INLINE Number kl_with_doubtful(const DivergenceLanes<Number>& lane, double doubt, Number& strange) {
    const Index p = lane.p, d = lane.rows.features;
    const Number zero{}, one = all_lanes<Number>(1), none = all_lanes<Number>(negligible_law);
    const Number no_bound = all_lanes<Number>(std::numeric_limits<double>::infinity());
    for (Index i = 0; i < p * p; ++i) lane.information[i] = zero;
    for (Index i = 0; i < p; ++i) lane.gained[i] = zero;
    Number lost{}, unbounded{};
    for (Index j = 0; j < lane.rows.successors; ++j) {
        const double* const phi = lane.rows.phi + j * d * lanes;
        Number least = number_at<Number>(phi, 0);
        for (Index i = 1; i < d; ++i) least = lesser_of(least, number_at<Number>(phi, i));
        const Number possible = where_less<Number>(none, lane.law[j], one, zero);
        const Number probability = where_positive<Number>(possible, lane.law[j], one);
        // Both hold for every member: it is a mixture, and it is in the ellipsoid. Near -1 the logarithm is
        // steep, so its argument is rounded outward.
        const Number fall = lesser_of(one - least / probability, lane.reach[j] / probability) + 1e-12;
        const Number falls_short = where_less<Number>(fall, one, one, zero),
                     inside = where_positive<Number>(falls_short, fall, zero);
        const Number doubtful = where_less<Number>(doubt * probability, lane.reach[j], possible, zero);
        const Number sure = possible - doubtful;
        // The truth may have mass where P~ has none: the other successors lack it.
        const Number aside = one - sure;
        for (Index i = 0; i < p; ++i) lane.gained[i] += aside * lane.generators[j * p + i];
        lost += doubtful * (probability * minus_log_of_rest(inside));
        unbounded += (doubtful + sure) * (one - falls_short);
        add_information(lane.generators + j * p, sure * fall_curvature(inside) / probability, p,
                        lane.information);
    }
    Number gain{};
    for (Index i = 0; i < p; ++i) gain += lane.gained[i] * lane.gained[i];
    Number some{};
    for (Index k = 0; k < p; ++k) some = greater_of(some, lane.information[k * p + k]);
    strange += where_positive<Number>(some, out_of_scale(lane.information, p), zero);
    const Number bound = largest_eigenvalue_above(lane.information, p, lane.room) + root_of(gain) + lost;
    return where_positive<Number>(unbounded, no_bound, bound);
}

/// At most KL(P~, P) for every member of the ball.
template <class Number>
ALIDADE_INLINE Number kl_by_ball(const DivergenceLanes<Number>& lane, Number& strange) {
    const Number zero{}, one = all_lanes<Number>(1), none = all_lanes<Number>(negligible_law);
    const Number all = kl_with_doubtful(lane, std::numeric_limits<double>::infinity(), strange);
    // Where the probability may change by more than itself, what is quadratic in the change is the worse
    // bound of the two.
    Number doubtful{};
    for (Index j = 0; j < lane.rows.successors; ++j) {
        const Number beyond = where_less<Number>(lane.law[j], lane.reach[j], one, zero);
        doubtful += where_less<Number>(none, lane.law[j], beyond, zero);
    }
    if (!any_positive(doubtful)) return all;
    const Number apart = kl_with_doubtful(lane, 1, strange);
    return where_positive<Number>(doubtful, lesser_of(all, apart), all);
}

/// max over base models of TV(P_i, P~): TV is convex in the weights, so no mixture is farther. Both sums are
/// the total variation where rows sum to one; rounding may have left a row without one of them.
template <class Number>
ALIDADE_INLINE Number farthest_base_model(const Rows& rows, const Number* law) {
    const Number zero{};
    Number largest{};
    for (Index i = 0; i < rows.features; ++i) {
        Number gained{}, lost{};
        for (Index j = 0; j < rows.successors; ++j) {
            const Number change = number_at<Number>(rows.phi, j * rows.features + i) - law[j];
            gained += greater_of(zero, change);
            lost += greater_of(zero, -change);
        }
        largest = greater_of(largest, greater_of(gained, lost));
    }
    return largest;
}

/// The divergence of one base model. For KL roughly, by one logarithm a successor, or to all digits.
template <bool kl, bool roughly, class Number>
ALIDADE_INLINE Number divergence_of_base_model(const Rows& rows, const Number* law, Index i,
                                               Number& strange) {
    const Number zero{}, none = all_lanes<Number>(negligible_law), one = all_lanes<Number>(1);
    const Number no_bound = all_lanes<Number>(std::numeric_limits<double>::infinity());
    Number sum{};
    for (Index j = 0; j < rows.successors; ++j) {
        const Number q = number_at<Number>(rows.phi, j * rows.features + i);
        const Number p = where_less<Number>(none, law[j], law[j], one),
                     possible = where_less<Number>(none, law[j], q, one);
        Number part{};
        if constexpr (!kl) {
            const Number x = (q - p) / p;
            part = p * x * x;
        } else if constexpr (roughly) {
            const Number ratio = possible / p, normal = all_lanes<Number>(1e-300);
            part = p * (ratio - 1.0 - logarithm(where_less<Number>(ratio, normal, normal, ratio)));
            strange = where_positive<Number>(ratio, where_less<Number>(ratio, normal, one, strange), strange);
            part = where_positive<Number>(ratio, part, no_bound);
        } else {
            part = part_of_kl(p, possible, strange);
        }
        const Number outside = where_positive<Number>(q, kl ? q : no_bound, zero);
        sum += where_less<Number>(none, law[j], part, outside);
    }
    return sum;
}

/// Both divergences are convex in the truth, so no mixture is farther than the farthest base model.
template <bool kl, class Number>
ALIDADE_INLINE Number divergence_of_base_models(const Rows& rows, const Number* law, Number& strange) {
    const Number zero{}, one = all_lanes<Number>(1);
    Number largest{};
    for (Index i = 0; i < rows.features; ++i)
        largest = greater_of(largest, divergence_of_base_model<kl, true>(rows, law, i, strange));
    // Terms are of the size of one and rounded by 1e-15 at most, which the slack of 1e-10 covers of what is
    // not small.
    const Number near = where_less<Number>(largest, all_lanes<Number>(1e-3), one, zero);
    if (!kl || !any_positive(near)) return largest;
    Number precise{};
    for (Index i = 0; i < rows.features; ++i)
        precise = greater_of(precise, divergence_of_base_model<kl, false>(rows, law, i, strange));
    return where_positive<Number>(near, precise, largest);
}

/// Divergences of eight pairs: KL(P~, P) or the chi-square, at most, over all members.
template <bool kl>
struct DivergenceKernel {
    static Index scratch(Index m, Index p) { return (m * (p + 2) + p * p + 4 * p) * lanes; }

    template <class Number>
    ALIDADE_INLINE static void run(const DivergenceBlock& block, double* scratch) {
        const Index m = block.tile.successors, d = block.features, p = block.dimension;
        auto* const law = reinterpret_cast<Number*>(scratch);
        Number *const reach = law + m, *const generators = reach + m, *const information = generators + m * p;
        for (Index l = 0; l < lanes; l += width_of<Number>) {
            const Rows rows{block.tile.phi + l, m, d};
            laws_of(rows, block.weights, law);
            make_generators(rows, block.map, p, generators, reach);
            const DivergenceLanes<Number> lane{
                rows, p, law, generators, reach, information, information + p * p, information + p * p + p};
            const Number zero{};
            const Number apart = base_models_differ<Number>(rows);
            Number strange{};
            const Number bound = bound_of(lane, number_at<Number>(block.counts + l, 0), strange);
            set_number(block.bounds + l, 0, where_positive<Number>(apart, bound, zero));
            // What is not positive has underflowed, or is not a number: base models differ.
            const Number odd = where_positive<Number>(bound, strange, all_lanes<Number>(1));
            set_number(block.strange + l, 0, where_positive<Number>(apart, odd, zero));
        }
    }

private:
    template <class Number>
    ALIDADE_INLINE static void make_generators(const Rows& rows, const double* map, Index p,
                                               Number* generators, Number* reach) {
        for (Index j = 0; j < rows.successors; ++j) {
            const double* const phi = rows.phi + j * rows.features * lanes;
            Number square{};
            for (Index k = 0; k < p; ++k) {
                Number sum{};
                for (Index i = 0; i < rows.features; ++i) sum += map[i * p + k] * number_at<Number>(phi, i);
                generators[j * p + k] = sum;
                square += sum * sum;
            }
            reach[j] = root_of(square);
        }
    }

    template <class Number>
    ALIDADE_INLINE static Number base_models_differ(const Rows& rows) {
        const Number zero{}, one = all_lanes<Number>(1);
        Number apart{};
        for (Index j = 0; j < rows.successors; ++j) {
            const Number first = number_at<Number>(rows.phi, j * rows.features);
            for (Index i = 1; i < rows.features; ++i)
                apart += number_at<Number>(rows.phi, j * rows.features + i) == first ? zero : one;
        }
        return apart;
    }

    template <class Number>
    ALIDADE_INLINE static Number bound_of(const DivergenceLanes<Number>& lane, const Number& count,
                                          Number& strange) {
        const Number by_ball = kl ? kl_by_ball(lane, strange) : chi_square_by_ball(lane, count, strange);
        const Number zero{}, one = all_lanes<Number>(1);
        // KL is at least 2 TV^2 (Pinsker), and the chi-square 4 TV^2: base models that far cannot give less.
        const Number variation = farthest_base_model(lane.rows, lane.law);
        const Number least = (kl ? 1.999999 : 3.999999) * variation * variation;
        const Number beyond = where_less<Number>(least, by_ball, one, zero);
        if (!any_positive(beyond)) return by_ball;
        Number odd{};
        const Number bound = lesser_of(by_ball, divergence_of_base_models<kl>(lane.rows, lane.law, odd));
        // Lanes that need it not must not notice that a neighbour does.
        strange += where_positive<Number>(beyond, odd, zero);
        return where_positive<Number>(beyond, bound, by_ball);
    }
};

}  // namespace alidade::detail
