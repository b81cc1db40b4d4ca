#include "polytope_projection.hpp"

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "accurate_sum.hpp"
#include "alidade/error.hpp"
#include "nearest_point.hpp"

namespace alidade::detail {

namespace {

/// What is to be nearest: an estimate in the metric of a factor, and how hard the norm ball pulls inwards.
struct Target {
    const Vector& estimate;
    const Matrix& factor;
    double pull = 0;  ///< nu >= 0, the multiplier of |zeta|^2 <= radius^2
};

/// Projection with the constraints that matter only: price all at the current point, take up the worst,
/// start again from the last active set. The cost is the pricing pass, so many cuts a round pay
/// [oracle §B].
class CuttingPlanes {
public:
    CuttingPlanes(const ProbabilityRows& rows, double radius, const Vector& coordinates, const Matrix& factor)
        : rows_(rows),
          radius_(radius),
          estimate_(coordinates),
          factor_(factor),
          point_(coordinates),
          is_cut_(static_cast<std::size_t>(rows_.entries()), false),
          nearest_(coordinates.size()) {}

    /// Residual and gap are those about `target`.
    Projection run(const TangentSpace& space, const Target& target) {
        seek();
        keep_multipliers();
        // Digits run out where the estimate is far away and the metric ill conditioned. That is no proof that
        // nothing is well defined: what is left to go is a projection of its own, from nearby.
        for (int attempt = 0; attempt < 3 && violation() > tolerance(); ++attempt) {
            CuttingPlanes nearby(rows_, radius_, point_, factor_);
            nearby.seek();
            point_ = nearby.point_;
            price();
        }
        Projection result;
        result.coordinates = point_;
        result.weights = space.weights(point_);
        result.active = static_cast<Index>(nearest_.active_set().size());
        result.violation = violation();
        expects(
            result.violation <= tolerance(),
            "an estimate of norm {:.4g} is too far away for this metric: nearest to it the probability of "
            "{} is {:.4g}",
            estimate_.norm(), worst_ < 0 ? "an entry" : rows_.place(worst_), -result.violation);
        // About the estimate that was asked for, not the one that was searched from, which a pull has moved.
        measure(target, result);
        return result;
    }

private:
    void seek() {
        while (price()) {
            add_cuts();
            search();
            move_to_nearest();
        }
    }

    void keep_multipliers() {
        for (std::size_t j = 0; j < nearest_.active_set().size(); ++j)
            multipliers_.emplace_back(cuts_[static_cast<std::size_t>(nearest_.active_set()[j])],
                                      nearest_.multipliers()[j]);
    }

    double violation() const { return worst_ < 0 ? 0.0 : -slack_[worst_]; }
    double tolerance() const { return 1e-12 * scale(); }
    double scale() const { return std::max(1.0, rows_.largest * point_.norm()); }

    /// Reports an entry, and those whose own constraints leave it no room.
    [[noreturn]] void nothing_is_well_defined(Index entry, std::span<const Index> others) const {
        std::string given;
        for (std::size_t j = 0; j < std::min<std::size_t>(others.size(), 3); ++j)
            given += fmt::format("{}that of {}", j == 0 ? " if " : ", ", rows_.place(others[j]));
        if (others.size() > 3) given += fmt::format(" and {} others", others.size() - 3);
        if (!others.empty()) given += others.size() == 1 ? " is not" : " are not";
        throw InvalidArgument(
            fmt::format("the features leave no weights with non-negative probabilities: that of {} must be "
                        "negative{}; features must allow a transition law with weights of norm at most B",
                        rows_.place(entry), given));
    }

    /// The entries that the search's certificate leans on.
    std::vector<Index> opponents() const {
        std::vector<Index> entries;
        const auto weights = nearest_.certificate();
        for (std::size_t j = 0; j < weights.size(); ++j)
            if (weights[j] > 0) entries.push_back(cuts_[static_cast<std::size_t>(nearest_.active_set()[j])]);
        return entries;
    }

    /// Finds the entries whose probability is negative at the point; false if there are none.
    bool price() {
        rows_.probabilities(point_, slack_);
        violated_.clear();
        worst_ = -1;
        // A tenth of what the result may violate, so that what is not taken up passes.
        const double tolerance = -1e-13 * scale();
        for (Index entry = 0; entry < slack_.size(); ++entry) {
            const double slack = slack_[entry];
            if (slack >= 0) continue;
            if (worst_ < 0 || slack < slack_[worst_]) worst_ = entry;
            if (slack < tolerance && !is_cut_[static_cast<std::size_t>(entry)])
                violated_.emplace_back(slack, entry);
        }
        return !violated_.empty();
    }

    void add_cuts() {
        const auto most = static_cast<std::size_t>(2 * (estimate_.size() + 1));
        if (violated_.size() > most) {
            std::ranges::nth_element(violated_, violated_.begin() + static_cast<std::ptrdiff_t>(most));
            violated_.resize(most);
        }
        nearest_.reserve(nearest_.constraints() + static_cast<Index>(violated_.size()));
        Vector normal;
        for (const auto& [slack, entry] : violated_) {
            const double centre = rows_.centre[static_cast<std::size_t>(entry)];
            // The largest probability that any point of the norm ball gives to the entry.
            if (rows_.normal(entry).norm() * radius_ + centre < -1e-13) nothing_is_well_defined(entry, {});
            normal = rows_.normal(entry);
            factor_.triangularView<Eigen::Lower>().solveInPlace(normal);
            nearest_.add(normal, -(rows_.normal(entry).dot(estimate_) + centre));
            cuts_.push_back(entry);
            is_cut_[static_cast<std::size_t>(entry)] = true;
        }
    }

    void search() {
        while (nearest_.solve() == NearestStatus::infeasible) {
            if (is_contradiction())
                nothing_is_well_defined(cuts_[static_cast<std::size_t>(nearest_.offender())], opponents());
            // Violated by rounding only; the last pricing pass judges what that leaves.
            nearest_.ignore(nearest_.offender());
        }
    }

    /// Whether the weighted sum of constraints that the search found has no solution in the ball: a proof
    /// that needs no trust in the search.
    bool is_contradiction() const {
        const Index offender = cuts_[static_cast<std::size_t>(nearest_.offender())];
        Vector normal = rows_.normal(offender);
        double constant = rows_.centre[static_cast<std::size_t>(offender)];
        double size = std::abs(constant) + normal.norm() * radius_;
        const auto weights = nearest_.certificate();
        for (std::size_t j = 0; j < weights.size(); ++j) {
            const double weight = std::max(0.0, weights[j]);
            const Index entry = cuts_[static_cast<std::size_t>(nearest_.active_set()[j])];
            const double centre = rows_.centre[static_cast<std::size_t>(entry)];
            normal += weight * rows_.normal(entry);
            constant += weight * centre;
            size += weight * (std::abs(centre) + rows_.normal(entry).norm() * radius_);
        }
        // All members satisfy a sum of inequalities with weights >= 0. If its largest value in the ball is
        // negative there are none; what rounding may have done is conceded first, as missing digits prove
        // nothing.
        const double rounding = 8 * static_cast<double>(estimate_.size() + 2) * epsilon * size;
        return normal.norm() * radius_ + constant < -rounding;
    }

    /// From the whitened point to tangent coordinates. The triangular solve loses digits when the metric is
    /// ill conditioned, so the probabilities that must be zero are measured again and corrected.
    void move_to_nearest() {
        Vector step = nearest_.point();
        factor_.transpose().triangularView<Eigen::Upper>().solveInPlace(step);
        point_ = estimate_ + step;
        const auto active = nearest_.active_set();
        std::vector<double> missing(active.size());
        for (int pass = 0; pass < 3; ++pass) {
            double most = 0;
            for (std::size_t j = 0; j < active.size(); ++j) {
                const Index entry = cuts_[static_cast<std::size_t>(active[j])];
                missing[j] =
                    -(rows_.normal(entry).dot(point_) + rows_.centre[static_cast<std::size_t>(entry)]);
                most = std::max(most, std::abs(missing[j]));
            }
            if (most <= 4 * epsilon) return;
            step = nearest_.shift(missing);
            factor_.transpose().triangularView<Eigen::Upper>().solveInPlace(step);
            point_ += step;
        }
    }

    /// Residual and gap at the point, whatever the search did. With g = Lambda (estimate - point) and any
    /// mu, nu >= 0, g = rest - sum mu_i psi_i + nu point, and a member has psi_i . (member - point) >=
    /// -slack_i and point . (member - point) <= |point| (radius - |point|), so <g, member - point> <=
    /// sum mu_i slack_i + nu |point| (radius - |point|) + <rest, member - point> [theory §3a].
    void measure(const Target& target, Projection& result) const {
        const Vector offset = target.estimate - point_;
        const Vector whitened = target.factor.transpose().triangularView<Eigen::Upper>() * offset;
        const Vector gradient = target.factor.triangularView<Eigen::Lower>() * whitened;
        result.residual = whitened.norm();
        Vector rest = gradient;
        double slacks = 0, size = gradient.norm();
        if (target.pull > 0) {
            const double norm = point_.norm();
            rest -= target.pull * point_;
            slacks += target.pull * norm * std::max(0.0, radius_ - norm);
            size += target.pull * norm;
        }
        for (const auto& [entry, multiplier] : multipliers_) {
            rest += multiplier * rows_.normal(entry);
            // A violated inequality would lower the gap; counted as tight, it does not.
            slacks += multiplier * std::max(0.0, slack_[entry]);
            size += multiplier * rows_.normal(entry).norm();
        }
        // Nothing to gain where the estimate stayed.
        if (size > 0) {
            const double roundings =
                static_cast<double>(multipliers_.size() + 2) + static_cast<double>(estimate_.size());
            const double allowance = roundings * epsilon * size;
            result.gap = slacks + (rest.norm() + allowance) * (radius_ + point_.norm());
        }
        result.kkt_residual = result.gap / ((1 + gradient.norm()) * std::max(1.0, radius_ + point_.norm()));
    }

    const ProbabilityRows& rows_;
    double radius_;
    const Vector estimate_;
    const Matrix& factor_;
    Vector point_, slack_;
    std::vector<bool> is_cut_;
    std::vector<std::pair<double, Index>> violated_;
    std::vector<Index> cuts_;  // entry of each constraint of the search
    Index worst_ = -1;
    std::vector<std::pair<Index, double>> multipliers_;  // entries that bind, and how hard
    NearestPoint nearest_;
};

/// Projection onto the polytope cut with the norm ball, where the polytope's nearest point lies outside the
/// ball: the least |zeta - estimate|^2_Lambda + nu |zeta|^2 over the polytope is a projection onto it in the
/// metric Lambda + nu I, and as nu grows the norm of that point falls. Searched is the nu at which it is the
/// radius. Any nu gives a valid residual and gap.
class BallSearch {
public:
    BallSearch(const ParameterSet& parameters, const Vector& coordinates, const Matrix& factor)
        : parameters_(parameters), radius_(parameters.radius()), target_{coordinates, factor} {
        const Matrix lower = factor.triangularView<Eigen::Lower>();
        precision_ = lower * lower.transpose();
        pulled_ = precision_ * coordinates;
    }

    /// `norm` is that of the point without a pull; it exceeds the radius.
    Projection run(double norm) {
        double outside = 0, excess = 1 / radius_ - 1 / norm;
        double inside = 1e-3 * precision_.trace() / static_cast<double>(precision_.rows());
        const double most = 1e24 * inside;
        // Pulled harder and harder until the point is inside; from then on `best` is a member throughout.
        Projection best = nearest(inside);
        while (best.coordinates.norm() > radius_) {
            outside = inside;
            excess = 1 / radius_ - 1 / best.coordinates.norm();
            if (inside > most) return least_norm(best);
            inside *= 16;
            best = nearest(inside);
        }
        // 1 / |zeta| is nearly linear in nu where no inequality begins to bind or ceases to.
        for (int round = 0; round < 200; ++round) {
            const double missing = 1 / radius_ - 1 / best.coordinates.norm();
            if (!(missing < -1e-13 / radius_) || !(inside > outside * (1 + 1e-15))) break;
            const double secant = outside + (inside - outside) * excess / (excess - missing);
            // Every third step bisects, in the logarithm: a secant may creep along one end.
            const double middle = outside > 0 ? std::sqrt(outside * inside) : inside / 16;
            const double next = round % 3 == 2 || !(secant > outside && secant < inside) ? middle : secant;
            Projection trial = nearest(next);
            if (trial.coordinates.norm() <= radius_) {
                inside = next;
                best = std::move(trial);
            } else {
                outside = next;
                excess = 1 / radius_ - 1 / trial.coordinates.norm();
            }
        }
        return best;
    }

private:
    /// The polytope's nearest point under that pull.
    Projection nearest(double pull) {
        target_.pull = pull;
        Matrix metric = precision_;
        metric.diagonal().array() += pull;
        const Eigen::LLT<Matrix> cholesky(metric);
        const Matrix factor = cholesky.matrixL();
        // |zeta - estimate|^2_Lambda + nu |zeta|^2 is least, without constraints, at (Lambda + nu I)^-1
        // Lambda estimate, and grows from there as the squared distance in the metric Lambda + nu I.
        const Vector estimate = cholesky.solve(pulled_);
        return CuttingPlanes(*parameters_.rows(), radius_, estimate, factor)
            .run(parameters_.space(), target_);
    }

    /// No weights that are well defined are shorter than this point.
    Projection least_norm(Projection point) const {
        const double norm = point.weights.norm();
        expects(parameters_.contains(point.weights),
                "the features leave no weights with non-negative probabilities of norm at most B: the least "
                "norm of such weights is {:.6g}, {:.3g} more than the bound allows",
                norm, point.coordinates.norm() - radius_);
        return point;
    }

    const ParameterSet& parameters_;
    double radius_;
    Target target_;
    Matrix precision_;
    Vector pulled_;  // precision times estimate
};

}  // namespace

Projection project_onto_polytope(const ParameterSet& parameters, const Vector& coordinates,
                                 const Matrix& factor) {
    const Target target{coordinates, factor};
    Projection result = CuttingPlanes(*parameters.rows(), parameters.radius(), coordinates, factor)
                            .run(parameters.space(), target);
    // A point of the polytope that is nearest and in the ball is nearest in both: the ball does not bind.
    if (result.coordinates.norm() <= parameters.radius()) return result;
    return BallSearch(parameters, coordinates, factor).run(result.coordinates.norm());
}

}  // namespace alidade::detail
