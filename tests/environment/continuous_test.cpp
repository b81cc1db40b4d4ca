#include "alidade/environment/continuous.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "alidade/environment/deployment.hpp"
#include "alidade/error.hpp"
#include "alidade/random/samplers.hpp"

namespace alidade::continuous_test {
namespace {

const Grid line({{0, 1, 10}});

StartPoint at(double place) {
    return [place](Stream&, std::span<double> first) { first[0] = place; };
}

Simulator moving(double by) {
    return [by](std::span<const double> state, Action a, Stream&, std::span<double> next) {
        next[0] = state[0] + by * static_cast<double>(a);
    };
}

TEST(ContinuousEnvironment, KeepsThePointAndReportsItsCell) {
    ContinuousEnvironment environment(line, 2, 4, at(0.05),
                                      mixture_dynamics({moving(0.06)}, Matrix::Ones(1, 1)));
    EXPECT_EQ(environment.shape(), (Shape{10, 2, 4}));
    Stream random(1, Purpose::test);
    EXPECT_THROW(environment.step(0, random), InvalidArgument);
    for (int episode = 0; episode < 2; ++episode) {
        EXPECT_EQ(environment.reset(random), 0);
        EXPECT_THROW(environment.step(2, random), InvalidArgument);
        EXPECT_EQ(environment.step(1, random), 1);  // 0.11
        EXPECT_EQ(environment.step(1, random), 1);  // 0.17: the point matters, not the cell
        EXPECT_EQ(environment.step(1, random), 2);  // 0.23
        EXPECT_NEAR(environment.point()[0], 0.23, 1e-15);
        EXPECT_EQ(environment.step(0, random), 2);
        EXPECT_THROW(environment.step(0, random), InvalidArgument);
    }
}

TEST(ContinuousEnvironment, ReachesTheCellsBeyondTheBoxAsItsBorder) {
    ContinuousEnvironment environment(line, 2, 2, at(0.95),
                                      mixture_dynamics({moving(9)}, Matrix::Ones(1, 1)));
    Stream random(1, Purpose::test);
    environment.reset(random);
    EXPECT_EQ(environment.step(1, random), 9);
}

TEST(MixtureDynamics, DrawsTheSimulatorWithTheWeightsOfItsStep) {
    Matrix weights(2, 2);
    weights << 0.3, 0.7, 1, 0;
    const Dynamics dynamics = mixture_dynamics({moving(0.1), moving(0.2)}, weights);
    const std::vector<double> from{0.5};
    std::vector<double> next(1);
    Stream random(3, Purpose::test);
    int first = 0;
    for (int k = 0; k < 10'000; ++k) {
        dynamics(0, from, 1, random, next);
        first += next[0] < 0.65 ? 1 : 0;
        dynamics(1, from, 1, random, next);
        EXPECT_DOUBLE_EQ(next[0], 0.6);
    }
    // Hoeffding: farther off with probability at most 2 exp(-2 * 275^2 / 10^4) < 6e-7.
    EXPECT_NEAR(first, 3000, 275);
    EXPECT_THROW(dynamics(2, from, 1, random, next), InvalidArgument);
}

TEST(MixtureDynamics, RefusesWeightsThatAreNoDistribution) {
    Matrix weights(1, 2);
    weights << 0.3, 0.6;
    EXPECT_THROW(mixture_dynamics({moving(1), moving(2)}, weights), InvalidArgument);
    weights << 1.3, -0.3;
    EXPECT_THROW(mixture_dynamics({moving(1), moving(2)}, weights), InvalidArgument);
    weights << 0.5, 0.5;
    EXPECT_THROW(mixture_dynamics({moving(1)}, weights), InvalidArgument);
    EXPECT_THROW(ContinuousEnvironment(line, 0, 2, at(0), mixture_dynamics({moving(1)}, Matrix::Ones(1, 1))),
                 InvalidArgument);
    EXPECT_THROW(ContinuousEnvironment(line, 1, 2, at(0), nullptr), InvalidArgument);
}

}  // namespace
}  // namespace alidade::continuous_test
