#include <gtest/gtest.h>

#include <numeric>

#include "alidade/error.hpp"
#include "alidade/problem/catalogue.hpp"
#include "problem/rows.hpp"

/// Laws that hold for every family and every variant.
namespace alidade::families_laws_test {
namespace {

struct Case {
    const char* address;
    Shape shape;
    Index features;
    State start;
    Index max_successors;
    bool random_kernels;
};

void PrintTo(const Case& c, std::ostream* out) {
    *out << c.address;
}

class EveryFamily : public testing::TestWithParam<Case> {
protected:
    static Problem make(const std::string& more) {
        const std::string address = GetParam().address;
        const char separator = address.find('?') == std::string::npos ? '?' : '&';
        return make_builtin("builtin:" + address + (more.empty() ? "" : separator + more));
    }
};

TEST_P(EveryFamily, HasTheSizesAskedFor) {
    const Problem problem = make("");
    const Case& c = GetParam();
    EXPECT_EQ(problem.shape(), c.shape);
    EXPECT_EQ(problem.features().features(), c.features);
    EXPECT_EQ(problem.features().kind(), FeatureKind::base_models);
    EXPECT_EQ(problem.features().max_successors(), c.max_successors);
    EXPECT_EQ(problem.start(), StartLaw(c.start));
    EXPECT_FALSE(problem.homogeneous());
}

TEST_P(EveryFamily, EveryBaseRowIsADistributionWithinTheSupport) {
    const Problem problem = make("");
    const FeatureMap& map = problem.features();
    for (Index pair = 0; pair < map.pairs(); ++pair) {
        std::vector<double> sums(static_cast<std::size_t>(map.features()), 0.0);
        for (Index entry = map.first_entry(pair); entry < map.first_entry(pair + 1); ++entry) {
            double largest = 0;
            for (std::size_t i = 0; i < sums.size(); ++i) {
                const double chance = map.phi(entry)[i];
                EXPECT_GE(chance, 0);
                sums[i] += chance;
                largest = std::max(largest, chance);
            }
            EXPECT_GT(largest, 0) << "an entry that no base model reaches, pair " << pair;
        }
        for (double sum : sums) EXPECT_NEAR(sum, 1, 1e-12) << "pair " << pair;
    }
}

TEST_P(EveryFamily, HasTrueWeightsForEveryStep) {
    const Problem problem = make("");
    ASSERT_TRUE(problem.truth().has_value());
    EXPECT_EQ(problem.truth()->rows(), problem.shape().horizon);
    EXPECT_EQ(problem.truth()->cols(), problem.features().features());
    EXPECT_GE(problem.truth()->minCoeff(), 0);
    for (Index h = 0; h < problem.shape().horizon; ++h) EXPECT_NEAR(problem.truth()->row(h).sum(), 1, 1e-12);
    EXPECT_EQ(problem.true_model().shape(), problem.shape());
}

TEST_P(EveryFamily, SameSeedSameProblem) {
    const Problem one = make("seed=11"), two = make("seed=11");
    EXPECT_EQ(one.features(), two.features());
    EXPECT_EQ(*one.truth(), *two.truth());
}

TEST_P(EveryFamily, AnotherSeedDrawsOtherWeightsAndKernels) {
    const Problem one = make("seed=11"), two = make("seed=12");
    EXPECT_EQ(*one.truth() != *two.truth(), GetParam().features > 1);
    EXPECT_EQ(one.features() != two.features(), GetParam().random_kernels);
}

TEST_P(EveryFamily, RewardsAreWithinTheUnitInterval) {
    const Problem problem = make("");
    for (const NamedReward& named : problem.rewards()) {
        EXPECT_FALSE(named.meaning.empty());
        for (double value : named.reward.values()) {
            EXPECT_GE(value, 0) << named.name;
            EXPECT_LE(value, 1) << named.name;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(
    Catalogue, EveryFamily,
    testing::Values(
        Case{"garnet", {20, 4, 5}, 5, 0, 8, true}, Case{"garnet?states=5", {5, 4, 5}, 5, 0, 5, true},
        Case{"garnet?states=9&actions=4&features=3&horizon=6&successors=9&concentration=0.5",
             {9, 4, 6},
             3,
             0,
             9,
             true},
        Case{"garnet?states=1&actions=1&features=1&horizon=1", {1, 1, 1}, 1, 0, 1, false},
        Case{"needle", {50, 4, 10}, 5, 0, 10, true}, Case{"riverswim", {12, 2, 20}, 4, 0, 3, true},
        Case{"riverswim?length=2&features=2", {2, 2, 20}, 2, 0, 2, false},
        Case{"riverswim?variant=halves", {10, 2, 12}, 3, 0, 3, false},
        Case{"lock", {17, 3, 11}, 4, 0, 6, true},
        Case{"lock?length=12&actions=4&features=5&outcomes=8", {21, 4, 13}, 5, 0, 8, true},
        Case{"lock?variant=deep", {11, 3, 9}, 3, 0, 4, true},
        Case{"lock?variant=reset", {6, 3, 7}, 4, 0, 6, false}, Case{"chain", {6, 2, 8}, 5, 0, 3, false},
        Case{"chain?states=8&actions=4&features=4&horizon=6", {8, 4, 6}, 4, 0, 3, false},
        Case{"inventory", {21, 5, 7}, 4, 10, 21, false},
        Case{"inventory?capacity=3&orders=0,1,3&start=2&horizon=2", {4, 3, 2}, 4, 2, 4, false},
        Case{"gridworld", {25, 4, 20}, 4, 0, 4, false},
        Case{"gridworld?width=4&height=2&horizon=3", {8, 4, 3}, 4, 0, 4, false},
        // From cell 0 the level reaches 0.75 + 0.75/50 at most: cells 0 to 38.
        Case{"reservoir", {50, 3, 4}, 3, 25, 39, false},
        Case{"reservoir?cells=7&actions=2&features=4&horizon=2&start=0", {7, 2, 2}, 4, 0, 7, false},
        Case{"queue", {21, 4, 6}, 4, 10, 21, false},
        Case{"queue?lines=3&agents=1,5&start=0&horizon=2", {4, 2, 2}, 4, 0, 4, false},
        // From s susceptible, 0 to s new cases and 0 to 9-s who lose their immunity: (s+1)(10-s) of them.
        // Before 7 susceptible and nobody ill come 10 + 9 + ... + 4 states.
        Case{"epidemic", {55, 3, 6}, 4, 51, 30, false},
        Case{"epidemic?people=2&horizon=3", {6, 3, 3}, 4, 2, 4, false},
        // Growth by more than six standard deviations, e^1.2, is left out.
        Case{"fishery", {21, 5, 6}, 4, 10, 20, false},
        Case{"fishery?capacity=4&quotas=1,2&start=3&horizon=2", {5, 2, 2}, 4, 3, 5, false},
        Case{"hard-simplex", {12, 16, 10}, 8, 0, 2, false},
        Case{"hard-simplex?features=3&horizon=4&episodes=100", {6, 4, 4}, 4, 0, 2, false}));

TEST(EveryFamilyDraws, OneCanBeEnlargedWithoutChangingTheOtherDraws) {
    // Every draw has its own address, so more steps leave kernels and earlier weights alone.
    const Problem small = make_builtin("builtin:garnet?horizon=5"),
                  large = make_builtin("builtin:garnet?horizon=9");
    EXPECT_EQ(small.features(), large.features());
    EXPECT_EQ(*small.truth(), Matrix(large.truth()->topRows(5)));
}

}  // namespace
}  // namespace alidade::families_laws_test
