#include "alidade/certify/sensitivity.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "../confidence/bet_sets.hpp"
#include "../confidence/likelihood_sets.hpp"
#include "../estimate/maximum_likelihood.hpp"
#include "alidade/certify/deviation.hpp"
#include "alidade/error.hpp"

namespace alidade {

struct Sensitivity::Parts {
    Task task;
    SensitivityOptions options;
    bool elsewhere = false;             // something led to where no base model does
    std::vector<BetTable> tables;       // the bets are the same for every zeta
    std::vector<Vector> about, models;  // of every set: a fit, and what was handed over
    std::int64_t episodes = 0;
};

bool Sensitivity::applies(const Task& task, const LearnedModel& learned) {
    return task.linear == nullptr && task.features->kind() == FeatureKind::base_models &&
           learned.mixture() != nullptr;
}

Sensitivity::Sensitivity(const Task& task, const Counts& counts, const LearnedMixture& model,
                         const SensitivityOptions& options) {
    expects(applies(task, model), "sensitivity needs base models");
    expects(counts.shape() == task.shape() && counts.over(*task.features),
            "counts are of another problem than the task");
    expects(options.delta > 0 && options.delta < 1, "delta is {}; must be greater than 0 and less than 1",
            options.delta);
    auto parts = std::make_unique<Parts>(Parts{task, options, counts.any_elsewhere(), {}, {}, {}});
    parts->episodes = counts.episodes();
    parts->tables = bet_tables(*task.features, BetDesign(*task.features), counts, task.homogeneous);
    for (const detail::LikelihoodRows& rows :
         detail::likelihood_rows(*task.features, counts, task.homogeneous))
        parts->about.push_back(detail::maximise_likelihood(rows, {.barrier = 0.5, .steps = 60}).weights);
    for (const ConfidenceSet& set : model.sets()) parts->models.push_back(set.weights());
    expects(parts->models.size() == parts->tables.size(), "the model has {} sets; the data give {}",
            parts->models.size(), parts->tables.size());
    parts_ = std::move(parts);
}

Sensitivity::~Sensitivity() = default;
Sensitivity::Sensitivity(Sensitivity&&) noexcept = default;
Sensitivity& Sensitivity::operator=(Sensitivity&&) noexcept = default;

Shape Sensitivity::shape() const {
    return parts_->task.shape();
}

SensitivityPoint Sensitivity::at(double zeta, const RewardQuestion* question) const {
    const Parts& parts = *parts_;
    const auto horizon = static_cast<double>(parts.task.horizon);
    SensitivityPoint point{zeta, false, {0, horizon}, horizon, horizon};
    const Task task = assuming(parts.task, {.misspecification = zeta});
    // Nothing that stays in the support led there.
    point.refuted = parts.elsewhere && task.elsewhere() == Elsewhere::refused;
    if (point.refuted) return point;
    std::vector<ConfidenceSet> sets;
    try {
        sets = detail::bet_sets(parts.tables, zeta, parts.options.delta, parts.about, parts.models);
    } catch (const ModelContradiction&) {
        point.refuted = true;
        return point;
    }
    const auto learned = std::make_shared<const LearnedMixture>(task, std::move(sets), parts.options.delta);
    const DeviationTable deviations = DeviationTable::of(*learned);
    Knowledge knowledge{learned, {}, parts.episodes};
    if (parts.options.reward_free) {
        // `ltv` takes as long as all others together, and is rarely the least where something may be off.
        knowledge.certificate = certify_reward_free(
            *learned, deviations, {.without = {"ltv"}, .contributions = 0, .threads = parts.options.threads});
        point.reward_free = point.loss = knowledge.certificate.bound;
    }
    if (question == nullptr) return point;
    const RewardCertificate found =
        parts.options.reward_free
            ? certify_reward(knowledge, deviations, question->reward, question->policy, parts.options.threads)
            : certify_reward(*learned, deviations, question->reward, question->policy, parts.options.threads);
    point.value = found.value;
    point.loss = found.loss_bound;
    return point;
}

std::vector<SensitivityPoint> Sensitivity::curve(std::span<const double> zetas,
                                                 const RewardQuestion* question) const {
    expects(std::ranges::is_sorted(zetas), "misspecifications must ascend");
    std::vector<SensitivityPoint> points(zetas.size());
    for (std::size_t k = zetas.size(); k-- > 0;) {
        points[k] = at(zetas[k], question);
        if (k + 1 == zetas.size()) continue;
        const SensitivityPoint& above = points[k + 1];
        // The sets are nested, so that what is refuted farther out is refuted here; and all points hold at
        // once, so that the better of two bounds is one.
        points[k].refuted = points[k].refuted || above.refuted;
        if (points[k].refuted) continue;
        points[k].value = {std::max(points[k].value.lower, above.value.lower),
                           std::min(points[k].value.upper, above.value.upper)};
        points[k].loss = std::min(points[k].loss, above.loss);
        points[k].reward_free = std::min(points[k].reward_free, above.reward_free);
    }
    return points;
}

double Sensitivity::breakdown(double tolerance, const RewardQuestion* question) const {
    expects(std::isfinite(tolerance) && tolerance >= 0, "tolerance is {}; must be a number of at least 0",
            tolerance);
    constexpr int bisections = 12;
    constexpr double first = 1.0 / 128, farthest = 0.5;
    double low = 0;
    bool proven = false;  // at `low` something is left possible, and the bound was computed
    // A zeta that is refuted is no truth's: it is passed over, and proves nothing.
    const auto within = [&](double zeta) {
        const SensitivityPoint point = at(zeta, question);
        if (!point.refuted && point.loss > tolerance) return false;
        low = zeta;
        proven = proven || !point.refuted;
        return true;
    };
    if (!within(0)) return 0;
    double high = first;
    while (high <= farthest && within(high)) high *= 2;
    if (high > farthest) return proven ? low : 0;
    for (int k = 0; k < bisections; ++k)
        if (const double middle = 0.5 * (low + high); !within(middle)) high = middle;
    return proven ? low : 0;
}

std::span<const double> usual_misspecifications() {
    static constexpr std::array<double, 8> zetas{0, .001, .002, .005, .01, .02, .05, .1};
    return zetas;
}

}  // namespace alidade
