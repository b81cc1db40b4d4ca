#include "alidade/formats/explicit_model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "alidade/error.hpp"
#include "support/explicit_models.hpp"

namespace alidade::explicit_model_test {
namespace {

using support::ExplicitFeatures;
using support::random_explicit_model;
using support::test_stream;

/// Two states: the first goes to both, or to the second; the second stays.
ExplicitModel two_states(BranchKind kind = BranchKind::point) {
    ExplicitModel model;
    model.header = {kind, 2, 3, 4, {}, {"a", "b"}, {"end"}, {"r"}, {0}};
    model.states = {{{}, {0, 1}, {0, 2, 3}, {0, 1, 1}, {0.25, 0.75, 1}, {}, {}, {0}, {1, 2}},
                    {{0}, {-1}, {0, 1}, {1}, {1}, {}, {}, {0}, {0}}};
    if (kind == BranchKind::interval) {
        model.states[0].upper = {0.5, 0.9, 1};
        model.states[1].upper = {1};
    }
    if (kind == BranchKind::parametric) {
        model.header.parameters = {"w"};
        for (ExplicitState& row : model.states) row.lower.clear();
        model.states[0].coefficients = {0.25, 0.5, 0.75, -0.5, 1, 0};
        model.states[1].coefficients = {1, 0};
    }
    return model;
}

std::string refusal(const ExplicitModel& model) {
    try {
        validate(model, "m.drn");
    } catch (const InvalidArgument& error) {
        return error.what();
    }
    return "accepted";
}

TEST(ExplicitModel, RandomModelsOfAllKindsAreValid) {
    Stream random = test_stream(1);
    for (const BranchKind kind : {BranchKind::point, BranchKind::interval, BranchKind::parametric}) {
        for (int i = 0; i < 200; ++i) {
            const auto model =
                random_explicit_model(random, {.kind = kind, .zero_probabilities = i % 2 == 0});
            EXPECT_EQ(refusal(model), "accepted");
            EXPECT_EQ(collect(RowsOfModel(model)), model);
        }
    }
}

TEST(ExplicitModel, ARowThatDoesNotSumToOneIsNamed) {
    ExplicitModel model = two_states();
    ASSERT_EQ(refusal(model), "accepted");
    model.states[0].lower[1] = 0.747;
    EXPECT_EQ(refusal(model),
              "m.drn: state 0, choice 0: probabilities sum to 0.997; they must sum to 1 within 1e-9");
    model = two_states(BranchKind::interval);
    ASSERT_EQ(refusal(model), "accepted");
    model.states[0].upper[1] = 0.45;
    model.states[0].lower[1] = 0.25;
    EXPECT_EQ(refusal(model),
              "m.drn: state 0, choice 0: lower ends sum to 0.5 and upper ends to 0.95; 1 must lie between");
    model = two_states(BranchKind::parametric);
    ASSERT_EQ(refusal(model), "accepted");
    model.states[0].coefficients[3] = -0.25;
    EXPECT_EQ(refusal(model),
              "m.drn: state 0, choice 0: the coefficient of w of its branches sums to 0.25; it must be 0 "
              "within 1e-9");
}

TEST(ExplicitModel, EveryDefectIsRefused) {
    using Damage = std::function<void(ExplicitModel&)>;
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const std::vector<Damage> defects{
        [](ExplicitModel& m) { m.header.states = 3; },
        [](ExplicitModel& m) { m.header.choices = 4; },
        [](ExplicitModel& m) { m.header.branches = 3; },
        [](ExplicitModel& m) { m.header.initial_states = {}; },
        [](ExplicitModel& m) { m.header.initial_states = {2}; },
        [](ExplicitModel& m) {
            m.header.initial_states = {1, 0};
        },
        [](ExplicitModel& m) { m.header.parameters = {"w"}; },
        [](ExplicitModel& m) { m.states[0].offsets = {}; },
        [](ExplicitModel& m) { m.states[0].offsets = {0}; },
        [](ExplicitModel& m) {
            m.states[0].offsets = {0, 0, 3};
        },
        [](ExplicitModel& m) {
            m.states[0].offsets = {0, 2, 4};
        },
        [](ExplicitModel& m) {
            m.states[0].offsets = {1, 2, 3};
        },
        [](ExplicitModel& m) { m.states[0].targets[0] = -1; },
        [](ExplicitModel& m) { m.states[0].targets[1] = 2; },
        [](ExplicitModel& m) { m.states[0].targets[1] = 0; },
        [](ExplicitModel& m) {
            m.states[0].lower = {1, 1};
        },
        [](ExplicitModel& m) { m.states[0].lower[0] = -0.25; },
        [nan](ExplicitModel& m) { m.states[0].lower[0] = nan; },
        [](ExplicitModel& m) {
            m.states[0].upper = {1, 1, 1};
        },
        [](ExplicitModel& m) { m.states[0].coefficients = {1}; },
        [](ExplicitModel& m) { m.states[0].actions = {0}; },
        [](ExplicitModel& m) {
            m.states[0].actions = {0, 2};
        },
        [](ExplicitModel& m) {
            m.states[0].actions = {0, -2};
        },
        [](ExplicitModel& m) { m.states[1].labels = {1}; },
        [](ExplicitModel& m) {
            m.states[1].labels = {0, 0};
        },
        [](ExplicitModel& m) { m.states[1].state_rewards = {}; },
        [](ExplicitModel& m) { m.states[0].choice_rewards = {1}; },
        [nan](ExplicitModel& m) { m.states[0].choice_rewards[1] = nan; },
    };
    for (std::size_t i = 0; i < defects.size(); ++i) {
        ExplicitModel model = two_states();
        defects[i](model);
        EXPECT_NE(refusal(model), "accepted") << "defect " << i;
    }
}

TEST(ExplicitModel, NormalisedRowsSumToOneWithinRounding) {
    ExplicitModel model = two_states();
    model.states[0].lower[1] += 5e-10;
    ASSERT_EQ(refusal(model), "accepted");
    normalise(model);
    EXPECT_NEAR(model.states[0].lower[0] + model.states[0].lower[1], 1, 1e-15);
    EXPECT_NEAR(model.states[0].lower[1] / model.states[0].lower[0], (0.75 + 5e-10) / 0.25, 1e-14);
}

}  // namespace
}  // namespace alidade::explicit_model_test
