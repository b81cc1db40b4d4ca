#include "alidade/certify/divergence.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/learned_models.hpp"

namespace alidade::divergence_test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

TEST(Divergences, AreZeroWhereTheBaseModelsAgreeAndInfiniteWhereOneExcludesTheLearnedLaw) {
    // Pair 0: both (1/3, 2/3). Pair 1: (1, 0) and (1/2, 1/2).
    const BaseKernel a{"a", 2, 2, {0, 2, 3}, {0, 1, 0}, {1.0 / 3, 2.0 / 3, 1}};
    const BaseKernel b{"b", 2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1.0 / 3, 2.0 / 3, 0.5, 0.5}};
    const auto features =
        std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(2, 1, std::vector{a, b}));
    const MixtureModel truth(features, 3, StartLaw(0), Matrix::Constant(3, 2, 0.5));
    const LearnedMixture learned = support::knowledge_about(truth, 1, 0).mixture();
    const detail::DivergenceTable kls(learned, Divergence::kl), chis(learned, Divergence::chi_square);
    EXPECT_EQ(kls.at(0, 0), 0);
    EXPECT_EQ(chis.at(0, 0), 0);
    EXPECT_EQ(kls.at(0, 1), infinity);
    // chi-square of (1, 0) and (1/2, 1/2) from (3/4, 1/4): (1/4)^2 (4/3 + 4).
    EXPECT_NEAR(chis.at(0, 1), 1.0 / 3, 1e-9);
}

// P~ = (1, 0) is the first base model; the truth may move t to the second, (1/2, 1/2), which P~ excludes:
// KL(P~ || P) = -ln(1 - t/2) exactly, at most ln 2.
TEST(Divergences, CountTheMassThatTheLearnedLawExcludes) {
    const BaseKernel a{"a", 2, 2, {0, 1, 2}, {0, 0}, {1, 1}};
    const BaseKernel b{"b", 2, 2, {0, 2, 4}, {0, 1, 0, 1}, {0.5, 0.5, 0.5, 0.5}};
    const auto features =
        std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(2, 1, std::vector{a, b}));
    const MixtureModel truth(features, 2, StartLaw(0), (Matrix(2, 2) << 1, 0, 1, 0).finished());
    const LearnedMixture learned = support::knowledge_about(truth, 1, 1e5).mixture();
    ASSERT_NEAR(learned.model().probabilities(0, 0)[1], 0, 1e-15);
    const ConfidenceSet& set = learned.set(0);
    const double t = set.refined_radius() / std::sqrt(2 * set.estimate().precision(0, 0));
    ASSERT_LT(t, 0.1);
    const double bound = detail::DivergenceTable(learned, Divergence::kl).at(0, 0);
    EXPECT_GE(bound, -std::log1p(-t / 2));
    EXPECT_LE(bound, -1.1 * std::log1p(-t / 2));
    EXPECT_EQ(detail::DivergenceTable(learned, Divergence::chi_square).at(0, 0), infinity);
    EXPECT_NEAR(
        detail::DivergenceTable(support::knowledge_about(truth, 1, 0).mixture(), Divergence::kl).at(0, 0),
        std::log(2.0), 1e-9);
}

// Where base models differ a little, x - ln(1+x) is a small difference of large numbers.
TEST(Divergences, KeepTheirDigitsWhereBaseModelsDifferALittle) {
    Stream random = support::test_stream(1, 91);
    double closest = infinity;
    for (int trial = 0; trial < 2000; ++trial) {
        const double q = 0.1 + 0.8 * sample_uniform(random);
        const double e = q * std::pow(10.0, -4 + 3.5 * sample_uniform(random)) * (1 - q);
        const BaseKernel a{"a", 2, 2, {0, 2, 4}, {0, 1, 0, 1}, {q + e, 1 - q - e, q + e, 1 - q - e}};
        const BaseKernel b{"b", 2, 2, {0, 2, 4}, {0, 1, 0, 1}, {q - e, 1 - q + e, q - e, 1 - q + e}};
        const auto features =
            std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(2, 1, std::vector{a, b}));
        const MixtureModel truth(features, 2, StartLaw(0), Matrix::Constant(2, 2, 0.5));
        const LearnedMixture learned = support::knowledge_about(truth, 1, 0).mixture();
        const auto law = learned.model().probabilities(0, 0);
        long double most = 0;
        for (std::size_t i = 0; i < 2; ++i) {
            long double sum = 0;
            for (std::size_t j = 0; j < 2; ++j) {
                const long double p = learned.model().features().phi(static_cast<Index>(j))[i], mass = law[j];
                const long double x = (p - mass) / mass;
                sum += mass * (x - std::log1p(x));
            }
            most = std::max(most, sum);
        }
        const long double bound = detail::DivergenceTable(learned, Divergence::kl).at(0, 0);
        EXPECT_GE(bound, most) << "q " << q << ", e " << e;
        closest = std::min(closest, static_cast<double>(bound / most));
    }
    EXPECT_LT(closest, 1 + 2e-10);
}

}  // namespace
}  // namespace alidade::divergence_test
