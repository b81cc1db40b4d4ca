#include <gtest/gtest.h>

#include <cmath>

#include "alidade/error.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "alidade/problem/catalogue.hpp"
#include "problem/rows.hpp"

/// The families with a story: a call centre, an outbreak, a fishery.
namespace alidade::stories_test {
namespace {

double mean_of(const Row& row) {
    double mean = 0;
    for (const auto& [state, chance] : row) mean += static_cast<double>(state) * chance;
    return mean;
}

TEST(Queue, OneLineIsATwoStateChainInClosedForm) {
    // Rates up a and down b: from empty, the line is busy after a unit of time with chance
    // a/(a+b) (1 - exp(-(a+b))). One agent ends a call a step; nobody ever waits.
    const Problem problem = make_builtin("builtin:queue?lines=1&agents=1");
    const double b = 1;
    for (Index base = 0; base < 4; ++base) {
        const double a = base == 3 ? 12 : 6, mixed = 1 - std::exp(-(a + b));
        EXPECT_NEAR(base_row(problem, base, 0, 0).at(1), a / (a + b) * mixed, 1e-9) << base;
        EXPECT_NEAR(base_row(problem, base, 1, 0).at(0), b / (a + b) * mixed, 1e-9) << base;
    }
}

TEST(Queue, TwoLinesSolveTheForwardEquation) {
    // p' = p Q by Runge-Kutta in 4000 steps, one agent: from n callers, arrivals and hang-ups by the model.
    struct Rates {
        double up0, up1, down1, down2;
    };
    const Rates models[] = {{6, 6, 1, 1}, {6, 6, 1, 1.5}, {6, 6, 1, 1}, {12, 12, 1, 1}};
    const Problem problem = make_builtin("builtin:queue?lines=2&agents=1");
    for (Index base = 0; base < 4; ++base) {
        const Rates& r = models[base];
        Matrix Q(3, 3);
        Q << -r.up0, r.up0, 0, r.down1, -r.down1 - r.up1, r.up1, 0, r.down2, -r.down2;
        for (State start = 0; start < 3; ++start) {
            Eigen::RowVectorXd p = Eigen::RowVectorXd::Zero(3);
            p[start] = 1;
            const double step = 1.0 / 4000;
            for (int i = 0; i < 4000; ++i) {
                const Eigen::RowVectorXd k1 = p * Q, k2 = (p + step / 2 * k1) * Q,
                                         k3 = (p + step / 2 * k2) * Q, k4 = (p + step * k3) * Q;
                p += step / 6 * (k1 + 2 * k2 + 2 * k3 + k4);
            }
            for (const auto& [state, chance] : base_row(problem, base, start, 0))
                EXPECT_NEAR(chance, p[state], 1e-9) << base << " from " << start;
        }
    }
}

TEST(Queue, RivalsDifferWhereCallersWait) {
    const Problem problem = make_builtin("builtin:queue");
    // 15 callers, two agents: those who hang up or turn away leave a shorter queue, a rush a longer one.
    const auto next = [&](Index base, State n, Action a) { return mean_of(base_row(problem, base, n, a)); };
    EXPECT_LT(next(1, 15, 0), next(0, 15, 0) - 3);
    EXPECT_LT(next(2, 15, 0), next(0, 15, 0) - 2);
    EXPECT_GT(next(3, 5, 0), next(0, 5, 0) + 4);
    // More agents, fewer callers.
    for (Index base = 0; base < 4; ++base)
        for (Action a = 1; a < 4; ++a) EXPECT_LT(next(base, 15, a), next(base, 15, a - 1));
    EXPECT_EQ(problem.state_name(3), "3 callers");
    EXPECT_EQ(problem.action_name(1), "4 agents");
    const Reward& answered = problem.rewards()[0].reward;
    EXPECT_EQ(answered.at(0, 2, 0), 1);
    EXPECT_EQ(answered.at(0, 8, 0), 0.25);
    EXPECT_EQ(problem.rewards()[1].reward.at(0, 8, 1), 0.5);
}

/// State of so many susceptible and ill people, by its name.
State outbreak(const Problem& problem, Index susceptible, Index ill) {
    const std::string name = std::to_string(susceptible) + " susceptible and " + std::to_string(ill) + " ill";
    for (State s = 0; s < problem.shape().states; ++s)
        if (problem.state_name(s) == name) return s;
    throw InvalidArgument("no state " + name);
}

TEST(Epidemic, AHouseholdOfThreeMatchesTheHandCalculation) {
    const Problem problem = make_builtin("builtin:epidemic?people=3");
    EXPECT_EQ(problem.shape().states, 10);
    const auto at = [&](Index susceptible, Index ill) { return outbreak(problem, susceptible, ill); };
    const Action nothing = 0, isolate = 1, vaccinate = 2;
    // Two susceptible, one case, chance 0.3: both classical models say the same.
    const Row one{{at(2, 0), .49}, {at(1, 1), .42}, {at(0, 2), .09}};
    EXPECT_LE(distance(base_row(problem, 0, at(2, 1), nothing), one), 1e-12);
    EXPECT_LE(distance(base_row(problem, 1, at(2, 1), nothing), one), 1e-12);
    // Two cases: escaped with chance 0.49 or 0.7.
    EXPECT_LE(distance(base_row(problem, 0, at(1, 2), nothing), {{at(1, 0), .49}, {at(0, 1), .51}}), 1e-12);
    EXPECT_LE(distance(base_row(problem, 1, at(1, 2), nothing), {{at(1, 0), .7}, {at(0, 1), .3}}), 1e-12);
    // One case in three spreads, and then with chance 0.9.
    EXPECT_LE(distance(base_row(problem, 2, at(2, 1), nothing),
                       {{at(2, 0), (2 + .01) / 3}, {at(1, 1), .18 / 3}, {at(0, 2), .81 / 3}}),
              1e-12);
    // Immunity is lost with chance 0.3: one susceptible, one case; who is immune and who recovers may lose
    // it.
    EXPECT_LE(distance(base_row(problem, 3, at(1, 1), nothing), {{at(1, 0), .7 * .49},
                                                                 {at(2, 0), .7 * .42},
                                                                 {at(3, 0), .7 * .09},
                                                                 {at(0, 1), .3 * .49},
                                                                 {at(1, 1), .3 * .42},
                                                                 {at(2, 1), .3 * .09}}),
              1e-12);
    // Isolation leaves 0.3 of a contact; vaccination immunises two before anyone is infected.
    EXPECT_LE(distance(base_row(problem, 1, at(2, 1), isolate),
                       {{at(2, 0), .91 * .91}, {at(1, 1), 2 * .09 * .91}, {at(0, 2), .09 * .09}}),
              1e-12);
    EXPECT_LE(distance(base_row(problem, 0, at(2, 1), vaccinate), {{at(0, 0), 1}}), 1e-12);
}

TEST(Epidemic, EndsWithItsCasesUnlessImmunityWanes) {
    const Problem problem = make_builtin("builtin:epidemic");
    EXPECT_EQ(problem.shape().states, 55);
    EXPECT_EQ(problem.state_name(problem.start().atoms().front().first), "7 susceptible and 2 ill");
    for (Index susceptible = 0; susceptible <= 9; ++susceptible) {
        const State over = outbreak(problem, susceptible, 0);
        for (Index base = 0; base < 3; ++base)
            EXPECT_LE(distance(base_row(problem, base, over, 0), {{over, 1}}), 1e-12);
        EXPECT_EQ(problem.rewards()[1].reward.at(0, over, 2), 1);
    }
    const Reward& healthy = problem.rewards()[0].reward;
    EXPECT_NEAR(healthy.at(0, outbreak(problem, 0, 9), 0), 0, 1e-15);
    EXPECT_NEAR(healthy.at(0, outbreak(problem, 3, 3), 0), 2 / 3.0, 1e-15);
}

TEST(Fishery, MediansOfTheNextStockFollowTheGrowthModels) {
    // 200 cells: rounding to whole units moves a median by half a cell at most. Unfished stock 150; no catch.
    const Problem problem = make_builtin("builtin:fishery?capacity=200&quotas=0,20");
    const auto median = [&](Index base, State stock) {
        double sum = 0;
        for (const auto& [state, chance] : base_row(problem, base, stock, 0))
            if ((sum += chance) >= 0.5) return static_cast<double>(state);
        return 0.0;
    };
    for (const State stock : {10, 30, 75, 120}) {
        const double x = static_cast<double>(stock) / 150, most = std::exp(1.2);
        EXPECT_NEAR(median(0, stock), 150 * x * std::exp(1.2 * (1 - x)), 0.51);
        EXPECT_NEAR(median(1, stock), 150 * x * most / (1 + (most - 1) * x), 0.51);
        EXPECT_NEAR(median(2, stock), 150 * x * std::exp(4 * (1 - x) * (x - 0.25)), 0.51);
        EXPECT_NEAR(median(3, stock), 150 * x * most / (1 + 2 * (most - 1) * x), 0.51);
    }
    // A catch comes first.
    EXPECT_LE(distance(base_row(problem, 0, 50, 1), base_row(problem, 0, 30, 0)), 1e-15);
}

TEST(Fishery, GrowthSpreadsByAFifthAndWhatIsGoneStaysGone) {
    const Problem problem = make_builtin("builtin:fishery?capacity=200&quotas=0,20");
    double mean = 0, square = 0;
    for (const auto& [state, chance] : base_row(problem, 1, 75, 0)) {
        const double log_stock = std::log(static_cast<double>(state));
        mean += chance * log_stock;
        square += chance * log_stock * log_stock;
    }
    EXPECT_NEAR(std::sqrt(square - mean * mean), 0.2, 0.003);
    for (Index base = 0; base < 4; ++base) {
        EXPECT_LE(distance(base_row(problem, base, 0, 0), {{0, 1}}), 1e-15);
        EXPECT_LE(distance(base_row(problem, base, 20, 1), {{0, 1}}), 1e-15);
    }
    const Problem small = make_builtin("builtin:fishery");
    EXPECT_EQ(small.rewards()[0].reward.at(0, 3, 2), 3 / 8.0);  // only what is there can be caught
    EXPECT_EQ(small.rewards()[1].reward.at(0, 10, 2), 6 / 20.0);
    EXPECT_EQ(small.rewards()[2].reward.at(0, 7, 2), 1);  // a fifth of 15
    EXPECT_EQ(small.rewards()[2].reward.at(0, 6, 2), 0);
}

/// The mixture that is one base model at all steps.
MixtureModel only(const Problem& problem, Index base) {
    Matrix weights = Matrix::Zero(problem.shape().horizon, problem.features().features());
    weights.col(base).setOnes();
    return MixtureModel(problem.shared_features(), problem.shape().horizon, problem.start(), weights);
}

// What makes them worth an experiment: whichever is true, who believes in some rival loses what is worth
// having.
TEST(Stories, BelievingInTheWrongRivalCosts) {
    struct Story {
        const char* family;
        double each, largest;  // costs: whichever is true, and at the worst
    };
    for (const auto& [family, each, largest] :
         {Story{"queue", 0.1, 0.3}, Story{"epidemic", 0.005, 0.1}, Story{"fishery", 0.2, 2}}) {
        const Problem problem = make_builtin(std::string("builtin:") + family);
        const Reward& reward = problem.rewards().back().reward;
        double worst_of_all = 0;
        for (Index truth = 0; truth < 4; ++truth) {
            const MixtureModel model = only(problem, truth);
            double worst = 0;
            for (Index rival = 0; rival < 4; ++rival) {
                const OptimalPlan believed = backward_induction(only(problem, rival), reward);
                worst = std::max(worst, backward_induction(model, reward).value -
                                            evaluate(model, believed.policy, reward).value);
            }
            EXPECT_GE(worst, each) << family << ", truth " << problem.features().names()[at(truth)];
            worst_of_all = std::max(worst_of_all, worst);
        }
        EXPECT_GE(worst_of_all, largest) << family;
    }
}

}  // namespace
}  // namespace alidade::stories_test
