#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "alidade/certify/advantage.hpp"
#include "alidade/certify/reward_certificate.hpp"
#include "alidade/convex/projection.hpp"
#include "alidade/estimate/ridge_regression.hpp"
#include "support/effort.hpp"
#include "support/signed_features.hpp"

// The interval of a policy's value against laws that are no mixtures: every row is moved by the
// misspecification towards where the value is largest, or least, while the weights of all steps climb.
namespace alidade::attack_value_interval_test {
namespace {

/// What the value of a policy depends on, with one row of tangent coordinates a set.
struct Question {
    LearnedMixture learned;
    Reward reward;
    Policy policy;
};

/// Largest (sign = 1) or least (sign = -1) mean of `values` over the laws within `off` of `law` in total
/// variation: mass goes from the worst successors to the best state of all.
double extreme_mean(std::vector<double> law, const std::vector<double>& values, double off, double sign) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&](std::size_t s) { return sign * values[s]; });
    for (const std::size_t s : order) {
        const double moved = std::clamp(law[s], 0.0, off);
        law[s] -= moved;
        law[order.back()] += moved;
        off -= moved;
    }
    return std::inner_product(law.begin(), law.end(), values.begin(), 0.0);
}

double extreme_value(const Question& question, const Matrix& points, double sign) {
    const LearnedMixture& learned = question.learned;
    const Shape& shape = learned.shape();
    const FeatureMap& features = learned.model().features();
    std::vector<double> next(at(shape.states), 0.0), now(next), law(next);
    for (Step h = shape.horizon - 1; h >= 0; --h) {
        const bool last = h + 1 == shape.horizon;
        Vector weights;
        if (!last)
            weights =
                learned.set(h).parameters().space().weights(points.row(learned.set_index(h)).transpose());
        for (State s = 0; s < shape.states; ++s) {
            now[at(s)] = 0;
            for (Action a = 0; a < shape.actions; ++a) {
                double value = question.reward.at(h, s, a);
                std::ranges::fill(law, 0.0);
                const Index pair = shape.pair(s, a);
                for (Index e = features.first_entry(pair); !last && e < features.first_entry(pair + 1); ++e)
                    law[at(features.targets()[at(e)])] =
                        Eigen::Map<const Vector>(features.phi(e).data(), weights.size()).dot(weights);
                if (!last) value += extreme_mean(law, next, learned.misspecification(), sign);
                now[at(s)] += question.policy.probability(h, s, a) * value;
            }
        }
        now.swap(next);
    }
    return learned.model().start().expect(next);
}

/// The last member on the way from the set's own along a direction, given in the set's metric.
Vector farthest_member(const ConfidenceSet& set, const Vector& direction) {
    const ParameterSet& parameters = set.parameters();
    const Vector& from = set.projection().coordinates;
    const Vector way = set.estimate().inverse_factor.transpose() * direction;
    double inside = 0, outside = 2.1 * set.refined_radius() / direction.norm();
    for (int round = 0; round < 45; ++round) {
        const double middle = 0.5 * (inside + outside);
        const Vector weights = parameters.space().weights(from + middle * way);
        (parameters.contains(weights, 1e-14) && set.depth(weights) <= 1 ? inside : outside) = middle;
    }
    return from + inside * way;
}

Vector random_direction(Stream& random, Index size) {
    Vector direction(size);
    for (Index i = 0; i < size; ++i) direction[i] = sample_normal(random);
    return direction;
}

/// Members whose value is large (sign = 1) or small: random directions about the best so far, set by set.
double climbed_value(const Question& question, Stream& random, double sign) {
    const auto& sets = question.learned.sets();
    const Index p = sets.empty() ? 0 : sets.front().dimension();
    Matrix points(static_cast<Index>(sets.size()), p), directions = points;
    for (Index k = 0; k < points.rows(); ++k) {
        directions.row(k) = random_direction(random, p).normalized().transpose();
        points.row(k) = sets[at(k)].projection().coordinates.transpose();
    }
    double best = sign * extreme_value(question, points, sign);
    for (int round = 0; round < 60 && p > 0; ++round)
        for (Index k = 0; k < points.rows(); ++k) {
            const double spread = round % 20 == 0 ? 10 : std::pow(0.8, round % 20);
            const Vector direction =
                (directions.row(k).transpose() + spread * random_direction(random, p)).normalized();
            const Vector before = points.row(k).transpose();
            points.row(k) = farthest_member(sets[at(k)], direction).transpose();
            const double reached = sign * extreme_value(question, points, sign);
            if (reached > best) {
                best = reached;
                directions.row(k) = direction.transpose();
            } else {
                points.row(k) = before.transpose();
            }
        }
    return sign * best;
}

Question random_question(Stream& random, std::uint64_t seed) {
    const Shape shape{2 + sample_index(random, 3), 1 + sample_index(random, 3), 1 + sample_index(random, 5)};
    const Index d = 2 + sample_index(random, 3), successors = 2 + sample_index(random, shape.states - 1);
    const bool pooled = seed % 3 == 0;
    auto features =
        seed % 2 == 0
            ? FeatureMap::from_base_kernels(
                  shape.states, shape.actions,
                  support::random_kernels(random, {.shape = shape, .features = d, .successors = successors}))
            : support::random_signed_features(random, shape, d, successors, 1.02);
    const ParameterSet parameters = ParameterSet::of(features);
    const Index p = parameters.space().dimension();
    const double size = std::pow(10.0, -2.5 + 2.5 * sample_uniform(random));
    std::vector<ConfidenceSet> sets;
    for (Index k = 0; k < confidence_sets(shape.horizon, pooled); ++k) {
        Matrix precision = 0.25 * Matrix::Identity(p, p);
        for (Index t = 0; t < 2 * p; ++t) {
            const Vector x = std::pow(10.0, sample_uniform(random)) * random_direction(random, p);
            precision += x * x.transpose();
        }
        const Vector member =
            project(parameters, 0.3 * random_direction(random, p), Matrix::Identity(p, p)).coordinates;
        const PointEstimate about = estimate_with(member, precision);
        const double radius = size * std::sqrt(precision.trace());
        const Vector off =
            about.inverse_factor.transpose() * (0.8 * radius * random_direction(random, p).normalized());
        sets.emplace_back(parameters, estimate_with(member + off, precision), radius);
    }
    const double off = seed % 5 < 2 ? 0.0 : std::pow(10.0, -3 + 2.5 * sample_uniform(random));
    LearnedMixture learned(std::make_shared<const FeatureMap>(std::move(features)), shape.horizon,
                           seed % 4 == 0 ? StartLaw(0) : StartLaw({{0, 0.3}, {1, 0.7}}), pooled, sets, 0.1,
                           off);
    Reward reward = seed % 2 == 0 ? support::random_reward(random, shape)
                                  : support::random_sparse_reward(random, shape, 0.4);
    Policy policy = seed % 3 == 1 ? support::random_deterministic_policy(random, shape)
                                  : support::random_stochastic_policy(random, shape);
    return {std::move(learned), std::move(reward), std::move(policy)};
}

// 120 models: base models and signed features, pooled and not, H = 1 to 5, misspecified in three of five.
TEST(ValueInterval, ContainsTheValuesOfLawsOffTheMixtures) {
    double tightest = 0, tightest_off = 0;
    for (std::uint64_t seed = 0; seed < support::repetitions<std::uint64_t>(120, 30); ++seed) {
        Stream random = support::test_stream(seed, 83);
        const Question question = random_question(random, seed);
        const auto& [learned, reward, policy] = question;
        const Interval reported = certify_reward(learned, reward, policy).value;
        const Interval shared = detail::advantage_bounds(learned, DeviationTable::of(learned), reward, policy,
                                                         value_bounds(learned, reward, policy))
                                    .value;
        for (const double sign : {1.0, -1.0}) {
            const double reached = climbed_value(question, random, sign);
            for (const Interval& value : {reported, shared}) {
                EXPECT_GE(reached, value.lower - 1e-12) << "seed " << seed;
                EXPECT_LE(reached, value.upper + 1e-12) << "seed " << seed;
            }
            const double middle = 0.5 * (reported.lower + reported.upper);
            const double width = reported.upper - reported.lower;
            if (width < 1e-5) continue;
            double& most = learned.misspecification() > 0 ? tightest_off : tightest;
            most = std::max(most, 2 * std::abs(reached - middle) / width);
        }
    }
    RecordProperty("tightest", std::to_string(tightest));
    RecordProperty("tightest off the mixtures", std::to_string(tightest_off));
    EXPECT_GT(tightest, 0.9);
    EXPECT_GT(tightest_off, 0.9);
}

// Step 0 stays in state 0 for certain, in every base model. At step 1 all states earn 1/2 in the model:
// states 0, 2 and 3 at once, and state 1 by going to 2, where step 2 pays 1, or to 3, with the two base
// models. A truth that is off by 1/10 goes to state 1 with that probability, and from all states but 1 to
// state 2 at the end: it earns 0.9 (0.5 + 0.1) + 0.1 * 1, although state 1 is no successor of state 0.
TEST(ValueInterval, CountsStatesThatOnlyLawsOffTheMixturesReach) {
    const std::vector<std::int64_t> offsets{0, 1, 2, 3, 4};
    const BaseKernel a{"a", 4, 4, offsets, {0, 2, 0, 0}, {1, 1, 1, 1}},
        b{"b", 4, 4, offsets, {0, 3, 0, 0}, {1, 1, 1, 1}};
    const auto features =
        std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(4, 1, std::vector{a, b}));
    const ConfidenceSet all(ParameterSet::of(*features),
                            estimate_with(Vector::Zero(1), Matrix::Identity(1, 1)), 2);
    const LearnedMixture learned(features, 3, StartLaw(0), false, {all, all}, 0.1, 0.1);
    const Reward reward(learned.shape(), {0, 0, 0, 0, 0.5, 0, 0.5, 0.5, 0, 0, 1, 0});
    const Policy policy = Policy::uniform(learned.shape());
    EXPECT_GE(certify_reward(learned, reward, policy).value.upper, 0.64);
    EXPECT_GE(detail::advantage_bounds(learned, DeviationTable::of(learned), reward, policy,
                                       value_bounds(learned, reward, policy))
                  .value.upper,
              0.64);
}

}  // namespace
}  // namespace alidade::attack_value_interval_test
