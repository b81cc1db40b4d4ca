#include <gtest/gtest.h>

#include "alidade/certify/advantage.hpp"
#include "alidade/certify/divergence.hpp"
#include "alidade/certify/paper_certificate.hpp"
#include "alidade/certify/reward_certificate.hpp"
#include "alidade/certify/reward_free.hpp"
#include "alidade/certify/span.hpp"
#include "alidade/certify/total_variance.hpp"
#include "alidade/certify/trajectory_kl.hpp"
#include "alidade/error.hpp"
#include "support/learned_models.hpp"
#include "support/members.hpp"
#include "support/signed_features.hpp"

// Nothing that is called a bound comes out of a public function whose conditions do not hold.
namespace alidade::conditions_test {
namespace {

const support::RandomSizes sizes{.shape = {4, 2, 4}, .features = 3, .successors = 3};

LearnedMixture off_by(const LearnedMixture& exact, double misspecification) {
    return LearnedMixture(exact.model().shared_features(), exact.shape().horizon, exact.model().start(),
                          exact.homogeneous(), exact.sets(), exact.delta(), misspecification);
}

class Conditions : public testing::Test {
protected:
    const Knowledge knowledge_ = support::knowledge_about(support::random_model(3, sizes), 3, 50);
    const LearnedMixture& learned_ = knowledge_.mixture();
    const Reward reward_ = Reward::constant(sizes.shape, 0.5);
    const Policy policy_ = Policy::uniform(sizes.shape);

    void expect_refused(const LearnedMixture& learned, const DeviationTable& table) const {
        const ErrorRecursion cap = model_recursion(learned_, DeviationTable::of(learned_));
        const ValueBounds bounds = value_bounds(learned, reward_, policy_);
        EXPECT_THROW(certify_reward_free(learned, table), InvalidArgument);
        EXPECT_THROW(model_recursion(learned, table), InvalidArgument);
        EXPECT_THROW(coupling_recursion(learned, table), InvalidArgument);
        EXPECT_THROW(detail::span_recursion(learned, table), InvalidArgument);
        EXPECT_THROW(detail::hybrid_recursion(learned, table, cap), InvalidArgument);
        EXPECT_THROW(detail::advantage_bounds(learned, table, reward_, policy_, bounds), InvalidArgument);
        EXPECT_THROW(certify_reward(learned, table, reward_, policy_), InvalidArgument);
    }
};

TEST_F(Conditions, DeviationsMustContainTheMisspecification) {
    const DeviationTable exact = DeviationTable::of(learned_);
    const LearnedMixture off = off_by(learned_, 0.999);
    expect_refused(off, exact);
    expect_refused(off_by(learned_, 0.01),
                   DeviationTable(sizes.shape.pairs(), false, std::vector<double>(at(3 * 8), 0.0)));
    EXPECT_NO_THROW(certify_reward_free(off, DeviationTable::of(off)));
}

TEST_F(Conditions, DeviationsMustBeOfTheModel) {
    const Index pairs = sizes.shape.pairs();
    expect_refused(learned_, DeviationTable(pairs, false, std::vector<double>(at(2 * pairs), 0.5)));
    expect_refused(learned_, DeviationTable(pairs, true, std::vector<double>(at(pairs), 0.5)));
    expect_refused(learned_, DeviationTable(pairs / 2, false, std::vector<double>(at(3 * pairs), 0.5)));
    EXPECT_THROW(DeviationTable(pairs, false, std::vector<double>(at(pairs + 1), 0.5)), InvalidArgument);
    EXPECT_THROW(DeviationTable(pairs, true, std::vector<double>(at(2 * pairs), 0.5)), InvalidArgument);
}

// KL is at most chi-square, never the other way round.
TEST_F(Conditions, OneDivergenceIsNotTakenForTheOther) {
    const DeviationTable deviations = DeviationTable::of(learned_);
    const detail::DivergenceTable kl(learned_, Divergence::kl), chi(learned_, Divergence::chi_square);
    const ErrorRecursion cap = model_recursion(learned_, deviations);
    EXPECT_THROW(detail::total_variance_recursion(learned_, deviations, kl, cap, {}), InvalidArgument);
    EXPECT_THROW(detail::total_variance_bound(learned_, deviations, kl, cap), InvalidArgument);
    EXPECT_THROW(detail::trajectory_kl_recursion(learned_, chi), InvalidArgument);
    EXPECT_THROW(detail::divergence_recursion(learned_, chi), InvalidArgument);
    EXPECT_NO_THROW(detail::total_variance_bound(learned_, deviations, chi, cap));
    // A truth that is off its mixture may be infinitely far from the model: what is left of the way is added
    // to the one, and the other must be asked about mixtures.
    const LearnedMixture off = off_by(learned_, 0.01);
    EXPECT_NEAR(detail::trajectory_kl_recursion(off, kl).values(2, 0),
                std::min(1.0, detail::trajectory_kl_recursion(learned_, kl).values(2, 0) + 0.01), 1e-15);
    EXPECT_THROW(detail::total_variance_bound(off, DeviationTable::of(off), chi, cap), InvalidArgument);
    const ErrorRecursion small{Matrix::Zero(2, 4), {}};
    EXPECT_THROW(detail::total_variance_bound(learned_, deviations, chi, small), InvalidArgument);
    EXPECT_THROW(detail::hybrid_recursion(learned_, deviations, small), InvalidArgument);
}

TEST_F(Conditions, SetsMustBeAboutTheModelsWeights) {
    const auto& model = learned_.model();
    const auto build = [&](const SharedFeatures& features) {
        return LearnedMixture(features, 4, model.start(), false, learned_.sets(), 0.1);
    };
    EXPECT_NO_THROW(build(model.shared_features()));
    Stream random = support::test_stream(4, 1);
    const auto another = support::random_features(random, {.shape = {4, 2, 4}, .features = 4});
    EXPECT_THROW(build(another), InvalidArgument);
    const auto with_signs =
        std::make_shared<const FeatureMap>(support::random_signed_features(random, {4, 2, 4}, 3, 3, 1.5));
    EXPECT_THROW(build(with_signs), InvalidArgument);
}

TEST_F(Conditions, KnowledgeMustHaveACertificateOnTheSameEvent) {
    EXPECT_NO_THROW(certify_reward(knowledge_, reward_, policy_));
    EXPECT_THROW(certify_reward(Knowledge{knowledge_.learned, {}, 0}, reward_, policy_), InvalidArgument);
    EXPECT_THROW(certify_reward(Knowledge{nullptr, knowledge_.certificate, 0}, reward_, policy_),
                 InvalidArgument);
    Knowledge other = knowledge_;
    other.certificate.failure_probability = 0.2;
    EXPECT_THROW(certify_reward(other, reward_, policy_), InvalidArgument);
}

TEST_F(Conditions, TablesOfAnotherShapeAreRefused) {
    const Shape longer{4, 2, 5};
    EXPECT_THROW(value_bounds(learned_, Reward::constant(longer, 0), policy_), InvalidArgument);
    EXPECT_THROW(value_bounds(learned_, reward_, Policy::uniform(longer)), InvalidArgument);
    const DeviationTable deviations = DeviationTable::of(learned_);
    EXPECT_THROW(detail::advantage_bounds(learned_, deviations, reward_, policy_, {}), InvalidArgument);
    const std::vector<Vector> estimates(3, Vector::Constant(3, 1.0 / 3));
    EXPECT_NO_THROW(detail::certify_as_in_paper(learned_, estimates, std::vector<double>(at(3 * 8), 0.1)));
    EXPECT_THROW(detail::certify_as_in_paper(learned_, std::vector<Vector>(3, Vector::Zero(2)),
                                             std::vector<double>(at(3 * 8), 0.1)),
                 InvalidArgument);
    EXPECT_THROW(detail::certify_as_in_paper(learned_, estimates, std::vector<double>(at(3 * 8), -0.1)),
                 InvalidArgument);
    EXPECT_THROW(
        detail::certify_as_in_paper(off_by(learned_, 0.1), estimates, std::vector<double>(at(3 * 8), 0.1)),
        InvalidArgument);
}

}  // namespace
}  // namespace alidade::conditions_test
