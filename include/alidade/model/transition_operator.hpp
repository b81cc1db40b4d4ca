#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "alidade/model/feature_map.hpp"
#include "alidade/model/planning_passes.hpp"
#include "alidade/model/tangent_space.hpp"
#include "alidade/model/threads.hpp"
#include "alidade/model/weight_ball.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// One step of a recursion of errors: at every state the largest over its actions of what follows, cut at a
/// cap. Spans are over pairs or states; what is written is what an operator's `recurse` is called for.
struct ErrorStep {
    enum class Kind {
        model,           ///< min(range, range tau + E[next])
        coupling,        ///< range tau + E[next] less mass tau where `next` is least
        ball,            ///< min(range, span tau + the largest E[next] over the ball)
        divergence,      ///< divergence + E[next] over successors that are possible; may be infinite
        total_variance,  ///< the law of total variance, with `variance`
    };

    /// The free numbers of the law of total variance at this step [docs/algorithms/likelihood.md, Theorem 8].
    struct Variance {
        double leverage = 0;  ///< c/2 (1+eta)^h: of a divergence
        double growth = 0;    ///< eta
        double yet = 0;       ///< 8c (1+eta)^(h+1): divides tau later^2
    };

    Kind kind = Kind::model;
    std::span<const double> deviations;   ///< tau, one a pair; not of `divergence`
    std::span<const double> divergences;  ///< one a pair, of `divergence` and `total_variance`
    double range = 0;                     ///< of values at the next step
    double later = 0;                     ///< of `total_variance`: the range of what follows after that
    std::span<const double> ranges;       ///< the same two, one a pair, where pairs differ in them; else none
    std::span<const double> laters;
    double span = 0;                   ///< of `ball`: by how much values of the model vary
    const WeightBall* ball = nullptr;  ///< of `ball` and `total_variance`
    double off = 0;                    ///< added to the largest over the ball: a truth off its mixture
    double most = std::numeric_limits<double>::infinity();  ///< it is cut at this; of `divergence`: each is
    Variance variance;
    std::span<const double> next;  ///< one a state
    const double* cap = nullptr;   ///< one a state, `cap_stride` apart; none: no cap
    Index cap_stride = 1;
    /// The largest over the ball at one pair, where numbers are so small that lanes cannot tell.
    std::function<double(Index pair)> alone;
    std::span<double> now;      ///< written: one a state
    std::span<Action> actions;  ///< written: the first that attains it
};

/// What a value can be expected to be at every pair, over all weights of a ball.
struct BallStep {
    const WeightBall* ball = nullptr;
    std::span<const double> value;  ///< one a state
    /// The same at one pair, where numbers are so small that lanes cannot tell.
    std::function<Interval(Index pair)> alone;
    std::span<double> lower, upper;  ///< one a pair: written; none: not asked for
};

/// Widths of all pairs in one metric: max over V in {0,1} of |inverse_factor psi_V|, from both sides.
struct WidthStep {
    const TangentFeatures* coordinates = nullptr;  ///< of a hull, so that the psi of a pair sum to zero
    const Matrix* inverse_factor = nullptr;  ///< of the metric: the inverse of its lower Cholesky factor
    Index most_successors = 12;              ///< pairs that have more are asked alone; at most 20
    /// Fills in one pair: what has more successors, or numbers at the ends of their range. Every thread calls
    /// a function of its own, which `alone` makes.
    std::function<std::function<void(Index pair)>()> alone;
    std::span<double> lower, upper;   ///< one a pair: written
    std::span<std::uint8_t> witness;  ///< one an entry: the V that attains `lower`, written
};

/// Whole passes over all state-action pairs of a feature map. Everything that goes through all pairs, to
/// plan, to bound or to evaluate, asks one of these: it is the seam for other places to compute than this
/// machine's processor [docs/large-models.md]. Results do not depend on the number of threads, nor on the
/// operator.
class TransitionOperator {
public:
    virtual ~TransitionOperator() = default;

    virtual std::string_view name() const noexcept = 0;  ///< "local"
    virtual const FeatureMap& features() const noexcept = 0;

    /// phi_V of every pair: d numbers each, pair after pair.
    virtual void apply(std::span<const double> value, std::span<double> phi_value) const = 0;
    /// At least sum of weight(s,a) phi_i(s,a,s') over all pairs, d numbers a state: what arrives there. Added
    /// in fixed point, each term rounded up to a multiple of 2^-63, so that any order gives the same bits. Of
    /// base models; weights are from 0 to 1.
    virtual void apply_transpose(std::span<const double> weight, std::span<double> arriving) const = 0;
    /// E[value(s')] of every pair under the mixture of d weights; laws are cut at zero.
    virtual void expect(std::span<const double> weights, std::span<const double> value,
                        std::span<double> expected) const = 0;
    /// One step of several recursions at once, under the mixture of d weights.
    virtual void recurse(std::span<const double> weights, std::span<const ErrorStep> together) const = 0;
    /// Bounds of E[value(s')] of every pair over a ball, of several values at once.
    virtual void bracket(std::span<const BallStep> together) const = 0;
    /// Widths by trying every vertex: the bits of Width::bracket, which tries one pair's.
    virtual void widths(const WidthStep& step) const = 0;
    /// Planning by widths in the coordinates of so many sets, which must outlive it; its witnesses begin at
    /// zero and stay with it from one policy to the next.
    virtual std::unique_ptr<WidthPlanner> plan(const TangentFeatures& coordinates, Index sets) const = 0;
    /// Planning by Fisher information in these coordinates, which must outlive it.
    virtual std::unique_ptr<InformationPlanner> bonus(const TangentFeatures& coordinates) const = 0;
    /// The sum of numbers, in blocks of 4096 that are added in order.
    virtual double sum(std::span<const double> numbers) const = 0;
};

/// The operator of this machine's processor: threads, and vectors of eight pairs side by side. It reads the
/// features, which must outlive it.
std::unique_ptr<TransitionOperator> local_operator(const FeatureMap& features, Threads threads);

}  // namespace alidade
