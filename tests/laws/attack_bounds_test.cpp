#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "alidade/certify/second_order.hpp"
#include "alidade/confidence/intersection.hpp"
#include "alidade/formats/transition_intervals.hpp"
#include "support/members.hpp"
#include "support/random_models.hpp"

// Attacks on the rounding of bounds, with members that are on the boundary of their sets to more digits than
// a double has: estimates far from all mixtures, metrics of condition 1e14, sums that cancel.
namespace alidade::attack_bounds_test {
namespace {

using Long = long double;
using LongVector = std::vector<Long>;

LongVector random_weights(Stream& random, Index d) {
    LongVector weights;
    Long sum = 0;
    for (const double weight : sample_dirichlet(random, d, 0.5)) sum += weights.emplace_back(weight);
    for (Long& weight : weights) weight /= sum;
    return weights;
}

/// factor' (coordinates of the weights - centre).
LongVector whitened(const TangentSpace& space, const LongVector& weights, const PointEstimate& estimate) {
    const Index p = space.dimension();
    LongVector offset(at(p)), result(at(p));
    for (Index k = 0; k < p; ++k) {
        offset[at(k)] = -static_cast<Long>(estimate.coordinates[k]);
        for (Index i = 0; i <= p; ++i)
            offset[at(k)] +=
                static_cast<Long>(space.basis(i, k)) * (weights[at(i)] - static_cast<Long>(space.centre[i]));
    }
    for (Index k = 0; k < p; ++k)
        for (Index i = k; i < p; ++i)
            result[at(k)] += static_cast<Long>(estimate.factor(i, k)) * offset[at(i)];
    return result;
}

Long norm(const LongVector& vector) {
    Long square = 0;
    for (const Long element : vector) square += element * element;
    return std::sqrt(square);
}

PointEstimate random_metric(Stream& random, Index p, double decades) {
    Matrix precision = Matrix::Identity(p, p);
    for (int term = 0; term < 2; ++term) {
        Vector x(p);
        for (Index i = 0; i < p; ++i) x[i] = sample_normal(random);
        precision += std::pow(10.0, decades * sample_uniform(random)) * x * x.transpose();
    }
    return estimate_with(Vector::Zero(p), 0.5 * (precision + precision.transpose()));
}

/// Puts the member onto the boundary of the ball, whose centre is `far` from it; returns the radius.
double place(Stream& random, const TangentSpace& space, const LongVector& member, double far,
             PointEstimate& estimate) {
    const Index p = space.dimension();
    const double scale = far * sample_uniform(random);
    for (Index k = 0; k < p; ++k) {
        estimate.coordinates[k] = scale * sample_normal(random);
        for (Index i = 0; i <= p; ++i)
            estimate.coordinates[k] += space.basis(i, k) * static_cast<double>(member[at(i)]);
    }
    return std::nextafter(static_cast<double>(norm(whitened(space, member, estimate))), 1e300);
}

TEST(AttackBounds, RangesContainWhatMembersOfTheBoundaryGive) {
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
        Stream random = support::test_stream(seed, 610);
        const Index d = 2 + sample_index(random, 4);
        const ParameterSet parameters = ParameterSet::simplex(d);
        const TangentSpace& space = parameters.space();
        PointEstimate estimate = random_metric(random, d - 1, static_cast<double>(seed % 15));
        const LongVector member = random_weights(random, d);
        const double radius = place(random, space, member, seed % 2 == 0 ? 1000.0 : 0.3, estimate);
        const ConfidenceSet set(parameters, estimate, radius);
        // The direction in which the member is the farthest of the ball.
        Vector slope(d - 1);
        const LongVector outward = whitened(space, member, estimate);
        for (Index k = 0; k < d - 1; ++k) slope[k] = static_cast<double>(outward[at(k)]);
        slope = estimate.factor * slope;
        const Vector direction = space.basis * (slope / slope.norm());
        Long value = 0;
        for (Index i = 0; i < d; ++i) value += member[at(i)] * static_cast<Long>(direction[i]);
        const Interval range = set.range({direction.data(), at(d)});
        EXPECT_LE(value, static_cast<Long>(range.upper) + 1e-18L) << "seed " << seed;
        EXPECT_GE(value, static_cast<Long>(range.lower) - 1e-18L) << "seed " << seed;
    }
}

TEST(AttackBounds, SecondOrderTermsPayForWhatCancels) {
    const Index d = 2;  // one coordinate: the extreme members are the two ends
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        Stream random = support::test_stream(seed, 611);
        const support::RandomSizes sizes{.shape = {5, 2, 3}, .features = d, .successors = 5};
        const MixtureModel model = support::random_model(random, sizes);
        const FeatureMap& features = model.features();
        const ParameterSet parameters = ParameterSet::simplex(d);
        std::vector<ConfidenceSet> sets;
        for (int k = 0; k < 2; ++k) {
            PointEstimate estimate = random_metric(random, 1, 3);
            sets.emplace_back(parameters, estimate, 3 * sample_uniform(random));
        }
        const LearnedMixture learned(model.shared_features(), 3, model.start(), false, sets, 0.1);
        // What the successors have in common is 10, and they differ by 1e-12 at most.
        std::vector<double> sums(at(5 * 2 * d));
        for (Index i = 0; i < std::ssize(sums); ++i)
            sums[at(i)] = 10 * static_cast<double>(i % (2 * d)) + 1e-12 * sample_normal(random);
        detail::SecondOrder bound(learned);
        bound.prepare(1, sums);
        for (Index pair = 0; pair < features.pairs(); ++pair) {
            Long exact = 0;
            const Matrix& basis = parameters.space().basis;
            for (Index e = features.first_entry(pair); e < features.first_entry(pair + 1); ++e) {
                Long generator = 0, sum = 0;
                for (Index i = 0; i < d; ++i) {
                    const double later = sums[at((features.targets()[at(e)] * 2 + 1) * d + i)];
                    generator += static_cast<Long>(basis(i, 0)) * static_cast<Long>(features.phi(e)[at(i)]);
                    sum += static_cast<Long>(basis(i, 0)) * static_cast<Long>(later);
                }
                exact += generator * sum;
            }
            for (const ConfidenceSet& set : sets)
                exact *=
                    static_cast<Long>(set.refined_radius()) / static_cast<Long>(set.estimate().factor(0, 0));
            detail::SecondOrder::Scratch scratch;
            detail::SecondOrder::Form form;
            bound.form(0, pair, scratch, form);
            EXPECT_LE(std::abs(exact), static_cast<Long>(bound.bound(form)) * (1 + 1e-18L))
                << "seed " << seed;
        }
    }
}

TEST(AttackBounds, IntersectionsContainTheOneCommonMember) {
    for (std::uint64_t seed = 0; seed < 2000; ++seed) {
        Stream random = support::test_stream(seed, 612);
        const Index d = 2 + sample_index(random, 4);
        const ParameterSet parameters = ParameterSet::simplex(d);
        const LongVector member = random_weights(random, d);
        std::vector<ConfidenceSet> sets;
        for (int k = 0; k < 2; ++k) {
            PointEstimate estimate = random_metric(random, d - 1, static_cast<double>(seed % 15));
            const double far = std::pow(10.0, 5 * sample_uniform(random) - 2);
            const double radius = place(random, parameters.space(), member, far, estimate);
            sets.emplace_back(parameters, estimate, radius);
        }
        const ConfidenceSet common = detail::intersection(sets[0], sets[1]);
        EXPECT_LE(norm(whitened(parameters.space(), member, common.estimate())),
                  static_cast<Long>(common.radius()))
            << "seed " << seed;
    }
}

TEST(AttackBounds, SetsWhoseSumIsSingularUpToRoundingStillIntersect) {
    // Known so well in one direction that the next digit of the other is lost when the metrics are added.
    const ParameterSet parameters = ParameterSet::simplex(3);
    const PointEstimate sharp =
        estimate_with(Vector::Zero(2), (Matrix(2, 2) << 1e18, 1e18, 1e18, 1e18 + 128).finished());
    const PointEstimate plain = estimate_with(Vector::Zero(2), Matrix::Identity(2, 2));
    for (int k = 1; k < 100; ++k) {
        const ConfidenceSet one(parameters, sharp, 1), other(parameters, plain, 1 + 0.0137 * k);
        const ConfidenceSet common = detail::intersection(one, other),
                            again = detail::intersection(other, one);
        EXPECT_TRUE(common.contains(parameters.space().centre) && again.contains(parameters.space().centre));
    }
}

TEST(AttackBounds, TransitionIntervalsAreRoundedOutwardByAMisspecificationToo) {
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
        Stream random = support::test_stream(seed, 613);
        const support::RandomSizes sizes{
            .shape = {4, 2, 2}, .features = 1 + sample_index(random, 3), .successors = 3};
        const MixtureModel model = support::random_model(random, sizes);
        const ParameterSet parameters = ParameterSet::simplex(sizes.features);
        const ConfidenceSet all(parameters, random_metric(random, sizes.features - 1, 0), 100);
        const double off = 0.2 * sample_uniform(random);
        const LearnedMixture learned(model.shared_features(), 2, model.start(), false, {all}, 0.1, off);
        const auto intervals = detail::transition_intervals(learned, seed % 2 == 0, 1);
        for (Index e = 0; e < model.features().entries(); ++e)
            for (const double probability : model.features().phi(e)) {
                const Long high = static_cast<Long>(probability) + static_cast<Long>(off);
                const Long low = static_cast<Long>(probability) - static_cast<Long>(off);
                EXPECT_LE(std::min(high, 1.0L), static_cast<Long>(intervals[at(e)].upper)) << "seed " << seed;
                EXPECT_GE(std::max(low, 0.0L), static_cast<Long>(intervals[at(e)].lower)) << "seed " << seed;
            }
    }
}

}  // namespace
}  // namespace alidade::attack_bounds_test
