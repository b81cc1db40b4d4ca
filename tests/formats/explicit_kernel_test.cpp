#include "alidade/formats/explicit_kernel.hpp"

#include <gtest/gtest.h>

#include "alidade/model/feature_map.hpp"
#include "support/explicit_models.hpp"
#include "support/files.hpp"

namespace alidade::testing::explicit_kernel_test {
namespace {

using support::random_explicit_model;
using support::test_stream;

TEST(ExplicitKernel, ChoicesAreTheRowsOfTheKernel) {
    Stream random = test_stream(1);
    for (int i = 0; i < 50; ++i) {
        const ExplicitModel model = random_explicit_model(random, {.same_choices = true});
        const BaseKernel kernel = detail::base_kernel_of(model, "m");
        const Index actions = model.states[0].choices();
        ASSERT_EQ(kernel.rows, model.header.choices);
        ASSERT_EQ(kernel.columns, model.header.states);
        for (Index row = 0; row < kernel.rows; ++row) {
            const ExplicitState& state = model.states[static_cast<std::size_t>(row / actions)];
            const auto k = static_cast<std::size_t>(row % actions);
            const auto first = static_cast<std::size_t>(kernel.offsets[static_cast<std::size_t>(row)]);
            const auto from = static_cast<std::size_t>(state.offsets[k]);
            ASSERT_EQ(kernel.offsets[static_cast<std::size_t>(row) + 1] -
                          kernel.offsets[static_cast<std::size_t>(row)],
                      state.offsets[k + 1] - state.offsets[k]);
            EXPECT_EQ(kernel.targets[first], state.targets[from]);
            EXPECT_EQ(kernel.probabilities[first], state.lower[from]);
        }
        const BaseKernel kernels[] = {kernel};
        EXPECT_EQ(FeatureMap::from_base_kernels(kernel.columns, actions, kernels).pairs(), kernel.rows);
    }
}

TEST(ExplicitKernel, AStateWithOtherChoicesIsNamed) {
    ExplicitModel model;
    model.header = {BranchKind::point, 2, 3, 3, {}, {}, {"start"}, {}, {1}};
    model.states = {{{}, {-1, -1}, {0, 1, 2}, {0, 0}, {1, 1}, {}, {}, {}, {}},
                    {{}, {-1}, {0, 1}, {0}, {1}, {}, {}, {}, {}}};
    validate(model, "m");
    EXPECT_TRUE(says(refusal([&] { detail::base_kernel_of(model, "m.drn"); }),
                     {"m.drn", "state 1 has 1 choices", "state 0 has 2"}));
    // A start state is no state of the system.
    model.states[1].labels = {0};
    EXPECT_EQ(detail::base_kernel_of(model, "m.drn").rows, 2);
    model.states[0].targets[1] = 1;
    EXPECT_TRUE(says(refusal([&] { detail::base_kernel_of(model, "m.drn"); }), {"state 1"}));
}

TEST(ExplicitKernel, IntervalsAndParametersAreNoBaseModel) {
    Stream random = test_stream(2);
    for (const BranchKind kind : {BranchKind::interval, BranchKind::parametric}) {
        const ExplicitModel model = random_explicit_model(random, {.kind = kind});
        EXPECT_TRUE(
            says(refusal([&] { detail::base_kernel_of(model, "m.drn"); }), {"m.drn", "one probability"}));
    }
}

}  // namespace
}  // namespace alidade::testing::explicit_kernel_test
