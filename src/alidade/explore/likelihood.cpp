#include "alidade/explore/likelihood.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <optional>

#include "alidade/error.hpp"
#include "alidade/model/sweep.hpp"
#include "alidade/random/samplers.hpp"
#include "alidade/theory/likelihood.hpp"
#include "fisher_pass.hpp"

namespace alidade {

namespace {

constexpr double pseudo_count = 0.5;
/// A pair takes a good part of a microsecond.
constexpr Index pairs_a_chunk = 128;

double log_determinant(const Matrix& matrix) {
    const Eigen::LLT<Matrix> cholesky(matrix);
    double sum = 0;
    for (Index i = 0; i < matrix.rows(); ++i) sum += 2 * std::log(cholesky.matrixLLT()(i, i));
    return sum;
}

void require_counts_of(const Task& task, const Counts& counts) {
    expects(counts.shape() == task.shape(), "counts have another shape than the problem");
    expects(counts.over(*task.features), "counts are of other successors than the problem's");
}

}  // namespace

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
    if (options_.constants.bonus != FisherBonus::none)
        pass_ = std::make_unique<detail::FisherPass>(*task_.features, tangent_);
}

LikelihoodExplorer::~LikelihoodExplorer() = default;

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

// Greedy for the bonuses under the smoothed model.
void LikelihoodExplorer::choose_actions() {
    const FisherBonus kind = options_.constants.bonus;
    if (kind == FisherBonus::none) {
        policy_ = std::make_shared<const Policy>(Policy::uniform(shape_));
        return;
    }
    const double pooled = task_.homogeneous ? static_cast<double>(shape_.learned_steps()) : 1;
    const double allowance = likelihood_allowance(
        mixture_regret(pooled * static_cast<double>(counts_.episodes()), task_.features->features()), 2,
        std::max<Index>(1, static_cast<Index>(information_.size())), options_.delta);  // none if H = 1
    std::vector<Matrix> factors;
    for (const Matrix& metric : information_) factors.emplace_back(Eigen::LLT<Matrix>(metric).matrixL());
    const bool clipped = kind == FisherBonus::sqrt;
    const Step last_learned = shape_.horizon - 2;
    std::vector<std::int32_t> actions(at(shape_.horizon * shape_.states), 0);
    std::vector<double> values(actions.size(), 0.0), bonus(at(shape_.pairs())), worth(at(shape_.pairs()));
    const auto plan = [&](std::vector<double>& scratch, Step h, State first, State last) {
        const std::size_t set = task_.homogeneous ? 0 : at(h);
        const auto range = static_cast<double>(shape_.steps_after(h));
        const detail::FisherPass::Chunk chunk{shape_.pair(first, 0), shape_.pair(last, 0)};
        if (h == last_learned || !task_.homogeneous)
            pass_->bonuses({&smoothed_[set], &factors[set], kind, allowance}, chunk, scratch, bonus);
        const std::span next(values.data() + (h + 1) * shape_.states, at(shape_.states));
        pass_->backup(smoothed_[set], clipped ? range : 1.0, bonus, next, chunk, scratch, worth);
        for (State s = first; s < last; ++s) {
            const Action chosen = choose(worth.data() + shape_.pair(s, 0), h, s);
            // Nothing is clipped but the value that is passed on, which no error can exceed.
            const double best = worth[at(shape_.pair(s, chosen))];
            actions[at(h * shape_.states + s)] = static_cast<std::int32_t>(chosen);
            values[at(h * shape_.states + s)] = clipped ? std::min(range, best) : best;
        }
    };
    const detail::Sweep sweep(shape_, options_.threads, pairs_a_chunk);
    sweep.backwards(
        last_learned, [this] { return pass_->scratch(); }, plan);
    policy_ = std::make_shared<const Policy>(Policy::deterministic(shape_, std::move(actions)));
}

// Exact ties are drawn: the last of n is kept with probability 1/n, so that all are equally likely.
Action LikelihoodExplorer::choose(const double* value, Step h, State s) const {
    std::optional<Stream> random;
    Action chosen = 0;
    Index ties = 1;
    for (Action a = 1; a < shape_.actions; ++a) {
        if (value[a] < value[chosen]) continue;
        ties = value[a] > value[chosen] ? 1 : ties + 1;
        if (ties > 1 && !random)
            random.emplace(options_.seed, Purpose::ties, static_cast<std::uint64_t>(replans_),
                           static_cast<std::uint64_t>(h * shape_.states + s));
        if (ties == 1 || sample_index(*random, ties) == 0) chosen = a;
    }
    return chosen;
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
    return certify(task, std::move(ellipsoids),
                   {.delta = options.delta,
                    .widths = effort,
                    .threads = options.threads,
                    .episodes = counts.episodes()});
}

}  // namespace alidade
