#include <fmt/format.h>

#include <algorithm>

#include "alidade/spec/readable_number.hpp"
#include "sections.hpp"

namespace alidade::report::detail {
namespace {

constexpr std::size_t most_plans = 6, most_large_plans = 3;
constexpr Index large_policy = 5000, most_states_shown = 300;
constexpr Index most_colours = 10;
constexpr const char* open_name = "not proved to be the best action";

bool is_open(const PlanFacts& plan, const Shape& shape, Step h, State s) {
    return !plan.open.empty() && plan.open[static_cast<std::size_t>(h * shape.states + s)];
}

/// The action, or the likeliest of several.
Action likeliest(const Policy& policy, Step h, State s) {
    if (policy.is_deterministic()) return policy.action(h, s);
    Action best = 0;
    for (Action a = 1; a < policy.shape().actions; ++a)
        if (policy.probability(h, s, a) > policy.probability(h, s, best)) best = a;
    return best;
}

std::vector<std::string> numbers_up_to(Index count) {
    std::vector<std::string> names;
    for (Index i = 0; i < count; ++i) names.push_back(std::to_string(i));
    return names;
}

/// Cells of a grid with arrows, or actions' names, and a slider for the step.
Chart arrows_chart(const RunFacts& facts, const PlanFacts& plan) {
    const CellGrid& grid = *facts.names.grid;
    const Shape& shape = facts.shape();
    const bool arrows = !facts.names.arrows.empty();
    Layer cells{Mark::cell, "", {}}, texts{Mark::text, "", {}};
    Chart chart;
    chart.categories = {plan.open.empty() ? "plan" : "proved to be best", open_name};
    for (Step h = 0; h < shape.horizon; ++h)
        for (State s = 0; s < shape.states; ++s) {
            Point point{.x = static_cast<double>(grid.column[static_cast<std::size_t>(s)]),
                        .y = static_cast<double>(grid.rows - 1 - grid.row[static_cast<std::size_t>(s)]),
                        .label = chart.categories[is_open(plan, shape, h, s) ? 1 : 0],
                        .slice = h};
            cells.points.push_back(point);
            const auto action = static_cast<std::size_t>(likeliest(plan.policy, h, s));
            point.label = (arrows ? facts.names.arrows[action] : shortened(facts.names.actions[action], 4)) +
                          (is_open(plan, shape, h, s) ? "?" : "");
            texts.points.push_back(std::move(point));
        }
    std::vector<std::string> rows = numbers_up_to(grid.rows);
    std::ranges::reverse(rows);
    const double side =
        std::clamp(460.0 / static_cast<double>(std::max(grid.columns, grid.rows)), 14.0, 46.0);
    chart.panels = {{.x = {"column", "column", Scale::bands, numbers_up_to(grid.columns)},
                     .y = {"row", "row", Scale::bands, std::move(rows)},
                     .layers = {std::move(cells), std::move(texts)},
                     .width = side * static_cast<double>(grid.columns),
                     .height = side * static_cast<double>(grid.rows)}};
    chart.slices = Slices{"slice_step", "step", numbers_up_to(shape.horizon)};
    return chart;
}

Chart actions_chart(const RunFacts& facts, const PlanFacts& plan) {
    const Shape& shape = facts.shape();
    const Index states = std::min(shape.states, most_states_shown);
    Layer cells{Mark::cell, "", {}}, open{Mark::point, open_name, {}};
    std::vector<std::string> names;
    for (State s = 0; s < states; ++s) {
        names.push_back(facts.names.state(s));
        for (Step h = 0; h < shape.horizon; ++h) {
            const Action action = likeliest(plan.policy, h, s);
            Point point{.x = static_cast<double>(h),
                        .y = static_cast<double>(s),
                        .value = static_cast<double>(action)};
            if (shape.actions <= most_colours)
                point.label = facts.names.actions[static_cast<std::size_t>(action)];
            cells.points.push_back(point);
            if (is_open(plan, shape, h, s)) open.points.push_back(std::move(point));
        }
    }
    Chart chart;
    if (shape.actions <= most_colours)
        chart.categories = facts.names.actions;
    else
        chart.colours = Colours{"action", "action, by number", 1, static_cast<double>(shape.actions - 1)};
    chart.panels = {{.x = {"step", "step", Scale::bands, numbers_up_to(shape.horizon)},
                     .y = {"state", "state", Scale::bands, distinct(std::move(names))},
                     .layers = {std::move(cells), std::move(open)},
                     .width = std::clamp(34.0 * static_cast<double>(shape.horizon), 160.0, 600.0),
                     .height = std::clamp(15.0 * static_cast<double>(states), 60.0, 620.0)}};
    return chart;
}

/// "0-3: order 4; 4: order 2?": what is done in a state over the steps.
std::string course(const RunFacts& facts, const PlanFacts& plan, State s) {
    const Shape& shape = facts.shape();
    const auto said = [&](Step h) {
        return facts.names.actions[static_cast<std::size_t>(likeliest(plan.policy, h, s))] +
               (is_open(plan, shape, h, s) ? "?" : "");
    };
    std::string text;
    for (Step h = 0; h < shape.horizon;) {
        Step last = h;
        const std::string action = said(h);
        while (last + 1 < shape.horizon && said(last + 1) == action) ++last;
        text += fmt::format("{}{}: {}", text.empty() ? "" : "; ",
                            last > h ? fmt::format("steps {} to {}", h, last) : fmt::format("step {}", h),
                            action);
        h = last + 1;
    }
    return text;
}

Figure policy_figure(const RunFacts& facts, const PlanFacts& plan, std::size_t number) {
    const Shape& shape = facts.shape();
    Figure figure{"policy",
                  fmt::format("policy-figure-{}", number),
                  fmt::format("The plan {} (reward {}, by {})", plan.name, plan.reward, plan.planner),
                  {},
                  {},
                  {}};
    const auto open = std::ranges::count(plan.open, true);
    figure.reading = "What to do in each state at each step.";
    if (!plan.policy.is_deterministic())
        figure.reading += " The plan draws actions at random; the likeliest is shown.";
    if (!plan.open.empty())
        figure.reading += fmt::format(
            " In {} of {} places it is not proved that the action shown is the best one: the data leave it "
            "open, or the "
            "planner missed it. These are marked. Elsewhere it is proved.",
            with_commas(open), with_commas(std::ssize(plan.open)));
    figure.chart = facts.names.grid ? arrows_chart(facts, plan) : actions_chart(facts, plan);
    figure.table.columns = {{"state"}, {"what to do"}};
    for (State s = 0; s < std::min(shape.states, most_states_shown); ++s)
        figure.table.rows.push_back({facts.names.state(s), course(facts, plan, s)});
    if (open > 0) figure.table.note = "A question mark: it is not proved that this action is the best one.";
    if (shape.states > most_states_shown)
        figure.table.note += fmt::format(" The first {} of {} states.", most_states_shown, shape.states);
    return figure;
}

}  // namespace

Section policy_section(const RunFacts& facts) {
    Section section{"policy", "What to do: the plans"};
    const Index places = facts.shape().states * facts.shape().horizon;
    const std::size_t shown =
        std::min(facts.plans.size(), places > large_policy ? most_large_plans : most_plans);
    for (std::size_t i = 0; i < shown; ++i) section.blocks.push_back(policy_figure(facts, facts.plans[i], i));
    if (shown < facts.plans.size())
        section.blocks.push_back(Paragraph{fmt::format(
            "The first {} of {} plans; alidade plans lists all that are kept.", shown, facts.plans.size())});
    return section;
}

}  // namespace alidade::report::detail
