#include "linear_source.hpp"

#include <cmath>
#include <utility>

#include "../certify/linear_values.hpp"
#include "../certify/relaxation.hpp"
#include "../estimate/ridge_regression.hpp"
#include "../theory/radii.hpp"
#include "alidade/certify/deviation.hpp"
#include "alidade/error.hpp"
#include "likelihood_source.hpp"
#include "record_field.hpp"

namespace alidade::detail {

namespace {

/// c_beta d sqrt(ln(dH/(delta eps))), for values in [0,1]: the printed radius without its factor H, which the
/// range of a step brings in [theory §1.7].
double printed_linear_radius(const Task& task, double delta, const PrintedLinearConstants& constants) {
    const auto d = static_cast<double>(task.linear->features()), steps = static_cast<double>(task.horizon);
    const double inside = d * steps / (delta * constants.precision);
    expects(inside > 1, "linear: precision is {}; must be less than d H / delta, which is {}",
            constants.precision, d * steps / delta);
    return constants.scale * d * std::sqrt(std::log(inside));
}

/// What Algorithm 3 claims of itself: 2 V_0, and 2 H V_0 where its reward is u/H. With radii that are proved
/// it is proved, for any planner [docs/algorithms/lsvi.md, Theorem 3].
double own_certificate(const LearnedLinear& learned, const LinearPass& pass, double radius = 0) {
    const double times =
        pass.reward == ExplorationReward::bonus ? 2 : 2 * static_cast<double>(learned.shape().horizon);
    const double value = linear_exploration_value(learned, pass, radius);
    return value > 0 ? times * value + rounding_slack(learned.shape().horizon) : 0;
}

}  // namespace

LinearSource::LinearSource(SourceSetting setting, LinearSourceOptions options)
    : setting_(std::move(setting)),
      regression_(setting_.task, setting_.delta),
      counts_(setting_.task.linear, setting_.task.horizon) {
    if (options.printed)
        printed_radius_ = printed_linear_radius(setting_.task, setting_.delta, *options.printed);
}

std::vector<LinearEstimate> LinearSource::estimates_of(const Counts& counts) const {
    // The radius counts the states that can follow at a step; counts from where the start cannot lead to
    // would bring in others [docs/algorithms/lsvi.md, Theorem 1].
    regression_.require_reachable(counts);
    return regression_.solve(linear_statistics(*setting_.task.linear, counts, setting_.task.homogeneous));
}

// Nothing is fixed for the data to come: the radius holds for all V at once, so that each V is regressed on
// all data so far [docs/algorithms/lsvi.md, Theorem 1; theory §2, errata 44 and 45].
void LinearSource::refresh() {
    estimates_ = estimates_of(counts_);
    if (setting_.schedule.kind == Schedule::Kind::doubling) log_det_ = log_determinants();
    due_ = false;
}

void LinearSource::absorb(const Counts& batch) {
    expects(batch.shape() == counts_.shape(), "counts have another shape than the problem");
    expects(batch.over(*setting_.task.linear), "counts are of other successors than the problem's");
    counts_ += batch;
    due_ = true;
    if (setting_.schedule.kind != Schedule::Kind::doubling || log_det_.empty()) return;
    // The product over the steps, as in RegressionSource [theory §3e]: a matter of speed alone.
    double grown = 0;
    const std::vector<double> now = log_determinants();
    for (std::size_t k = 0; k < now.size(); ++k) grown += now[k] - log_det_[k];
    due_ = grown >= std::log(2.0);
}

std::vector<double> LinearSource::log_determinants() const {
    std::vector<double> result;
    for (const LinearStatistics& set :
         linear_statistics(*setting_.task.linear, counts_, setting_.task.homogeneous))
        result.push_back(log_det_ratio(set.rows, regression_.regularisation()));
    return result;
}

std::optional<std::int64_t> LinearSource::refresh_bound() const {
    if (setting_.schedule.kind != Schedule::Kind::doubling) return std::nullopt;
    // At every refresh but the first the product has doubled since the one before [theory §3e].
    double doublings = 0;
    for (const double grown : log_determinants()) doublings += grown / std::log(2.0);
    return 1 + static_cast<std::int64_t>(doublings * (1 + 1e-12) + 1e-9);
}

const LinearEstimate& LinearSource::estimate(Step h) const {
    ensures(!estimates_.empty(), "a regression asked for before the first refresh");
    return estimates_[setting_.task.homogeneous ? 0 : at(h)];
}

Knowledge LinearSource::knowledge_of(const Counts& counts) const {
    const Task& task = setting_.task;
    const auto learned = std::make_shared<const LearnedLinear>(task, estimates_of(counts), setting_.delta);
    // The regressions as a model for any planner: rows within u of the truth in total variation, without a
    // factor 2, which every certificate of rows can use [docs/algorithms/lsvi.md, Theorem 2].
    RewardFreeCertificate certificate =
        certify_reward_free(*learned, DeviationTable::of(*learned), {.threads = setting_.threads});
    const ValueRanges ranges{task.horizon, true};
    // On the same event, so that the least of all may be reported [docs/algorithms/lsvi.md, Theorem 3].
    for (const auto& [name, reward] : {std::pair{"printed", ExplorationReward::bonus},
                                       std::pair{"wang", ExplorationReward::bonus_over_steps}})
        add_candidate(certificate, name, own_certificate(*learned, {.reward = reward, .ranges = ranges}),
                      task.horizon);
    if (printed_radius_ > 0)
        // The paper leaves its constant open: what it would claim with a guess is shown, and is no candidate.
        certificate.unproved.emplace_back(
            "printed", own_certificate(*learned, {.ranges = {task.horizon, false}}, printed_radius_));
    return {learned, std::move(certificate), counts.episodes()};
}

Knowledge LinearSource::recompute(const Snapshot& evidence) const {
    Counts counts(setting_.task.linear, setting_.task.horizon);
    read_counts(evidence, counts);
    return knowledge_of(counts);
}

Snapshot LinearSource::evidence() const {
    return likelihood_evidence(counts_);
}

Snapshot LinearSource::memory() const {
    Snapshot record = evidence();
    record.integers["refreshed"] = {log_det_.empty() ? 0 : 1, due_ ? 1 : 0};
    record.numbers["log_det"] = log_det_;
    return record;
}

void LinearSource::restore(const Snapshot& memory) {
    read_counts(memory, counts_);
    const auto& refreshed = field(memory.integers, "refreshed", 2);
    due_ = refreshed[1] != 0;
    log_det_ = field(memory.numbers, "log_det", refreshed[0] != 0 ? at(regression_.sets()) : 0);
    estimates_.clear();  // made when a policy is due; until then the stored one is kept
}

SourceEntry linear_entry() {
    RequestParameter scale{.name = "scale", .kind = ParameterKind::real, .default_value = "1"};
    scale.meaning = "c_beta of the paper, which it leaves open (constants=paper)";
    scale.minimum = 1e-6;
    scale.maximum = 1e6;
    RequestParameter precision{.name = "precision", .kind = ParameterKind::real, .default_value = "1"};
    precision.meaning = "eps of the paper's radius, the loss that is aimed at (constants=paper)";
    precision.minimum = 1e-9;
    precision.maximum = 1e9;
    return {.name = "linear",
            .summary = "Regressions of a linear MDP, valid for every V at once and for data of anybody.",
            .parameters = {word_parameter("constants", {"sharp", "paper"},
                                          "paper: explore with the printed radius and the range H, and "
                                          "report what it would claim, which is not proved"),
                           scale, precision},
            .refusal = linear_refusal,
            .make = [](const SourceSetting& setting,
                       const RequestArguments& arguments) -> std::unique_ptr<SetSource> {
                LinearSourceOptions options;
                if (arguments.text("constants") == "paper")
                    options.printed = {arguments.real("scale"), arguments.real("precision")};
                else
                    expects(!arguments.given("scale") && !arguments.given("precision"),
                            "linear: scale and precision are parameters of constants=paper");
                return std::make_unique<LinearSource>(setting, options);
            },
            .alone = [](const RequestArguments&) { return std::string(); },
            .unasked = [](const Task&, const RequestArguments&) { return std::string(); }};
}

}  // namespace alidade::detail
