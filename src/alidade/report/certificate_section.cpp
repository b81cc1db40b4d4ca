#include <fmt/format.h>

#include <algorithm>

#include "alidade/spec/readable_number.hpp"
#include "sections.hpp"

namespace alidade::report::detail {
namespace {

constexpr const char* best_name = "certified so far";
constexpr const char* projected_name = "if it goes on falling as a root does";
constexpr const char* target_name = "target";
constexpr const char* most_name = "the most that can be lost";

Figure certificate_figure(const RunFacts& facts) {
    const std::vector<Point> points = best_so_far(facts);
    Figure figure{"certificate",
                  "certificate-figure",
                  "Certified loss against episodes",
                  "Lower is better. Each point is a guarantee that held when so many episodes had been seen; "
                  "the lowest so "
                  "far is the one that counts. Both axes grow by factors.",
                  {},
                  {}};
    Panel panel{.x = {"episodes", "episodes", Scale::logarithmic},
                .y = {"loss", "certified loss", Scale::logarithmic},
                .layers = {}};
    panel.layers.push_back({Mark::line, best_name, points});
    figure.chart.names = {best_name};
    const auto level = [&](const char* name, double at) {
        panel.layers.push_back({Mark::level, name, {{.y = at}}, true});
        figure.chart.names.push_back(name);
    };
    level(most_name, facts.horizon());
    if (facts.target) level(target_name, *facts.target);
    if (const auto needed = episodes_at_target(facts); needed && *needed > points.back().x) {
        panel.layers.push_back(
            {Mark::line, projected_name, {points.back(), {.x = *needed, .y = *facts.target}}, true});
        figure.chart.names.push_back(projected_name);
    }
    figure.chart.panels = {std::move(panel)};
    figure.table.columns = {{"episodes", true}, {"certified loss at most", true}, {"says something"}};
    for (const Point& point : points)
        figure.table.rows.push_back({with_commas(static_cast<std::int64_t>(point.x)), upper_bound(point.y),
                                     point.y < facts.horizon() ? "yes" : "no: vacuous"});
    return figure;
}

TitledTable candidates_table(const RewardFreeCertificate& certificate) {
    TitledTable titled{"The same by every argument",
                       {{{"argument"}, {"loss at most", true}, {"remark"}}, {}, {}}};
    for (const auto& [name, bound] : certificate.candidates)
        titled.table.rows.push_back({name, upper_bound(bound),
                                     name == certificate.method ? "the least: this is the certificate" : ""});
    titled.table.note = "All hold on one event, so the least may be taken.";
    return titled;
}

}  // namespace

Section certificate_section(const RunFacts& facts) {
    Section section{"certificate", "Certificate"};
    if (!facts.knowledge) return section;
    if (best_so_far(facts).size() > 1)
        section.blocks.push_back(certificate_figure(facts));
    else
        section.blocks.push_back(
            Paragraph{"There is no curve: the certificate was computed once, or is zero because nothing is "
                      "left to learn."});
    section.blocks.push_back(candidates_table(facts.knowledge->certificate));
    return section;
}

}  // namespace alidade::report::detail
