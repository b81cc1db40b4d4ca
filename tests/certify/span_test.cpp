#include "alidade/certify/span.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "alidade/plan/evaluation.hpp"
#include "alidade/random/samplers.hpp"
#include "support/learned_models.hpp"

namespace alidade::span_test {
namespace {

const support::RandomSizes sizes{.shape = {5, 2, 5}, .features = 3, .successors = 5};

Reward random_reward(const Shape& shape, Stream& random) {
    std::vector<double> values(static_cast<std::size_t>(shape.horizon * shape.pairs()));
    for (double& value : values) value = sample_index(random, 2) == 0 ? 0.0 : sample_uniform(random);
    return Reward(shape, std::move(values));
}

TEST(ValueSpans, AreAboveEveryValueOfTheModel) {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        const Knowledge knowledge = support::knowledge_about(support::random_model(seed, sizes), seed, 10);
        const std::vector<double> spans = detail::value_spans(knowledge.mixture());
        const Shape& shape = knowledge.mixture().shape();
        Stream random = support::test_stream(seed, 5);
        for (int trial = 0; trial < 20; ++trial) {
            std::vector<std::int32_t> actions(static_cast<std::size_t>(shape.horizon * shape.states));
            for (auto& action : actions)
                action = static_cast<std::int32_t>(sample_index(random, shape.actions));
            const auto found = evaluate(knowledge.mixture().model(), Policy::deterministic(shape, actions),
                                        random_reward(shape, random));
            for (Step h = 0; h < shape.horizon; ++h) {
                const double span = found.values.row(h).maxCoeff() - found.values.row(h).minCoeff();
                EXPECT_LE(span, spans[static_cast<std::size_t>(h)] + 1e-12);
            }
        }
        EXPECT_EQ(spans.back(), 0);
    }
}

// By hand: two rows, (1/2, 1/2) and (1, 0), are 1/2 apart; H = 3 gives 1, 1 + 1/2, 1 + 3/4.
TEST(ValueSpans, MatchAHandCalculation) {
    const BaseKernel kernel{"only", 2, 2, {0, 2, 3}, {0, 1, 0}, {0.5, 0.5, 1}};
    const auto features =
        std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(2, 1, std::vector{kernel}));
    const MixtureModel model(features, 3, StartLaw(0), Matrix::Ones(3, 1));
    const std::vector<double> spans = detail::value_spans(support::knowledge_about(model, 1, 1).mixture());
    EXPECT_NEAR(spans[2], 1, 1e-9);
    EXPECT_NEAR(spans[1], 1.5, 1e-9);
    EXPECT_NEAR(spans[0], 1.75, 1e-9);
}

// [theory §3l]: H = 10. In the model the start leads to a dead end z, and so does w, which pays 1: values
// differ by 1 at most. In truth the start leads to w with .2, and w stays: the value is off by 1.8. The span
// in the recursion under the model would say .2; under the set it is a bound.
TEST(SpanRecursion, IsNotToBeMixedIntoTheModelRecursion) {
    const BaseKernel model_kernel{"model", 3, 3, {0, 1, 2, 3}, {1, 1, 1}, {1, 1, 1}};
    const BaseKernel truth_kernel{"truth", 3, 3, {0, 2, 3, 4}, {1, 2, 1, 2}, {0.8, 0.2, 1, 1}};
    const auto features = std::make_shared<const FeatureMap>(
        FeatureMap::from_base_kernels(3, 1, std::vector{model_kernel, truth_kernel}));
    const auto weights = [](double first) {
        Matrix rows(10, 2);
        rows.col(0).setConstant(first);
        rows.col(1).setConstant(1 - first);
        return rows;
    };
    const MixtureModel model(features, 10, StartLaw(0), weights(1)),
        truth(features, 10, StartLaw(0), weights(0));
    std::vector<double> pays(30, 0.0);
    for (std::size_t h = 0; h < 10; ++h) pays[h * 3 + 2] = 1;
    const Reward reward(model.shape(), pays);
    const Policy policy = Policy::uniform(model.shape());
    const double error = evaluate(truth, policy, reward).value - evaluate(model, policy, reward).value;
    EXPECT_NEAR(error, 1.8, 1e-12);

    const LearnedMixture learned = support::knowledge_about(model, 1, 0).mixture();
    ASSERT_TRUE(learned.contains(truth));
    const std::vector<double> spans = detail::value_spans(learned);
    EXPECT_NEAR(spans[1], 1, 1e-9);
    std::vector<double> tau;
    for (int h = 0; h < 9; ++h) tau.insert(tau.end(), {0.2, 0.0, 1.0});
    const DeviationTable deviations(3, false, tau);
    const double mixed = spans[1] * deviations.at(0, 0);  // and nothing is added at z, where the model goes
    EXPECT_NEAR(mixed, 0.2, 1e-9);
    EXPECT_LT(mixed, error);
    EXPECT_GE(detail::span_recursion(learned, deviations).values(0, 0), error);
    EXPECT_GE(model_recursion(learned, deviations).values(0, 0), error);
}

}  // namespace
}  // namespace alidade::span_test
