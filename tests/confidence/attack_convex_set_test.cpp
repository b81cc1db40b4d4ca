#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>

#include "support/climbing_members.hpp"
#include "support/effort.hpp"

// What the largest bounds of an atlas rest on.
namespace alidade::attack_convex_set_test {
namespace {

// What more effort rests on: the convex sets' support functions, of any number of visits, base models that
// are equal or nearly so, and directions of any size; ends are compared in longer numbers.
TEST(ConvexSetAttack, ReachesNoFartherThanItSays) {
    std::int64_t compared = 0;
    double closest = 0, excess = 0;
    for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(support::runs(300, 6000)); ++seed) {
        Stream random = support::test_stream(seed, 1204);
        const support::RandomSizes sizes{.shape = {2 + sample_index(random, 5), 2, 2},
                                         .features = 2 + sample_index(random, 6),
                                         .successors = 2,
                                         .concentration = seed % 2 == 0 ? 1.0 : 0.1};
        const MixtureModel truth =
            support::random_model(random, support::random_base_models(random, sizes), sizes);
        const LearnedMixture learned =
            support::likelihood_model(truth, random, std::pow(10.0, 15 * sample_uniform(random)));
        const ConfidenceSet& set = learned.set(0);
        if (!set.has_level()) continue;
        for (int n = 0; n < 6; ++n) {
            Vector direction(set.features());
            const double size =
                std::pow(10.0, n == 0 ? -200 * sample_uniform(random) : -8 * sample_uniform(random));
            for (double& each : direction) each = (n == 1 ? 1e3 : 0) + size * sample_normal(random);
            const std::span<const double> numbers(direction.data(),
                                                  static_cast<std::size_t>(direction.size()));
            const double sharp = set.sharp_upper(numbers), outer = set.upper(numbers);
            EXPECT_LE(sharp, outer);
            long double here = 0;
            for (Index i = 0; i < direction.size(); ++i)
                here += static_cast<long double>(set.weights()[i]) * static_cast<long double>(direction[i]);
            for (int start = 0; start < 3; ++start) {
                const Vector member =
                    start == 0
                        ? set.farthest_member(numbers)
                        : Vector(support::random_member(learned, random, false).weights().row(0).transpose());
                if (!set.contains(member)) continue;
                long double reached = 0;
                for (Index i = 0; i < direction.size(); ++i)
                    reached += static_cast<long double>(member[i]) * static_cast<long double>(direction[i]);
                ++compared;
                const double above = static_cast<double>(reached - static_cast<long double>(sharp));
                const double scale = direction.cwiseAbs().maxCoeff();
                excess = std::max(excess, above / scale);
                EXPECT_LE(above, 1e-13 * scale) << "seed " << seed << " direction " << n;
                const auto moved = static_cast<double>(static_cast<long double>(sharp) - here);
                if (moved > 1e-9 * scale)
                    closest = std::max(closest, static_cast<double>(reached - here) / moved);
            }
        }
    }
    ::testing::Test::RecordProperty("compared", std::to_string(compared));
    ::testing::Test::RecordProperty("closest", std::to_string(closest));
    ::testing::Test::RecordProperty("excess in 1e-15", std::to_string(1e15 * excess));
    EXPECT_GT(compared, support::effort_is("sanitized") ? 100 : 2000);
    EXPECT_GT(closest, 0.99);
}

}  // namespace
}  // namespace alidade::attack_convex_set_test
