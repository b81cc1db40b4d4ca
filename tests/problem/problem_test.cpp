#include "alidade/problem/problem.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "alidade/error.hpp"

namespace alidade::problem_test {
namespace {

BaseKernel two_state_kernel(double move) {
    return {"", 2, 2, {0, 2, 4}, {0, 1, 0, 1}, {1 - move, move, move, 1 - move}};
}

SharedFeatures two_kernels() {
    const std::vector<BaseKernel> kernels{two_state_kernel(0.25), two_state_kernel(0.75)};
    return std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(2, 1, kernels));
}

ProblemDescription valid_description() {
    ProblemDescription parts;
    parts.name = "coin";
    parts.features = two_kernels();
    parts.horizon = 3;
    Matrix truth(3, 2);
    truth << 1, 0, 0.5, 0.5, 0, 1;
    parts.truth = truth;
    parts.state_names = {"heads", "tails"};
    parts.action_names = {"flip"};
    parts.rewards.push_back({"heads", "1 for heads.", Reward({2, 1, 3}, {1, 0})});
    parts.target.epsilon = 0.5;
    parts.target.delta = 0.1;
    parts.target.episodes = 100;
    return parts;
}

/// The message with which the changed description is refused; "" if it is accepted.
std::string refusal(const std::function<void(ProblemDescription&)>& change) {
    ProblemDescription parts = valid_description();
    change(parts);
    try {
        Problem problem(std::move(parts));
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    return "";
}

#define EXPECT_SAYS(message, part) EXPECT_NE((message).find(part), std::string::npos) << (message)

TEST(Problem, KeepsWhatItWasGiven) {
    const Problem problem(valid_description());
    EXPECT_EQ(problem.name(), "coin");
    EXPECT_EQ(problem.shape(), (Shape{2, 1, 3}));
    EXPECT_EQ(problem.state_name(1), "tails");
    EXPECT_EQ(problem.action_name(0), "flip");
    EXPECT_EQ(problem.parameters().kind(), ParameterSetKind::simplex);
    EXPECT_EQ(problem.parameters().features(), 2);
    EXPECT_EQ(problem.rewards().size(), 1u);
    EXPECT_EQ(problem.target().episodes, 100);
    EXPECT_FALSE(problem.homogeneous());
}

TEST(Problem, NumbersStatesAndActionsWithoutNames) {
    ProblemDescription parts = valid_description();
    parts.state_names.clear();
    parts.action_names.clear();
    const Problem problem(std::move(parts));
    EXPECT_EQ(problem.state_name(1), "state 1");
    EXPECT_EQ(problem.action_name(0), "action 0");
    EXPECT_THROW(problem.state_name(2), InvalidArgument);
    EXPECT_THROW(problem.action_name(-1), InvalidArgument);
}

TEST(Problem, TrueModelMixesTheBaseModelsStepByStep) {
    const MixtureModel model = Problem(valid_description()).true_model();
    EXPECT_EQ(model.shape(), (Shape{2, 1, 3}));
    EXPECT_EQ(model.weights().rows(), 3);
    // Moving from state 0 to state 1: 0.25 at step 0, the mean 0.5 at step 1, 0.75 at step 2.
    EXPECT_DOUBLE_EQ(model.all_probabilities(0)[1], 0.25);
    EXPECT_DOUBLE_EQ(model.all_probabilities(1)[1], 0.5);
    EXPECT_DOUBLE_EQ(model.all_probabilities(2)[1], 0.75);
}

TEST(Problem, HomogeneousTruthHasOneRow) {
    ProblemDescription parts = valid_description();
    parts.homogeneous = true;
    parts.truth = Matrix::Constant(1, 2, 0.5);
    const Problem problem(parts);
    EXPECT_DOUBLE_EQ(problem.true_model().all_probabilities(2)[1], 0.5);
    parts.truth = Matrix::Constant(3, 2, 0.5);
    EXPECT_THROW(Problem{parts}, InvalidArgument);
}

TEST(Problem, WithoutTruthHasNoTrueModel) {
    ProblemDescription parts = valid_description();
    parts.truth.reset();
    const Problem problem(std::move(parts));
    EXPECT_THROW(problem.true_model(), InvalidArgument);
}

TEST(Problem, RefusesMissingFeaturesBadHorizonAndBadStart) {
    EXPECT_EQ(refusal([](ProblemDescription&) {}), "");
    EXPECT_SAYS(refusal([](auto& p) { p.features = nullptr; }), "no features");
    EXPECT_NE(refusal([](auto& p) { p.horizon = 0; }), "");
    EXPECT_NE(refusal([](auto& p) { p.start = StartLaw(2); }), "");
}

TEST(Problem, RefusesWeightsThatAreNotConvex) {
    EXPECT_SAYS(refusal([](auto& p) { p.truth = Matrix::Constant(2, 2, 0.5); }), "need 3 rows of 2");
    EXPECT_SAYS(refusal([](auto& p) { p.truth = Matrix::Constant(3, 3, 1.0 / 3); }), "need 3 rows of 2");
    EXPECT_SAYS(refusal([](auto& p) { (*p.truth)(1, 0) = 0.6; }), "step 1");
    EXPECT_SAYS(refusal([](auto& p) { p.truth->row(2) << -0.5, 1.5; }), "-0.5");
    EXPECT_SAYS(refusal([](auto& p) { (*p.truth)(1, 0) = std::numeric_limits<double>::quiet_NaN(); }),
                "not all finite");
}

TEST(Problem, RefusesNamesThatDoNotFit) {
    EXPECT_SAYS(refusal([](auto& p) { p.state_names = {"heads"}; }), "1 state names for 2 states");
    EXPECT_SAYS(refusal([](auto& p) { p.action_names = {"a", "b"}; }), "2 action names for 1 actions");
    EXPECT_SAYS(refusal([](auto& p) { p.state_names = {"heads", "heads"}; }), "already taken");
    EXPECT_SAYS(refusal([](auto& p) { p.state_names = {"heads", ""}; }), "name of state 1 is empty");
}

TEST(Problem, RefusesRewardsThatDoNotFit) {
    EXPECT_SAYS(refusal([](auto& p) { p.rewards.push_back(p.rewards.front()); }), "two natural rewards");
    EXPECT_SAYS(refusal([](auto& p) { p.rewards.front().name = ""; }), "no name");
    EXPECT_SAYS(refusal([](auto& p) { p.rewards.front().reward = Reward({2, 1, 4}, {1, 0}); }), "4 steps");
}

TEST(Problem, RefusesTargetsOutOfRange) {
    for (double epsilon : {0.0, -1.0, 3.5}) {
        EXPECT_SAYS(refusal([epsilon](auto& p) { p.target.epsilon = epsilon; }), "epsilon");
    }
    for (double delta : {0.0, 1.0, 2.0}) {
        EXPECT_SAYS(refusal([delta](auto& p) { p.target.delta = delta; }), "delta");
    }
    EXPECT_SAYS(refusal([](auto& p) { p.target.episodes = 0; }), "episodes");
    EXPECT_EQ(refusal([](auto& p) { p.target.epsilon = 3.0; }), "");
}

TEST(Problem, GeneralFeaturesNeedWeightsThatGiveDistributions) {
    // phi(s,a,0) = (1, 1/2), phi(s,a,1) = (0, -1/2) for both states: weights (w, v) give the
    // probabilities w + v/2 and -v/2, which sum to w. So w = 1 and v must lie in [-2, 0].
    SignedFeatures data;
    data.states = 2;
    data.actions = 1;
    data.features = 2;
    data.offsets = {0, 2, 4};
    data.targets = {0, 1, 0, 1};
    data.values = {1, 0.5, 0, -0.5, 1, 0.5, 0, -0.5};
    data.norm_bound = 2;
    ProblemDescription parts;
    parts.features = std::make_shared<const FeatureMap>(FeatureMap::from_features(data));
    parts.horizon = 2;
    const auto accepts = [&parts](double w, double v) {
        Matrix truth(2, 2);
        truth << w, v, w, v;
        parts.truth = truth;
        try {
            return Problem(parts).true_model().shape() == Shape{2, 1, 2};
        } catch (const InvalidArgument&) {
            return false;
        }
    };
    EXPECT_TRUE(accepts(1, -1));
    EXPECT_TRUE(accepts(1, 0));
    EXPECT_FALSE(accepts(1, 0.5)) << "a negative probability";
    EXPECT_FALSE(accepts(1, -1.9)) << "beyond the norm bound";
    EXPECT_FALSE(accepts(0.5, -0.5)) << "rows that sum to one half";
}

}  // namespace
}  // namespace alidade::problem_test
