#include <fmt/format.h>

#include <algorithm>

#include "alidade/spec/readable_number.hpp"
#include "sections.hpp"

namespace alidade::report::detail {
namespace {

constexpr Index most_panels = 12;
constexpr const char* set_name = "what the data leave possible";
constexpr const char* point_name = "learned weight";
constexpr const char* true_name = "true weight (simulated system)";

Interval range_of_weight(const ConfidenceSet& set, Index base) {
    std::vector<double> direction(static_cast<std::size_t>(set.features()), 0.0);
    direction[static_cast<std::size_t>(base)] = 1;
    return set.range(direction);
}

/// The base model's weight over the steps: a panel, and rows of the table.
Panel weight_panel(const RunFacts& facts, const LearnedMixture& learned, Index base,
                   const std::vector<std::string>& steps, DataTable& table) {
    const std::string name = facts.names.bases[static_cast<std::size_t>(base)];
    const std::optional<Matrix> truth = facts.true_weights();
    Layer ranges{Mark::interval, set_name, {}}, points{Mark::point, point_name, {}},
        exact{Mark::cross, true_name, {}};
    for (Index k = 0; k < std::ssize(learned.sets()); ++k) {
        const ConfidenceSet& set = learned.sets()[static_cast<std::size_t>(k)];
        const Interval range = range_of_weight(set, base);
        const auto x = static_cast<double>(k);
        ranges.points.push_back({.x = x, .low = range.lower, .high = range.upper});
        points.points.push_back({.x = x, .y = set.weights()[base]});
        std::vector<std::string> row{name, steps[static_cast<std::size_t>(k)],
                                     fmt::format("{:.4f}", set.weights()[base]), lower_bound(range.lower),
                                     upper_bound(range.upper)};
        if (truth) {
            const double value = (*truth)(truth->rows() == 1 ? 0 : k, base);
            exact.points.push_back({.x = x, .y = value});
            row.push_back(fmt::format("{:.4f}", value));
        }
        table.rows.push_back(std::move(row));
    }
    Panel panel{.title = name,
                .x = {"step", "step", Scale::bands, steps},
                .y = {"weight", "weight"},
                .layers = {std::move(ranges), std::move(points), std::move(exact)}};
    if (facts.problem().features().kind() == FeatureKind::base_models) {
        panel.y.lower = 0;
        panel.y.upper = 1;
    }
    return panel;
}

Figure weights_figure(const RunFacts& facts, const LearnedMixture& learned) {
    Figure figure{
        "weights",
        "weights-figure",
        "Learned weights, step by step",
        "The dot is the weight that is handed over. The bar is what the data leave possible: the true "
        "weights of "
        "all steps and base models lie in their bars at once, with the probability of the certificate.",
        {},
        {}};
    figure.chart.names = {set_name, point_name};
    figure.table.columns = {
        {"base model"}, {"step", true}, {"learned", true}, {"at least", true}, {"at most", true}};
    if (facts.true_weights()) {
        figure.chart.names.push_back(true_name);
        figure.table.columns.push_back({"true", true});
    }
    std::vector<std::string> steps;
    for (Index k = 0; k < std::ssize(learned.sets()); ++k) steps.push_back(step_name(facts, k));
    const Index bases = std::ssize(facts.names.bases), shown = std::min(most_panels, bases);
    figure.chart.columns = shown > 1 ? 2 : 1;
    for (Index base = 0; base < shown; ++base) {
        Panel panel = weight_panel(facts, learned, base, steps, figure.table);
        panel.width = shown > 1 ? 270 : 620;
        panel.height = 150;
        figure.chart.panels.push_back(std::move(panel));
    }
    double widest = 0;
    for (const Panel& panel : figure.chart.panels)
        for (const Point& point : panel.layers.front().points)
            widest = std::max(widest, point.high - point.low);
    figure.reading += fmt::format(" The widest bar is {} wide.", upper_bound(widest));
    if (shown < bases)
        figure.table.note = fmt::format("The first {} of {} base models; the data have all.", shown, bases);
    return figure;
}

/// Of rows that are learned without weights: how far each step's laws are known.
TitledTable rows_table(const RunFacts& facts) {
    TitledTable titled{
        "How far the transition laws are known",
        {{{"step"}, {"mean distance", true}, {"largest", true}}, {}, "In total variation, from 0 to 1."}};
    const LearnedModel& learned = *facts.knowledge->learned;
    const std::vector<double> variations = learned.variations();
    const auto pairs = static_cast<std::size_t>(learned.shape().pairs());
    for (Index k = 0; k < std::min<Index>(60, learned.uncertain_steps()); ++k) {
        double sum = 0, largest = 0;
        for (std::size_t pair = 0; pair < pairs; ++pair) {
            const double distance = variations[static_cast<std::size_t>(k) * pairs + pair];
            sum += distance;
            largest = std::max(largest, distance);
        }
        titled.table.rows.push_back(
            {step_name(facts, k), rounded(sum / static_cast<double>(pairs)), rounded(largest)});
    }
    return titled;
}

}  // namespace

std::string step_name(const RunFacts& facts, Index set) {
    return facts.problem().homogeneous() ? "all" : std::to_string(set);
}

Section weights_section(const RunFacts& facts) {
    Section section{"weights", "Weights"};
    if (!facts.knowledge || facts.shape().learned_steps() == 0) return section;
    if (facts.mixture() == nullptr) {
        section.blocks.push_back(
            Paragraph{"This run learned transition laws themselves, not weights of base models."});
        section.blocks.push_back(rows_table(facts));
        return section;
    }
    section.blocks.push_back(weights_figure(facts, *facts.mixture()));
    if (auto regions = regions_figure(facts)) section.blocks.push_back(std::move(*regions));
    return section;
}

}  // namespace alidade::report::detail
