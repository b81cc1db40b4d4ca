#include "alidade/model/pair_features.hpp"

#include <gtest/gtest.h>

#include "alidade/error.hpp"
#include "alidade/problem/problem.hpp"
#include "support/small_problem.hpp"

namespace alidade::pair_features_test {
namespace {

template <class Make>
std::string refusal(const Make& make) {
    try {
        make();
    } catch (const InvalidArgument& problem) {
        return problem.what();
    }
    return {};
}

SharedPairFeatures two_states(std::vector<double> values, double bound = 2) {
    return std::make_shared<const PairFeatures>(all_successors(2, 1), 2, std::move(values), bound);
}

TEST(PairFeatures, MakeLawsOfMeasures) {
    const SharedPairFeatures features = two_states({0.25, 0.75, 1, 0});
    Matrix mu(2, 2);
    mu << 0.5, 0.5, 0.1, 0.9;
    const TransitionModel model = linear_model(features, 3, StartLaw(0), {mu});
    EXPECT_TRUE(model.homogeneous());
    EXPECT_NEAR(model.probabilities(1, 0)[0], 0.25 * 0.5 + 0.75 * 0.1, 1e-15);
    EXPECT_NEAR(model.probabilities(1, 1)[1], 0.5, 1e-15);
}

TEST(PairFeatures, RefuseWhatIsNoLaw) {
    const SharedPairFeatures features = two_states({0.25, 0.75, 1, 0});
    const auto refused = [&](double a, double b, double c, double d) {
        Matrix mu(2, 2);
        mu << a, b, c, d;
        return refusal([&] { linear_model(features, 2, StartLaw(0), {mu}); });
    };
    EXPECT_NE(refused(0.5, 0.5, 0.3, 0.3).find("state 0, action 0 sums to"), std::string::npos);
    EXPECT_NE(refused(1.2, -0.2, 0.5, 0.5).find("must not be negative"), std::string::npos);
    EXPECT_NE(refused(0.5, 0.5, 3, -2).find("norm of"), std::string::npos);
    EXPECT_NE(
        refusal([&] { linear_model(features, 2, StartLaw(0), {Matrix::Zero(3, 2)}); }).find("2 rows of 2"),
        std::string::npos);
    EXPECT_NE(refusal([&] {
                  linear_model(features, 3, StartLaw(0), {{}, {}});
              }).find("measures of 2 steps"),
              std::string::npos);
}

TEST(PairFeatures, RefuseFeaturesThatNoLawCanHave) {
    EXPECT_EQ(refusal([] { two_states({0.6, 0.8, 1, 0}); }), "");
    EXPECT_NE(refusal([] {
                  two_states({0.7, 0.8, 1, 0});
              }).find("state 0, action 0 have the norm 1.06"),
              std::string::npos);
    EXPECT_NE(refusal([] { two_states({0.6, 0.8, 0, 0}); }).find("must be at least 1"), std::string::npos);
    EXPECT_NE(refusal([] {
                  two_states({0.6, 0.8, 1, std::nan("")});
              }).find("not all finite"),
              std::string::npos);
    EXPECT_NE(refusal([] { two_states({0.6, 0.8, 1}); }).find("must be 4"), std::string::npos);
    EXPECT_NE(refusal([] { two_states({1, 0, 1, 0}, 0); }).find("must be greater than 0"), std::string::npos);
}

TEST(PairFeatures, MassOutsideTheSuccessorsIsRefused) {
    ProblemDescription parts = testing::linear_description();
    EXPECT_EQ(refusal([&] { Problem{parts}; }), "");
    parts.measures[2] << 0.3, 0.6, 0.1, 0.2, 0.2, 0.6;
    EXPECT_NE(refusal([&] { Problem{parts}; }).find("step 2, state 0, action 1 sums to 1, 0.9"),
              std::string::npos);
}

TEST(PairFeatures, BelongToProblemsWithoutBaseModels) {
    ProblemDescription parts = testing::linear_description();
    const Problem problem(parts);
    EXPECT_TRUE(problem.is_linear());
    EXPECT_TRUE(problem.truth_known());
    EXPECT_THROW(problem.features(), InvalidArgument);
    EXPECT_THROW(problem.true_model(), InvalidArgument);
    EXPECT_EQ(problem.true_system().shape(), problem.shape());
    parts.misspecification = 0.1;
    EXPECT_NE(refusal([&] { Problem{parts}; }).find("must be 0 for a linear MDP"), std::string::npos);
    parts.misspecification = 0;
    parts.features = testing::small_description().features;
    EXPECT_NE(refusal([&] { Problem{parts}; }).find("of one kind"), std::string::npos);
    parts.features = nullptr;
    parts.measures.pop_back();
    EXPECT_NE(refusal([&] { Problem{parts}; }).find("of 2 steps; must be of 3"), std::string::npos);
}

}  // namespace
}  // namespace alidade::pair_features_test
