#include "alidade/environment/deployment.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "alidade/environment/simulated.hpp"
#include "alidade/error.hpp"
#include "support/path_enumeration.hpp"
#include "support/random_models.hpp"

namespace alidade::deployment_test {
namespace {

/// How far a sum of `trials` independent indicators of probability p may be from its mean. Bernstein:
/// P(|n - Kp| > t) <= 2 exp(-t^2 / (2 (K p (1-p) + t/3))); t solves exponent = log(2e17), so a check fails
/// with probability at most 1e-17, and the fewer than 1e7 checks of this file with at most 1e-10.
double allowed(std::int64_t trials, double p) {
    const double level = std::log(2e17);
    const double variance = static_cast<double>(trials) * p * (1 - p);
    return level / 3 + std::sqrt(level * level / 9 + 2 * level * variance);
}

/// Both deployers of one model, behind the same call.
struct Fleet {
    Fleet(const MixtureModel& model, std::uint64_t seed)
        : environment(model), stepwise(environment, seed), splitting(model, seed) {}
    SimulatedEnvironment environment;
    StepwiseDeployer stepwise;
    CountSplittingDeployer splitting;
    std::vector<Deployer*> all() { return {&stepwise, &splitting}; }
};

struct Case {
    MixtureModel model;
    Policy policy;
};

Case random_case(std::uint64_t seed, const Shape& shape, Index successors) {
    Stream random = support::test_stream(seed);
    MixtureModel model = support::random_model(random, {.shape = shape,
                                                        .successors = successors,
                                                        .start_law = seed % 3 == 1,
                                                        .homogeneous = seed % 5 == 2,
                                                        .concentration = seed % 4 < 2 ? 1.0 : 0.2});
    Policy policy = seed % 2 == 0 ? support::random_stochastic_policy(random, shape)
                                  : support::random_deterministic_policy(random, shape);
    return Case{std::move(model), std::move(policy)};
}

/// The probability of every entry at every step 0 .. H-2, as in Counts::values().
std::vector<double> transition_law(const MixtureModel& model, const Policy& policy) {
    const Shape& shape = model.shape();
    std::vector<double> law;
    std::vector<double> here(static_cast<std::size_t>(shape.states), 0.0);
    for (const auto& [state, probability] : model.start().atoms()) {
        here[static_cast<std::size_t>(state)] = probability;
    }
    for (Step h = 0; h < shape.learned_steps(); ++h) {
        std::vector<double> next(here.size(), 0.0);
        for (State s = 0; s < shape.states; ++s) {
            for (Action a = 0; a < shape.actions; ++a) {
                const Index pair = shape.pair(s, a);
                const auto successors = model.features().targets(pair);
                for (std::size_t i = 0; i < successors.size(); ++i) {
                    law.push_back(here[static_cast<std::size_t>(s)] * policy.probability(h, s, a) *
                                  model.probabilities(h, pair)[i]);
                    next[static_cast<std::size_t>(successors[i])] += law.back();
                }
            }
        }
        here = next;
    }
    return law;
}

void expect_law(const Counts& counts, const std::vector<double>& law) {
    const std::vector<std::int64_t> all = counts.dense();
    ASSERT_EQ(all.size(), law.size());
    for (std::size_t i = 0; i < law.size(); ++i) {
        const double mean = static_cast<double>(counts.episodes()) * law[i];
        ASSERT_LE(std::abs(static_cast<double>(all[i]) - mean),
                  allowed(counts.episodes(), std::min(law[i], 1.0)));
        if (law[i] == 0) {
            ASSERT_EQ(all[i], 0);
        }
    }
}

/// Episodes in each state at step h, from the transitions that left it.
std::vector<std::int64_t> departures(const Counts& counts, Step h) {
    const Shape& shape = counts.shape();
    std::vector<std::int64_t> result(static_cast<std::size_t>(shape.states), 0);
    for (Index pair = 0; pair < shape.pairs(); ++pair) {
        result[static_cast<std::size_t>(pair / shape.actions)] += counts.visits(h, pair);
    }
    return result;
}

std::vector<std::int64_t> arrivals(const Counts& counts, Step h) {
    std::vector<std::int64_t> result(static_cast<std::size_t>(counts.shape().states), 0);
    for (const auto& [entry, count] : counts.seen(h))
        result[static_cast<std::size_t>(counts.successors().targets()[static_cast<std::size_t>(entry)])] +=
            count;
    return result;
}

TEST(Deployers, CountsFollowTheOccupancies) {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        const auto [model, policy] = random_case(seed, {9, 3, 5}, 4);
        const auto law = transition_law(model, policy);
        Fleet fleet(model, seed);
        Counts stepped(model.shared_features(), 5);
        fleet.stepwise.deploy(policy, 0, 5'000, stepped);
        expect_law(stepped, law);
        Counts split(model.shared_features(), 5);
        fleet.splitting.deploy(policy, 0, 10'000'000, split);
        expect_law(split, law);
    }
}

TEST(CountSplitting, BatchesOfEverySizeFollowTheOccupancies) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        const auto [model, policy] = random_case(seed, {30, 3, 6}, 5);
        const auto law = transition_law(model, policy);
        CountSplittingDeployer deployer(model, seed);
        for (const std::int64_t batch : {1, 2, 3, 5, 6, 17, 100}) {
            Counts counts(model.shared_features(), 6);
            for (std::int64_t k = 0; k < 20'000; k += batch) deployer.deploy(policy, k, batch, counts);
            EXPECT_GE(counts.episodes(), 20'000);
            expect_law(counts, law);
        }
    }
}

TEST(CountSplitting, TwoEpisodesHaveTheJointLawOfIndependentOnes) {
    // Every pair of paths is listed; the counts of a deployment are compared with the law of their sum.
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        const auto [model, policy] = random_case(seed, {2, 2, 3}, 2);
        std::vector<std::pair<Episode, double>> paths;
        support::for_each_path(model, policy, [&](const Episode& path, double probability) {
            paths.emplace_back(path, probability);
        });
        std::map<std::vector<std::int64_t>, double> law;
        Counts counts(model.shared_features(), 3);
        const auto key = [&] { return counts.dense(); };
        for (const auto& [one, p] : paths) {
            for (const auto& [two, q] : paths) {
                counts.clear();
                counts.add(one);
                counts.add(two);
                law[key()] += p * q;
            }
        }
        constexpr std::int64_t deployments = 40'000;
        std::map<std::vector<std::int64_t>, std::int64_t> seen;
        CountSplittingDeployer deployer(model, seed);
        for (std::int64_t k = 0; k < deployments; ++k) {
            counts.clear();
            deployer.deploy(policy, 2 * k, 2, counts);
            ++seen[key()];
        }
        for (const auto& [outcome, times] : seen) EXPECT_TRUE(law.contains(outcome));
        for (const auto& [outcome, p] : law) {
            EXPECT_NEAR(static_cast<double>(seen[outcome]), static_cast<double>(deployments) * p,
                        allowed(deployments, p));
        }
    }
}

double binomial_mass(std::int64_t n, std::int64_t k, double p) {
    double mass = 1;
    for (std::int64_t i = 0; i < k; ++i) mass *= static_cast<double>(n - i) / static_cast<double>(i + 1) * p;
    return mass * std::pow(1 - p, static_cast<double>(n - k));
}

TEST(CountSplitting, ACrowdHasTheJointLawOfIndependentEpisodes) {
    // Two states, one action, three steps: (n to state 1, then those of each state that reach state 1) is
    // a product of three binomials.
    const auto [model, policy] = random_case(5, {2, 1, 3}, 2);
    ASSERT_EQ(model.start().atoms().size(), 1U);
    const double first = model.probabilities(0, 0)[1];
    const double from_zero = model.probabilities(1, 0)[1];
    const double from_one = model.probabilities(1, 1)[1];
    constexpr std::int64_t crowd = 8, deployments = 60'000;
    std::map<std::array<std::int64_t, 3>, std::int64_t> seen;
    CountSplittingDeployer deployer(model, 3);
    Counts counts(model.shared_features(), 3);
    for (std::int64_t k = 0; k < deployments; ++k) {
        counts.clear();
        deployer.deploy(policy, crowd * k, crowd, counts);
        ++seen[{counts.count(0, 1), counts.count(1, 1), counts.count(1, 3)}];
    }
    double total = 0;
    for (std::int64_t n = 0; n <= crowd; ++n) {
        for (std::int64_t i = 0; i <= crowd - n; ++i) {
            for (std::int64_t j = 0; j <= n; ++j) {
                const double p = binomial_mass(crowd, n, first) * binomial_mass(crowd - n, i, from_zero) *
                                 binomial_mass(n, j, from_one);
                total += p;
                EXPECT_NEAR(static_cast<double>(seen[{n, i, j}]), static_cast<double>(deployments) * p,
                            allowed(deployments, p));
            }
        }
    }
    EXPECT_NEAR(total, 1, 1e-12);
}

TEST(Deployers, NobodyIsLostBetweenSteps) {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        const auto [model, policy] = random_case(seed, {25, 3, 6}, 4);
        Fleet fleet(model, seed);
        for (Deployer* deployer : fleet.all()) {
            for (const std::int64_t episodes : {1, 2, 10, 300}) {
                Counts counts(model.shared_features(), 6);
                deployer->deploy(policy, 0, episodes, counts);
                EXPECT_EQ(counts.episodes(), episodes);
                for (Step h = 0; h < 5; ++h) {
                    std::int64_t seen = 0;
                    for (const SeenEntry& entry : counts.seen(h)) seen += entry.count;
                    EXPECT_EQ(seen, episodes);
                    if (h < 4) {
                        EXPECT_EQ(arrivals(counts, h), departures(counts, h + 1));
                    }
                }
            }
        }
    }
}

TEST(Deployers, SameSeedSameCountsAndOtherSeedsOthers) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        const auto [model, policy] = random_case(seed, {12, 3, 5}, 4);
        for (const bool stepped : {false, true}) {
            const auto counts_of = [&](std::uint64_t with, std::int64_t first, std::int64_t episodes) {
                Fleet fleet(model, with);
                Counts counts(model.shared_features(), 5);
                fleet.all()[stepped ? 0 : 1]->deploy(policy, first, episodes, counts);
                return counts;
            };
            for (const std::int64_t episodes : {1, 4, 1000}) {
                EXPECT_EQ(counts_of(9, 0, episodes), counts_of(9, 0, episodes));
            }
            EXPECT_NE(counts_of(9, 0, 1000), counts_of(10, 0, 1000));
            EXPECT_NE(counts_of(9, 0, 1000), counts_of(9, 1000, 1000));
        }
    }
}

TEST(CountSplitting, ADeploymentDoesNotDependOnEarlierOnes) {
    const auto [model, policy] = random_case(1, {20, 3, 5}, 4);
    CountSplittingDeployer used(model, 4), fresh(model, 4);
    Counts scratch(model.shared_features(), 5);
    for (const std::int64_t episodes : {50, 3, 1, 100000}) used.deploy(policy, 0, episodes, scratch);
    for (const std::int64_t episodes : {1, 3, 5000}) {
        Counts one(model.shared_features(), 5), two(model.shared_features(), 5);
        used.deploy(policy, 7, episodes, one);
        fresh.deploy(policy, 7, episodes, two);
        EXPECT_EQ(one, two);
    }
}

TEST(CountSplitting, HugeDeploymentsDoNotOverflow) {
    const auto [model, policy] = random_case(3, {6, 2, 4}, 3);
    CountSplittingDeployer deployer(model, 1);
    Counts counts(model.shared_features(), 4);
    deployer.deploy(policy, 0, 1'000'000'000'000, counts);
    EXPECT_EQ(arrivals(counts, 0), departures(counts, 1));
    expect_law(counts, transition_law(model, policy));
}

TEST(Stepwise, BatchesMayBeCutAnywhere) {
    const auto [model, policy] = random_case(4, {12, 3, 5}, 4);
    Fleet fleet(model, 3);
    Counts whole(model.shared_features(), 5), parts(model.shared_features(), 5);
    fleet.stepwise.deploy(policy, 10, 100, whole);
    fleet.stepwise.deploy(policy, 50, 60, parts);
    fleet.stepwise.deploy(policy, 10, 40, parts);
    EXPECT_EQ(whole, parts);
}

TEST(Stepwise, AnImpossibleTransitionIsAContradictionAndEarlierEpisodesStay) {
    // Two states that the only base model keeps apart; the third episode crosses over.
    class Leaky final : public Environment {
    public:
        const Shape& shape() const override { return shape_; }
        State reset(Stream&) override {
            ++episode_;
            return 0;
        }
        State step(Action, Stream&) override { return episode_ == 3 ? 1 : 0; }

    private:
        Shape shape_{2, 1, 3};
        int episode_ = 0;
    };
    const BaseKernel still{.name = "still",
                           .rows = 2,
                           .columns = 2,
                           .offsets = {0, 1, 2},
                           .targets = {0, 1},
                           .probabilities = {1, 1}};
    const auto features = std::make_shared<const FeatureMap>(
        FeatureMap::from_base_kernels(2, 1, std::vector<BaseKernel>{still}));
    Leaky environment;
    StepwiseDeployer deployer(environment, 1);
    Counts counts(features, 3);
    EXPECT_THROW(deployer.deploy(Policy::uniform({2, 1, 3}), 0, 5, counts), ModelContradiction);
    EXPECT_EQ(counts.episodes(), 2);
    EXPECT_EQ(counts.count(0, 0), 2);
    EXPECT_EQ(counts.count(1, 0), 2);
}

TEST(Deployers, WithNothingToLearnOnlyEpisodesAreCounted) {
    const auto [model, policy] = random_case(0, {4, 2, 1}, 2);
    Fleet fleet(model, 1);
    for (Deployer* deployer : fleet.all()) {
        Counts counts(model.shared_features(), 1);
        deployer->deploy(policy, 0, 0, counts);
        EXPECT_EQ(counts.episodes(), 0);
        deployer->deploy(policy, 0, 5, counts);
        EXPECT_EQ(counts.episodes(), 5);
    }
}

TEST(Deployers, RefuseWhatDoesNotFit) {
    const auto [model, policy] = random_case(0, {5, 2, 3}, 3);
    const MixtureModel other = random_case(1, {5, 2, 3}, 3).model;
    Fleet fleet(model, 1);
    Counts counts(model.shared_features(), 3), longer(model.shared_features(), 4);
    for (Deployer* deployer : fleet.all()) {
        EXPECT_THROW(deployer->deploy(policy, 0, -1, counts), InvalidArgument);
        EXPECT_THROW(deployer->deploy(policy, -1, 1, counts), InvalidArgument);
        EXPECT_THROW(deployer->deploy(policy, 0, 1, longer), InvalidArgument);
        EXPECT_THROW(deployer->deploy(Policy::uniform({5, 2, 4}), 0, 1, counts), InvalidArgument);
    }
    Counts foreign(other.shared_features(), 3);
    EXPECT_THROW(fleet.splitting.deploy(policy, 0, 1, foreign), InvalidArgument);
    EXPECT_EQ(counts.episodes(), 0);
}

TEST(CountSplitting, AcceptsCountsOverACopyOfTheFeatures) {
    const auto [model, policy] = random_case(2, {5, 2, 3}, 3);
    Counts counts(std::make_shared<const FeatureMap>(model.features()), 3);
    CountSplittingDeployer deployer(model, 1);
    deployer.deploy(policy, 0, 10, counts);
    EXPECT_EQ(counts.episodes(), 10);
}

}  // namespace
}  // namespace alidade::deployment_test
