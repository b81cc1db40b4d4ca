#include "likelihood_source.hpp"

#include <cmath>

#include "../confidence/bet_sets.hpp"
#include "alidade/error.hpp"
#include "log_determinant.hpp"

namespace alidade::detail {

namespace {

/// For every base model: keeps the smoothed fit inside the simplex, so that nothing that some base model
/// allows is predicted with probability 0.
constexpr double pseudo_count = 0.5;

void require_counts_of(const Task& task, const Counts& counts) {
    expects(counts.shape() == task.shape(), "counts have another shape than the problem");
    expects(counts.over(*task.features), "counts are of other successors than the problem's");
}

}  // namespace

LikelihoodSource::LikelihoodSource(SourceSetting setting, LikelihoodSourceOptions options)
    : setting_(std::move(setting)),
      options_(options),
      tangent_(*setting_.task.features, ParameterSet::of(*setting_.task.features).space()),
      counts_(setting_.task.features, setting_.task.horizon, setting_.task.elsewhere()) {
    const Task& task = setting_.task;
    validate(task.shape());
    task.start.validate(task.features->states());
    const std::string refusal = mixture_refusal(task);
    expects(refusal.empty(), "{}", refusal);
    expects(setting_.delta > 0 && setting_.delta < 1, "delta is {}; must be greater than 0 and less than 1",
            setting_.delta);
    if (options_.radius == Radius::centred && task.misspecification == 0)
        prior_ = likelihood_prior(*task.features, task.start, task.horizon, task.homogeneous);
    if (options_.prequential) predicted_.assign(at(confidence_sets(task.horizon, task.homogeneous)), 0.0);
}

void LikelihoodSource::refresh() {
    const Task& task = setting_.task;
    // All data so far: L depends on counts alone, and nothing has to be regressed in order [likelihood §2].
    const std::vector<LikelihoodRows> rows = likelihood_rows(*task.features, counts_, task.homogeneous);
    const Matrix& basis = tangent_.space.basis;
    const Index p = basis.cols();
    const std::vector<Vector> before = std::move(smoothed_);
    smoothed_.clear();
    information_.clear();
    log_det_.clear();
    for (std::size_t k = 0; k < rows.size(); ++k) {
        const Vector start = before.size() == rows.size() ? before[k] : Vector{};
        // To plan and to predict with, not what is handed over: off the faces, where what was never seen has
        // probability 0 and I(s,a) no bound [docs/algorithms/likelihood.md, Exploration].
        smoothed_.push_back(
            maximise_likelihood(rows[k], {.barrier = pseudo_count, .steps = 60}, start).weights);
        // J = Z' [sum of n f f' / (theta . f)^2] Z, the curvature of -L in coordinates of the hull: the
        // observed Fisher information. The identity makes it invertible before there are data.
        information_.push_back(detail::information(rows[k], smoothed_.back(), basis) +
                               Matrix::Identity(p, p));
        log_det_.push_back(log_determinant(information_.back()));
    }
    due_ = false;
}

void LikelihoodSource::absorb(const Counts& batch) {
    require_counts_of(setting_.task, batch);
    // Before the batch is counted: a prediction must be fixed before what it predicts is seen [likelihood
    // §2].
    if (options_.prequential) predict(batch);
    counts_ += batch;
    due_ = setting_.schedule.kind != Schedule::Kind::doubling || determinant_doubled();
}

// The smoothed weights were fixed before the batch, so they predict each of its transitions honestly.
void LikelihoodSource::predict(const Counts& counts) {
    const std::vector<LikelihoodRows> rows =
        likelihood_rows(*setting_.task.features, counts, setting_.task.homogeneous);
    for (std::size_t k = 0; k < rows.size(); ++k)
        for (Index row = 0; row < rows[k].size(); ++row)
            predicted_[k] +=
                rows[k].counts[at(row)] *
                std::log(Eigen::Map<const Vector>(rows[k].row(row), rows[k].features).dot(smoothed_[k]));
}

// Rare switching, with J in the place of Lambda and the product over the steps [theory §3e].
bool LikelihoodSource::determinant_doubled() const {
    const std::vector<LikelihoodRows> rows =
        likelihood_rows(*setting_.task.features, counts_, setting_.task.homogeneous);
    const Matrix& basis = tangent_.space.basis;
    // At the weights of the last refresh, so that the determinant grows by data alone and never falls.
    double grown = 0;
    for (std::size_t k = 0; k < rows.size(); ++k)
        grown += log_determinant(detail::information(rows[k], smoothed_[k], basis) +
                                 Matrix::Identity(basis.cols(), basis.cols())) -
                 log_det_[k];
    return grown >= std::log(2.0);
}

namespace {

/// Sets where the truth may be off its mixture. The fit is where they are looked for: it need not be a
/// member.
std::vector<ConfidenceSet> sets_by_bets(const Task& task, const Counts& counts, double delta,
                                        std::span<const Vector> starts) {
    const std::vector<LikelihoodRows> rows = likelihood_rows(*task.features, counts, task.homogeneous);
    std::vector<Vector> about;
    for (std::size_t k = 0; k < rows.size(); ++k)
        about.push_back(starts.size() == rows.size()
                            ? starts[k]
                            : maximise_likelihood(rows[k], {.barrier = pseudo_count, .steps = 60}).weights);
    const BetDesign design(*task.features);
    return bet_sets(bet_tables(*task.features, design, counts, task.homogeneous), task.misspecification,
                    delta, about);
}

std::vector<ConfidenceSet> sets_of_counts(const Task& task, const Counts& counts,
                                          const LikelihoodSetOptions& options,
                                          std::span<const Vector> starts) {
    if (counts.any_elsewhere() && task.elsewhere() == Elsewhere::refused)
        throw ModelContradiction(
            "some transitions led to where no base model does, and the truth is taken not to do so");
    if (task.misspecification > 0) return sets_by_bets(task, counts, options.delta, starts);
    const std::vector<LikelihoodRows> rows = likelihood_rows(*task.features, counts, task.homogeneous);
    // {L(theta) >= L(theta~) - B}, B from the regrets of mixtures [docs/algorithms/likelihood.md, Theorem 1].
    // Whoever acted: the sets ask only that s' was drawn from the pair's law [likelihood §7].
    const std::vector<LikelihoodSet> sets = likelihood_sets(rows, options, starts);
    std::vector<ConfidenceSet> ellipsoids;
    // Certificates are computed from ellipsoids; the convex set of likelihoods lies inside [likelihood §3],
    // and serves the last step of some.
    ellipsoids.reserve(sets.size());
    for (const LikelihoodSet& set : sets) ellipsoids.push_back(set.ellipsoid);
    return ellipsoids;
}

}  // namespace

LikelihoodSetOptions LikelihoodSource::set_options() const {
    return {.delta = setting_.delta, .predicted = predicted_, .radius = options_.radius, .prior = prior_};
}

Knowledge LikelihoodSource::knowledge() const {
    // Warm starts that are part of the memory: a resumed run must not be able to tell.
    return likelihood_knowledge(
        setting_.task, counts_,
        {.sets = set_options(), .effort = {.method = options_.width}, .threads = setting_.threads},
        smoothed_);
}

SharedLearned LikelihoodSource::learned() const {
    return std::make_shared<const LearnedMixture>(
        setting_.task, sets_of_counts(setting_.task, counts_, set_options(), smoothed_), setting_.delta);
}

Knowledge likelihood_knowledge(const Task& task, const Counts& counts,
                               const LikelihoodKnowledgeOptions& options, std::span<const Vector> starts) {
    const std::string refusal = mixture_refusal(task);
    expects(refusal.empty(), "{}", refusal);
    require_counts_of(task, counts);
    const CertifyOptions certifying{.delta = options.sets.delta,
                                    .widths = options.effort,
                                    .threads = options.threads,
                                    .episodes = counts.episodes()};
    return certify(task, sets_of_counts(task, counts, options.sets, starts), certifying);
}

}  // namespace alidade::detail
