#include "alidade/model/parameter_set.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/effort.hpp"
#include "support/random_models.hpp"

namespace alidade::parameter_set_test {
namespace {

// |theta|^2 = |theta_0|^2 + |zeta|^2. Where |theta_0| is nearly the norm bound, digits of the difference
// cancel, and the root of what is left must not be less than the true one: else weights of norm B are no
// members. The oracle has 11 bits more.
TEST(ParameterSet, ContainsAllWeightsOfTheNormBound) {
    for (std::uint64_t seed = 0; seed < support::repetitions<std::uint64_t>(400, 100); ++seed) {
        Stream random = support::test_stream(seed, 5);
        const Index d = 2 + sample_index(random, 5);
        const double bound = 1 + 3 * sample_uniform(random);
        Vector centre(d);
        for (Index i = 0; i < d; ++i) centre[i] = sample_normal(random);
        centre *= bound * (1 - std::pow(10.0, -1 - 13 * sample_uniform(random))) / centre.norm();
        const Matrix basis = Matrix::Zero(d, d - 1);
        const double radius = ParameterSet::ball({centre, basis}, bound).radius();
        long double square = static_cast<long double>(bound) * bound;
        for (Index i = 0; i < d; ++i) square -= static_cast<long double>(centre[i]) * centre[i];
        EXPECT_GE(static_cast<long double>(radius) * radius, square) << "seed " << seed;
    }
}

}  // namespace
}  // namespace alidade::parameter_set_test
