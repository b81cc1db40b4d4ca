#include "alidade/model/transition_operator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "alidade/error.hpp"
#include "alidade/model/row_kernels.hpp"
#include "alidade/random/samplers.hpp"
#include "support/random_models.hpp"

namespace alidade::transition_operator_test {
namespace {

/// Models whose pairs have all the same number of successors, and models in which they have not; more pairs
/// than a block has, and fewer.
std::vector<SharedFeatures> models() {
    std::vector<SharedFeatures> result;
    for (const Index d : {1, 2, 3, 5, 7, 10}) {
        Stream random = support::test_stream(static_cast<std::uint64_t>(d), 51);
        result.push_back(
            support::random_features(random, {.shape = {41, 3, 3}, .features = d, .successors = 1 + d % 5}));
        result.push_back(
            support::random_features(random, {.shape = {3, 1, 3}, .features = d, .successors = 2}));
    }
    return result;
}

std::vector<double> uniform_numbers(Stream& random, Index count) {
    std::vector<double> numbers(at(count));
    for (double& number : numbers) number = sample_uniform(random);
    return numbers;
}

TEST(TransitionOperator, AppliesTheFeaturesToAValue) {
    for (const SharedFeatures& features : models()) {
        Stream random = support::test_stream(1, 52);
        const Index d = features->features();
        const auto value = uniform_numbers(random, features->states());
        std::vector<double> found(at(features->pairs() * d));
        local_operator(*features, 1)->apply(value, found);
        for (Index pair = 0; pair < features->pairs(); ++pair) {
            const Vector exact = features->phi_value(pair, value);
            for (Index i = 0; i < d; ++i) EXPECT_NEAR(found[at(pair * d + i)], exact[i], 1e-15);
        }
        for (const int threads : {2, 4}) {
            std::vector<double> shared(found.size());
            local_operator(*features, threads)->apply(value, shared);
            EXPECT_EQ(shared, found);
        }
    }
}

TEST(TransitionOperator, ExpectsAValueUnderTheMixture) {
    for (const SharedFeatures& features : models()) {
        Stream random = support::test_stream(2, 52);
        const Vector weights = support::random_weights(random, 1, features->features()).row(0).transpose();
        const auto value = uniform_numbers(random, features->states());
        std::vector<double> found(at(features->pairs()));
        local_operator(*features, 1)->expect({weights.data(), at(weights.size())}, value, found);
        for (Index pair = 0; pair < features->pairs(); ++pair)
            EXPECT_NEAR(found[at(pair)], weights.dot(features->phi_value(pair, value)), 1e-14);
    }
}

// The transpose: <weight, apply(V)> = <apply_transpose(weight), V>, from above and by no more than the
// rounding of every term to 2^-63.
TEST(TransitionOperator, SumsUpWhatArrivesFromAbove) {
    for (const SharedFeatures& features : models()) {
        Stream random = support::test_stream(3, 52);
        const Index d = features->features(), states = features->states();
        auto weight = uniform_numbers(random, features->pairs());
        weight[0] = 0;
        std::vector<long double> exact(at(states * d), 0.0L);
        for (Index pair = 0; pair < features->pairs(); ++pair)
            for (Index e = features->first_entry(pair); e < features->first_entry(pair + 1); ++e)
                for (Index i = 0; i < d; ++i)
                    exact[at(features->targets()[at(e)] * d + i)] +=
                        static_cast<long double>(weight[at(pair)]) * features->phi(e)[at(i)];
        std::vector<double> found(exact.size());
        local_operator(*features, 1)->apply_transpose(weight, found);
        for (std::size_t k = 0; k < exact.size(); ++k) {
            EXPECT_GE(static_cast<long double>(found[k]), exact[k]);
            EXPECT_LE(found[k], static_cast<double>(exact[k]) * (1 + 1e-14) + 1e-16);
        }
        for (const int threads : {2, 4}) {
            std::vector<double> shared(found.size());
            local_operator(*features, threads)->apply_transpose(weight, shared);
            EXPECT_EQ(shared, found);
        }
    }
}

TEST(TransitionOperator, AddsInBlocks) {
    Stream random = support::test_stream(4, 52);
    const SharedFeatures features = models().front();
    for (const Index count : {0, 1, 4095, 4096, 4097, 50'000}) {
        const auto numbers = uniform_numbers(random, count);
        const double sum = local_operator(*features, 1)->sum(numbers);
        EXPECT_NEAR(sum, std::accumulate(numbers.begin(), numbers.end(), 0.0),
                    1e-15 * static_cast<double>(count * count));
        for (const int threads : {2, 4}) EXPECT_EQ(local_operator(*features, threads)->sum(numbers), sum);
    }
}

// The mean that a law has left when mass is taken from its smallest values, by a sort; also of more
// successors than are done without one, of mass that takes everything, and of equal values.
TEST(RowKernels, MeansLessMassAreThoseOfASort) {
    Stream random = support::test_stream(5, 52);
    for (int trial = 0; trial < 500; ++trial) {
        const Index m = 1 + sample_index(random, 40);
        std::vector<double> law = uniform_numbers(random, m), value(at(m * detail::lanes));
        const double mass = std::accumulate(law.begin(), law.end(), 0.0);
        for (double& p : law) p /= mass;
        for (Index j = 0; j < m; ++j)
            value[at(j * detail::lanes)] =
                trial % 3 == 0 ? static_cast<double>(sample_index(random, 3)) : 5 * sample_uniform(random);
        const double tau = trial % 7 == 0 ? 1.0 : (trial % 7 == 1 ? 0.0 : sample_uniform(random));
        std::vector<std::pair<double, double>> order;
        for (Index j = 0; j < m; ++j) order.emplace_back(value[at(j * detail::lanes)], law[at(j)]);
        std::ranges::sort(order);
        double left = tau, exact = 0;
        for (const auto& [v, p] : order) {
            const double taken = std::min(left, p);
            left -= taken;
            exact += (p - taken) * v;
        }
        EXPECT_NEAR(detail::mean_less_mass(law.data(), value.data(), m, tau), exact, 1e-14) << trial;
    }
}

TEST(TransitionOperator, RefusesArraysOfAnotherSize) {
    const SharedFeatures features = models().front();
    const auto passes = local_operator(*features, 1);
    std::vector<double> few(1), pairs(at(features->pairs())), states(at(features->states()));
    const std::vector<double> weights(at(features->features()), 1.0);
    EXPECT_THROW(passes->expect(weights, few, pairs), InvalidArgument);
    EXPECT_THROW(passes->expect(few, states, few), InvalidArgument);
    EXPECT_THROW(passes->apply(states, few), InvalidArgument);
    EXPECT_THROW(passes->apply_transpose(few, states), InvalidArgument);
    ErrorStep step;
    step.kind = ErrorStep::Kind::ball;
    step.deviations = pairs;
    EXPECT_THROW(passes->recurse(weights, {&step, 1}), InvalidArgument);
}

}  // namespace
}  // namespace alidade::transition_operator_test
