#include <algorithm>
#include <cmath>

#include "alidade/error.hpp"
#include "likelihood_sets.hpp"

namespace alidade::detail {

namespace {

/// Both ends that one multiplier gives.
class Lagrangian {
public:
    Lagrangian(const LikelihoodRows& rows, const LikelihoodSet& set, const Vector& direction)
        : rows_(rows), set_(set), direction_(direction), point_(set.fit.weights) {}

    /// Maximises direction . theta + tau L(theta) from where the last call ended. Whether the point is in the
    /// set.
    bool solve(double tau, SupportBracket& bracket) {
        LikelihoodOptions options{.barrier = 1e-7, .steps = 100, .linear = direction_ / tau};
        const LikelihoodFit fit = maximise_likelihood(rows_, options, point_);
        point_ = fit.weights;
        const double excess = set_.allowance - log_likelihood_ratio(rows_, set_.fit.weights, point_);
        // Weak duality and concavity: at any point, for any tau, the maximum is at most
        // c.theta' + tau (L(theta') - L(theta~) + B) + tau (max_i g_i - g.theta'), g = c/tau + gradient of L.
        const Vector slope = direction_ / tau + fit.scores;
        const double away = slope.maxCoeff() - (direction_.dot(point_) / tau + rows_.observations);
        const double rounding = 1e-13 * tau * rows_.observations;
        const double upper = direction_.dot(point_) + tau * (excess + std::max(0.0, away)) + rounding;
        bracket.upper = std::min(bracket.upper, upper);
        offer(bracket, excess);
        return excess >= 0;
    }

private:
    /// The point itself if it is a member, else the last member on the way to it from the centre.
    void offer(SupportBracket& bracket, double excess) {
        const Vector& centre = set_.fit.weights;
        double share = 1;
        if (excess < 0) {
            double low = 0, high = 1;
            for (int step = 0; step < 30; ++step) {
                const double middle = (low + high) / 2;
                (contains(rows_, set_, centre + middle * (point_ - centre)) ? low : high) = middle;
            }
            share = low;
        }
        const Vector member = centre + share * (point_ - centre);
        const double value = direction_.dot(member);
        if (value <= bracket.lower) return;
        bracket.lower = value;
        bracket.witness = member;
    }

    const LikelihoodRows& rows_;
    const LikelihoodSet& set_;
    const Vector& direction_;
    Vector point_;
};

}  // namespace

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
    Lagrangian lagrangian(rows, set, goal);
    // The larger tau, the nearer the point stays to the fit; where it meets the boundary both ends meet.
    double low = -40, high = 40;
    const double scale = std::max(range, 1e-300) / (1 + set.allowance);
    for (int step = 0; step < 60 && bracket.upper - bracket.lower > tolerance * range; ++step) {
        const double middle = (low + high) / 2;
        (lagrangian.solve(scale * std::exp(middle), bracket) ? high : low) = middle;
        ++bracket.iterations;
    }
    if (bracket.upper - bracket.lower > tolerance * range) bracket.status = SupportStatus::limit;
    return bracket;
}

}  // namespace alidade::detail
