#include "alidade/explore/likelihood.hpp"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "alidade/error.hpp"
#include "alidade/model/parallel.hpp"
#include "alidade/random/samplers.hpp"
#include "alidade/theory/likelihood.hpp"
#include "set_knowledge.hpp"

namespace alidade {

namespace {

constexpr double pseudo_count = 0.5;

/// The largest eigenvalue of a positive semidefinite matrix, nearly: a few power steps. It steers, no more.
double leading_eigenvalue(const Matrix& matrix) {
    Vector direction = matrix.diagonal() + Vector::Constant(matrix.rows(), 1e-12);
    double value = 0;
    for (int step = 0; step < 8; ++step) {
        const Vector image = matrix.lazyProduct(direction);
        const double norm = image.norm();
        if (norm == 0) return 0;
        value = norm / direction.norm();
        direction = image / norm;
    }
    return value;
}

double log_determinant(const Matrix& matrix) {
    const Eigen::LLT<Matrix> cholesky(matrix);
    double sum = 0;
    for (Index i = 0; i < matrix.rows(); ++i) sum += 2 * std::log(cholesky.matrixLLT()(i, i));
    return sum;
}

/// What one more visit of a pair would tell, in the metric of what is known: the eigenvalues of
/// J^-1 I(s,a), I = sum_j psi_j psi_j'/P_j [likelihood §5].
double value_of(const Matrix& gram, FisherBonus bonus, double allowance) {
    switch (bonus) {
        case FisherBonus::gain:
            return log_determinant(Matrix::Identity(gram.rows(), gram.rows()) + gram);
        case FisherBonus::leverage:
            return leading_eigenvalue(gram);
        case FisherBonus::sqrt:
        case FisherBonus::none:
            break;
    }
    return std::min(1.0, 0.5 * std::sqrt(2 * allowance * leading_eigenvalue(gram)));
}

void require_counts_of(const Task& task, const Counts& counts) {
    expects(counts.shape() == task.shape(), "counts have another shape than the problem");
    expects(counts.over(*task.features), "counts are of other successors than the problem's");
}

}  // namespace

std::string likelihood_refusal(const Task& task) {
    if (task.features->kind() != FeatureKind::base_models)
        return "problem has general signed features; the likelihood of a transition needs base models "
               "([[base]] in "
               "problem.toml); the algorithm hoeffding serves both";
    if (task.misspecification != 0)
        return fmt::format(
            "problem has a misspecification of {}; the likelihood route needs an exact mixture; the "
            "algorithm "
            "hoeffding serves both",
            task.misspecification);
    return {};
}

LikelihoodExplorer::LikelihoodExplorer(Task task, ExplorerOptions options)
    : task_(std::move(task)),
      options_(options),
      shape_(task_.shape()),
      tangent_(*task_.features, ParameterSet::of(*task_.features).space()),
      counts_(task_.features, task_.horizon) {
    validate(shape_);
    task_.start.validate(shape_.states);
    const std::string refusal = likelihood_refusal(task_);
    expects(refusal.empty(), "{}", refusal);
    expects(options_.delta > 0 && options_.delta < 1, "delta is {}; must be greater than 0 and less than 1",
            options_.delta);
    expects(options_.threads >= 1, "threads is {}; must be at least 1", options_.threads);
    if (options_.constants.prequential)
        predicted_.assign(at(confidence_sets(task_.horizon, task_.homogeneous)), 0.0);
}

Deployment LikelihoodExplorer::ask() {
    if (replan_due_) replan();
    return repeat();
}

Deployment LikelihoodExplorer::repeat() const {
    expects(policy_ != nullptr, "a deployment repeated before one was asked for");
    return {policy_, options_.schedule.batch(counts_.episodes())};
}

void LikelihoodExplorer::replan() {
    const std::vector<LikelihoodRows> rows = likelihood_rows(*task_.features, counts_, task_.homogeneous);
    const Matrix& basis = tangent_.space.basis;
    const Index p = basis.cols();
    std::vector<Vector> before = std::move(smoothed_);
    smoothed_.clear();
    information_.clear();
    log_det_.clear();
    for (std::size_t k = 0; k < rows.size(); ++k) {
        const Vector start = before.size() == rows.size() ? before[k] : Vector{};
        smoothed_.push_back(
            maximise_likelihood(rows[k], {.barrier = pseudo_count, .steps = 60}, start).weights);
        information_.push_back(information(rows[k], smoothed_.back(), basis) + Matrix::Identity(p, p));
        log_det_.push_back(log_determinant(information_.back()));
    }
    choose_actions();
    ++replans_;
    replan_due_ = false;
}

std::vector<double> LikelihoodExplorer::bonuses(std::size_t set) const {
    const FeatureMap& features = *task_.features;
    const Index p = tangent_.space.dimension();
    const Matrix factor = Eigen::LLT<Matrix>(information_[set]).matrixL();
    const double pooled = task_.homogeneous ? static_cast<double>(shape_.learned_steps()) : 1;
    const double allowance = likelihood_allowance(
        mixture_regret(pooled * static_cast<double>(counts_.episodes()), features.features()), 2,
        static_cast<Index>(information_.size()), options_.delta);
    std::vector<double> result(at(features.pairs()));
    const auto fill = [&](Index first, Index last) {
        Matrix scaled;
        for (Index pair = first; pair < last; ++pair) {
            const Index m = features.successors(pair), entry = features.first_entry(pair);
            scaled = Eigen::Map<const Matrix>(tangent_.psi.data() + entry * p, p, m);
            for (Index j = 0; j < m; ++j) {
                double predicted = 0;
                const auto phi = features.phi(entry + j);
                for (Index i = 0; i < features.features(); ++i) predicted += smoothed_[set][i] * phi[at(i)];
                scaled.col(j) /= std::sqrt(std::max(predicted, 1e-300));
            }
            factor.triangularView<Eigen::Lower>().solveInPlace(scaled);
            result[at(pair)] =
                value_of(scaled.lazyProduct(scaled.transpose()), options_.constants.bonus, allowance);
        }
    };
    detail::in_chunks(features.pairs(), 64, options_.threads, fill);
    return result;
}

// Greedy for the bonuses under the smoothed model. Exact ties are drawn; nothing is clipped but the value
// that is passed on, which no error can exceed.
void LikelihoodExplorer::choose_actions() {
    if (options_.constants.bonus == FisherBonus::none) {
        policy_ = std::make_shared<const Policy>(Policy::uniform(shape_));
        return;
    }
    std::vector<std::int32_t> actions(at(shape_.horizon * shape_.states), 0);
    std::vector<double> next(at(shape_.states), 0.0), now(at(shape_.states)), bonus;
    const bool clipped = options_.constants.bonus == FisherBonus::sqrt;
    const FeatureMap& features = *task_.features;
    for (Step h = shape_.horizon - 2; h >= 0; --h) {
        const std::size_t set = task_.homogeneous ? 0 : at(h);
        if (bonus.empty() || !task_.homogeneous) bonus = bonuses(set);
        const auto range = static_cast<double>(shape_.steps_after(h));
        for (State s = 0; s < shape_.states; ++s) {
            double best = -1;
            Index ties = 0;
            Stream random(options_.seed, Purpose::ties, static_cast<std::uint64_t>(replans_),
                          static_cast<std::uint64_t>(h * shape_.states + s));
            for (Action a = 0; a < shape_.actions; ++a) {
                const Index pair = shape_.pair(s, a);
                const double value = (clipped ? range : 1.0) * bonus[at(pair)] +
                                     smoothed_[set].dot(features.phi_value(pair, next));
                if (value < best) continue;
                ties = value > best ? 1 : ties + 1;
                // The last of n ties is kept with probability 1/n: all are equally likely.
                if (ties == 1 || sample_index(random, ties) == 0)
                    actions[at(h * shape_.states + s)] = static_cast<std::int32_t>(a);
                best = value;
            }
            now[at(s)] = clipped ? std::min(range, best) : best;
        }
        std::swap(now, next);
    }
    policy_ = std::make_shared<const Policy>(Policy::deterministic(shape_, std::move(actions)));
}

void LikelihoodExplorer::tell(const Counts& counts) {
    require_counts_of(task_, counts);
    expects(policy_ != nullptr, "counts told before a deployment was asked for");
    if (options_.constants.prequential) predict(counts);
    if (counts.episodes() < options_.schedule.batch(counts_.episodes())) ++cut_;
    counts_ += counts;
    replan_due_ = options_.schedule.kind != Schedule::Kind::doubling || determinant_doubled();
}

// The smoothed weights were fixed before the batch, so they predict each of its transitions honestly.
void LikelihoodExplorer::predict(const Counts& counts) {
    const std::vector<LikelihoodRows> rows = likelihood_rows(*task_.features, counts, task_.homogeneous);
    for (std::size_t k = 0; k < rows.size(); ++k)
        for (Index row = 0; row < rows[k].size(); ++row)
            predicted_[k] +=
                rows[k].counts[at(row)] *
                std::log(Eigen::Map<const Vector>(rows[k].row(row), rows[k].features).dot(smoothed_[k]));
}

bool LikelihoodExplorer::determinant_doubled() const {
    const std::vector<LikelihoodRows> rows = likelihood_rows(*task_.features, counts_, task_.homogeneous);
    const Matrix& basis = tangent_.space.basis;
    double grown = 0;
    for (std::size_t k = 0; k < rows.size(); ++k)
        grown += log_determinant(information(rows[k], smoothed_[k], basis) +
                                 Matrix::Identity(basis.cols(), basis.cols())) -
                 log_det_[k];
    return grown >= std::log(2.0);
}

std::int64_t LikelihoodExplorer::replan_bound() const {
    // The metric moves with the estimate, so determinants give no bound: sub-batches do.
    return options_.schedule.most_policies(counts_.episodes(), cut_);
}

Knowledge LikelihoodExplorer::knowledge() {
    // Warm starts that are part of the memory: a resumed run must not be able to tell.
    return likelihood_knowledge(task_, counts_, options_, {.method = options_.constants.width},
                                {.predicted = predicted_}, smoothed_);
}

Knowledge likelihood_knowledge(const Task& task, const Counts& counts, const ExplorerOptions& options,
                               const WidthOptions& effort, LikelihoodSetOptions wanted,
                               std::span<const Vector> starts) {
    const std::string refusal = likelihood_refusal(task);
    expects(refusal.empty(), "{}", refusal);
    require_counts_of(task, counts);
    wanted.delta = options.delta;
    const std::vector<LikelihoodRows> rows = likelihood_rows(*task.features, counts, task.homogeneous);
    const std::vector<LikelihoodSet> sets = likelihood_sets(rows, wanted, starts);
    std::vector<ConfidenceSet> ellipsoids;
    ellipsoids.reserve(sets.size());
    for (const LikelihoodSet& set : sets) ellipsoids.push_back(set.ellipsoid);
    return detail::knowledge_of(task, std::move(ellipsoids), options.delta, effort, options.threads,
                                counts.episodes());
}

}  // namespace alidade
