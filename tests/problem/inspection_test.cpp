#include "alidade/problem/inspection.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include "alidade/problem/catalogue.hpp"

namespace alidade::inspection_test {
namespace {

/// A kernel of 3 states and one action: states 0 and 1 move to 0 with chance p and to 1 otherwise; state 2,
/// which nothing leads to, stays.
BaseKernel coin(const std::string& name, double p_from_0, double p_from_1) {
    return {name, 3, 3, {0, 2, 4, 5}, {0, 1, 0, 1, 2}, {p_from_0, 1 - p_from_0, p_from_1, 1 - p_from_1, 1.0}};
}

Problem coins(const std::vector<BaseKernel>& kernels, Index horizon) {
    ProblemDescription parts;
    parts.name = "coins";
    parts.features = std::make_shared<FeatureMap>(FeatureMap::from_base_kernels(3, 1, kernels));
    parts.horizon = horizon;
    return Problem(std::move(parts));
}

TEST(Inspection, TheRiverIsReachedStateByState) {
    const Problem problem = make_builtin("builtin:riverswim?length=5&horizon=8");
    const Inspection found = inspect(problem);
    ASSERT_EQ(found.steps.size(), 8u);
    for (Index h = 0; h < 8; ++h)
        EXPECT_EQ(found.steps[static_cast<std::size_t>(h)].reachable, std::min<Index>(h + 1, 5)) << h;
    EXPECT_TRUE(found.unreachable.empty());
    EXPECT_GT(found.bytes, 0);
}

TEST(Inspection, NamesStatesThatNothingLeadsTo) {
    const Inspection found = inspect(coins({coin("a", 0.2, 0.5), coin("b", 0.9, 0.5)}, 3));
    EXPECT_EQ(found.unreachable, std::vector<State>{2});
    EXPECT_EQ(found.dimension, 1);
    EXPECT_EQ(found.rank, 1);
    EXPECT_TRUE(found.collinear.empty());
}

TEST(Inspection, FindsTheBaseModelsThatAreMixturesOfOthers) {
    // c is the mean of a and b; e differs from them only in state 1.
    const Inspection found = inspect(
        coins({coin("a", 0.2, 0.5), coin("b", 0.8, 0.5), coin("c", 0.5, 0.5), coin("e", 0.5, 0.1)}, 3));
    EXPECT_EQ(found.dimension, 3);
    EXPECT_EQ(found.rank, 2);
    EXPECT_EQ(found.collinear, (std::vector<Index>{0, 1, 2}));
    // At step 0 only state 0 is seen, which shows one direction.
    EXPECT_EQ(found.steps[0].rank, 1);
    EXPECT_EQ(found.steps[1].rank, 2);
}

/// A ring of `length` states, of which the only action leads to the next: the reachable sets never settle.
Problem ring(Index length, Index horizon) {
    BaseKernel kernel{"ring", length, length, {0}, {}, {}};
    for (Index s = 0; s < length; ++s) {
        kernel.offsets.push_back(s + 1);
        kernel.targets.push_back(static_cast<std::int32_t>((s + 1) % length));
        kernel.probabilities.push_back(1.0);
    }
    ProblemDescription parts;
    parts.name = "ring";
    parts.features =
        std::make_shared<FeatureMap>(FeatureMap::from_base_kernels(length, 1, std::vector{kernel}));
    parts.horizon = horizon;
    return Problem(std::move(parts));
}

// The sets of reachable states repeat from some step on, so that the steps behind it need not be walked.
TEST(Inspection, TakesNoLongerForVeryManySteps) {
    const auto begin = std::chrono::steady_clock::now();
    for (const Problem& problem :
         {coins({coin("a", 0.2, 0.5), coin("b", 0.9, 0.5)}, 2'000'000'000), ring(100, 2'000'000'000)}) {
        const Inspection found = inspect(problem);
        EXPECT_EQ(found.steps.size(), static_cast<std::size_t>(most_steps_inspected));
        EXPECT_GT(found.bytes, 2'000'000'000);
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
}

// Step by step, as the definition says, against the shortcut.
TEST(Inspection, FindsTheSameWhetherTheStepsRepeatOrNot) {
    for (const Index length : {2, 3, 7, 10})
        for (const Index horizon : {1, 2, 3, 6, 7, 8, 23, 40}) {
            const Inspection found = inspect(ring(length, horizon));
            ASSERT_EQ(found.steps.size(), static_cast<std::size_t>(horizon));
            for (const StepInspection& step : found.steps) EXPECT_EQ(step.reachable, 1);
            EXPECT_EQ(static_cast<Index>(found.unreachable.size()), std::max<Index>(0, length - horizon));
        }
    const Inspection river = inspect(make_builtin("builtin:riverswim?length=5&horizon=200"));
    for (std::size_t h = 0; h < 200; ++h)
        EXPECT_EQ(river.steps[h].reachable, std::min<Index>(static_cast<Index>(h) + 1, 5)) << h;
}

TEST(Inspection, NothingIsLearnedInOneStep) {
    const Inspection found = inspect(coins({coin("a", 0.2, 0.5), coin("b", 0.9, 0.5)}, 1));
    EXPECT_EQ(found.rank, 0);
    EXPECT_EQ(found.steps.size(), 1u);
}

}  // namespace
}  // namespace alidade::inspection_test
