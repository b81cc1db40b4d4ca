#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "alidade/error.hpp"
#include "likelihood_sets.hpp"

namespace alidade::detail {

namespace {

/// More rows than these, and a convex program takes longer than what it is for.
constexpr Index most_rows = 2000;

/// What one multiplier gives.
class Lagrangian {
public:
    /// A larger barrier is quicker, and its bound is valid: d barriers times tau are left.
    Lagrangian(const LikelihoodRows& rows, const Vector& centre, double allowance, const Vector& direction,
               double barrier)
        : rows_(rows),
          centre_(centre),
          allowance_(allowance),
          direction_(direction),
          barrier_(barrier),
          point_(centre) {}

    /// Maximises direction . theta + tau L(theta) from where the last call ended: a bound from above.
    double solve(double tau) {
        const LikelihoodOptions options{.barrier = barrier_, .steps = 100, .linear = direction_ / tau};
        const LikelihoodFit fit = maximise_likelihood(rows_, options, point_);
        point_ = fit.weights;
        excess_ = allowance_ - log_likelihood_ratio(rows_, centre_, point_);
        // Weak duality and concavity: at any point, for any tau, the maximum is at most
        // c.theta' + tau (L(theta') - L(theta~) + B) + tau (max_i g_i - g.theta'), g = c/tau + gradient of L.
        const Vector slope = direction_ / tau + fit.scores;
        const double away = slope.maxCoeff() - (direction_.dot(point_) / tau + rows_.observations);
        // Every sum has a term a row.
        const double rounding = static_cast<double>(rows_.size() + rows_.features + 500) *
                                std::numeric_limits<double>::epsilon() * tau * rows_.observations;
        return direction_.dot(point_) + tau * (excess_ + std::max(0.0, away)) + rounding;
    }
    /// By how much the likelihood of the point is above what the set asks for; negative outside.
    double excess() const noexcept { return excess_; }
    const Vector& point() const noexcept { return point_; }

private:
    const LikelihoodRows& rows_;
    const Vector& centre_;
    double allowance_;
    const Vector& direction_;
    double barrier_;
    Vector point_;
    double excess_ = 0;
};

/// The point itself if it is a member, else the last member on the way to it from the centre.
void offer(const LikelihoodRows& rows, const LikelihoodSet& set, const Lagrangian& lagrangian,
           const Vector& direction, SupportBracket& bracket) {
    const Vector &centre = set.fit.weights, &point = lagrangian.point();
    double share = 1;
    if (lagrangian.excess() < 0) {
        double low = 0, high = 1;
        for (int step = 0; step < 30; ++step) {
            const double middle = (low + high) / 2;
            (contains(rows, set, centre + middle * (point - centre)) ? low : high) = middle;
        }
        share = low;
    }
    const Vector member = centre + share * (point - centre);
    const double value = direction.dot(member);
    if (value <= bracket.lower) return;
    bracket.lower = value;
    bracket.witness = member;
}

/// {L >= L(centre) - allowance} by few multipliers.
class LikelihoodLevel final : public LevelSet {
public:
    LikelihoodLevel(LikelihoodRows rows, Vector centre, double allowance)
        : rows_(std::move(rows)), centre_(std::move(centre)), allowance_(allowance) {}

    double upper(std::span<const double> direction, double guess) const override {
        double least = guess;
        search(direction, guess, 2,
               [&](double bound, const Vector&, const Vector&) { least = std::min(least, bound); });
        return least;
    }

    Vector farthest(std::span<const double> direction, double guess) const override {
        Vector best = centre_;
        search(direction, guess, 6, [&](double, const Vector& goal, const Vector& point) {
            const auto at_share = [&](double share) -> Vector { return centre_ + share * (point - centre_); };
            double low = 0, high = 1;
            for (int step = 0; step < 30; ++step) {
                const double middle = (low + high) / 2;
                (contains(at_share(middle)) ? low : high) = middle;
            }
            const Vector member = contains(point) ? point : at_share(low);
            if (goal.dot(member) > goal.dot(best)) best = member;
        });
        return best;
    }

    bool contains(const Vector& weights) const override {
        return log_likelihood_ratio(rows_, centre_, weights) <= allowance_;
    }

private:
    /// Calls take(bound, direction, point) for some multipliers.
    template <class Take>
    void search(std::span<const double> direction, double guess, int most, const Take& take) const {
        const Vector goal = Eigen::Map<const Vector>(direction.data(), rows_.features);
        // To second order the set reaches 2 B tau beyond its centre, and the likelihood of the point of a
        // multiplier lies as its square's inverse below that of the centre.
        double tau = (guess - goal.dot(centre_)) / (2 * allowance_);
        if (!std::isfinite(tau) || !(tau > 1e-150)) return;
        Lagrangian lagrangian(rows_, centre_, allowance_, goal, 1e-3);
        for (int step = 0; step < most; ++step) {
            take(lagrangian.solve(tau), goal, lagrangian.point());
            const double below = (allowance_ - lagrangian.excess()) / allowance_;
            if (!(below > 0) || std::abs(below - 1) < 0.02) break;
            tau *= std::clamp(std::sqrt(below), 0.2, 5.0);
        }
    }

    LikelihoodRows rows_;
    Vector centre_;
    double allowance_;
};

}  // namespace

std::shared_ptr<const LevelSet> level_set(const LikelihoodRows& rows, const Vector& centre,
                                          double allowance) {
    if (rows.features < 2 || rows.size() == 0 || rows.size() > most_rows) return nullptr;
    return std::make_shared<const LikelihoodLevel>(rows, centre, allowance);
}

SupportBracket likelihood_support(const LikelihoodRows& rows, const LikelihoodSet& set,
                                  std::span<const double> direction, double tolerance) {
    const Index d = rows.features;
    expects(static_cast<Index>(direction.size()) == d, "the direction has {} numbers; must be {}",
            direction.size(), d);
    const Eigen::Map<const Vector> given(direction.data(), d);
    expects(given.allFinite(), "the direction has numbers that are not finite; all must be");
    const Vector goal = given;
    const double range = goal.maxCoeff() - goal.minCoeff();
    SupportBracket bracket;
    bracket.witness = set.fit.weights;
    bracket.lower = goal.dot(set.fit.weights);
    // By the simplex alone.
    bracket.upper = goal.maxCoeff();
    bracket.status = SupportStatus::converged;
    Lagrangian lagrangian(rows, set.fit.weights, set.allowance, goal, 1e-7);
    // The larger tau, the nearer the point stays to the fit; where it meets the boundary both ends meet.
    double low = -40, high = 40;
    const double scale = std::max(range, 1e-300) / (1 + set.allowance);
    for (int step = 0; step < 60 && bracket.upper - bracket.lower > tolerance * range; ++step) {
        const double middle = (low + high) / 2;
        bracket.upper = std::min(bracket.upper, lagrangian.solve(scale * std::exp(middle)));
        offer(rows, set, lagrangian, goal, bracket);
        (lagrangian.excess() >= 0 ? high : low) = middle;
        ++bracket.iterations;
    }
    if (bracket.upper - bracket.lower > tolerance * range) bracket.status = SupportStatus::limit;
    return bracket;
}

}  // namespace alidade::detail
