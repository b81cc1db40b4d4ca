#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "alidade/spec/readable_number.hpp"
#include "sections.hpp"

namespace alidade::report::detail {
namespace {

constexpr std::size_t bins = 10;

/// Transitions whose learned probability is about the same.
struct Bin {
    double visits = 0, expected = 0, seen = 0, variance = 0;
};

std::array<Bin, bins> binned(const RunFacts& facts) {
    const TransitionModel& model = facts.knowledge->learned->model();
    const Counts& counts = facts.checkpoint->counts;
    const SuccessorMap& map = counts.successors();
    std::array<Bin, bins> found{};
    for (Step h = 0; h < facts.shape().learned_steps(); ++h) {
        const auto seen = counts.seen(h);
        for (std::size_t i = 0; i < seen.size();) {
            const Index pair = map.pair_of(seen[i].entry), first = map.first_entry(pair);
            const Law law = model.probabilities(h, pair);
            std::vector<double> times(law.size(), 0.0);
            double visits = 0;
            for (; i < seen.size() && seen[i].entry < map.first_entry(pair + 1); ++i) {
                times[static_cast<std::size_t>(seen[i].entry - first)] = static_cast<double>(seen[i].count);
                visits += static_cast<double>(seen[i].count);
            }
            for (std::size_t j = 0; j < law.size(); ++j) {
                Bin& bin =
                    found[std::min(bins - 1, static_cast<std::size_t>(law[j] * static_cast<double>(bins)))];
                bin.visits += visits;
                bin.expected += visits * law[j];
                bin.seen += times[j];
                bin.variance += visits * law[j] * (1 - law[j]);
            }
        }
    }
    return found;
}

Figure calibration_figure(const RunFacts& facts) {
    Figure figure{"calibration",
                  "calibration-figure",
                  "Predicted against observed",
                  "Transitions are put together by the probability that the learned model gives them. A dot "
                  "on the line "
                  "happened as often as predicted. The learned model was fitted to the same data, so this "
                  "shows gross errors, "
                  "not a proof.",
                  {},
                  {}};
    figure.table.columns = {{"predicted probability"},
                            {"chances", true},
                            {"predicted share", true},
                            {"observed share", true},
                            {"chance alone moves it by about", true}};
    Layer diagonal{Mark::line, "as predicted", {{.x = 0, .y = 0}, {.x = 1, .y = 1}}, true},
        points{Mark::point, "observed", {}};
    const auto found = binned(facts);
    for (std::size_t i = 0; i < bins; ++i) {
        const Bin& bin = found[i];
        if (bin.visits == 0) continue;
        points.points.push_back({.x = bin.expected / bin.visits, .y = bin.seen / bin.visits});
        figure.table.rows.push_back(
            {fmt::format("{:.1f} to {:.1f}", 0.1 * static_cast<double>(i), 0.1 * static_cast<double>(i + 1)),
             with_commas(static_cast<std::int64_t>(bin.visits)),
             fmt::format("{:.5f}", bin.expected / bin.visits), fmt::format("{:.5f}", bin.seen / bin.visits),
             fmt::format("{:.5f}", std::sqrt(bin.variance) / bin.visits)});
    }
    figure.chart.names = {"observed", "as predicted"};
    figure.chart.panels = {{.x = {"predicted", "predicted share", Scale::linear, {}, 0.0, 1.0},
                            .y = {"observed", "observed share", Scale::linear, {}, 0.0, 1.0},
                            .layers = {std::move(diagonal), std::move(points)},
                            .width = 320,
                            .height = 320}};
    return figure;
}

std::string check_in_words(const ModelFit& fit, const RunFacts& facts) {
    if (!fit.contradicted)
        return fmt::format(
            "If every transition law is a mixture of the base models, evidence of {:.1f} or more against "
            "that "
            "turns up with probability {:.4g} at most, at any time. It is {:.1f}: nothing was found. Errors "
            "below "
            "about {} could not be seen in these data.",
            fit.threshold, fit.level, fit.log_evidence, about(fit.unseen));
    std::string text = fmt::format(
        "The evidence against the mixture is {:.1f}; {:.1f} or more turns up with probability {:.4g} at "
        "most if the mixture is right.",
        fit.log_evidence, fit.threshold, fit.level);
    if (facts.off && facts.off->lower > 0)
        text += fmt::format(
            " With probability {:.4g} some law is off by at least {}, if each state and action has one law a "
            "step.",
            1 - facts.off->level, percent(std::floor(1e3 * facts.off->lower) / 1e3));
    if (facts.assumed > 0) text += fmt::format(" {} was allowed for.", percent(facts.assumed));
    return text;
}

TitledTable evidence_table(const ModelFit& fit) {
    TitledTable titled{"Evidence against the mixture, by alternative",
                       {{{"alternative"}, {"its parameter", true}, {"step"}, {"log evidence", true}},
                        {},
                        "In natural logarithms; below zero speaks for "
                        "the mixture."}};
    for (const Evidence& one : fit.best)
        titled.table.rows.push_back(
            {one.alternative, one.parameter == 0 ? "-" : fmt::format("{:.4g}", one.parameter),
             one.step ? std::to_string(*one.step) : "all", fmt::format("{:.1f}", one.log_evidence)});
    return titled;
}

}  // namespace

Section checks_section(const RunFacts& facts) {
    Section section{"checks", "Checks of the model"};
    if (!facts.checkpoint || facts.shape().learned_steps() == 0) return section;
    if (facts.fit) {
        section.blocks.push_back(Paragraph{check_in_words(*facts.fit, facts)});
        if (facts.fit->worst) {
            const Misfit& worst = *facts.fit->worst;
            section.blocks.push_back(Paragraph{fmt::format(
                "The place that fits worst: {}{}, {}. There {} followed {} times in {}, where {:.1f} times "
                "were to be expected.",
                worst.step ? fmt::format("step {}, ", *worst.step) : "", facts.names.state(worst.state),
                facts.names.actions[static_cast<std::size_t>(worst.action)],
                facts.names.state(worst.successor), with_commas(worst.seen), with_commas(worst.visits),
                worst.expected)});
        }
        if (!facts.fit->best.empty()) section.blocks.push_back(evidence_table(*facts.fit));
    } else {
        section.blocks.push_back(Paragraph{"There is no test of the model for features of this kind."});
    }
    if (facts.knowledge) section.blocks.push_back(calibration_figure(facts));
    return section;
}

}  // namespace alidade::report::detail
