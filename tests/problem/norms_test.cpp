#include "alidade/problem/inspection.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "alidade/problem/catalogue.hpp"
#include "support/signed_features.hpp"

namespace alidade::norms_test {
namespace {

Problem signed_problem(const FeatureMap& map) {
    ProblemDescription parts;
    parts.name = "signed";
    parts.features = std::make_shared<const FeatureMap>(map);
    parts.horizon = 3;
    return Problem(std::move(parts));
}

/// The largest |phi_V| over all V in {0,1}^m, one by one: a convex function is largest at a vertex.
double longest_by_enumeration(const FeatureMap& map, Index pair) {
    double longest = 0;
    for (Index vertex = 0; vertex < Index{1} << map.successors(pair); ++vertex) {
        Vector phi = Vector::Zero(map.features());
        for (Index j = 0; j < map.successors(pair); ++j)
            if (vertex >> j & 1)
                phi += Eigen::Map<const Vector>(map.phi(map.first_entry(pair) + j).data(), map.features());
        longest = std::max(longest, phi.norm());
    }
    return longest;
}

TEST(Norms, BracketTheLargestFeatureOfAllPairs) {
    for (int seed = 0; seed < 40; ++seed) {
        Stream random = support::test_stream(static_cast<std::uint64_t>(seed), 51);
        // Up to 14 successors: enumerated, and beyond 11 bounded.
        const Index successors = 1 + sample_index(random, 14), d = 2 + sample_index(random, 4);
        const FeatureMap map = support::random_signed_features(random, {14, 2, 3}, d, successors, 2);
        double longest = 0;
        for (Index pair = 0; pair < map.pairs(); ++pair)
            longest = std::max(longest, longest_by_enumeration(map, pair));
        const Norms norms = measure_norms(signed_problem(map));
        EXPECT_LE(norms.features.lower, longest * (1 + 1e-12));
        EXPECT_GE(norms.features.upper, longest * (1 - 1e-12));
        EXPECT_NEAR(norms.features.lower, longest_by_enumeration(map, norms.pair), 0.2 * longest);
        if (successors < 12) {
            EXPECT_NEAR(norms.features.upper, longest, 1e-9 * longest);
            EXPECT_NEAR(longest_by_enumeration(map, norms.pair), longest, 1e-9 * longest);
        }
        EXPECT_EQ(norms.features_are_unit(), norms.features.upper <= 1 + 1e-9);
        EXPECT_EQ(norms.norm_bound, 2);
        EXPECT_EQ(norms.weights, 0);
        EXPECT_NEAR(norms.scaled_norm_bound(), 2 * std::max(1.0, norms.features.upper), 3e-9);
    }
}

TEST(Norms, OfTheLowerBoundInstancesAreThoseOfTheTheorem) {
    for (const char* family : {"builtin:hard", "builtin:hard-short"}) {
        const Problem problem = make_builtin(family);
        const Norms norms = measure_norms(problem);
        EXPECT_NEAR(norms.features.lower, 1 / std::sqrt(norms.weights), 1e-12);  // alpha, at V = 1
        EXPECT_TRUE(norms.features_are_unit());
        EXPECT_LE(norms.weights, norms.norm_bound);
        EXPECT_NEAR(norms.weights, norms.norm_bound, 2e-9);
        EXPECT_EQ(norms.scaled_norm_bound(), norms.norm_bound);
    }
}

TEST(Norms, OfBaseModelsAreTheRootOfTheirNumber) {
    const Norms norms = measure_norms(make_builtin("builtin:garnet"));
    EXPECT_NEAR(norms.features.lower, std::sqrt(5.0), 1e-12);
    EXPECT_LE(norms.weights, 1);
    EXPECT_FALSE(norms.features_are_unit());
}

}  // namespace
}  // namespace alidade::norms_test
