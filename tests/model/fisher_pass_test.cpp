#include "alidade/model/fisher_pass.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "alidade/model/parameter_set.hpp"
#include "portable_passes.hpp"
#include "support/dense_algebra.hpp"
#include "support/lane_widths.hpp"
#include "support/plain_fisher.hpp"
#include "support/random_models.hpp"

namespace alidade::fisher_pass_test {
namespace {

/// Features whose pairs have one to `successors` successors, and what might be known of their weights.
struct Case {
    SharedFeatures features;
    TangentFeatures tangent;
    Vector weights;
    Matrix information, factor;
    std::vector<double> next;
};

SharedFeatures ragged_features(Stream& random, Index states, Index d, Index successors) {
    const Index actions = 3;
    std::vector<BaseKernel> kernels(at(d));
    for (BaseKernel& kernel : kernels) kernel = {.rows = states * actions, .columns = states, .offsets = {0}};
    for (Index pair = 0; pair < states * actions; ++pair) {
        const Index m = 1 + sample_index(random, successors);
        const auto targets = support::random_states(random, states, m);
        // Where base models agree, there is nothing to learn.
        const bool agree = sample_index(random, 5) == 0;
        std::vector<double> law;
        for (BaseKernel& kernel : kernels) {
            if (law.empty() || !agree) law = sample_dirichlet(random, m, 0.3);
            kernel.targets.insert(kernel.targets.end(), targets.begin(), targets.end());
            kernel.probabilities.insert(kernel.probabilities.end(), law.begin(), law.end());
            kernel.offsets.push_back(static_cast<std::int64_t>(kernel.targets.size()));
        }
    }
    return std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(states, actions, kernels));
}

Case random_case(std::uint64_t seed, Index states, Index d, Index successors) {
    Stream random = support::test_stream(seed);
    const auto features = ragged_features(random, states, d, successors);
    TangentFeatures tangent(*features, ParameterSet::of(*features).space());
    const Index p = d - 1;
    Case result{features, std::move(tangent), Vector(d), Matrix::Identity(p, p), {}, {}};
    const auto law = sample_dirichlet(random, d, 0.7);
    for (Index i = 0; i < d; ++i) result.weights[i] = law[at(i)];
    for (int t = 0; t < 20; ++t) {
        Vector x(p);
        for (Index i = 0; i < p; ++i) x[i] = 3 * sample_normal(random);
        result.information += x * x.transpose();
    }
    result.factor = support::cholesky(result.information);
    for (State s = 0; s < states; ++s) result.next.push_back(sample_uniform(random));
    return result;
}

constexpr detail::FisherBonus kinds[] = {detail::FisherBonus::sqrt, detail::FisherBonus::gain,
                                         detail::FisherBonus::leverage};
constexpr double allowance = 7.5, scale = 2.5;

portable::FisherNumbers run(const Case& given, detail::FisherBonus bonus, detail::LaneWidth width,
                            Index pairs_a_part) {
    const detail::FisherPass pass(*given.features, given.tangent);
    const Index pairs = given.features->pairs();
    portable::FisherNumbers numbers{std::vector<double>(at(pairs)), std::vector<double>(at(pairs))};
    std::vector<double> scratch = pass.scratch();
    for (Index first = 0; first < pairs; first += pairs_a_part) {
        const detail::FisherPass::Chunk chunk{first, std::min(pairs, first + pairs_a_part), width};
        pass.bonuses({&given.weights, &given.factor, bonus, allowance}, chunk, scratch, numbers.bonus);
        pass.backup(given.weights, scale, numbers.bonus, given.next, chunk, scratch, numbers.values);
    }
    return numbers;
}

void for_cases(const std::function<void(const Case&, detail::FisherBonus, std::uint64_t)>& check) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const Case given = random_case(seed, 7 + static_cast<Index>(seed % 4) * 12,
                                       1 + static_cast<Index>(seed % 14), 1 + static_cast<Index>(seed % 6));
        for (const detail::FisherBonus bonus : kinds) check(given, bonus, seed);
    }
}

TEST(FisherPass, GivesTheSameBitsByAllVectorsInPartsAndWithoutVectors) {
    ASSERT_TRUE(portable::without_vectors());
    for_cases([](const Case& given, detail::FisherBonus bonus, std::uint64_t seed) {
        const auto fallback = portable::fisher_pass(*given.features, given.tangent, given.weights,
                                                    given.factor, bonus, allowance, scale, given.next);
        for (const detail::LaneWidth width : support::lane_widths()) {
            EXPECT_EQ(run(given, bonus, width, given.features->pairs()), fallback) << "seed " << seed;
            EXPECT_EQ(run(given, bonus, width, 24), fallback) << "seed " << seed;
        }
    });
}

// Eigen adds two numbers at a time on x86-64 without AVX, as the pass does everywhere; elsewhere it is the
// order of sums that differs, and nothing else.
TEST(FisherPass, IsThePassPairByPair) {
    for_cases([](const Case& given, detail::FisherBonus bonus, std::uint64_t seed) {
        const auto found = run(given, bonus, detail::widest_lanes(), given.features->pairs());
        const auto expected = support::plain_bonuses(*given.features, given.tangent, given.weights,
                                                     given.factor, bonus, allowance);
        const auto values =
            support::plain_backup(*given.features, given.weights, scale, expected, given.next);
#if defined(__SSE2__) && !defined(__AVX__)
        EXPECT_EQ(found.bonus, expected) << "seed " << seed;
        EXPECT_EQ(found.values, values) << "seed " << seed;
#endif
        for (std::size_t pair = 0; pair < expected.size(); ++pair) {
            EXPECT_NEAR(found.bonus[pair], expected[pair], 1e-11 * (1 + expected[pair])) << "seed " << seed;
            EXPECT_NEAR(found.values[pair], values[pair], 1e-11 * (1 + values[pair])) << "seed " << seed;
        }
    });
}

/// L^-1 I L^-T with J = L L', which has the eigenvalues of J^-1 I, by the formula: I = sum_j psi_j psi_j' /
/// P_j.
Matrix relative_information(const Case& given, Index pair) {
    const FeatureMap& features = *given.features;
    const Matrix& basis = given.tangent.space.basis;
    Matrix information = Matrix::Zero(basis.cols(), basis.cols());
    for (Index e = features.first_entry(pair); e < features.first_entry(pair + 1); ++e) {
        const Vector phi = Eigen::Map<const Vector>(features.phi(e).data(), features.features());
        const Vector psi = basis.transpose() * phi;
        information += psi * psi.transpose() / given.weights.dot(phi);
    }
    const Matrix half = support::solve(given.factor, information);
    return support::solve(given.factor, half.transpose());
}

TEST(FisherPass, IsTheInformationOfAVisit) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const Case given = random_case(seed, 6, 2 + static_cast<Index>(seed % 4), 4);
        const Index p = given.factor.rows();
        const auto gain = run(given, detail::FisherBonus::gain, detail::widest_lanes(), 8).bonus;
        const auto leverage = run(given, detail::FisherBonus::leverage, detail::widest_lanes(), 8).bonus;
        const auto root = run(given, detail::FisherBonus::sqrt, detail::widest_lanes(), 8).bonus;
        for (Index pair = 0; pair < given.features->pairs(); ++pair) {
            const Matrix relative = relative_information(given, pair);
            const double determinant = support::determinant(Matrix::Identity(p, p) + relative);
            EXPECT_NEAR(gain[at(pair)], std::log(determinant), 1e-9 * (1 + determinant));
            // No eigenvalue is above the largest, and all of them sum to the trace.
            const double largest = support::largest_eigenvalue(relative);
            EXPECT_LE(leverage[at(pair)], largest * (1 + 1e-9) + 1e-15);
            EXPECT_GE(leverage[at(pair)], relative.trace() / static_cast<double>(p) * (1 - 1e-9) - 1e-15);
            EXPECT_NEAR(root[at(pair)], std::min(1.0, std::sqrt(allowance * leverage[at(pair)] / 2)), 1e-12);
        }
    }
}

}  // namespace
}  // namespace alidade::fisher_pass_test
