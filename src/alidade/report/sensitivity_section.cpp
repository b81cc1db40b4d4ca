#include <fmt/format.h>

#include <algorithm>

#include "alidade/spec/printable_text.hpp"
#include "alidade/spec/readable_number.hpp"
#include "sections.hpp"

namespace alidade::report::detail {
namespace {

Figure sensitivity_figure(const RunFacts& facts) {
    Figure figure{"sensitivity",
                  "sensitivity-figure",
                  "If the base models are a little wrong",
                  "The certified loss if the real transition laws are only near to a mixture, by how far off "
                  "they may be. "
                  "Believe the point that you would have believed before the data.",
                  {},
                  {}};
    figure.table.columns = {{"off by at most", true}, {"certified loss at most", true}, {"remark"}};
    Layer line{Mark::line, "certified loss", {}};
    for (const SensitivityPoint& point : facts.sensitivity) {
        if (!point.refuted) line.points.push_back({.x = 100 * point.zeta, .y = point.reward_free});
        figure.table.rows.push_back({percent(point.zeta),
                                     point.refuted ? "-" : upper_bound(point.reward_free),
                                     point.refuted ? "refuted: the data show that it is off by more"
                                     : point.reward_free >= facts.horizon() ? "vacuous"
                                                                            : ""});
    }
    figure.table.note =
        "All rows hold at once. They come from other confidence sets than the certificate, which hold for "
        "every distance, so "
        "the first row is larger than the certificate. The first row that is not refuted is no estimate of "
        "how far off the "
        "model is: data tell when it is off by more, never that it is off by no more.";
    figure.chart.names = {line.name};
    Panel panel{.x = {"off", "off by at most (per cent, in total variation)"},
                .y = {"loss", "certified loss", Scale::linear, {}, 0.0, {}},
                .layers = {std::move(line)}};
    if (facts.target) {
        panel.layers.push_back({Mark::level, "target", {{.y = *facts.target}}, true});
        figure.chart.names.emplace_back("target");
    }
    panel.layers.push_back({Mark::level, "the most that can be lost", {{.y = facts.horizon()}}, true});
    figure.chart.names.emplace_back("the most that can be lost");
    figure.chart.panels = {std::move(panel)};
    return figure;
}

}  // namespace

Section sensitivity_section(const RunFacts& facts) {
    Section section{"sensitivity", "If the models are wrong"};
    if (!facts.knowledge || facts.shape().learned_steps() == 0 || facts.problem().is_linear()) return section;
    if (facts.sensitivity.empty()) {
        section.blocks.push_back(
            Paragraph{"How the certificate depends on wrong base models was not computed for this page: "
                      "it takes long for a problem of this size, or does not apply to it. To ask for it:"});
        section.blocks.push_back(Commands{
            {fmt::format("alidade certify {} --sensitivity", shell_path(facts.run->folder().string()))}});
        return section;
    }
    section.blocks.push_back(sensitivity_figure(facts));
    if (facts.breakdown)
        section.blocks.push_back(Paragraph{fmt::format(
            "Plans stay within {:.4g} of the best as long as the real laws are off by less than {}.",
            *facts.target, percent(*facts.breakdown))});
    return section;
}

}  // namespace alidade::report::detail
