#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "alidade/spec/readable_number.hpp"
#include "sections.hpp"

namespace alidade::report::detail {
namespace {

constexpr Index most_states = 300;

/// One number for each learned step and state.
struct StateNumbers {
    Index states;
    std::vector<double> values;

    double& at(Step h, State s) { return values[static_cast<std::size_t>(h * states + s)]; }
    double at(Step h, State s) const { return values[static_cast<std::size_t>(h * states + s)]; }
    double largest() const { return values.empty() ? 0 : *std::ranges::max_element(values); }
};

StateNumbers visits_of(const RunFacts& facts) {
    const Shape& shape = facts.shape();
    StateNumbers visits{shape.states,
                        std::vector<double>(static_cast<std::size_t>(shape.learned_steps() * shape.states))};
    const Counts& counts = facts.checkpoint->counts;
    for (Step h = 0; h < shape.learned_steps(); ++h) {
        for (const SeenEntry& seen : counts.seen(h))
            visits.at(h, counts.successors().pair_of(seen.entry) / shape.actions) +=
                static_cast<double>(seen.count);
        for (const SeenEntry& seen : counts.elsewhere(h))
            visits.at(h, seen.entry / shape.actions) += static_cast<double>(seen.count);
    }
    return visits;
}

StateNumbers contributions_of(const RunFacts& facts) {
    const Shape& shape = facts.shape();
    StateNumbers amounts{shape.states,
                         std::vector<double>(static_cast<std::size_t>(shape.learned_steps() * shape.states))};
    for (const Contribution& part : facts.contributions) amounts.at(part.step, part.state) += part.amount;
    return amounts;
}

/// The states with the largest numbers, in their own order.
std::vector<State> states_shown(const StateNumbers& visits, const StateNumbers& amounts, Index steps) {
    std::vector<State> states(static_cast<std::size_t>(visits.states));
    std::iota(states.begin(), states.end(), State{0});
    if (visits.states <= most_states) return states;
    std::vector<double> weight(states.size(), 0.0);
    const double most_visits = std::max(1.0, visits.largest()),
                 most_amount = std::max(1e-300, amounts.largest());
    for (Step h = 0; h < steps; ++h)
        for (const State s : states)
            weight[static_cast<std::size_t>(s)] +=
                visits.at(h, s) / most_visits + amounts.at(h, s) / most_amount;
    std::ranges::stable_sort(states, std::greater{},
                             [&](State s) { return weight[static_cast<std::size_t>(s)]; });
    states.resize(static_cast<std::size_t>(most_states));
    std::ranges::sort(states);
    return states;
}

Chart grid_chart(const RunFacts& facts, const StateNumbers& numbers) {
    const CellGrid& grid = *facts.names.grid;
    const auto labels = [](Index count, bool down) {
        std::vector<std::string> names;
        for (Index i = 0; i < count; ++i) names.push_back(std::to_string(down ? count - 1 - i : i));
        return names;
    };
    Layer cells{Mark::cell, "", {}};
    const Index steps = facts.shape().learned_steps();
    for (Step h = 0; h < steps; ++h)
        for (State s = 0; s < numbers.states; ++s)
            cells.points.push_back(
                {.x = static_cast<double>(grid.column[static_cast<std::size_t>(s)]),
                 .y = static_cast<double>(grid.rows - 1 - grid.row[static_cast<std::size_t>(s)]),
                 .value = numbers.at(h, s),
                 .slice = h});
    Chart chart;
    const double side = std::clamp(420.0 / static_cast<double>(std::max(grid.columns, grid.rows)), 8.0, 44.0);
    chart.panels = {{.x = {"column", "column", Scale::bands, labels(grid.columns, false)},
                     .y = {"row", "row", Scale::bands, labels(grid.rows, true)},
                     .layers = {std::move(cells)},
                     .width = side * static_cast<double>(grid.columns),
                     .height = side * static_cast<double>(grid.rows)}};
    chart.slices = Slices{"slice_step", "step", labels(steps, false)};
    return chart;
}

Chart step_chart(const RunFacts& facts, const StateNumbers& numbers, const std::vector<State>& states) {
    std::vector<std::string> names, steps;
    for (const State s : states) names.push_back(facts.names.state(s));
    for (Step h = 0; h < facts.shape().learned_steps(); ++h) steps.push_back(std::to_string(h));
    Layer cells{Mark::cell, "", {}};
    for (std::size_t i = 0; i < states.size(); ++i)
        for (Step h = 0; h < facts.shape().learned_steps(); ++h)
            cells.points.push_back({.x = static_cast<double>(h),
                                    .y = static_cast<double>(i),
                                    .value = numbers.at(h, states[i])});
    Chart chart;
    chart.panels = {{.x = {"step", "step", Scale::bands, steps},
                     .y = {"state", "state", Scale::bands, distinct(std::move(names))},
                     .layers = {std::move(cells)},
                     .width = std::clamp(34.0 * static_cast<double>(steps.size()), 160.0, 600.0),
                     .height = std::clamp(15.0 * static_cast<double>(states.size()), 60.0, 620.0)}};
    return chart;
}

/// A row a state, a column a step.
DataTable number_table(const RunFacts& facts, const StateNumbers& numbers, const std::vector<State>& states,
                       bool whole) {
    DataTable table{{{"state"}}, {}, {}};
    for (Step h = 0; h < facts.shape().learned_steps(); ++h)
        table.columns.push_back({fmt::format("step {}", h), true});
    for (const State s : states) {
        std::vector<std::string> row{facts.names.state(s)};
        for (Step h = 0; h < facts.shape().learned_steps(); ++h) {
            const double number = numbers.at(h, s);
            row.push_back(whole         ? with_commas(static_cast<std::int64_t>(number))
                          : number == 0 ? "0"
                                        : fmt::format("{:.3g}", number));
        }
        table.rows.push_back(std::move(row));
    }
    if (std::ssize(states) < numbers.states)
        table.note = fmt::format("The {} states that were visited most or matter most, of {}.", states.size(),
                                 with_commas(numbers.states));
    return table;
}

}  // namespace

Section coverage_section(const RunFacts& facts) {
    Section section{"coverage", "Where it was tried, and where it still matters"};
    if (!facts.checkpoint || facts.shape().learned_steps() == 0) return section;
    const StateNumbers visits = visits_of(facts), amounts = contributions_of(facts);
    const std::vector<State> states = states_shown(visits, amounts, facts.shape().learned_steps());
    const auto add = [&](Figure figure, const StateNumbers& numbers, const Colours& colours, bool whole) {
        figure.chart = facts.names.grid ? grid_chart(facts, numbers) : step_chart(facts, numbers, states);
        figure.chart.colours = colours;
        figure.table = number_table(facts, numbers, states, whole);
        section.blocks.push_back(std::move(figure));
    };
    add({"visits",
         "visits-figure",
         "Visits",
         "How often each state was visited at each step. Dark was seen rarely or never.",
         {},
         {}},
        visits, {"visits", "visits", 0.3, visits.largest()}, true);
    if (amounts.largest() > 0)
        add({"matters",
             "matters-figure",
             "What still matters",
             "How much of the certified loss comes from what is not known about each state at each step. "
             "Experiments at the "
             "bright cells would lower the certificate most; a dark cell needs no more visits, however few "
             "it had.",
             {},
             {}},
            amounts, {"amount", "part of the loss", 0.5, amounts.largest()}, false);
    return section;
}

}  // namespace alidade::report::detail
