#include <algorithm>

#include "handed_over.hpp"
#include "likelihood_source.hpp"
#include "prediction_source.hpp"
#include "record_field.hpp"

// How likelihood sources are written down, read back, and asked for by name.
namespace alidade::detail {

namespace {

void write_weights(const std::vector<Vector>& weights, std::vector<double>& numbers) {
    for (const Vector& row : weights) numbers.insert(numbers.end(), row.data(), row.data() + row.size());
}

std::vector<Vector> read_weights(const std::vector<double>& numbers, Index features) {
    std::vector<Vector> weights;
    for (std::size_t k = 0; k + at(features) <= numbers.size(); k += at(features)) {
        weights.emplace_back(Eigen::Map<const Vector>(numbers.data() + k, features));
        expects(weights.back().allFinite() && weights.back().minCoeff() > 0,
                "the stored weights are not positive numbers");
    }
    return weights;
}

}  // namespace

void read_counts(const Snapshot& record, Counts& counts) {
    const auto values = record.integers.find("counts");
    expects(values != record.integers.end(), "the stored record has no counts");
    const std::int64_t episodes = field(record.integers, "episodes", 1)[0];
    expects(episodes >= 0, "the stored counts are negative");
    counts.clear();
    counts.take_record(values->second);
    counts.add_episodes(episodes);
}

Snapshot likelihood_evidence(const Counts& counts) {
    Snapshot record;
    record.integers["counts"] = counts.record();
    record.integers["episodes"] = {counts.episodes()};
    return record;
}

Snapshot LikelihoodSource::evidence() const {
    Snapshot record = likelihood_evidence(counts_);
    if (options_.prequential) record.numbers["predicted"] = predicted_;
    return record;
}

Snapshot LikelihoodSource::memory() const {
    Snapshot record = evidence();
    record.integers["refreshed"] = {smoothed_.empty() ? 0 : 1, due_ ? 1 : 0};
    write_weights(smoothed_, record.numbers["smoothed"]);
    record.numbers["log_det"] = log_det_;
    return record;
}

void LikelihoodSource::restore(const Snapshot& memory) {
    read_counts(memory, counts_);
    if (options_.prequential) predicted_ = field(memory.numbers, "predicted", predicted_.size());
    const auto& refreshed = field(memory.integers, "refreshed", 2);
    due_ = refreshed[1] != 0;
    const Task& task = setting_.task;
    const std::size_t sets = refreshed[0] != 0 ? at(confidence_sets(task.horizon, task.homogeneous)) : 0;
    const Index d = task.features->features();
    smoothed_ = read_weights(field(memory.numbers, "smoothed", sets * at(d)), d);
    log_det_ = field(memory.numbers, "log_det", sets);
    // Not needed until the next refresh, which computes it: whether that is due is told by the determinants.
    information_.clear();
}

Knowledge LikelihoodSource::recompute(const Snapshot& evidence) const {
    const Task& task = setting_.task;
    Counts counts(task.features, task.horizon, Elsewhere::counted);
    read_counts(evidence, counts);
    // More centres and sizes of the ellipsoid, all of which bound the regret of the same mixture: more effort
    // may give smaller sets, on the same event.
    LikelihoodSetOptions sets{
        .delta = setting_.delta, .thorough = true, .radius = options_.radius, .prior = prior_};
    if (options_.prequential)
        sets.predicted =
            field(evidence.numbers, "predicted", at(confidence_sets(task.horizon, task.homogeneous)));
    return likelihood_knowledge(task, counts,
                                {.sets = std::move(sets),
                                 .effort = thorough_widths(task, options_.width),
                                 .threads = setting_.threads});
}

namespace {

RequestParameter radius_parameter() {
    RequestParameter parameter = word_parameter(
        "radius", {"centred", "plain"}, "laws of the mixtures: also one about the hypothesis, or none");
    // It defines the event: a run must say which, and one that says nothing is of before there was a choice.
    parameter.spelled_out = true;
    return parameter;
}

}  // namespace

SourceEntry likelihood_entry() {
    return {
        .name = "likelihood",
        .summary =
            "Likelihood ratios: base models, for data of anybody; signed features, by predictions made on "
            "the way. Bets where the truth may be off its mixture.",
        .parameters = {flag_parameter("prequential",
                                      "count the predictions made on the way as a further mixture"),
                       radius_parameter(),
                       word_parameter("width", {"exact", "sdp", "l1"},
                                      "the inner maximum over values: exact, or by a relaxation")},
        .refusal = likelihood_refusal,
        .make = [](const SourceSetting& setting,
                   const RequestArguments& arguments) -> std::unique_ptr<SetSource> {
            const WidthMethod width = parse_width_method(arguments.text("width"));
            if (setting.task.features->kind() == FeatureKind::general) {
                expects(!arguments.flag("prequential"),
                        "likelihood: sets of signed features rest on predictions alone; prequential is a "
                        "parameter for base models");
                return std::make_unique<PredictionSource>(setting, width);
            }
            return std::make_unique<LikelihoodSource>(
                setting, LikelihoodSourceOptions{
                             arguments.flag("prequential"), width,
                             arguments.text("radius") == "plain" ? Radius::plain : Radius::centred});
        },
        .alone = [](const RequestArguments&) { return std::string(); },
        .unasked = [](const Task& task, const RequestArguments& arguments) -> std::string {
            if (task.features->kind() == FeatureKind::general)
                return "the sets of signed features rest on predictions that must be made before the data "
                       "are "
                       "asked for, and nobody made any before these";
            return arguments.flag("prequential")
                       ? "the run's sets count predictions (likelihood?prequential=true), which must be made "
                         "before the data are asked for, and nobody made any before these"
                       : "";
        }};
}

}  // namespace alidade::detail
