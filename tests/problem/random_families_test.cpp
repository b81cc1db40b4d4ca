#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <map>

#include "alidade/problem/catalogue.hpp"
#include "alidade/problem/families/drawing.hpp"
#include "alidade/random/samplers.hpp"
#include "problem/rows.hpp"

/// The laws of what is drawn. A mean of n independent numbers in [0, 1] is off by t or more with
/// probability at most 2 exp(-2 n t^2) (Hoeffding).
namespace alidade::random_families_test {
namespace {

/// t such that 2 exp(-2 n t^2) = 1e-9.
double tolerance(Index n) {
    return std::sqrt(std::log(2e9) / (2 * static_cast<double>(n)));
}

TEST(TrueWeights, AreUniformOnTheSimplex) {
    // Ten seeds of 10000 steps. Dirichlet(1,1,1,1): E w = 1/4, E sum w^2 = 2/5, E w_0 w_1 = 1/20.
    // Independent steps (disjoint neighbours, so n is half): E w_h w_h+1 = 1/16. Odds below 7e-9.
    const Index steps = 10'000, draws = 10 * steps;
    Vector mean = Vector::Zero(4);
    double squares = 0, products = 0, neighbours = 0;
    for (int seed = 1; seed <= 10; ++seed) {
        const Problem problem =
            make_builtin(fmt::format("builtin:chain?horizon={}&features=4&seed={}", steps, seed));
        const Matrix& truth = *problem.truth();
        mean += truth.colwise().sum().transpose();
        squares += truth.squaredNorm();
        products += truth.col(0).dot(truth.col(1));
        for (Index h = 0; h < steps; h += 2) neighbours += truth(h, 0) * truth(h + 1, 0);
    }
    const double n = static_cast<double>(draws);
    for (Index i = 0; i < 4; ++i) EXPECT_NEAR(mean[i] / n, 0.25, tolerance(draws));
    EXPECT_NEAR(squares / n, 0.4, tolerance(draws));
    EXPECT_NEAR(products / n, 0.05, tolerance(draws));
    EXPECT_NEAR(neighbours / (n / 2), 0.0625, tolerance(draws / 2));
}

TEST(Garnet, BaseRowsAreDirichletOnASharedSupport) {
    // Pairs are independent, so n = 8000. m = 5, c = 0.3: E p_j = 1/5, E sum p^2 = (c+1)/(mc+1) = 0.52;
    // base models are independent: E sum_j p_j q_j = 1/5. Seven checks: odds below 7e-9.
    const Index states = 2000, pairs = 8000;
    const Problem problem = make_builtin(
        "builtin:garnet?states=2000&actions=4&features=2&successors=5&concentration=0.3&horizon=1");
    const FeatureMap& map = problem.features();
    std::vector<double> mean(5, 0.0);
    double squares = 0, products = 0;
    for (Index pair = 0; pair < pairs; ++pair) {
        // An entry is missing only if both gammas underflowed.
        ASSERT_EQ(map.successors(pair), 5);
        for (Index j = 0; j < 5; ++j) {
            const auto phi = map.phi(map.first_entry(pair) + j);
            mean[static_cast<std::size_t>(j)] += phi[0];
            squares += phi[1] * phi[1];
            products += phi[0] * phi[1];
        }
    }
    for (double sum : mean) EXPECT_NEAR(sum / pairs, 0.2, tolerance(pairs));
    EXPECT_NEAR(squares / pairs, 0.52, tolerance(pairs));
    EXPECT_NEAR(products / pairs, 0.2, tolerance(pairs));
    // The mean successor, as a share of the largest state, has mean 1/2.
    double place = 0;
    for (Index pair = 0; pair < pairs; ++pair)
        for (std::int32_t next : map.targets(pair)) place += next / (5.0 * (states - 1));
    EXPECT_NEAR(place / pairs, 0.5, tolerance(pairs));
}

TEST(Garnet, ConcentrationOneIsUniformOnTheSimplex) {
    // E sum p^2 = 2 / (m+1) = 1/3 for m = 5.
    const Problem problem = make_builtin(
        "builtin:garnet?states=1000&actions=5&features=1&successors=5&concentration=1&horizon=1");
    double squares = 0;
    for (double p : problem.features().values()) squares += p * p;
    EXPECT_NEAR(squares / 5000, 1.0 / 3, tolerance(5000));
}

TEST(Garnet, TheLargestOfTheStudiesIsBuiltQuickly) {
    const auto begin = std::chrono::steady_clock::now();
    const Problem problem =
        make_builtin("builtin:garnet?states=2000&actions=10&features=10&horizon=20&successors=10");
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    EXPECT_EQ(problem.features().entries(), 200'000);
    // Two seconds is the promise for an optimised build; sanitizers and busy machines get ten times that.
    EXPECT_LT(seconds.count(), 20);
}

Index informative_pairs(const Problem& problem) {
    Index count = 0;
    for (State s = 0; s < problem.shape().states; ++s) {
        for (Action a = 0; a < problem.shape().actions; ++a) {
            bool differs = false;
            for (Index base = 1; base < problem.features().features(); ++base)
                differs = differs || base_row(problem, base, s, a) != base_row(problem, 0, s, a);
            if (differs) ++count;
        }
    }
    return count;
}

TEST(Needle, HasExactlyTheInformativePairsAskedFor) {
    EXPECT_EQ(informative_pairs(make_builtin("builtin:needle")), 4);  // 2 % of 200
    EXPECT_EQ(informative_pairs(make_builtin("builtin:needle?states=10&fraction=0.3")), 12);
    EXPECT_EQ(informative_pairs(make_builtin("builtin:needle?states=10&fraction=0.11")), 4);  // of 4.4
    EXPECT_EQ(informative_pairs(make_builtin("builtin:needle?states=10&fraction=0.12")), 5);  // of 4.8
    EXPECT_EQ(informative_pairs(make_builtin("builtin:needle?fraction=0")), 1);
    EXPECT_EQ(informative_pairs(make_builtin("builtin:needle?fraction=0.001")), 1);
    EXPECT_EQ(
        informative_pairs(make_builtin("builtin:needle?states=200&actions=5&features=8&fraction=0.002")), 2);
}

TEST(Needle, IsTheGarnetWhenEveryPairInforms) {
    const std::string sizes = "states=12&actions=3&features=3&horizon=4&successors=6&seed=5";
    const Problem needle = make_builtin("builtin:needle?fraction=1&" + sizes);
    const Problem garnet = make_builtin("builtin:garnet?" + sizes);
    EXPECT_EQ(needle.features(), garnet.features());
    EXPECT_EQ(*needle.truth(), *garnet.truth());
}

TEST(Needle, SharesTheFirstBaseModelWithTheGarnet) {
    const std::string sizes = "states=12&actions=3&features=3&horizon=4&successors=6&seed=5";
    const Problem needle = make_builtin("builtin:needle?" + sizes),
                  garnet = make_builtin("builtin:garnet?" + sizes);
    for (State s = 0; s < 12; ++s)
        for (Action a = 0; a < 3; ++a) EXPECT_EQ(base_row(needle, 0, s, a), base_row(garnet, 0, s, a));
}

TEST(SubsetSampler, DrawsEverySubsetEquallyOften) {
    // 10 subsets of 2 out of 5, 20000 draws: ten frequencies, odds below 1e-8.
    const Index draws = 20'000;
    detail::SubsetSampler sampler(5);
    std::map<std::vector<Index>, Index> seen;
    for (Index i = 0; i < draws; ++i) {
        Stream random(3, Purpose::test, static_cast<std::uint64_t>(i));
        ++seen[sampler.draw(random, 2)];
    }
    EXPECT_EQ(seen.size(), 10u);
    for (const auto& [subset, count] : seen) {
        EXPECT_LT(subset[0], subset[1]);
        EXPECT_NEAR(static_cast<double>(count) / static_cast<double>(draws), 0.1, tolerance(draws));
    }
}

TEST(SubsetSampler, DependsOnTheStreamOnly) {
    detail::SubsetSampler used(50), fresh(50);
    Stream before(1, Purpose::test), one(2, Purpose::test), two(2, Purpose::test);
    used.draw(before, 20);
    EXPECT_EQ(used.draw(one, 20), fresh.draw(two, 20));
    Stream random(4, Purpose::test);
    const std::vector<Index> all = fresh.draw(random, 50);
    for (Index i = 0; i < 50; ++i) EXPECT_EQ(all[static_cast<std::size_t>(i)], i);
}

}  // namespace
}  // namespace alidade::random_families_test
