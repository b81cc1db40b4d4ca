#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>

#include "alidade/error.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/problem/catalogue.hpp"

/// The algebra of the lower-bound instances (T25): what they are, how long their features and weights are,
/// and how much a policy can lose on them.
namespace alidade::hard_families_test {
namespace {

struct Size {
    Index features, horizon, episodes;
};

const std::vector<Size> sizes{{2, 2, 3}, {3, 4, 64}, {5, 10, 160}, {5, 6, 10'000}, {7, 3, 1'000'000'000}};
const std::vector<std::string> names{"hard", "hard-simplex", "hard-short"};

Problem make(const std::string& family, const Size& size, int seed) {
    return make_builtin(fmt::format("builtin:{}?features={}&horizon={}&episodes={}&seed={}", family,
                                    size.features, size.horizon, size.episodes, seed));
}

double rho_of(const std::string& family, const Size& size) {
    return family == "hard-short" ? 1.0 / 6 : 1 / static_cast<double>(size.horizon);
}

/// Delta, as the theorems print it.
double gap_of(const std::string& family, const Size& size) {
    return std::sqrt(rho_of(family, size) / static_cast<double>(size.episodes)) / (4 * std::sqrt(2.0));
}

/// The chance at step h of the exit, the last state.
double exit_chance(const Problem& problem, Step h, State s, Action a) {
    std::vector<double> at_exit(static_cast<std::size_t>(problem.shape().states), 0.0);
    at_exit.back() = 1;
    return problem.true_model().expect(h, problem.shape().pair(s, a), at_exit);
}

TEST(HardFamilies, ExitWithTheChanceOfSomeSigns) {
    // rho + mu . a for signs that are found from the actions that differ from "all minus" in one coordinate.
    for (const std::string& family : names)
        for (const Size& size : sizes) {
            const double rho = rho_of(family, size), gap = gap_of(family, size);
            const Problem problem = make(family, size, 3);
            const Index line = problem.shape().states - 2, actions = Index{1} << (size.features - 1);
            ASSERT_EQ(problem.shape().actions, actions);
            ASSERT_EQ(line, family == "hard-short" ? 1 : size.horizon);
            EXPECT_EQ(problem.homogeneous(), family == "hard-short");
            for (Step h = 0; h < (line == 1 ? 1 : size.horizon); ++h) {
                const State s = h;  // the state that step h begins in, unless out
                std::vector<double> mu;
                for (Index i = 0; i + 1 < size.features; ++i) {
                    mu.push_back((exit_chance(problem, h, s, Index{1} << i) - exit_chance(problem, h, s, 0)) /
                                 2);
                    EXPECT_NEAR(std::abs(mu.back()), gap, 1e-12) << family;
                }
                for (Action a = 0; a < actions; ++a) {
                    double chance = rho;
                    for (Index i = 0; i + 1 < size.features; ++i)
                        chance += (a >> i & 1 ? 1 : -1) * mu[static_cast<std::size_t>(i)];
                    EXPECT_NEAR(exit_chance(problem, h, s, a), chance, 1e-12) << family;
                }
            }
            for (Action a = 0; a < actions; ++a)  // neither the end of the line nor the exit is left
                for (const State s : {line, line + 1})
                    EXPECT_NEAR(exit_chance(problem, 0, s, a), s == line ? 0 : 1, 1e-12);
        }
}

TEST(HardFamilies, KernelsAreProbabilities) {
    for (const std::string& family : names)
        for (const Size& size : sizes)
            for (int seed = 1; seed <= 5; ++seed) {
                const Problem problem = make(family, size, seed);
                const MixtureModel truth = problem.true_model();
                for (Step h = 0; h < size.horizon; ++h)
                    for (Index pair = 0; pair < problem.shape().pairs(); ++pair) {
                        double sum = 0;
                        for (const double chance : truth.probabilities(h, pair)) {
                            EXPECT_GE(chance, 0);
                            sum += chance;
                        }
                        EXPECT_NEAR(sum, 1, 1e-12);
                    }
            }
}

TEST(HardFamilies, FeaturesAndWeightsHaveTheirLengths) {
    // |phi_V| <= 1 over the four V of two successors: largest at V = 1, where it is alpha, 1 over the root of
    // 1 + (d-1) Delta = |theta|. Base models divided by the root of their number have the same bound; weights
    // are 1/(d-1) each for d-1 of them.
    for (const std::string& family : names)
        for (const Size& size : sizes) {
            const Problem problem = make(family, size, 2);
            const FeatureMap& map = problem.features();
            double longest = 0;
            for (Index pair = 0; pair < map.pairs(); ++pair)
                for (int vertex = 0; vertex < 4; ++vertex) {
                    Vector phi = Vector::Zero(map.features());
                    for (Index j = 0; j < map.successors(pair); ++j)
                        if (vertex >> j & 1)
                            phi += Eigen::Map<const Vector>(map.phi(map.first_entry(pair) + j).data(),
                                                            map.features());
                    longest = std::max(longest, phi.norm());
                }
            const auto signs = static_cast<double>(size.features - 1);
            const bool base_models = family == "hard-simplex";
            const double norm = base_models ? 1 / std::sqrt(signs) : 1 + signs * gap_of(family, size);
            EXPECT_NEAR(longest, base_models ? std::sqrt(2 * signs) : 1 / std::sqrt(norm), 1e-12) << family;
            for (Index row = 0; row < problem.truth()->rows(); ++row)
                EXPECT_NEAR(problem.truth()->row(row).norm(), norm, 1e-12) << family;
            if (!base_models) {
                EXPECT_NEAR(map.norm_bound(), norm, 2e-9 * norm);
            }
        }
}

TEST(HardFamilies, NoPolicyLosesMoreThanTheTheoremSays) {
    // The worst policy of all: optimal for one minus the reward.
    for (const std::string& family : names)
        for (const Size& size : sizes)
            for (int seed = 1; seed <= 5; ++seed) {
                const Problem problem = make(family, size, seed);
                const Reward& exit = problem.rewards().front().reward;
                std::vector<double> opposite(exit.values().begin(), exit.values().end());
                for (double& value : opposite) value = 1 - value;
                const MixtureModel truth = problem.true_model();
                const auto H = static_cast<double>(size.horizon);
                const double best = backward_induction(truth, exit).value;
                const double least =
                    H - backward_induction(truth, Reward(problem.shape(), std::move(opposite))).value;
                EXPECT_GT(best, least);
                EXPECT_LE(best - least, static_cast<double>(size.features) * H / (4 * std::sqrt(2.0)) *
                                            std::sqrt(H / static_cast<double>(size.episodes)))
                    << family << ", features " << size.features;
            }
}

TEST(HardSimplex, HasTheTransitionsOfTheSignedOne) {
    for (const Size& size : sizes)
        for (int seed = 1; seed <= 5; ++seed) {
            const Problem line = make("hard", size, seed), simplex = make("hard-simplex", size, seed);
            EXPECT_EQ(simplex.shape(), line.shape());
            EXPECT_EQ(simplex.features().kind(), FeatureKind::base_models);
            EXPECT_EQ(simplex.features().features(), 2 * (size.features - 1));
            const MixtureModel one = line.true_model(), two = simplex.true_model();
            for (Step h = 0; h < size.horizon; ++h)
                for (Index pair = 0; pair < line.shape().pairs(); ++pair)
                    for (std::size_t j = 0; j < one.probabilities(h, pair).size(); ++j)
                        EXPECT_NEAR(one.probabilities(h, pair)[j], two.probabilities(h, pair)[j], 1e-12);
        }
}

TEST(HardShort, PaysOneAnEpisodeAtMostByTheSourcesReward) {
    const Problem problem = make("hard-short", {3, 8, 100}, 1);
    ASSERT_EQ(problem.rewards().size(), 2u);
    EXPECT_EQ(problem.rewards()[1].name, "exit-share");
    for (const double value : problem.rewards()[1].reward.values()) EXPECT_LE(value * 8, 1);
}

TEST(HardFamilies, RefuseExitsThatAreNoProbabilities) {
    const auto refusal = [](const std::string& uri) -> std::string {
        try {
            make_builtin("builtin:" + uri);
        } catch (const InvalidArgument& error) {
            return error.what();
        }
        return "";
    };
    // (d-1) Delta <= rho from (d-1)^2 / (32 rho) episodes on: 16 * 10 / 32 and 16 * 6 / 32.
    for (const std::string family : {"hard?episodes=4", "hard-simplex?episodes=4"})
        EXPECT_NE(refusal(family).find("episodes must be at least 5"), std::string::npos) << refusal(family);
    EXPECT_NE(refusal("hard-short?episodes=2").find("must be at least 3"), std::string::npos);
    for (const std::string family : {"hard?episodes=5", "hard-simplex?episodes=5", "hard-short?episodes=3"})
        EXPECT_EQ(refusal(family), "");
    for (const std::string family : {"hard?horizon=1", "hard-simplex?horizon=1"})
        EXPECT_NE(refusal(family).find("horizon must be at least 2"), std::string::npos) << refusal(family);
}

}  // namespace
}  // namespace alidade::hard_families_test
