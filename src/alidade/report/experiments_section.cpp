#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "alidade/run/ask_tell.hpp"
#include "alidade/spec/printable_text.hpp"
#include "alidade/spec/readable_number.hpp"
#include "sections.hpp"

namespace alidade::report::detail {
namespace {

constexpr std::size_t most_parts = 10;
constexpr std::size_t most_experiments = 20;

/// The two base models that a visit tells apart best: whose laws differ there, and whose weights are open.
std::string told_apart(const RunFacts& facts, const Contribution& part) {
    const LearnedMixture* learned = facts.mixture();
    if (learned == nullptr) return "";
    const FeatureMap& features = facts.problem().features();
    if (features.kind() != FeatureKind::base_models || features.features() < 2) return "";
    const ConfidenceSet& set = learned->set(part.step);
    const Index pair = facts.shape().pair(part.state, part.action), d = features.features();
    double best = 0;
    std::string text;
    std::vector<double> direction(static_cast<std::size_t>(d), 0.0);
    for (Index i = 0; i < d; ++i)
        for (Index j = i + 1; j < d; ++j) {
            double distance = 0;
            for (Index entry = features.first_entry(pair); entry < features.first_entry(pair + 1); ++entry) {
                const auto phi = features.phi(entry);
                distance +=
                    0.5 * std::abs(phi[static_cast<std::size_t>(i)] - phi[static_cast<std::size_t>(j)]);
            }
            std::ranges::fill(direction, 0.0);
            direction[static_cast<std::size_t>(i)] = 1;
            direction[static_cast<std::size_t>(j)] = -1;
            const Interval range = set.range(direction);
            if (distance * (range.upper - range.lower) <= best) continue;
            best = distance * (range.upper - range.lower);
            text = fmt::format("{} from {}", facts.names.bases[static_cast<std::size_t>(i)],
                               facts.names.bases[static_cast<std::size_t>(j)]);
        }
    return text;
}

Figure parts_figure(const RunFacts& facts) {
    Figure figure{"next",
                  "next-figure",
                  "What the next experiment is for",
                  "The steps, states and actions that add most to the certified loss. Trying them tells base "
                  "models apart "
                  "that the data so far do not.",
                  {},
                  {}};
    figure.table.columns = {{"step", true}, {"state"}, {"action"}, {"part of the loss", true}, {"tells"}};
    std::vector<std::string> places;
    Layer bars{Mark::bar, "part of the loss", {}};
    for (std::size_t i = 0; i < std::min(most_parts, facts.contributions.size()); ++i) {
        const Contribution& part = facts.contributions[i];
        places.push_back(facts.names.place(part.step, part.state, part.action));
        bars.points.push_back({.x = part.amount, .y = static_cast<double>(i)});
        figure.table.rows.push_back({std::to_string(part.step), facts.names.state(part.state),
                                     facts.names.actions[static_cast<std::size_t>(part.action)],
                                     rounded(part.amount), told_apart(facts, part)});
    }
    figure.chart.names = {bars.name};
    figure.chart.panels = {{.x = {"amount", "part of the certified loss", Scale::linear, {}, 0.0, {}},
                            .y = {"place", "", Scale::bands, distinct(std::move(places))},
                            .layers = {bars},
                            .width = 460,
                            .height = 24.0 * static_cast<double>(bars.points.size())}};
    return figure;
}

/// Where an aim is, if the run says so and the problem has such a place.
std::optional<std::string> place_of(const RunFacts& facts, const std::optional<ExperimentAim>& aim) {
    const Shape& shape = facts.shape();
    if (!aim || aim->step < 0 || aim->step >= shape.horizon || aim->state < 0 || aim->state >= shape.states ||
        aim->action < 0 || aim->action >= shape.actions)
        return std::nullopt;
    return facts.names.place(aim->step, aim->state, aim->action);
}

/// How the policies came and what they were for, a factor of two apart: more would be the whole trace.
TitledTable policies_table(const RunFacts& facts) {
    TitledTable titled{"Policies that were tried, and what for",
                       {{{"after episodes", true},
                         {"policies so far", true},
                         {"certified loss then", true},
                         {"what the next policy was for"},
                         {"part of that loss", true}},
                        {},
                        {}}};
    std::int64_t next = 0;
    bool unknown = false;
    for (const TracePoint& point : facts.trace) {
        if (point.episodes < next && &point != &facts.trace.back()) continue;
        const std::optional<std::string> place = place_of(facts, point.aim);
        unknown = unknown || !place;
        titled.table.rows.push_back({with_commas(point.episodes), with_commas(point.replans),
                                     rounded(std::min(point.bound, facts.horizon())), place.value_or("-"),
                                     place ? rounded(point.aim->share) : "-"});
        next = 2 * point.episodes;
    }
    titled.table.note =
        "Of what made up the certified loss at that moment, the largest part whose action the policy takes "
        "that was tried next; where it takes none of the ten largest, the largest. A policy serves more "
        "places than this one.";
    if (unknown) titled.table.note += " Where there is a dash the run has not kept it.";
    return titled;
}

TitledTable ledger_table(const RunFacts& facts) {
    const AskTell experiments(*facts.run);
    std::vector<ExperimentRecord> records = experiments.log();
    TitledTable titled{
        "Experiments, the last ones first",
        {{{"number", true}, {"came about"}, {"stands"}, {"episodes", true}, {"by"}, {"what it was for"}},
         {},
         {}}};
    const std::size_t all = records.size();
    std::ranges::reverse(records);
    if (records.size() > most_experiments) records.resize(most_experiments);
    for (const ExperimentRecord& record : records) {
        std::string aim = "-";
        if (record.kind == ExperimentKind::asked)
            if (const auto wanted = experiments.experiment(record.id).aim)
                aim = facts.names.place(wanted->step, wanted->state, wanted->action);
        titled.table.rows.push_back(
            {std::to_string(record.id), to_string(record.kind), to_string(record.state),
             fmt::format("{} of {}", with_commas(record.told), with_commas(record.episodes)),
             shortened(printable(record.worker), 40), aim});
    }
    if (all > titled.table.rows.size())
        titled.table.note =
            fmt::format("The last {} of {}; alidade log shows all.", titled.table.rows.size(), all);
    return titled;
}

}  // namespace

Section experiments_section(const RunFacts& facts) {
    Section section{"experiments", "Which experiments were run, and why"};
    if (!facts.checkpoint) return section;
    section.blocks.push_back(
        Paragraph{"No reward was known while the system was tried. Each policy was chosen to visit what the "
                  "data so far leave most "
                  "uncertain, so that any reward can be planned for afterwards."});
    if (!facts.trace.empty()) section.blocks.push_back(policies_table(facts));
    if (facts.run->keeps_episodes()) section.blocks.push_back(ledger_table(facts));
    if (!facts.contributions.empty()) section.blocks.push_back(parts_figure(facts));
    return section;
}

}  // namespace alidade::report::detail
