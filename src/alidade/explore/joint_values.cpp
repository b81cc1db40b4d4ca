#include "joint_values.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "alidade/error.hpp"

namespace alidade::detail {

JointValues::JointValues(const JointProblem& problem, JointPoint point, double scale, RobustBackup robust)
    : problem_(problem),
      features_(*problem.task.features),
      shape_(problem.task.shape()),
      p_(problem.coordinates->space.dimension()),
      psi_(problem.coordinates->all_psi()),
      point_(std::move(point)),
      scale_(scale),
      robust_(robust),
      kernels_(problem.parts.size(), std::vector<double>(at(features_.entries()))),
      model_(at((shape_.horizon + 1) * shape_.states), 0.0),
      optimistic_(model_.size(), 0.0),
      unclipped_(at(shape_.horizon * shape_.states), 0.0),
      feature_(p_),
      whitened_(p_),
      slope_(p_),
      direction_(features_.features()) {
    const auto choices = at(shape_.horizon * shape_.states);
    expects(point_.actions.size() == choices && point_.rewards.size() == choices &&
                point_.weights.size() == problem.parts.size(),
            "a point of {} actions, {} rewards and {} weights; must be {}, {} and {}", point_.actions.size(),
            point_.rewards.size(), point_.weights.size(), choices, choices, problem.parts.size());
    expects(scale > 0 && scale <= 1, "scale is {}; must be greater than 0 and at most 1", scale);
    if (robust_ == RobustBackup::attained)
        for (const JointPart& part : problem.parts) supports_.push_back(part.set.support_function());
    for (std::size_t k = 0; k < kernels_.size(); ++k)
        take_weights(static_cast<Index>(k), Vector(point_.weights[k]));
    evaluate(shape_.horizon - 1);
}

// The law of every entry once, as thousands of backups ask for it between two changes of the weights.
void JointValues::take_weights(Index part, const Vector& weights) {
    expects(weights.size() == features_.features(), "{} weights; must be {}", weights.size(),
            features_.features());
    point_.weights[at(part)] = weights;
    const double* phi = features_.values().data();
    const Index d = features_.features();
    for (Index e = 0; e < features_.entries(); ++e) {
        double sum = 0;
        for (Index i = 0; i < d; ++i) sum += weights[i] * phi[e * d + i];
        kernels_[at(part)][at(e)] = std::max(0.0, sum);  // rounding, or a member's tolerance, may be below
    }
}

void JointValues::choose(Step h, State s, Action action, bool reward) {
    point_.actions[at(h * shape_.states + s)] = static_cast<std::int32_t>(action);
    point_.rewards[at(h * shape_.states + s)] = reward ? 1 : 0;
}

// psi_V = sum over s' of V(s') psi(s,a,s'). In coordinates of the hull a constant in V does not count [theory
// §3k]; in those of the printed algorithm, which are of R^d, it does [docs/algorithms/bernstein.md, Theorem
// 3].
void JointValues::feature_of(Index pair, std::span<const double> value) {
    feature_.setZero();
    double* const sum = feature_.data();
    const std::int32_t* targets = features_.targets().data();
    const double* psi = psi_.data();
    for (Index e = features_.first_entry(pair); e < features_.first_entry(pair + 1); ++e) {
        const double v = value[at(targets[e])];
        if (v == 0) continue;
        for (Index i = 0; i < p_; ++i) sum[i] += v * psi[e * p_ + i];
    }
}

// |psi_V| in the inverse of Lambda = L L': the length of L^-1 psi_V, and L^-1 is lower triangular.
double JointValues::norm(const Matrix& inverse_factor) {
    double square = 0;
    for (Index i = 0; i < p_; ++i) {
        double sum = 0;
        for (Index k = 0; k <= i; ++k) sum += inverse_factor(i, k) * feature_[k];
        whitened_[i] = sum;
        square += sum * sum;
    }
    return std::sqrt(square);
}

// The gradient of that norm by psi_V is Lambda^-1 psi_V / |psi_V| = L^-T (L^-1 psi_V) / |psi_V|.
double JointValues::norm_and_slope(const Matrix& inverse_factor) {
    const double length = norm(inverse_factor);
    slope_.setZero();
    // Of a constant value rounding leaves a feature next to zero, whose direction means nothing.
    if (length > 0 && feature_.squaredNorm() > 1e-24)
        for (Index k = 0; k < p_; ++k)
            for (Index i = k; i < p_; ++i) slope_[k] += inverse_factor(i, k) * whitened_[i] / length;
    return length;
}

// Each norm bounds the same error, so the least does, and the slope is that of the norm that is the least
// [docs/algorithms/bernstein.md, The printed algorithm].
double JointValues::second_norm(const JointPart& part, bool slope) {
    double least = 0;
    const Matrix* chosen = nullptr;
    for (const Matrix& metric : part.second) {
        const double length = norm(metric);
        if (chosen && length >= least) continue;
        least = length;
        chosen = &metric;
    }
    return slope ? norm_and_slope(*chosen) : least;
}

// phi_V in R^d, which weights are multiplied with: a direction for a support function.
void JointValues::direction_of(Index pair, std::span<const double> value) {
    direction_.setZero();
    const Index d = features_.features();
    const std::int32_t* targets = features_.targets().data();
    const double* phi = features_.values().data();
    for (Index e = features_.first_entry(pair); e < features_.first_entry(pair + 1); ++e) {
        const double v = value[at(targets[e])];
        for (Index i = 0; i < d; ++i) direction_[i] += v * phi[e * d + i];
    }
}

// An upper end of max over C of theta . phi_V, in closed form: the top of the ball about the projection
// [docs/algorithms/hoeffding.md, Support function], or, if that is less, the largest expectation of any base
// model, as members are their mixtures. A search that climbs on it needs no solver.
JointValues::BallBackup JointValues::ball_backup(Step h, Index pair) {
    const ConfidenceSet& set = problem_.part(h).set;
    const std::span<const double> value = optimistic_values(h + 1);
    feature_of(pair, value);
    // In coordinates of the hull theta . phi_V is what the centre predicts, and zeta . psi_V.
    double centre = 0;
    for (Index e = features_.first_entry(pair); e < features_.first_entry(pair + 1); ++e)
        centre += problem_.coordinates->centre(e) * value[at(features_.targets()[at(e)])];
    BallBackup result{centre + set.projection().coordinates.dot(feature_) +
                      set.refined_radius() * norm(set.estimate().inverse_factor)};
    if (set.parameters().kind() != ParameterSetKind::simplex) return result;
    const Matrix& basis = set.parameters().space().basis;
    Index farthest = 0;
    double most = -1;
    for (Index i = 0; i < basis.rows(); ++i) {
        double expected = centre;
        for (Index k = 0; k < p_; ++k) expected += basis(i, k) * feature_[k];
        if (expected <= most) continue;
        most = expected;
        farthest = i;
    }
    if (most < result.value) result = {most, farthest};
    return result;
}

// The largest expectation over the set, in place of P~ V + u_2: it is monotone in V and in the set, which the
// printed backup is not [theory §2.1; docs/algorithms/bernstein.md, The inner problem]. As radii are scaled
// down the set shrinks towards the model; so, near enough for a search, does this.
double JointValues::robust_backup(Step h, Index pair, double expected) {
    double largest = 0;
    if (robust_ == RobustBackup::attained) {
        direction_of(pair, optimistic_values(h + 1));
        largest =
            supports_[at(problem_.part_index(h))].bracket({direction_.data(), at(direction_.size())}).lower;
    } else {
        largest = ball_backup(h, pair).value;
    }
    return (1 - scale_) * expected + scale_ * std::max(0.0, largest);
}

JointValues::Worth JointValues::worth(Step h, Index pair) {
    ++backups_;
    const JointPart& part = problem_.part(h);
    const std::span<const double> model = model_values(h + 1), optimistic = optimistic_values(h + 1);
    const std::vector<double>& law = kernels_[at(problem_.part_index(h))];
    const std::int32_t* targets = features_.targets().data();
    double expected = 0;
    Worth result;
    for (Index e = features_.first_entry(pair); e < features_.first_entry(pair + 1); ++e) {
        result.model += law[at(e)] * model[at(targets[e])];
        expected += law[at(e)] * optimistic[at(targets[e])];
    }
    feature_of(pair, model);
    // u_1: how far the truth's expectation of V^ may be from the model's, as theta~ and the truth are within
    // the radius of each other [docs/algorithms/bernstein.md, Theorem 2].
    result.optimistic = scale_ * part.first_radius * norm(part.first);
    if (h + 2 >= shape_.horizon) return result;  // V is 0 at the last step
    if (part.second.empty()) {
        result.optimistic += robust_backup(h, pair, expected);
        return result;
    }
    feature_of(pair, optimistic);
    // As printed, P~ V + u_2, but with twice the radius: theta~ is any member [theory §2, erratum 3].
    result.optimistic += scale_ * part.second_radius * second_norm(part, false) + expected;
    return result;
}

bool JointValues::refresh(Step h, State s) {
    const auto place = at(h * shape_.states + s);
    const double model = model_[place], optimistic = optimistic_[place], reward = point_.rewards[place];
    // At the last step V^ is the reward, and V stays 0: nothing comes after it that could be uncertain.
    if (h + 1 == shape_.horizon) {
        model_[place] = reward;
        return model != reward;
    }
    const Worth worth = this->worth(h, shape_.pair(s, point_.actions[place]));
    model_[place] = reward + worth.model;
    unclipped_[place] = worth.optimistic;
    // No error of a value exceeds the steps that are left [likelihood §9.6]; V^ is a value and needs no clip.
    optimistic_[place] = std::min(problem_.clips[at(h)], worth.optimistic);
    return model != model_[place] || optimistic != optimistic_[place];
}

void JointValues::evaluate(Step from) {
    for (Step h = from; h >= 0; --h)
        for (State s = 0; s < shape_.states; ++s) refresh(h, s);
    value_ = problem_.task.start.expect(optimistic_values(0));
}

// A choice at (h, s) changes V and V^ there, and at earlier steps only where the action taken may lead to a
// state that has changed: far less than all of them, and single choices are tried by the thousand.
void JointValues::evaluate_choice(Step h, State s) {
    changed_next_.assign(at(shape_.states), 0);
    bool any = refresh(h, s);
    changed_next_[at(s)] = any ? 1 : 0;
    for (Step earlier = h - 1; earlier >= 0 && any; --earlier) {
        any = false;
        changed_.assign(at(shape_.states), 0);
        for (State from = 0; from < shape_.states; ++from) {
            const Index pair = shape_.pair(from, point_.actions[at(earlier * shape_.states + from)]);
            const auto targets = features_.targets(pair);
            if (std::ranges::none_of(targets, [&](std::int32_t to) { return changed_next_[at(to)] != 0; }))
                continue;
            if (!refresh(earlier, from)) continue;
            changed_[at(from)] = 1;
            any = true;
        }
        std::swap(changed_, changed_next_);
    }
    value_ = problem_.task.start.expect(optimistic_values(0));
}

void JointValues::keep(Step h) {
    kept_ = h;
    kept_value_ = value_;
    const auto end = (h + 1) * shape_.states;
    kept_model_.assign(model_.begin(), model_.begin() + end);
    kept_optimistic_.assign(optimistic_.begin(), optimistic_.begin() + end);
    kept_unclipped_.assign(unclipped_.begin(), unclipped_.begin() + end);
    kept_actions_.assign(point_.actions.begin(), point_.actions.begin() + end);
    kept_rewards_.assign(point_.rewards.begin(), point_.rewards.begin() + end);
}

void JointValues::undo() {
    ensures(kept_ >= 0, "values of a joint problem undone before they were kept");
    value_ = kept_value_;
    std::ranges::copy(kept_model_, model_.begin());
    std::ranges::copy(kept_optimistic_, optimistic_.begin());
    std::ranges::copy(kept_unclipped_, unclipped_.begin());
    std::ranges::copy(kept_actions_, point_.actions.begin());
    std::ranges::copy(kept_rewards_, point_.rewards.begin());
}

// By the chain rule: psi_V moves by psi(s') as V(s') does, and slope_ is the gradient by psi_V.
void JointValues::add_slope(Index pair, double amount, std::span<double> next) const {
    const double* psi = psi_.data();
    const std::int32_t* targets = features_.targets().data();
    for (Index e = features_.first_entry(pair); e < features_.first_entry(pair + 1); ++e) {
        double sum = 0;
        for (Index i = 0; i < p_; ++i) sum += slope_[i] * psi[e * p_ + i];
        next[at(targets[e])] += amount * sum;
    }
}

void JointValues::add_law(std::span<const double> law, Index pair, double amount,
                          std::span<double> next) const {
    const std::int32_t* targets = features_.targets().data();
    for (Index e = features_.first_entry(pair); e < features_.first_entry(pair + 1); ++e)
        next[at(targets[e])] += amount * law[at(e)];
}

// A maximum has the slope of what attains it: the law of the base model, or the law at the ball's centre and
// the radius times the slope of the norm.
void JointValues::add_robust_slope(Step h, Index pair, double amount, std::span<double> next) {
    const ConfidenceSet& set = problem_.part(h).set;
    const BallBackup backup = ball_backup(h, pair);
    const Vector weights =
        backup.farthest >= 0 ? Vector(Vector::Unit(features_.features(), backup.farthest)) : set.weights();
    const std::int32_t* targets = features_.targets().data();
    for (Index e = features_.first_entry(pair); e < features_.first_entry(pair + 1); ++e) {
        const auto phi = features_.phi(e);
        next[at(targets[e])] += amount * weights.dot(Eigen::Map<const Vector>(phi.data(), weights.size()));
    }
    if (backup.farthest >= 0) return;
    norm_and_slope(set.estimate().inverse_factor);
    add_slope(pair, amount * set.refined_radius(), next);
}

// [docs/algorithms/bernstein.md, Slopes]
void JointValues::pass_on(Step h, State s, bool weights, JointAdjoint& adjoint) {
    const auto place = at(h * shape_.states + s);
    const double model = adjoint.model[place];
    const double optimistic =
        unclipped_[place] < problem_.clips[at(h)] ? adjoint.optimistic[place] : 0.0;  // clipped: no slope
    if (model == 0 && optimistic == 0) return;
    const JointPart& part = problem_.part(h);
    const Index index = problem_.part_index(h), pair = shape_.pair(s, point_.actions[place]);
    const auto next = [&](std::vector<double>& table) {
        return std::span(table).subspan(at((h + 1) * shape_.states), at(shape_.states));
    };
    const std::vector<double>& law = kernels_[at(index)];
    const bool printed = !part.second.empty();
    // V^ goes on with the model's law: mu P~.
    add_law(law, pair, model, next(adjoint.model));
    if (optimistic != 0) {
        feature_of(pair, model_values(h + 1));
        norm_and_slope(part.first);
        // u_1 is a bonus of V, but a function of V^: what lambda carries goes to mu.
        add_slope(pair, optimistic * scale_ * part.first_radius, next(adjoint.model));
        if (h + 2 < shape_.horizon) {
            // The backup: its P~ V, and then what is added to that, u_2 or the share of the largest
            // expectation.
            add_law(law, pair, printed ? optimistic : optimistic * (1 - scale_), next(adjoint.optimistic));
            if (printed) {
                feature_of(pair, optimistic_values(h + 1));
                second_norm(part, true);
                add_slope(pair, optimistic * scale_ * part.second_radius, next(adjoint.optimistic));
            } else {
                add_robust_slope(h, pair, optimistic * scale_, next(adjoint.optimistic));
            }
        }
    }
    if (!weights) return;
    // theta~ is in V^ by P~ V^, and in V by P~ V where the backup is the printed one; of a robust backup only
    // the share of the model that scaling down adds depends on it.
    adjoint.weights[at(index)] += model * features_.phi_value(pair, model_values(h + 1)) +
                                  (printed ? optimistic : optimistic * (1 - scale_)) *
                                      features_.phi_value(pair, optimistic_values(h + 1));
}

// All slopes by one pass forwards, as a gradient by the start's value alone is wanted: from lambda = the
// start law and mu = 0, each step hands on to what its actions lead to [docs/algorithms/bernstein.md,
// Slopes].
void JointValues::differentiate(Step last, bool weights, JointAdjoint& adjoint) {
    const auto size = at(shape_.horizon * shape_.states);
    adjoint.model.assign(size, 0.0);
    adjoint.optimistic.assign(size, 0.0);
    adjoint.weights.assign(problem_.parts.size(), Vector::Zero(features_.features()));
    for (const auto& [state, probability] : problem_.task.start.atoms())
        adjoint.optimistic[at(state)] += probability;
    const Step end = std::min(weights ? shape_.horizon - 1 : last, shape_.horizon - 1);
    for (Step h = 0; h < end; ++h)
        for (State s = 0; s < shape_.states; ++s) pass_on(h, s, weights, adjoint);
}

}  // namespace alidade::detail
