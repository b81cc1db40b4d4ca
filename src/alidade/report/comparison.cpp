#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "alidade/spec/printable_text.hpp"
#include "alidade/spec/readable_number.hpp"
#include "sections.hpp"

namespace alidade::report::detail {
namespace {

Section overview(std::span<const RunFacts> runs) {
    Section section{"verdict", "Verdict"};
    section.blocks.push_back(
        Paragraph{fmt::format("{} runs are compared. Each line is a guarantee of its own, with its own "
                              "probability of error; nothing is promised of "
                              "the one that happens to be the smallest.",
                              runs.size())});
    DataTable table{{{"run"},
                     {"verdict"},
                     {"problem"},
                     {"algorithm"},
                     {"seed", true},
                     {"episodes", true},
                     {"certified loss at most", true},
                     {"of", true},
                     {"probability of error", true}},
                    {},
                    {}};
    for (const RunFacts& facts : runs)
        table.rows.push_back({facts.label, verdict_in_brief(facts),
                              shortened(printable(facts.run->source()), 60), facts.run->options().algorithm,
                              std::to_string(facts.run->options().seed), with_commas(facts.episodes()),
                              facts.knowledge ? upper_bound(facts.knowledge->certificate.bound) +
                                                    (facts.knowledge->certificate.vacuous ? " (vacuous)" : "")
                                              : "-",
                              std::to_string(facts.shape().horizon),
                              fmt::format("{:.4g}", facts.run->options().delta)});
    section.blocks.push_back(TitledTable{"The runs", std::move(table)});
    return section;
}

Section certificates(std::span<const RunFacts> runs) {
    Section section{"certificate", "Certificates"};
    Figure figure{"certificate",
                  "certificate-figure",
                  "Certified loss against episodes",
                  "A line a run; lower is better. Both axes grow by factors.",
                  {},
                  {}};
    figure.table.columns = {{"run"}, {"episodes", true}, {"certified loss at most", true}};
    Panel panel{.x = {"episodes", "episodes", Scale::logarithmic},
                .y = {"loss", "certified loss", Scale::logarithmic},
                .layers = {}};
    for (const RunFacts& facts : runs) {
        std::vector<Point> points = best_so_far(facts);
        if (points.empty()) continue;
        // A factor of 1.5 apart: a picture of many runs shows no more.
        std::vector<Point> shown;
        for (const Point& point : points)
            if (shown.empty() || point.x >= 1.5 * shown.back().x || &point == &points.back())
                shown.push_back(point);
        for (const Point& point : shown)
            figure.table.rows.push_back(
                {facts.label, with_commas(static_cast<std::int64_t>(point.x)), upper_bound(point.y)});
        figure.chart.names.push_back(facts.label);
        panel.layers.push_back({Mark::line, facts.label, std::move(shown)});
    }
    if (panel.layers.empty()) return section;
    figure.chart.panels = {std::move(panel)};
    section.blocks.push_back(std::move(figure));
    return section;
}

Section rewards(std::span<const RunFacts> runs) {
    Section section{"rewards", "Rewards"};
    std::map<std::string, std::vector<std::pair<const RunFacts*, const PlanFacts*>>> by_plan;
    for (const RunFacts& facts : runs)
        for (const PlanFacts& plan : facts.plans) by_plan[plan.name].emplace_back(&facts, &plan);
    std::size_t number = 0;
    for (const auto& [name, plans] : by_plan) {
        if (plans.size() < 2 || number >= 8) continue;
        Figure figure{"values",
                      fmt::format("values-figure-{}", number++),
                      fmt::format("What the plan {} is worth", name),
                      "The bar of a run holds the true value of its plan, with that run's probability.",
                      {},
                      {}};
        figure.table.columns = {
            {"run"}, {"value at least", true}, {"value at most", true}, {"loss at most", true}};
        Layer bars{Mark::interval, "the true value lies in here", {}};
        std::vector<std::string> bands;
        for (const auto& [facts, plan] : plans) {
            const double low = facts->value_of(*plan, plan->certificate.value.lower);
            const double high = facts->value_of(*plan, plan->certificate.value.upper);
            bars.points.push_back({.y = static_cast<double>(bands.size()), .low = low, .high = high});
            bands.push_back(facts->label);
            figure.table.rows.push_back({facts->label, lower_bound(low), upper_bound(high),
                                         upper_bound(plan->scale.scale * plan->certificate.loss_bound)});
        }
        figure.chart.names = {bars.name};
        figure.chart.panels = {{.x = {"value", "value over an episode"},
                                .y = {"run", "", Scale::bands, std::move(bands)},
                                .layers = {bars},
                                .width = 480,
                                .height = 22.0 * static_cast<double>(bars.points.size())}};
        section.blocks.push_back(std::move(figure));
    }
    return section;
}

Section costs(std::span<const RunFacts> runs, const ReportOptions& options) {
    Section section{"cost", "Cost, and each run by itself"};
    DataTable table{{{"run"},
                     {"episodes", true},
                     {"policies", true},
                     {"time in all", true},
                     {"planning", true},
                     {"certifying", true}},
                    {},
                    "Times are of each run's last call."};
    std::vector<std::string> lines;
    for (const RunFacts& facts : runs) {
        lines.push_back(fmt::format("alidade report {} -o {}", shell_path(facts.run->folder().string()),
                                    shell_path(facts.run->folder().filename().string() + ".html")));
        if (!facts.result) continue;
        const Timings& seconds = facts.result->timings;
        table.rows.push_back({facts.label, with_commas(facts.episodes()), with_commas(facts.result->replans),
                              duration(seconds.total), duration(seconds.plan), duration(seconds.certify)});
    }
    section.blocks.push_back(TitledTable{"What it took", std::move(table)});
    section.blocks.push_back(
        Paragraph{"The whole story of each run, its weights, plans and checks included:"});
    section.blocks.push_back(Commands{std::move(lines)});
    section.blocks.push_back(Downloads{});
    if (!options.program.empty())
        section.blocks.push_back(Paragraph{fmt::format(
            "Written by {}{}.", options.program, options.written.empty() ? "" : ", " + options.written)});
    return section;
}

}  // namespace

std::vector<Section> comparison_sections(std::span<const RunFacts> runs, const ReportOptions& options) {
    return {overview(runs), certificates(runs), rewards(runs), costs(runs, options)};
}

}  // namespace alidade::report::detail
