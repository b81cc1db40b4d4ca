#include <algorithm>
#include <cmath>

#include "alidade/error.hpp"
#include "handed_over.hpp"
#include "record_field.hpp"
#include "regression_source.hpp"

// How regressions are written down, read back, and asked for by name.
namespace alidade::detail {

void write_ridge_statistics(const std::vector<RidgeStatistics>& statistics, Snapshot& record) {
    auto& gram = record.numbers["gram"];
    auto& moment = record.numbers["moment"];
    auto& rounding = record.numbers["rounding"];
    auto& observations = record.integers["observations"];
    for (const RidgeStatistics& step : statistics) {
        for (Index j = 0; j < step.dimension(); ++j)
            for (Index i = 0; i < step.dimension(); ++i)
                gram.push_back(step.gram(std::max(i, j), std::min(i, j)));
        moment.insert(moment.end(), step.moment.data(), step.moment.data() + step.moment.size());
        observations.push_back(step.observations);
        rounding.push_back(step.rounding);
    }
}

std::vector<RidgeStatistics> read_ridge_statistics(const Snapshot& record, Index sets, Index p) {
    const auto& gram = field(record.numbers, "gram", at(sets * p * p));
    const auto& moment = field(record.numbers, "moment", at(sets * p));
    const auto& rounding = field(record.numbers, "rounding", at(sets));
    const auto& observations = field(record.integers, "observations", at(sets));
    std::vector<RidgeStatistics> statistics(at(sets), RidgeStatistics(p));
    for (Index k = 0; k < sets; ++k) {
        RidgeStatistics& step = statistics[at(k)];
        step.gram = Eigen::Map<const Matrix>(gram.data() + k * p * p, p, p);
        step.moment = Eigen::Map<const Vector>(moment.data() + k * p, p);
        step.observations = observations[at(k)];
        step.rounding = rounding[at(k)];
        expects(step.gram.allFinite() && step.moment.allFinite() && step.rounding >= 0 &&
                    std::isfinite(step.rounding),
                "the stored statistics are not finite");
    }
    return statistics;
}

Snapshot RegressionSource::evidence() const {
    Snapshot record;
    write_ridge_statistics(statistics_, record);
    record.integers["episodes"] = {episodes_};
    return record;
}

// A byte each; of a large model as the planner holds them, so that writing them down takes no longer than a
// signal can wait [docs/large-models.md].
void RegressionSource::write_witnesses(Snapshot& record) const {
    const std::size_t entries = at(setting_.task.features->entries());
    if (is_large() && planner_) {
        const auto bits = planner_->witness_bits();
        record.bytes["witness_bits"].assign(bits.begin(), bits.end());
        return;
    }
    std::vector<std::uint8_t>& bytes = record.bytes["witness"];
    bytes.assign(at(regression_.sets()) * entries, 0);
    for (Index set = 0; planner_ && set < regression_.sets(); ++set)
        planner_->witnesses(set, std::span(bytes).subspan(at(set) * entries, entries));
}

// The V that the batch in hand is to be regressed on: with others a resumed run would differ. Earlier
// programs have stored a byte each of large models, too.
void RegressionSource::read_witnesses(const Snapshot& memory) {
    const std::size_t entries = at(setting_.task.features->entries());
    if (memory.bytes.contains("witness_bits")) {
        planner().take_witness_bits(field(memory.bytes, "witness_bits", planner().witness_bits().size()));
        return;
    }
    const auto& bytes = field(memory.bytes, "witness", at(regression_.sets()) * entries);
    for (Index set = 0; set < regression_.sets(); ++set)
        planner().take_witnesses(set, std::span(bytes).subspan(at(set) * entries, entries));
}

Snapshot RegressionSource::memory() const {
    Snapshot record = evidence();
    record.integers["refreshed"] = {thorough_at_, due_ ? 1 : 0};
    record.numbers["log_det"] = log_det_;
    write_witnesses(record);
    return record;
}

void RegressionSource::restore(const Snapshot& memory) {
    statistics_ = read_ridge_statistics(memory, regression_.sets(), regression_.dimension());
    episodes_ = field(memory.integers, "episodes", 1)[0];
    const auto& refreshed = field(memory.integers, "refreshed", 2);
    thorough_at_ = refreshed[0];
    due_ = refreshed[1] != 0;
    log_det_ = field(memory.numbers, "log_det", at(regression_.sets()));
    read_witnesses(memory);
    sets_.clear();
    widths_current_ = false;
}

Knowledge RegressionSource::recompute(const Snapshot& evidence) const {
    const auto sets =
        regression_.solve(read_ridge_statistics(evidence, regression_.sets(), regression_.dimension()));
    const std::int64_t episodes = field(evidence.integers, "episodes", 1)[0];
    expects(episodes >= 0, "the stored number of episodes is {}; must not be negative", episodes);
    return regression_knowledge(setting_.task, regression_, sets,
                                upper_widths(thorough_widths(setting_.task, options_.width), sets, false),
                                episodes, setting_.threads);
}

namespace {

RegressionConstants regression_constants(const RequestArguments& arguments) {
    RegressionConstants constants;
    constants.paper = arguments.text("constants") == "paper";
    if (constants.paper) {
        expects(
            arguments.given("episodes"),
            "regression: the paper's constants are told the number of episodes beforehand; add episodes=K");
        expects(arguments.texts("without").empty(),
                "regression: the paper's constants have no sharpenings to leave out");
        constants.episodes = arguments.integer("episodes");
        return constants;
    }
    expects(!arguments.given("episodes"), "regression: episodes is a parameter of constants=paper");
    for (const std::string& name : arguments.texts("without"))
        constants.sharpenings.*std::ranges::find(sharpenings(), name, &SharpeningEntry::name)->element =
            false;
    return constants;
}

}  // namespace

SourceEntry regression_entry() {
    RequestParameter without{
        .name = "without",
        .kind = ParameterKind::text_list,
        .meaning = "sharpenings of the sharp constants to leave out, to see what each buys"};
    for (const SharpeningEntry& entry : sharpenings()) without.choices.push_back(entry.name);
    return {.name = "regression",
            .summary = "Value-targeted regression: the sets of the paper's Algorithm 1, for any features.",
            .parameters = {word_parameter("constants", {"sharp", "paper"},
                                          "whose constants: ours, or the printed ones, errata mended"),
                           {.name = "episodes",
                            .kind = ParameterKind::integer,
                            .default_value = "the budget",
                            .derived = true,
                            .meaning = "what the paper's radius is told beforehand",
                            .minimum = 1,
                            .maximum = 9'007'199'254'740'992},
                           without,
                           word_parameter("width", {"exact", "sdp", "l1"},
                                          "the inner maximum over values: exact, or by a relaxation")},
            .refusal = [](const Task&) { return std::string(); },
            .make = [](const SourceSetting& setting,
                       const RequestArguments& arguments) -> std::unique_ptr<SetSource> {
                return std::make_unique<RegressionSource>(
                    setting, RegressionSourceOptions{regression_constants(arguments),
                                                     parse_width_method(arguments.text("width"))});
            },
            .alone =
                [](const RequestArguments& arguments) {
                    return arguments.text("constants") == "paper"
                               ? std::string("the paper's constants have a certificate of their own")
                               : std::string();
                }};
}

}  // namespace alidade::detail
