#include "alidade/model/feature_map.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "alidade/error.hpp"
#include "support/random_models.hpp"

namespace alidade::feature_map_test {
namespace {

/// Two states, one action: from 0 to {0, 1}, from 1 to {1}.
BaseKernel good() {
    return {"good", 2, 2, {0, 2, 3}, {0, 1, 1}, {0.25, 0.75, 1}};
}

std::string message_of(const std::function<void()>& act) {
    try {
        act();
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    return "no error";
}

std::string refusal(const BaseKernel& kernel) {
    return message_of([&] { FeatureMap::from_base_kernels(2, 1, std::vector{good(), kernel}); });
}

TEST(FeatureMap, UnitesTheSupportsOfTheBaseModels) {
    const BaseKernel other{"other", 2, 2, {0, 1, 3}, {1, 0, 1}, {1, 0.5, 0.5}};
    const FeatureMap map = FeatureMap::from_base_kernels(2, 1, std::vector{good(), other});
    EXPECT_EQ(map.features(), 2);
    EXPECT_EQ(map.entries(), 4);
    EXPECT_EQ(map.successors(0), 2);
    EXPECT_EQ(map.max_successors(), 2);
    EXPECT_EQ(map.targets(1)[0], 0);
    EXPECT_EQ(map.phi(0)[0], 0.25);
    EXPECT_EQ(map.phi(0)[1], 0.0);
    EXPECT_EQ(map.phi(2)[0], 0.0);
    EXPECT_EQ(map.phi(2)[1], 0.5);
    EXPECT_EQ(map.base_kernel(0), good());
    EXPECT_EQ(map.base_kernel(1), other);
    EXPECT_EQ(map.names()[1], "other");
}

TEST(FeatureMap, SumsDuplicatesAndDropsZeros) {
    const BaseKernel kernel{"", 2, 2, {0, 3, 5}, {0, 1, 0, 0, 1}, {0.25, 0.5, 0.25, 0, 1}};
    const FeatureMap map = FeatureMap::from_base_kernels(2, 1, std::vector{kernel});
    EXPECT_EQ(map.phi(0)[0], 0.5);
    EXPECT_EQ(map.successors(1), 1);
    EXPECT_EQ(map.names()[0], "base model 0");
}

TEST(FeatureMap, NamesTheRowThatDoesNotSumToOne) {
    BaseKernel bad = good();
    bad.name = "bad";
    bad.probabilities[1] = 0.65;
    const std::string message = refusal(bad);
    EXPECT_NE(message.find("bad: row of state 0, action 0 sums to 0.9"), std::string::npos) << message;
    EXPECT_NE(message.find("1 within 1e-9"), std::string::npos) << message;
    bad.probabilities[1] = 0.75 + 5e-10;
    EXPECT_EQ(refusal(bad), "no error");
}

TEST(FeatureMap, NamesWhatElseIsWrong) {
    const auto broken = [](const std::function<void(BaseKernel&)>& change) {
        BaseKernel kernel = good();
        kernel.name = "it";
        change(kernel);
        return refusal(kernel);
    };
    EXPECT_NE(broken([](BaseKernel& k) { k.probabilities[0] = std::nan(""); }).find("is nan"),
              std::string::npos);
    EXPECT_NE(broken([](BaseKernel& k) {
                  k.probabilities = {-0.25, 1.25, 1};
              }).find("is -0.25; must not be negative"),
              std::string::npos);
    EXPECT_NE(broken([](BaseKernel& k) { k.targets[1] = 2; }).find("leads to state 2; must be 0 to 1"),
              std::string::npos);
    EXPECT_NE(broken([](BaseKernel& k) { k.rows = 3; }).find("shape is (3, 2); must be (2, 2)"),
              std::string::npos);
    EXPECT_NE(broken([](BaseKernel& k) { k.offsets = {0, 4, 3}; }).find("row offsets"), std::string::npos);
    EXPECT_NE(broken([](BaseKernel& k) { k.probabilities.pop_back(); }).find("probabilities"),
              std::string::npos);
    EXPECT_THROW(FeatureMap::from_base_kernels(2, 1, {}), InvalidArgument);
    EXPECT_THROW(FeatureMap::from_base_kernels(0, 1, std::vector{good()}), InvalidArgument);
}

TEST(FeatureMap, WeighsFeaturesWithAValue) {
    const FeatureMap map = FeatureMap::from_base_kernels(2, 1, std::vector{good(), good()});
    const std::vector<double> value = {2, 10};
    EXPECT_DOUBLE_EQ(map.phi_value(0, value)[1], 0.25 * 2 + 0.75 * 10);
}

SignedFeatures signed_features() {
    // theta = (1, x): rows (1/2 + x/4, 1/2 - x/4) from both states.
    return {2, 1, 2, {0, 2, 4}, {0, 1, 1, 0}, {0.5, 0.25, 0.5, -0.25, 0.5, -0.25, 0.5, 0.25}, 2.0};
}

TEST(FeatureMap, TakesSignedFeaturesInAnyOrderOfSuccessors) {
    const FeatureMap map = FeatureMap::from_features(signed_features());
    EXPECT_EQ(map.kind(), FeatureKind::general);
    EXPECT_EQ(map.norm_bound(), 2.0);
    EXPECT_EQ(map.targets(1)[0], 0);
    EXPECT_EQ(map.phi(2)[1], 0.25);
    EXPECT_THROW(map.base_kernel(0), InvalidArgument);
}

TEST(FeatureMap, RefusesBadSignedFeatures) {
    const auto broken = [](const std::function<void(SignedFeatures&)>& change) {
        SignedFeatures data = signed_features();
        change(data);
        return message_of([&] { FeatureMap::from_features(data); });
    };
    EXPECT_EQ(broken([](SignedFeatures&) {}), "no error");
    EXPECT_NE(broken([](SignedFeatures& d) { d.norm_bound = 0.5; }).find("norm bound is 0.5"),
              std::string::npos);
    EXPECT_NE(broken([](SignedFeatures& d) { d.targets[1] = 0; }).find("twice"), std::string::npos);
    EXPECT_NE(broken([](SignedFeatures& d) { d.targets[1] = 7; }).find("leads to state 7"),
              std::string::npos);
    EXPECT_NE(broken([](SignedFeatures& d) {
                  d.values[3] = std::numeric_limits<double>::infinity();
              }).find("is inf"),
              std::string::npos);
    EXPECT_NE(broken([](SignedFeatures& d) { d.values.pop_back(); }).find("7 values"), std::string::npos);
}

}  // namespace
}  // namespace alidade::feature_map_test
