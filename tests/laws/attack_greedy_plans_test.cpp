#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "alidade/certify/divergence.hpp"
#include "alidade/certify/reward_certificate.hpp"
#include "alidade/certify/total_variance.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "support/effort.hpp"
#include "support/learned_models.hpp"

// Certificates of greedy plans, where the model gives no chance to what the truth does, and those of all
// policies with weights that fall [docs/algorithms/likelihood.md, Theorem 8].
// Learned models are at corners of the simplex, and base models lead to different states: the case in which
// "optimal in the model" and "greedy in every state" are not the same.
namespace alidade::attack_greedy_plans_test {
namespace {

/// Base models that each lead from a pair to one or two states of their own.
SharedFeatures apart_features(Stream& random, const Shape& shape, Index features) {
    std::vector<BaseKernel> kernels(at(features));
    for (BaseKernel& kernel : kernels) {
        kernel.rows = shape.pairs();
        kernel.columns = shape.states;
        kernel.offsets.push_back(0);
        for (Index pair = 0; pair < shape.pairs(); ++pair) {
            const auto targets = support::random_states(random, shape.states, 1 + sample_index(random, 2));
            const auto law = sample_dirichlet(random, static_cast<Index>(targets.size()), 1.0);
            kernel.targets.insert(kernel.targets.end(), targets.begin(), targets.end());
            kernel.probabilities.insert(kernel.probabilities.end(), law.begin(), law.end());
            kernel.offsets.push_back(static_cast<std::int64_t>(kernel.targets.size()));
        }
    }
    return std::make_shared<const FeatureMap>(
        FeatureMap::from_base_kernels(shape.states, shape.actions, kernels));
}

/// A learned model whose weights are a unit vector at every step.
Knowledge knowledge_at_corners(std::uint64_t seed, const Shape& shape, Index features) {
    Stream random = support::test_stream(seed, 700);
    SharedFeatures map = apart_features(random, shape, features);
    Matrix weights = Matrix::Zero(shape.horizon, features);
    for (Step h = 0; h < shape.horizon; ++h) weights(h, sample_index(random, features)) = 1;
    const MixtureModel truth(std::move(map), shape.horizon, StartLaw(State{0}), weights);
    return support::knowledge_about(truth, seed, std::pow(10.0, 1 + static_cast<double>(seed % 3)));
}

/// Greedy in the model; of tied actions the one that earns least on the real system.
Policy worst_greedy_plan(const TransitionModel& model, const TransitionModel& truth, const Reward& reward) {
    const Shape& shape = model.shape();
    std::vector<std::int32_t> actions(at(shape.horizon * shape.states), 0);
    std::vector<double> best(at(shape.states), 0.0), earned(best), best_now(best), earned_now(best);
    for (Step h = shape.horizon - 1; h >= 0; --h) {
        const bool last = h + 1 == shape.horizon;
        for (State s = 0; s < shape.states; ++s) {
            std::vector<double> in_model, in_truth;
            for (Action a = 0; a < shape.actions; ++a) {
                const Index pair = shape.pair(s, a);
                in_model.push_back(reward.at(h, s, a) + (last ? 0 : model.expect(h, pair, best)));
                in_truth.push_back(reward.at(h, s, a) + (last ? 0 : truth.expect(h, pair, earned)));
            }
            const double most = *std::ranges::max_element(in_model);
            double least = 1e9;
            for (Action a = 0; a < shape.actions; ++a)
                if (in_model[at(a)] >= most - 1e-13 && in_truth[at(a)] < least) {
                    least = in_truth[at(a)];
                    actions[at(h * shape.states + s)] = static_cast<std::int32_t>(a);
                }
            best_now[at(s)] = most;
            earned_now[at(s)] = least;
        }
        best.swap(best_now);
        earned.swap(earned_now);
    }
    return Policy::deterministic(shape, actions);
}

double loss_of(const TransitionModel& truth, const Reward& reward, const Policy& policy) {
    return backward_induction(truth, reward).value - evaluate(truth, policy, reward).value;
}

/// How often a deterministic policy is in which state: steps x states.
std::vector<std::vector<double>> visits(const TransitionModel& model, const Policy& policy) {
    const Shape& shape = model.shape();
    std::vector<std::vector<double>> all(at(shape.horizon), std::vector<double>(at(shape.states), 0.0));
    for (const auto& [state, probability] : model.start().atoms()) all[0][at(state)] = probability;
    for (Step h = 0; h + 1 < shape.horizon; ++h)
        for (State s = 0; s < shape.states; ++s) {
            const Index pair = shape.pair(s, policy.action(h, s));
            const auto targets = model.successors().targets(pair);
            const auto law = model.probabilities(h, pair);
            for (std::size_t j = 0; j < targets.size(); ++j)
                all[at(h + 1)][at(targets[j])] += all[at(h)][at(s)] * law[j];
        }
    return all;
}

// Ties are many where rewards are zeros and ones, and states that the model excludes are greedy, too.
TEST(GreedyPlans, LoseNoMoreWhereTheModelGivesNoChance) {
    double closest = 0;
    const auto problems = static_cast<std::uint64_t>(support::repetitions(60, 8));
    for (std::uint64_t seed = 0; seed < problems; ++seed) {
        const Shape shape{3 + static_cast<Index>(seed % 2), 2, 2 + static_cast<Index>(seed % 3)};
        const Knowledge knowledge = knowledge_at_corners(seed, shape, 2 + static_cast<Index>(seed % 2));
        const RewardFreeCertificate found =
            certify_reward_free(*knowledge.learned, DeviationTable::of(*knowledge.learned));
        Stream random = support::test_stream(seed, 701);
        double worst = 0;
        for (std::uint64_t member = 0; member < 12; ++member) {
            const MixtureModel truth = support::adversarial_truth(knowledge, 50 * seed + member);
            for (int k = 0; k < 60; ++k) {
                const Reward reward = support::random_sparse_reward(random, shape, k % 2 == 0 ? 0.2 : 0.5);
                worst = std::max(
                    worst,
                    loss_of(truth, reward, worst_greedy_plan(knowledge.learned->model(), truth, reward)));
            }
        }
        for (const auto& [name, bound] : found.candidates) EXPECT_LE(worst, bound) << name << " " << seed;
        closest = std::max(closest, worst / found.bound);
    }
    EXPECT_GT(closest, 0.7);
}

/// Whatever is done in the first state, the first base model leads to the second one and the other to the
/// third. The first is learned to be the truth, up to what the set leaves open.
Knowledge knowledge_of_a_fork() {
    std::vector<BaseKernel> kernels(2);
    for (std::int64_t i = 0; i < 2; ++i)
        kernels[at(i)] = {"", 6, 3, {0, 1, 2, 3, 4, 5, 6}, {1 + i, 1 + i, 1, 1, 2, 2}, {1, 1, 1, 1, 1, 1}};
    const auto features = std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(3, 2, kernels));
    Matrix weights(2, 2);
    weights << 1, 0, 1, 0;
    return support::knowledge_about(MixtureModel(features, 2, StartLaw(State{0}), weights), 1, 10);
}

// A plan that is the best from the start in the model may do anything where the model never leads, and then
// loses more than greedy plans do: here these lose nothing, and it loses as often as a member goes there.
TEST(GreedyPlans, AreMoreThanPlansThatAreOptimalFromTheStart) {
    Knowledge knowledge = knowledge_of_a_fork();
    const LearnedModel& learned = *knowledge.learned;
    const Shape& shape = learned.shape();
    const DeviationTable deviations = DeviationTable::of(learned);
    knowledge.certificate = certify_reward_free(learned, deviations);
    EXPECT_LE(knowledge.certificate.bound, 1e-8);
    // One is paid in the third state at the end, for its first action.
    std::vector<double> paid(at(shape.horizon * shape.pairs()), 0.0);
    paid[at(shape.pairs() + shape.pair(2, 0))] = 1;
    const Reward reward(shape, paid);
    const Policy greedy = Policy::deterministic(shape, {0, 0, 0, 0, 0, 0}),
                 careless = Policy::deterministic(shape, {0, 0, 0, 0, 0, 1});
    const double best = backward_induction(learned.model(), reward).value;
    double farthest = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const MixtureModel truth = support::adversarial_truth(knowledge, seed);
        EXPECT_EQ(loss_of(truth, reward, greedy), 0);
        const double loss = loss_of(truth, reward, careless);
        farthest = std::max(farthest, loss);
        ASSERT_NEAR(evaluate(learned.model(), careless, reward).value, best, 1e-15);
        for (const auto& [name, bound] : certify_reward(knowledge, deviations, reward, careless).methods)
            EXPECT_LE(loss, bound) << name;
        EXPECT_LE(loss, knowledge.certificate.any_plan);
    }
    EXPECT_GT(farthest, 0.01);
}

/// The largest difference of a policy's values under a truth and the model, of any reward: what its visits
/// gain in some states they lack in others.
double value_error(const TransitionModel& truth, const TransitionModel& model, const Policy& policy) {
    const auto real = visits(truth, policy), learned = visits(model, policy);
    double sum = 0;
    for (std::size_t h = 0; h < real.size(); ++h)
        for (std::size_t s = 0; s < real[h].size(); ++s) sum += std::max(0.0, real[h][s] - learned[h][s]);
    return sum;
}

// Any weights that fall are a bound of every policy's error, from coarse ones to nearly tight ones.
TEST(TotalVariance, HoldsOfEveryPolicyWithAnyFallingWeights) {
    double closest = 0;
    for (std::uint64_t seed = 0; seed < 24; ++seed) {
        const Shape shape{5, 2, 3 + static_cast<Index>(seed % 5)};
        const support::RandomSizes sizes{.shape = shape, .features = 3, .successors = 3};
        const Knowledge knowledge = support::knowledge_about(support::random_model(seed, sizes), seed,
                                                             std::pow(10.0, static_cast<double>(seed % 4)));
        const LearnedModel& learned = *knowledge.learned;
        const DeviationTable deviations = DeviationTable::of(learned);
        const detail::DivergenceTable chis(learned, Divergence::chi_square);
        const ErrorRecursion cap = coupling_recursion(learned, deviations);
        Stream random = support::test_stream(seed, 703);
        double worst = 0;
        for (std::uint64_t member = 0; member < 200; ++member) {
            const MixtureModel truth = support::adversarial_truth(knowledge, 500 * seed + member);
            std::vector<std::int32_t> actions(at(shape.horizon * shape.states));
            for (auto& action : actions) action = static_cast<std::int32_t>(sample_index(random, 2));
            worst =
                std::max(worst, value_error(truth, learned.model(), Policy::deterministic(shape, actions)));
        }
        for (int k = 0; k < 40; ++k) {
            const detail::TotalVarianceWeights weights{std::pow(10.0, 4 * sample_uniform(random) - 1),
                                                       std::pow(10.0, -4 * sample_uniform(random)),
                                                       3 * sample_uniform(random)};
            const double bound =
                detail::total_variance_errors(learned, deviations, chis, cap, weights).values(0, 0);
            EXPECT_LE(worst, bound) << "seed " << seed;
            closest = std::max(closest, worst / bound);
        }
    }
    EXPECT_GT(closest, 0.3);
}

}  // namespace
}  // namespace alidade::attack_greedy_plans_test
