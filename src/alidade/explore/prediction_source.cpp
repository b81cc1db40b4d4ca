#include "prediction_source.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "../theory/radii.hpp"
#include "alidade/error.hpp"
#include "handed_over.hpp"
#include "likelihood_source.hpp"
#include "log_determinant.hpp"
#include "record_field.hpp"

namespace alidade::detail {

PredictionSource::PredictionSource(SourceSetting setting, WidthMethod width)
    : setting_(std::move(setting)),
      width_(width),
      likelihood_(setting_.task.features),
      counts_(setting_.task.features, setting_.task.horizon),
      predicted_(at(confidence_sets(setting_.task.horizon, setting_.task.homogeneous)), 0.0) {
    validate(setting_.task.shape());
    setting_.task.start.validate(setting_.task.features->states());
    expects(setting_.delta > 0 && setting_.delta < 1, "delta is {}; must be greater than 0 and less than 1",
            setting_.delta);
    const std::string refusal = likelihood_refusal(setting_.task);
    expects(refusal.empty(), "{}", refusal);
}

// ln det(I + the observed information), at weights that stay, so that it grows by data alone. It says when to
// predict anew, and is no part of any set.
double PredictionSource::log_det(const std::vector<double>& counts, const Vector& weights) const {
    const FeatureMap& features = *setting_.task.features;
    const TangentSpace& space = likelihood_.parameters().space();
    const Index p = space.dimension();
    Matrix information = Matrix::Identity(p, p);
    for (Index e = 0; e < features.entries(); ++e) {
        if (counts[at(e)] <= 0) continue;
        const Eigen::Map<const Vector> phi(features.phi(e).data(), features.features());
        const Vector psi = space.basis.transpose() * phi;
        information += counts[at(e)] / std::pow(phi.dot(weights), 2) * psi * psi.transpose();
    }
    return log_determinant(information);
}

void PredictionSource::refresh() {
    const auto counts = entry_counts(setting_.task, counts_);
    // Half a pseudo-count for each dimension in all, as mixtures of base models have: shared by the entries,
    // so that nothing that some weights allow is predicted to be impossible.
    const auto p = static_cast<double>(likelihood_.parameters().space().dimension());
    const double pseudo_count =
        std::max(1.0, p) / (2 * static_cast<double>(setting_.task.features->entries()));
    const std::vector<Vector> before = std::move(predictors_);
    predictors_.clear();
    log_det_.clear();
    for (std::size_t k = 0; k < counts.size(); ++k) {
        // Fixed until the next refresh: all that Theorem 1b asks of a prediction is that it was made before
        // what it predicts was seen [docs/algorithms/likelihood.md, Theorem 1b].
        predictors_.push_back(
            likelihood_.fit(counts[k], pseudo_count, before.size() == counts.size() ? before[k] : Vector{}));
        log_det_.push_back(log_det(counts[k], predictors_.back()));
    }
    due_ = false;
}

void PredictionSource::absorb(const Counts& batch) {
    const Task& task = setting_.task;
    expects(batch.shape() == task.shape(), "counts have another shape than the problem");
    expects(batch.over(*task.features), "counts are of other successors than the problem's");
    const auto seen = entry_counts(task, batch);
    expects(predictors_.size() == seen.size(), "counts taken up before anything was predicted");
    // The logarithm of prod q_t . f_t, whose ratio to the likelihood of the truth is a supermartingale
    // [docs/algorithms/likelihood.md, Theorem 1b]. A law that sums to more than 1 by rounding would break
    // that, so its excess is taken off. Weights that were fixed before the batch predict each of its
    // transitions honestly.
    for (std::size_t k = 0; k < seen.size(); ++k)
        predicted_[k] =
            std::max(-1e300, predicted_[k] + signed_log_likelihood(*task.features, seen[k], predictors_[k]) -
                                 excess_of_laws(*task.features, seen[k], predictors_[k]));
    counts_ += batch;
    due_ = true;
    if (setting_.schedule.kind != Schedule::Kind::doubling) return;
    // When the information has doubled, as for base models [theory §3e].
    double grown = 0;
    const auto counts = entry_counts(task, counts_);
    for (std::size_t k = 0; k < counts.size(); ++k) grown += log_det(counts[k], predictors_[k]) - log_det_[k];
    due_ = grown >= std::log(2.0);
}

Knowledge PredictionSource::knowledge_of(const Counts& counts, const std::vector<double>& predicted,
                                         const WidthOptions& effort,
                                         const std::vector<Vector>& starts) const {
    const Task& task = setting_.task;
    const auto seen = entry_counts(task, counts);
    // Ville's inequality for each set, all times included, and a union over the sets.
    const double failure = failure_per_set(setting_.delta, std::max<Index>(1, std::ssize(seen)));
    std::vector<ConfidenceSet> sets;
    for (std::size_t k = 0; k < seen.size(); ++k)
        // An ellipsoid about the fit that contains all that the predictions leave possible
        // [docs/algorithms/likelihood.md, Lemma 4b].
        sets.push_back(prediction_set(likelihood_, *task.features, seen[k], predicted[k], failure,
                                      starts.size() == seen.size() ? starts[k] : Vector{}));
    return certify(task, std::move(sets),
                   {.delta = setting_.delta,
                    .widths = effort,
                    .threads = setting_.threads,
                    .episodes = counts.episodes()});
}

Knowledge PredictionSource::knowledge() const {
    return knowledge_of(counts_, predicted_, {.method = width_}, predictors_);
}

Knowledge PredictionSource::recompute(const Snapshot& evidence) const {
    expects(
        evidence.numbers.contains("predicted"),
        "likelihood sets of signed features rest on predictions that were made before the data were seen; "
        "of these there are none");
    Counts counts(setting_.task.features, setting_.task.horizon);
    read_counts(evidence, counts);
    return knowledge_of(counts, field(evidence.numbers, "predicted", predicted_.size()),
                        thorough_widths(setting_.task, width_), {});
}

Snapshot PredictionSource::evidence() const {
    Snapshot record = likelihood_evidence(counts_);
    record.numbers["predicted"] = predicted_;
    return record;
}

Snapshot PredictionSource::memory() const {
    Snapshot record = evidence();
    record.integers["refreshed"] = {predictors_.empty() ? 0 : 1, due_ ? 1 : 0};
    for (const Vector& weights : predictors_)
        record.numbers["smoothed"].insert(record.numbers["smoothed"].end(), weights.begin(), weights.end());
    record.numbers["log_det"] = log_det_;
    return record;
}

void PredictionSource::restore(const Snapshot& memory) {
    read_counts(memory, counts_);
    predicted_ = field(memory.numbers, "predicted", predicted_.size());
    for (const double sum : predicted_)
        expects(std::isfinite(sum) && sum <= 0,
                "a stored sum of logarithms of probabilities is {}; must be a number of at most 0", sum);
    const auto& refreshed = field(memory.integers, "refreshed", 2);
    due_ = refreshed[1] != 0;
    predictors_.clear();
    log_det_.clear();
    if (refreshed[0] == 0) return;
    const Index d = setting_.task.features->features();
    const auto& weights = field(memory.numbers, "smoothed", predicted_.size() * at(d));
    for (std::size_t k = 0; k < predicted_.size(); ++k) {
        predictors_.emplace_back(Eigen::Map<const Vector>(weights.data() + k * at(d), d));
        // What predicts must be weights that make laws, or the sums prove nothing.
        expects(predictors_.back().allFinite() && likelihood_.parameters().contains(predictors_.back()),
                "the stored weights make no laws");
    }
    log_det_ = field(memory.numbers, "log_det", predicted_.size());
}

}  // namespace alidade::detail
