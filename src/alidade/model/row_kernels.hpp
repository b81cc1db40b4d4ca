#pragma once

#include <cstdint>

#include "alidade/model/transition_operator.hpp"
#include "alidade/model/weight_ball.hpp"
#include "alidade/types.hpp"
#include "lane_math.hpp"
#include "lanes.hpp"

namespace alidade::detail {

// The arithmetic of one row, written once for one number or for several lanes at once: `Number` is a vector
// or double. Pointers into tiles are at the first of the lanes. Nothing is reordered or fused, so that every
// width gives the same bits.

/// Rows of a tile, or some lanes of them.
struct Rows {
    const double* phi = nullptr;  ///< [successor][feature][lane]
    Index successors = 0, features = 0;
};

/// The law of the mixture: theta . phi of every successor, cut at zero.
template <class Number>
ALIDADE_INLINE void laws_of(const Rows& rows, const double* weights, Number* law) {
    const Number zero{};
    for (Index j = 0; j < rows.successors; ++j) {
        const double* const phi = rows.phi + j * rows.features * lanes;
        Number sum{};
        for (Index i = 0; i < rows.features; ++i) sum += weights[i] * number_at<Number>(phi, i);
        law[j] = greater_of(zero, sum);
    }
}

/// E[value(s')] under a law.
template <class Number>
ALIDADE_INLINE Number expectation_of(const Number* law, const double* value, Index successors) {
    Number sum{};
    for (Index j = 0; j < successors; ++j) sum += law[j] * number_at<Number>(value, j);
    return sum;
}

/// The same where values may be infinite: successors of a probability up to `negligible` do not count.
template <class Number>
ALIDADE_INLINE Number expectation_of_possible(const Number* law, const double* value, Index successors,
                                              double negligible) {
    const Number zero{}, least = all_lanes<Number>(negligible);
    Number sum{};
    for (Index j = 0; j < successors; ++j)
        sum += where_less<Number>(least, law[j], law[j] * number_at<Number>(value, j), zero);
    return sum;
}

/// `count` elements of phi_V from `first` on: as many sums as stay in registers.
template <std::size_t count, class Number>
ALIDADE_INLINE void sum_features(const Rows& rows, const double* value, Index first, Number* sum) {
    Number total[count] = {};
    for (Index j = 0; j < rows.successors; ++j) {
        const double* const phi = rows.phi + (j * rows.features + first) * lanes;
        const Number v = number_at<Number>(value, j);
        for (std::size_t i = 0; i < count; ++i) total[i] += v * number_at<Number>(phi, static_cast<Index>(i));
    }
    for (std::size_t i = 0; i < count; ++i) sum[at(first) + i] = total[i];
}

/// phi_V, d numbers.
template <class Number>
ALIDADE_INLINE void features_of_value(const Rows& rows, const double* value, Number* sum) {
    Index first = 0;
    for (; first + 5 <= rows.features; first += 5) sum_features<5>(rows, value, first, sum);
    for (; first < rows.features; ++first) sum_features<1>(rows, value, first, sum);
}

/// Up to so many successors a mean without the least values is had without sorting them.
constexpr Index few_successors = 32;

/// The largest mean of values over measures below a law that lack mass tau, by taking it from the smallest
/// values first; law and values are so far apart in memory. For many successors.
double sorted_mean_less_mass(const double* law, Index law_apart, const double* value, Index value_apart,
                             Index successors, double tau);

/// The largest mean of values that are not negative over measures below the law that lack mass tau: the least
/// over t of (mass - tau) t + E[(value - t)+], of which every t gives a bound, and one of the values the
/// least (the mean of the upper tail, of Rockafellar and Uryasev). Nothing cancels, and nothing has to be
/// sorted.
template <class Number>
ALIDADE_INLINE Number mean_less_mass(const Number* law, const double* value, Index successors,
                                     const Number& tau) {
#if !defined(__CUDA_ARCH__)  // a device has nothing to sort with, and does without it
    if (successors > few_successors) {
        double taken[lanes], means[lanes];
        set_number(taken, 0, tau);
        for (Index l = 0; l < width_of<Number>; ++l)
            means[l] = sorted_mean_less_mass(reinterpret_cast<const double*>(law) + l, width_of<Number>,
                                             value + l, lanes, successors, taken[l]);
        return number_at<Number>(means, 0);
    }
#endif
    const Number zero{};
    Number mass{};
    for (Index j = 0; j < successors; ++j) mass += law[j];
    const Number kept = greater_of(zero, mass - tau);
    Number best{};
    for (Index k = 0; k < successors; ++k) {
        const Number t = number_at<Number>(value, k);
        Number above{};
        for (Index j = 0; j < successors; ++j)
            above += law[j] * greater_of(zero, number_at<Number>(value, j) - t);
        const Number mean = kept * t + above;
        best = k == 0 ? mean : lesser_of(best, mean);
    }
    return best;
}

/// What is cut off a ball at faces of the simplex that it crosses: theta_i >= 0, so that f . theta is at most
/// (f + lambda) . theta for all lambda >= 0, and the ball bounds the right side; one round of minimising it
/// over each lambda_i, in closed form. Any lambda is valid. `dual` is overwritten. With w the dual vector of
/// f + lambda and v_i that of e_i, lambda_i v_i is never longer than w; but v_i has lost digits where e_i is
/// known much better than others, and lambda_i is then large: rounding is that of a direction of length
/// |f| + lambda.
template <class Number>
ALIDADE_INLINE Number cut_half_width(const WeightBall& ball, Number* dual, const Number& squared,
                                     const Number& longest) {
    const Index p = ball.dimension;
    const Number zero{};
    Number moved{}, square = squared, length = longest;
    for (const WeightBall::Face& face : ball.faces) {
        const double* const v = ball.dual_map + face.feature * p;
        Number along{};
        for (Index k = 0; k < p; ++k) along += dual[k] * v[k];
        along = along / face.square;
        const Number across = root_of(greater_of(zero, square / face.square - along * along));
        Number lambda = -along - across * face.tangent;
        lambda = where_less<Number>(along, zero, lambda, zero);
        lambda = where_positive<Number>(lambda, lambda, zero);
        if (!any_positive(lambda)) continue;
        Number changed{};
        for (Index k = 0; k < p; ++k) {
            dual[k] = where_positive<Number>(lambda, dual[k] + lambda * v[k], dual[k]);
            changed += dual[k] * dual[k];
        }
        square = where_positive<Number>(lambda, changed, square);
        moved += lambda * ball.projected[face.feature];
        length += lambda;
    }
    return moved + ball.refined_radius * root_of(square) + ball.projection_rounding * length;
}

/// Squares of directions below this underflow, and with them all that members can differ by.
constexpr double least_direction = 1e-140;
/// Expectations below this may have lost what rounded to zero.
constexpr double least_expectation = 1e-300;

/// At least the largest weights . direction over a ball. `strange` is set to one in lanes where the numbers
/// are so small that this does not hold.
template <class Number>
ALIDADE_INLINE Number largest_over_ball(const WeightBall& ball, const Number* f, Number* dual,
                                        Number& strange) {
    const Index d = ball.features, p = ball.dimension;
    const Number one = all_lanes<Number>(1);
    Number at_estimate{}, at_projection{}, most = f[0], least = f[0], length{};
    for (Index i = 0; i < d; ++i) {
        length += f[i] * f[i];
        at_estimate += ball.estimated[i] * f[i];
        at_projection += ball.projected[i] * f[i];
        most = greater_of(most, f[i]);
        least = lesser_of(least, f[i]);
    }
    const Number size = greater_of(most, -least);
    strange = where_positive<Number>(
        size, where_less<Number>(size, all_lanes<Number>(least_direction), one, strange), strange);
    Number square{};
    for (Index k = 0; k < p; ++k) {
        Number sum{};
        for (Index i = 0; i < d; ++i) sum += ball.dual_map[i * p + k] * f[i];
        square += sum * sum;
        dual[k] = sum;
    }
    const Number norm = root_of(square);
    length = root_of(length);
    const Number about_estimate = ball.radius * norm + ball.estimate_rounding * length;
    const Number about_projection = ball.refined_radius * norm + ball.projection_rounding * length;
    // Both balls hold at once, and so does the simplex [theory §3a, §3g].
    const Number upper =
        lesser_of(lesser_of(at_estimate + about_estimate, at_projection + about_projection), most);
    if (ball.faces.empty()) return upper;
    // With few data the ball reaches out of the simplex, and the maximum over both together may be less than
    // either's own.
    const Number cut = lesser_of(upper, at_projection + cut_half_width(ball, dual, square, length));
    return where_positive<Number>(square, cut, upper);
}

}  // namespace alidade::detail
