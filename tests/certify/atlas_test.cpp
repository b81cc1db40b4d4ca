#include "alidade/certify/atlas.hpp"

#include <gtest/gtest.h>

#include <Eigen/LU>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "alidade/certify/reward_certificate.hpp"
#include "alidade/error.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "support/learned_models.hpp"

namespace alidade::atlas_test {
namespace {

const support::RandomSizes sizes{.shape = {6, 3, 5}, .features = 3, .successors = 4};

std::vector<Reward> random_rewards(std::uint64_t seed, Index count, const Shape& shape) {
    Stream random = support::test_stream(seed, 11);
    std::vector<Reward> rewards;
    for (Index i = 0; i < count; ++i)
        rewards.push_back(i % 2 == 0 ? support::random_reward(random, shape)
                                     : support::random_sparse_reward(random, shape, 0.2));
    return rewards;
}

double loss_of(const MixtureModel& truth, const Policy& policy, const Reward& reward) {
    return backward_induction(truth, reward).value - evaluate(truth, policy, reward).value;
}

struct Setting {
    Knowledge knowledge;
    Objectives objectives;
    Atlas atlas;
};

Setting random_setting(std::uint64_t seed, Index count, double information, AtlasOptions options = {}) {
    Knowledge knowledge = support::knowledge_about(support::random_model(seed, sizes), seed, information);
    Objectives objectives(random_rewards(seed, count, sizes.shape));
    if (options.loss == 0) options.loss = 0.05 * static_cast<double>(sizes.shape.horizon);
    options.certificates = 2000;
    Atlas atlas = make_atlas(knowledge, objectives, options);
    return {std::move(knowledge), std::move(objectives), std::move(atlas)};
}

TEST(Weighting, IsTheSumOfItsPartsInStepsStatesAndActions) {
    const Objectives objectives(random_rewards(1, 3, sizes.shape));
    const std::vector<double> weights{0.2, 0.3, 0.5};
    const Reward sum = objectives.weighted(weights);
    for (Step h = 0; h < sizes.shape.horizon; ++h)
        for (State s = 0; s < sizes.shape.states; ++s)
            for (Action a = 0; a < sizes.shape.actions; ++a)
                EXPECT_NEAR(sum.at(h, s, a),
                            0.2 * objectives[0].at(h, s, a) + 0.3 * objectives[1].at(h, s, a) +
                                0.5 * objectives[2].at(h, s, a),
                            1e-15);
    EXPECT_EQ(complement(complement(objectives[0])).at(1, 2, 1), 1 - (1 - objectives[0].at(1, 2, 1)));
}

TEST(Weighting, RefusesWhatIsNoWeighting) {
    const Objectives objectives(random_rewards(1, 3, sizes.shape));
    using Weights = std::vector<double>;
    for (const Weights& wrong : {Weights{0.5, 0.5}, Weights{0.5, 0.6, -0.1}, Weights{0.5, 0.5, 0.1},
                                 Weights{std::nan(""), 0.5, 0.5}, Weights{0, 0, 0}})
        EXPECT_THROW(objectives.weighted(wrong), InvalidArgument);
    EXPECT_THROW(Objectives(random_rewards(1, 1, sizes.shape)), InvalidArgument);
    EXPECT_THROW(Objectives(random_rewards(1, 9, sizes.shape)), InvalidArgument);
    std::vector<Reward> mixed = random_rewards(1, 2, sizes.shape);
    mixed.push_back(Reward::constant({6, 3, 4}, 0.5));
    EXPECT_THROW(Objectives(std::move(mixed)), InvalidArgument);
}

// docs/algorithms/atlas.md, Lemma 1: of any law and policy, mixture or not.
TEST(Loss, IsConvexAndLipschitzInTheWeights) {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const MixtureModel truth = support::random_model(seed, sizes);
        const Objectives objectives(random_rewards(seed, 3, sizes.shape));
        Stream random = support::test_stream(seed, 12);
        const Policy policy = seed % 2 == 0 ? support::random_deterministic_policy(random, sizes.shape)
                                            : support::random_stochastic_policy(random, sizes.shape);
        const auto from = sample_dirichlet(random, 3, 0.5), to = sample_dirichlet(random, 3, 0.5);
        const double t = sample_uniform(random);
        std::vector<double> between;
        double distance = 0;
        for (std::size_t i = 0; i < 3; ++i) {
            between.push_back(t * from[i] + (1 - t) * to[i]);
            distance += std::abs(from[i] - to[i]);
        }
        const double one = loss_of(truth, policy, objectives.weighted(from)),
                     other = loss_of(truth, policy, objectives.weighted(to));
        EXPECT_LE(loss_of(truth, policy, objectives.weighted(between)), t * one + (1 - t) * other + 1e-12);
        EXPECT_LE(std::abs(one - other), static_cast<double>(sizes.shape.horizon) * distance + 1e-12);
        EXPECT_GE(one, -1e-12);
    }
}

/// Every cell that the weights lie in, by solving for their coordinates; the least bound.
double by_linear_scan(const Atlas& atlas, const std::vector<double>& weights) {
    double least = static_cast<double>(atlas.horizon);
    const Vector given = Eigen::Map<const Vector>(weights.data(), atlas.objectives);
    for (const AtlasCell& cell : atlas.cells) {
        Matrix corners(atlas.objectives, atlas.objectives);
        for (Index j = 0; j < atlas.objectives; ++j)
            corners.col(j) =
                Eigen::Map<const Vector>(atlas.corners[at(cell.corners[at(j)])].data(), atlas.objectives);
        const Vector coordinates = corners.fullPivLu().solve(given);
        if (coordinates.minCoeff() < -1e-11) continue;
        least =
            std::min(least, coordinates.dot(Eigen::Map<const Vector>(cell.bounds.data(), atlas.objectives)));
    }
    return least;
}

TEST(Atlas, CoversAllWeightsAndIsFoundDownTheTree) {
    for (const Index count : {2, 3, 4}) {
        const auto [knowledge, objectives, atlas] =
            random_setting(static_cast<std::uint64_t>(count), count, 300);
        check_cover(atlas);
        EXPECT_GT(atlas.cells.size(), 1u);
        Stream random = support::test_stream(3, 13);
        std::vector<std::vector<double>> asked = atlas.corners;
        for (int i = 0; i < 500; ++i) asked.push_back(sample_dirichlet(random, count, 0.7));
        double volume = 0;
        for (const AtlasPolicy& policy : atlas.policies) volume += policy.share;
        EXPECT_NEAR(volume, 1, 1e-12);
        for (const std::vector<double>& weights : asked) {
            const AtlasAnswer answer = atlas.at(weights);
            EXPECT_NEAR(answer.loss_bound, by_linear_scan(atlas, weights), 1e-9);
            EXPECT_LE(answer.loss_bound, atlas.loss_bound);
            EXPECT_LE(answer.loss_bound, atlas.policies[at(answer.policy)].loss_bound + 1e-9);
            EXPECT_EQ(atlas.cells[at(answer.cell)].policy, answer.policy);
        }
    }
}

TEST(Atlas, MeetsWhatIsAskedOrSaysWhatStandsInTheWay) {
    const auto known = random_setting(1, 3, 1e9);
    EXPECT_EQ(known.atlas.limit, AtlasLimit::target);
    EXPECT_LE(known.atlas.loss_bound, known.atlas.asked + 1e-8);
    const auto unknown = random_setting(1, 3, 1, {.loss = 1e-3});
    EXPECT_EQ(unknown.atlas.limit, AtlasLimit::data);
    EXPECT_GE(unknown.atlas.floor, 1e-3);
    const auto stopped = random_setting(1, 3, 1e4, {.loss = 1e-3, .interrupted = [] { return true; }});
    EXPECT_EQ(stopped.atlas.limit, AtlasLimit::interrupted);
    check_cover(stopped.atlas);
    AtlasOptions poor{.loss = 0.01, .certificates = 3};
    const Atlas atlas = make_atlas(known.knowledge, known.objectives, poor);
    EXPECT_EQ(atlas.limit, AtlasLimit::budget);
    check_cover(atlas);
    EXPECT_LE(recheck(atlas, known.knowledge, known.objectives), 0);
}

TEST(Atlas, GivesUpAtTheFirstWeightsThatTheDataLeaveOpen) {
    const auto whole = random_setting(2, 3, 3, {.loss = 0.01});
    const auto given_up = random_setting(2, 3, 3, {.loss = 0.01, .give_up = 0.01});
    EXPECT_EQ(given_up.atlas.limit, AtlasLimit::data);
    EXPECT_LT(given_up.atlas.certificates, whole.atlas.certificates);
    EXPECT_GT(given_up.atlas.floor, 0.01);
    check_cover(given_up.atlas);
}

TEST(Atlas, OfAKnownModelLosesNothingAtItsCorners) {
    const MixtureModel truth = support::random_model(3, {.shape = {5, 2, 4}, .features = 1, .successors = 3});
    const Knowledge knowledge = support::knowledge_about(truth, 3, 0);
    const Objectives objectives(random_rewards(3, 2, truth.shape()));
    const Atlas atlas = make_atlas(knowledge, objectives);
    EXPECT_LE(atlas.loss_bound, 1e-7);
    // Where plans tie, rounding is allowed for.
    EXPECT_LE(atlas.floor, 1e-8);
    Stream random = support::test_stream(3, 14);
    for (int i = 0; i < 200; ++i) {
        const auto weights = sample_dirichlet(random, 2, 0.7);
        const Policy& policy = atlas.policies[at(atlas.at(weights).policy)].policy;
        EXPECT_LE(loss_of(truth, policy, objectives.weighted(weights)), 1e-7);
    }
}

TEST(Atlas, OfTwoActionsThatServeOneObjectiveEachMeetsInTheMiddle) {
    const Shape shape{1, 2, 1};
    const MixtureModel truth = support::random_model(1, {.shape = shape, .features = 1, .successors = 1});
    const Objectives objectives({Reward(shape, {1, 0}), Reward(shape, {0, 1})});
    const Atlas atlas = make_atlas(support::knowledge_about(truth, 1, 0), objectives);
    ASSERT_EQ(atlas.cells.size(), 2u);
    ASSERT_EQ(atlas.policies.size(), 2u);
    EXPECT_NEAR(atlas.corners[2][0], 0.5, 1e-12);
    EXPECT_EQ(atlas.policies[at(atlas.at(std::vector<double>{0.6, 0.4}).policy)].policy.action(0, 0), 0);
    EXPECT_EQ(atlas.policies[at(atlas.at(std::vector<double>{0.4, 0.6}).policy)].policy.action(0, 0), 1);
    EXPECT_NEAR(atlas.policies[0].share, 0.5, 1e-12);
}

/// Action 0 of state 0 leads, with a probability that is to be learned, to a state that pays objective 0 at
/// the second step; action 1 earns one half of objective 1 at once and leads nowhere.
MixtureModel paying_state(double probability) {
    // States: start, pays, nothing. Base models: action 0 pays always, never.
    std::vector<BaseKernel> kernels;
    for (const double pays : {1.0, 0.0}) {
        BaseKernel kernel{"", 6, 3, {0}, {}, {}};
        for (Index pair = 0; pair < 6; ++pair) {
            const double here = pair == 0 ? pays : 0.0;
            kernel.targets.insert(kernel.targets.end(), {1, 2});
            kernel.probabilities.insert(kernel.probabilities.end(), {here, 1 - here});
            kernel.offsets.push_back(static_cast<std::int64_t>(kernel.targets.size()));
        }
        kernels.push_back(std::move(kernel));
    }
    Matrix weights(2, 2);
    weights << probability, 1 - probability, probability, 1 - probability;
    return MixtureModel(std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(3, 2, kernels)), 2,
                        StartLaw(State{0}), weights);
}

// The plan made for one's own weights is not covered by bounds at corners: its loss is not convex.
TEST(Atlas, NeedsTheCellsPolicyAtItsCorners) {
    const Shape shape{3, 2, 2};
    std::vector<double> first(12, 0.0), second(12, 0.0);
    first[6 + 2] = first[6 + 3] = 1;  // step 1, state 1
    second[1] = 0.5;                  // step 0, state 0, action 1
    const Objectives objectives({Reward(shape, first), Reward(shape, second)});
    const MixtureModel middle = paying_state(0.5);
    const Knowledge knowledge = support::knowledge_about(middle, 5, 40);
    const double off = [&] {
        double low = 0.5, high = 1;
        for (int i = 0; i < 40; ++i) {
            const double p = (low + high) / 2;
            Vector weights(2);
            weights << p, 1 - p;
            (knowledge.mixture().set(0).contains(weights) ? low : high) = p;
        }
        return low - 0.5;
    }();
    ASSERT_GT(off, 0.01);
    ASSERT_LT(off, 0.4);
    const MixtureModel truth = paying_state(0.5 + off);
    const std::vector<double> just_below{0.5 - 1e-6, 0.5 + 1e-6};
    // In the model action 1 is better there; in truth it loses off/2.
    const Policy own = backward_induction(middle, objectives.weighted(just_below)).policy;
    EXPECT_EQ(own.action(0, 0), 1);
    const double lost = loss_of(truth, own, objectives.weighted(just_below));
    EXPECT_NEAR(lost, off / 2, 1e-5);
    for (const std::size_t unit : {0u, 1u}) {
        std::vector<double> weights(2, 0.0);
        weights[unit] = 1;
        const Reward reward = objectives.weighted(weights);
        EXPECT_EQ(certify_reward(knowledge, reward, backward_induction(middle, reward).policy).loss_bound, 0);
    }
    const Atlas atlas = make_atlas(knowledge, objectives);
    const AtlasAnswer answer = atlas.at(just_below);
    EXPECT_GE(answer.loss_bound,
              loss_of(truth, atlas.policies[at(answer.policy)].policy, objectives.weighted(just_below)));
    EXPECT_GE(answer.loss_bound, lost - 1e-9);
}

void expect_same(const Atlas& one, const Atlas& other) {
    EXPECT_EQ(one.loss_bound, other.loss_bound);
    EXPECT_EQ(one.corners, other.corners);
    ASSERT_EQ(one.cells.size(), other.cells.size());
    for (std::size_t i = 0; i < one.cells.size(); ++i) {
        EXPECT_EQ(one.cells[i].corners, other.cells[i].corners);
        EXPECT_EQ(one.cells[i].policy, other.cells[i].policy);
        EXPECT_EQ(one.cells[i].bounds, other.cells[i].bounds);
    }
    ASSERT_EQ(one.policies.size(), other.policies.size());
    for (std::size_t i = 0; i < one.policies.size(); ++i)
        EXPECT_EQ(one.policies[i].policy, other.policies[i].policy);
    EXPECT_EQ(one.certificates, other.certificates);
}

TEST(Atlas, DoesNotDependOnThreads) {
    const Atlas one = random_setting(4, 3, 200, {.threads = 1}).atlas;
    for (const int threads : {2, 8}) expect_same(one, random_setting(4, 3, 200, {.threads = threads}).atlas);
}

TEST(Atlas, ScalesWithTheWeights) {
    const Atlas atlas = random_setting(5, 3, 200).atlas;
    const std::vector<double> weights{0.2, 0.3, 0.5}, larger{2, 3, 5};
    EXPECT_NEAR(atlas.at(larger).loss_bound, 10 * atlas.at(weights).loss_bound, 1e-12);
    EXPECT_EQ(atlas.at(larger).policy, atlas.at(weights).policy);
    using Weights = std::vector<double>;
    for (const Weights& wrong :
         {Weights{0, 0, 0}, Weights{1, 1}, Weights{1, 1, -1e-9}, Weights{1, 1, std::nan("")},
          Weights{1, 1, std::numeric_limits<double>::infinity()}})
        EXPECT_THROW(atlas.at(wrong), InvalidArgument);
}

// Losses do not change when a reward becomes 1 - r and its weight changes sign; values become H - v.
TEST(Atlas, MinimisingIsTheComplement) {
    const Knowledge knowledge = support::knowledge_about(support::random_model(6, sizes), 6, 200);
    const std::vector<Reward> rewards = random_rewards(6, 2, sizes.shape);
    const Atlas atlas =
        make_atlas(knowledge, Objectives({rewards[0], complement(rewards[1])}), {.loss = 0.3});
    const auto horizon = static_cast<double>(sizes.shape.horizon);
    for (const AtlasPolicy& policy : atlas.policies) {
        const double value = evaluate(knowledge.learned->model(), policy.policy, rewards[1]).value;
        EXPECT_NEAR(policy.model_values[1], horizon - value, 1e-9);
        EXPECT_LE(policy.values[1].lower, horizon - value);
        EXPECT_GE(policy.values[1].upper, horizon - value);
    }
}

TEST(Atlas, OfPartOfTheWeightsPromisesNoLessThere) {
    const AtlasOptions part{.loss = 0.1, .at_least = {0.3, 0, 0}, .at_most = {1, 0.5, 1}};
    const auto [knowledge, objectives, atlas] = random_setting(7, 3, 1e3, part);
    check_cover(atlas);
    EXPECT_LE(recheck(atlas, knowledge, objectives), 0);
    Stream random = support::test_stream(7, 15);
    int inside = 0;
    for (int i = 0; i < 300; ++i) {
        const auto weights = sample_dirichlet(random, 3, 1.0);
        if (weights[0] >= 0.3 && weights[1] <= 0.5) {
            ++inside;
            EXPECT_LE(atlas.at(weights).loss_bound, atlas.loss_bound);
        } else {
            EXPECT_THROW(atlas.at(weights), InvalidArgument);
        }
    }
    EXPECT_GT(inside, 50);
    // Edges of the region belong to it.
    for (const std::vector<double>& edge :
         {std::vector<double>{0.3, 0.5, 0.2}, std::vector<double>{0.3, 0, 0.7},
          std::vector<double>{0.5, 0.5, 0}})
        EXPECT_LE(atlas.at(edge).loss_bound, atlas.loss_bound);
    double volume = 0;
    for (const AtlasPolicy& policy : atlas.policies) volume += policy.share;
    EXPECT_NEAR(volume, 1, 1e-12);
}

TEST(Atlas, RefusesWhatCannotBe) {
    const Knowledge knowledge = support::knowledge_about(support::random_model(8, sizes), 8, 10);
    const Objectives objectives(random_rewards(8, 3, sizes.shape));
    const std::vector<AtlasOptions> wrong{{.loss = -1},
                                          {.loss = std::nan("")},
                                          {.certificates = 0},
                                          {.shortest_edge = 0},
                                          {.at_least = {0.5, 0.5, 0.5}},
                                          {.at_least = {0.5, 0.5, 0}},
                                          {.at_most = {0.3, 0.3, 0.3}},
                                          {.at_least = {0.5, 0, 0}, .at_most = {0.4, 1, 1}},
                                          {.at_least = {0.5, 0}},
                                          {.at_most = {1, 1, 1.5}}};
    for (const AtlasOptions& options : wrong)
        EXPECT_THROW(make_atlas(knowledge, objectives, options), InvalidArgument);
    EXPECT_THROW(make_atlas(Knowledge{}, objectives), InvalidArgument);
    EXPECT_THROW(make_atlas(knowledge, Objectives(random_rewards(8, 2, {6, 3, 4}))), InvalidArgument);
}

TEST(Atlas, IsMadeWithoutARewardFreeCertificateToo) {
    Knowledge knowledge = support::knowledge_about(support::random_model(9, sizes), 9, 1e4);
    knowledge.certificate = {};
    const Objectives objectives(random_rewards(9, 2, sizes.shape));
    const Atlas atlas = make_atlas(knowledge, objectives, {.loss = 0.2});
    EXPECT_EQ(atlas.reward_free, 5);
    EXPECT_LE(recheck(atlas, knowledge, objectives), 0);
}

// Theorem 5: no policy earns more than `outer` says, under any member of the sets.
TEST(Atlas, ExcludesNothingThatCanBeHad) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        const auto [knowledge, objectives, atlas] = random_setting(seed, 3, 30);
        for (std::uint64_t k = 0; k < 3; ++k) {
            const MixtureModel truth = support::adversarial_truth(knowledge, 100 * seed + k);
            for (const AtlasOuter& outer : atlas.outer)
                EXPECT_LE(backward_induction(truth, objectives.weighted(outer.weights)).value,
                          outer.optimal_upper);
            for (const AtlasPolicy& policy : atlas.policies)
                for (Index i = 0; i < 3; ++i) {
                    const double value = evaluate(truth, policy.policy, objectives[i]).value;
                    EXPECT_GE(value, policy.values[at(i)].lower);
                    EXPECT_LE(value, policy.values[at(i)].upper);
                }
        }
    }
}

}  // namespace
}  // namespace alidade::atlas_test
