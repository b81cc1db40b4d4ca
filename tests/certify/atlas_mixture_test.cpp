#include "alidade/certify/atlas_mixture.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "alidade/error.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "support/learned_models.hpp"

namespace alidade::atlas_mixture_test {
namespace {

const support::RandomSizes sizes{.shape = {6, 3, 5}, .features = 3, .successors = 4};

struct Setting {
    Knowledge knowledge;
    Objectives objectives;
    Atlas atlas;
};

Setting setting(std::uint64_t seed, double information) {
    Knowledge knowledge = support::knowledge_about(support::random_model(seed, sizes), seed, information);
    Stream random = support::test_stream(seed, 11);
    std::vector<Reward> rewards;
    for (int i = 0; i < 3; ++i) rewards.push_back(support::random_reward(random, sizes.shape));
    Objectives objectives(std::move(rewards));
    Atlas atlas = make_atlas(knowledge, objectives, {.loss = 0.2, .certificates = 2000});
    return {std::move(knowledge), std::move(objectives), std::move(atlas)};
}

/// The values of a mixture that is drawn once an episode, under a law.
std::vector<double> values_of(const Setting& of, const MixtureModel& law, const AtlasMixture& mixture) {
    std::vector<double> values(3, 0.0);
    for (const auto& [policy, share] : mixture.shares)
        for (Index i = 0; i < 3; ++i)
            values[at(i)] +=
                share * evaluate(law, of.atlas.policies[at(policy)].policy, of.objectives[i]).value;
    return values;
}

TEST(AtlasMixture, GuaranteesWhatItSaysUnderEveryMember) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        const Setting here = setting(seed, 100);
        Stream random = support::test_stream(seed, 21);
        for (std::uint64_t k = 0; k < 5; ++k) {
            AtlasTargets targets(3);
            targets[0] = 2 + sample_uniform(random);
            if (k % 2 == 0) targets[2] = 2 + sample_uniform(random);
            const AtlasMixture mixture = mixture_for(here.atlas, targets);
            double sum = 0;
            for (const auto& [policy, share] : mixture.shares) sum += share;
            EXPECT_NEAR(sum, 1, 1e-12);
            const MixtureModel truth = support::adversarial_truth(here.knowledge, 100 * seed + k);
            const std::vector<double> values = values_of(here, truth, mixture);
            for (std::size_t i = 0; i < 3; ++i) {
                EXPECT_GE(values[i], mixture.values[i].lower);
                EXPECT_LE(values[i], mixture.values[i].upper);
                if (targets[i]) {
                    EXPECT_GE(values[i], *targets[i] + mixture.margin - 1e-12);
                }
            }
        }
    }
}

// docs/algorithms/atlas.md, Theorem 6, with the model as the law: its values are known, so that the linear
// program finds the mixture. Any policy's values are reached up to the atlas's loss.
TEST(AtlasMixture, ReachesEveryTargetThatAnyPolicyReaches) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        Setting here = setting(seed, 1e9);
        Stream random = support::test_stream(seed, 22);
        for (int k = 0; k < 25; ++k) {
            const Policy any =
                k % 2 == 0 ? support::random_stochastic_policy(random, sizes.shape)
                           : backward_induction(here.knowledge.learned->model(),
                                                here.objectives.weighted(sample_dirichlet(random, 3, 0.5)))
                                 .policy;
            AtlasTargets targets;
            for (Index i = 0; i < 3; ++i)
                targets.emplace_back(
                    evaluate(here.knowledge.learned->model(), any, here.objectives[i]).value);
            const AtlasMixture mixture = mixture_for(here.atlas, targets);
            EXPECT_GE(mixture.margin, -here.atlas.loss_bound - 1e-3);
            EXPECT_FALSE(mixture.excluded());
        }
    }
}

TEST(AtlasMixture, IsTheBestOfTwoPoliciesByHand) {
    // One policy guarantees (3, 1), one (1, 3): half and half guarantees (2, 2).
    Atlas atlas;
    atlas.objectives = 2;
    atlas.horizon = 4;
    const Policy policy = Policy::uniform({1, 1, 4});
    atlas.policies = {{policy, {1, 0}, 0.5, 0, {3, 1}, {{3, 3.5}, {1, 1.5}}},
                      {policy, {0, 1}, 0.5, 0, {1, 3}, {{1, 1.5}, {3, 3.5}}}};
    atlas.outer = {{{1, 0}, 3.6}, {{0.5, 0.5}, 2.4}};
    const AtlasMixture both = mixture_for(atlas, {1.5, 1.5});
    EXPECT_NEAR(both.margin, 0.5, 1e-7);
    EXPECT_NEAR(both.values[0].lower, 2, 1e-7);
    EXPECT_NEAR(both.values[1].upper, 2.5, 1e-7);
    EXPECT_TRUE(both.guaranteed());
    const AtlasMixture one = mixture_for(atlas, {2.9, std::nullopt});
    ASSERT_EQ(one.shares.size(), 1u);
    EXPECT_EQ(one.shares[0].first, 0);
    const AtlasMixture open = mixture_for(atlas, {2.3, 2.3});
    EXPECT_FALSE(open.guaranteed());
    EXPECT_FALSE(open.excluded());
    const AtlasMixture never = mixture_for(atlas, {2.5, 2.5});
    EXPECT_EQ(never.excluded_by, (std::vector<double>{0.5, 0.5}));
    EXPECT_TRUE(mixture_for(atlas, {3.7, std::nullopt}).excluded());
}

TEST(AtlasMixture, RefusesWhatIsNoTarget) {
    const Atlas atlas = setting(1, 10).atlas;
    EXPECT_THROW(mixture_for(atlas, AtlasTargets(3)), InvalidArgument);
    EXPECT_THROW(mixture_for(atlas, {1.0}), InvalidArgument);
    EXPECT_THROW(mixture_for(atlas, {1.0, 6.0, std::nullopt}), InvalidArgument);
    EXPECT_THROW(mixture_for(atlas, {1.0, std::nan(""), std::nullopt}), InvalidArgument);
}

}  // namespace
}  // namespace alidade::atlas_mixture_test
