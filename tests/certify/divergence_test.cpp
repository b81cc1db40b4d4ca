#include "alidade/certify/divergence.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "support/learned_models.hpp"
#include "support/signed_features.hpp"

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

/// A member of the set on its boundary, or on that of the well-defined weights, in a random direction.
Vector outermost(const ConfidenceSet& set, Stream& random) {
    const TangentSpace& space = set.parameters().space();
    Vector direction(space.dimension());
    for (Index i = 0; i < direction.size(); ++i) direction[i] = sample_normal(random);
    direction = space.basis * direction;
    double low = 0, high = 1;
    while (set.contains(set.weights() + high * direction)) high *= 2;
    for (int step = 0; step < 60; ++step) {
        const double t = 0.5 * (low + high);
        (set.contains(set.weights() + t * direction) ? low : high) = t;
    }
    // A little inside: what is called a member may be negative by a rounding.
    return set.weights() + 0.999999 * low * direction;
}

/// Signed features of which theta = (1, x) is a transition law for the small x of the truth.
MixtureModel signed_truth(Stream& random, Index d, double off) {
    const Shape shape{5, 2, 4};
    const auto features =
        std::make_shared<const FeatureMap>(support::random_signed_features(random, shape, d, 3, 2.0));
    Matrix weights = Matrix::Zero(shape.horizon, d);
    weights.col(0).setOnes();
    const ParameterSet parameters = ParameterSet::of(*features);
    for (Step h = 0; h < shape.horizon; ++h) {
        Vector theta = weights.row(h);
        for (Index i = 1; i < d; ++i) theta[i] = off * sample_normal(random);
        while (!parameters.contains(theta)) theta.tail(d - 1) /= 2;
        weights.row(h) = theta;
    }
    return MixtureModel(features, shape.horizon, StartLaw(0), weights);
}

// No cap by base models, but a law all the same: no member is farther than the table says, and with two
// features, of which one moves, the farthest is nearly as far.
TEST(Divergences, BoundThoseOfSignedFeatures) {
    double closest_kl = infinity, closest_chi = infinity;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        Stream random = support::test_stream(seed, 92);
        const Index d = 2 + static_cast<Index>(seed % 3);
        const MixtureModel truth = signed_truth(random, d, 0.05);
        const double information = std::pow(10.0, static_cast<double>(seed % 6));
        const LearnedMixture learned = support::knowledge_about(truth, seed, information).mixture();
        const detail::DivergenceTable kls(learned, Divergence::kl), chis(learned, Divergence::chi_square);
        const FeatureMap& features = learned.model().features();
        for (Step h = 0; h + 1 < truth.shape().horizon; ++h)
            for (int trial = 0; trial < 6; ++trial) {
                const Vector member = outermost(learned.set(h), random);
                for (Index pair = 0; pair < truth.shape().pairs(); ++pair) {
                    const auto law = learned.model().probabilities(h, pair);
                    long double kl = 0, chi = 0;
                    for (std::size_t j = 0; j < law.size(); ++j) {
                        const auto phi = features.phi(features.first_entry(pair) + static_cast<Index>(j));
                        const long double p =
                            std::max(0.0, Eigen::Map<const Vector>(phi.data(), d).dot(member));
                        if (law[j] > 0) kl += law[j] * std::log(law[j] / p);
                        chi += (p - law[j]) * (p - law[j]) / law[j];
                    }
                    EXPECT_GE(kls.at(h, pair), kl * (1 - 1e-12L) - 1e-14L) << seed;
                    EXPECT_GE(chis.at(h, pair), chi * (1 - 1e-12L) - 1e-14L) << seed;
                    if (d > 2 || !(kl > 0)) continue;
                    closest_kl = std::min(closest_kl, static_cast<double>(kls.at(h, pair) / kl));
                    closest_chi = std::min(closest_chi, static_cast<double>(chis.at(h, pair) / chi));
                }
            }
    }
    EXPECT_LT(closest_kl, 1.05);
    EXPECT_LT(closest_chi, 1.001);
}

// Weights on the boundary: a successor that the learned law excludes, and laws that rounding left negative.
TEST(Divergences, OfSignedFeaturesCountTheMassThatTheLearnedLawExcludes) {
    const auto features = std::make_shared<const FeatureMap>(
        FeatureMap::from_features({2, 1, 2, {0, 2, 4}, {0, 1, 0, 1}, {1, -1, 0, 1, 1, -1, 0, 1}, 2.0}));
    // P = (1 - x, x): the estimate is x = 0.
    const MixtureModel truth(features, 2, StartLaw(0), (Matrix(2, 2) << 1, 0, 1, 0).finished());
    const LearnedMixture learned = support::knowledge_about(truth, 1, 1e5).mixture();
    const ConfidenceSet& set = learned.set(0);
    const double t = set.range(std::vector<double>{0, 1}).upper;
    ASSERT_GT(t, 0);
    ASSERT_LT(t, 0.1);
    const double bound = detail::DivergenceTable(learned, Divergence::kl).at(0, 0);
    EXPECT_GE(bound, -std::log1p(-t));
    EXPECT_LE(bound, -1.2 * std::log1p(-t));
    EXPECT_EQ(detail::DivergenceTable(learned, Divergence::chi_square).at(0, 0), infinity);
}

// Every candidate, for every truth in the sets, against the differences that policies and rewards bring out.
TEST(Divergences, OfSignedFeaturesGiveCertificates) {
    int decided = 0;
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        Stream random = support::test_stream(seed, 93);
        const MixtureModel about = signed_truth(random, 3, 0.05);
        const LearnedMixture learned =
            support::knowledge_about(about, seed, std::pow(10.0, 2.0 + static_cast<double>(seed % 4)))
                .mixture();
        const RewardFreeCertificate certificate = certify_reward_free(learned, DeviationTable::of(learned));
        ASSERT_EQ(certificate.candidates.size(), 8U);
        const Shape& shape = about.shape();
        double largest = 0;
        for (int trial = 0; trial < 20; ++trial) {
            Matrix weights = learned.model().weights();
            for (Step h = 0; h + 1 < shape.horizon; ++h)
                weights.row(h) = outermost(learned.set(h), random).transpose();
            const MixtureModel truth(about.shared_features(), shape.horizon, about.start(), weights);
            const Reward reward = support::random_reward(random, shape);
            const Policy policy = backward_induction(trial % 2 ? truth : learned.model(), reward).policy;
            largest = std::max(largest, std::abs(evaluate(truth, policy, reward).value -
                                                 evaluate(learned.model(), policy, reward).value));
        }
        for (const auto& [name, value] : certificate.candidates)
            EXPECT_GE(value, 2 * largest) << name << ", seed " << seed;
        if (certificate.method != "model" && certificate.method != "coupling") ++decided;
    }
    EXPECT_GT(decided, 0);
}

}  // namespace
}  // namespace alidade::divergence_test
