#include "alidade/report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "alidade/error.hpp"
#include "alidade/spec/printable_text.hpp"
#include "facts.hpp"
#include "page.hpp"
#include "page_parts.hpp"
#include "sections.hpp"

namespace alidade::report {

namespace detail {

std::vector<Section> sections_of(const RunFacts& facts, const ReportOptions& options) {
    return {verdict_section(facts),  certificate_section(facts), weights_section(facts),
            coverage_section(facts), experiments_section(facts), rewards_section(facts),
            atlas_section(facts),    sensitivity_section(facts), policy_section(facts),
            checks_section(facts),   cost_section(facts),        repeat_section(facts, options)};
}

}  // namespace detail

namespace {

using nlohmann::ordered_json;

std::vector<detail::RunFacts> all_facts(std::span<const Run> runs, const ReportOptions& options) {
    expects(!runs.empty(), "a report is of one run at least, and none is given");
    std::vector<detail::RunFacts> all;
    std::vector<std::string> labels;
    for (const Run& run : runs) {
        all.push_back(detail::facts_of(run, options, runs.size() == 1));
        labels.push_back(all.back().label);
    }
    labels = detail::distinct(std::move(labels));
    for (std::size_t i = 0; i < all.size(); ++i) all[i].label = labels[i];
    return all;
}

std::vector<detail::Section> all_sections(std::span<const detail::RunFacts> facts,
                                          const ReportOptions& options) {
    return facts.size() == 1 ? detail::sections_of(facts.front(), options)
                             : detail::comparison_sections(facts, options);
}

std::string runs_json(std::span<const detail::RunFacts> facts) {
    std::string text = "{\"format\":\"alidade-report\",\"version\":1,\"runs\":[";
    for (std::size_t i = 0; i < facts.size(); ++i) {
        if (i > 0) text += ",";
        text += detail::facts_json(facts[i]);
    }
    return text + "]}";
}

detail::PageHead head_of(std::span<const detail::RunFacts> facts) {
    if (facts.size() > 1)
        return {fmt::format("{} runs compared", facts.size()), fmt::format("{} runs", facts.size())};
    const detail::RunFacts& only = facts.front();
    const std::string name = only.problem().name().empty() ? only.run->source() : only.problem().name();
    detail::PageHead head{detail::shortened(printable(name), 80) + ": explored once",
                          detail::verdict_in_brief(only)};
    head.alarming = only.contradiction.has_value();
    head.good = !head.alarming && only.knowledge && !only.knowledge->certificate.vacuous &&
                (!only.target || only.knowledge->certificate.bound <= *only.target);
    return head;
}

}  // namespace

Page page(std::span<const Run> runs, const ReportOptions& options) {
    const std::vector<detail::RunFacts> facts = all_facts(runs, options);
    Page made{detail::to_page(head_of(facts), all_sections(facts, options), runs_json(facts), options)};
    for (const detail::RunFacts& each : facts)
        if (each.contradiction && !made.contradiction) made.contradiction = each.contradiction;
    return made;
}

std::string data(std::span<const Run> runs, const ReportOptions& options) {
    const std::vector<detail::RunFacts> facts = all_facts(runs, options);
    ordered_json object = ordered_json::parse(runs_json(facts));
    object["figures"] = ordered_json::object();
    for (const detail::Section& section : all_sections(facts, options))
        for (const detail::Block& block : section.blocks)
            if (const auto* shown = std::get_if<detail::Figure>(&block);
                shown != nullptr && !shown->chart.empty())
                object["figures"][shown->id] =
                    ordered_json::parse(detail::vega_lite(shown->chart, shown->title, true));
    return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

const std::vector<FigureKind>& figure_kinds() {
    static const std::vector<FigureKind> kinds{
        {"certificate", "Certified loss against episodes, with target and projection."},
        {"weights", "Learned weights with their intervals, step by step."},
        {"regions", "What the data leave possible of two weights at a time."},
        {"visits", "How often each state was visited at each step."},
        {"matters", "Where the certified loss comes from."},
        {"next", "What the next experiment is for."},
        {"values", "What each plan is worth, as intervals."},
        {"losses", "What each plan may lose, the planner's part apart."},
        {"sensitivity", "The certified loss if the base models are a little wrong."},
        {"policy", "What to do in each state at each step."},
        {"calibration", "Predicted against observed transitions."}};
    return kinds;
}

std::string figure(const Run& run, std::string_view kind, FigureFormat format, Index number,
                   const ReportOptions& options) {
    std::string names;
    for (const FigureKind& each : figure_kinds()) names += (names.empty() ? "" : ", ") + each.name;
    expects(std::ranges::count(figure_kinds(), kind, &FigureKind::name) > 0,
            "there is no figure '{}'; there are {}", kind, names);
    expects(number >= 0, "the figure's number is {}; must be at least 0", number);
    const detail::RunFacts facts = detail::facts_of(run, options);
    Index found = 0;
    for (const detail::Section& section : detail::sections_of(facts, options))
        for (const detail::Block& block : section.blocks) {
            const auto* shown = std::get_if<detail::Figure>(&block);
            if (shown == nullptr || shown->kind != kind || shown->chart.empty() || found++ < number) continue;
            return format == FigureFormat::svg ? detail::draw_svg(shown->chart, shown->title, true)
                                               : detail::vega_lite(shown->chart, shown->title, true);
        }
    expects(found == 0, "the run has {} figures '{}', so that number {} is none", found, kind, number);
    expects(false,
            "this run has no figure '{}': what it shows is not there, or does not apply to the problem",
            kind);
    return {};
}

bool has_script() {
    return !detail::page_script().empty();
}

}  // namespace alidade::report
