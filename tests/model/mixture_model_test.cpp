#include "alidade/model/mixture_model.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "alidade/error.hpp"
#include "support/random_models.hpp"

namespace alidade::mixture_model_test {
namespace {

SharedFeatures two_models() {
    const BaseKernel a{"a", 2, 2, {0, 2, 3}, {0, 1, 1}, {0.25, 0.75, 1}};
    const BaseKernel b{"b", 2, 2, {0, 1, 3}, {1, 0, 1}, {1, 0.5, 0.5}};
    return std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(2, 1, std::vector{a, b}));
}

TEST(MixtureModel, MixesTheBaseModels) {
    const Matrix weights = (Matrix(2, 2) << 0.5, 0.5, 1, 0).finished();
    const MixtureModel model(two_models(), 2, StartLaw(0), weights);
    EXPECT_DOUBLE_EQ(model.probabilities(0, 0)[0], 0.125);
    EXPECT_DOUBLE_EQ(model.probabilities(0, 1)[0], 0.25);
    EXPECT_DOUBLE_EQ(model.probabilities(1, 0)[0], 0.25);
    EXPECT_DOUBLE_EQ(model.expect(0, 0, std::vector<double>{8, 16}), 0.125 * 8 + 0.875 * 16);
    EXPECT_FALSE(model.homogeneous());
}

TEST(MixtureModel, OfOneRowIsTheSameAtEveryStep) {
    const MixtureModel model(two_models(), 5, StartLaw(1), (Matrix(1, 2) << 0.5, 0.5).finished());
    EXPECT_TRUE(model.homogeneous());
    EXPECT_EQ(model.probabilities(3, 0)[0], model.probabilities(0, 0)[0]);
    EXPECT_EQ(model.weights(4), model.weights(0));
}

TEST(MixtureModel, RefusesWhatIsNoDistribution) {
    const auto make = [](Matrix weights, Index horizon = 2, State start = 0) {
        return MixtureModel(two_models(), horizon, StartLaw(start), std::move(weights));
    };
    EXPECT_THROW(make((Matrix(2, 2) << 0.5, 0.5, 1.5, -0.5).finished()), InvalidArgument);  // negative
    EXPECT_THROW(make((Matrix(2, 2) << 0.5, 0.5, 0.5, 0.4).finished()), InvalidArgument);   // sums to 0.9
    EXPECT_THROW(make((Matrix(2, 2) << 0.5, 0.5, std::nan(""), 1).finished()), InvalidArgument);
    EXPECT_THROW(make(Matrix::Constant(3, 2, 0.5)), InvalidArgument);
    EXPECT_THROW(make(Matrix::Constant(2, 3, 1.0 / 3)), InvalidArgument);
    EXPECT_THROW(make(Matrix::Constant(1, 2, 0.5), 0), InvalidArgument);
    EXPECT_THROW(make(Matrix::Constant(2, 2, 0.5), 2, 2), InvalidArgument);
    EXPECT_THROW(MixtureModel(nullptr, 2, StartLaw(0), Matrix::Constant(2, 2, 0.5)), InvalidArgument);
}

TEST(StartLaw, IsADistributionOverDistinctStates) {
    const StartLaw law({{3, 0.25}, {1, 0.75}});
    EXPECT_DOUBLE_EQ(law.expect(std::vector<double>{0, 4, 0, 8}), 5);
    EXPECT_EQ(law.atoms()[0].first, 1);
    EXPECT_THROW(law.validate(3), InvalidArgument);
    using Atoms = std::vector<std::pair<State, double>>;
    EXPECT_THROW(StartLaw(Atoms{}), InvalidArgument);
    EXPECT_THROW(StartLaw(Atoms{{0, 0.9}}), InvalidArgument);
    EXPECT_THROW(StartLaw(Atoms{{0, 0.5}, {0, 0.5}}), InvalidArgument);
    EXPECT_THROW(StartLaw(Atoms{{0, 1.5}, {1, -0.5}}), InvalidArgument);
    EXPECT_THROW(StartLaw(State{-1}), InvalidArgument);
}

}  // namespace
}  // namespace alidade::mixture_model_test
