#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "../certify/joint_problem.hpp"
#include "alidade/convex/support.hpp"
#include "alidade/types.hpp"

namespace alidade::detail {

/// A policy, a reward and weights: a point at which the value of a joint problem is taken. Only rewards of
/// the actions taken matter, and only 0 and 1 need be tried, as the value is convex in each
/// [docs/algorithms/bernstein.md, The search].
struct JointPoint {
    std::vector<std::int32_t> actions;  ///< H x S
    std::vector<std::uint8_t> rewards;  ///< H x S: R_h(s, pi_h(s)), 0 or 1
    std::vector<Vector> weights;        ///< theta~ of every part, d numbers each

    bool operator==(const JointPoint&) const = default;
};

/// How V_{h+1} is backed up where the backup is robust.
enum class RobustBackup {
    ball,  ///< by the ball about the projection, or the farthest base model if that is less: from above, and
           ///< fast; what a search climbs on
    attained,  ///< by a member that a solver found, so that no problem's value is below it
};

/// Derivatives of the value of a joint problem [docs/algorithms/bernstein.md, Slopes].
struct JointAdjoint {
    std::vector<double> optimistic;  ///< H x S: by V_h(s), before it is clipped; lambda there
    std::vector<double> model;       ///< H x S: by V^_h(s), and so by the reward; mu there
    std::vector<Vector> weights;     ///< by theta~ of every part
};

/// The values of a joint problem at a point, changed bit by bit. Reads the problem, which must outlive it.
class JointValues {
public:
    /// `scale` in (0, 1] multiplies the radii [docs/algorithms/bernstein.md, The search]; of the robust
    /// backup, what it adds to the model's expectation.
    JointValues(const JointProblem& problem, JointPoint point, double scale = 1,
                RobustBackup robust = RobustBackup::ball);

    const JointPoint& point() const noexcept { return point_; }
    double scale() const noexcept { return scale_; }
    /// J: the mean of V_0 over the start.
    double value() const noexcept { return value_; }
    /// V^_h and V_h of all states, h = 0 .. H.
    std::span<const double> model_values(Step h) const noexcept { return row(model_, h); }
    std::span<const double> optimistic_values(Step h) const noexcept { return row(optimistic_, h); }
    /// The probability of every entry under theta~ of a step.
    std::span<const double> probabilities(Step h) const noexcept {
        return kernels_[at(problem_.part_index(h))];
    }

    /// What a pair's action is worth at a step before the last.
    struct Worth {
        double model = 0;       ///< P~ V^_{h+1}
        double optimistic = 0;  ///< u_1 and the backup of V_{h+1}, before it is clipped
    };
    Worth worth(Step h, Index pair);

    /// Changes what is done at (h, s). Values are stale until `evaluate`.
    void choose(Step h, State s, Action action, bool reward);
    /// Changes a part's weights. Values are stale until `evaluate`.
    void take_weights(Index part, const Vector& weights);
    /// The values of the steps from, from-1, .., 0 anew.
    void evaluate(Step from);
    /// The same where nothing but the choice at (h, s) has changed: of what depends on it alone.
    void evaluate_choice(Step h, State s);
    /// How many backups were computed so far: a measure of time that is the same on all machines.
    std::int64_t backups() const noexcept { return backups_; }

    /// Remembers values and choices up to step h, and goes back to them.
    void keep(Step h);
    void undo();

    /// By one pass forwards: rows 0 .. last of both tables, and the weights' where asked for.
    void differentiate(Step last, bool weights, JointAdjoint& adjoint);

private:
    std::span<const double> row(const std::vector<double>& table, Step h) const noexcept {
        return std::span(table).subspan(at(h * shape_.states), at(shape_.states));
    }
    /// Values at (h, s) anew; whether they have changed.
    bool refresh(Step h, State s);
    /// Sets feature_ to psi of a value at a pair, in the coordinates of the problem.
    void feature_of(Index pair, std::span<const double> value);
    double norm(const Matrix& inverse_factor);
    /// Of feature_, with the gradient in slope_.
    double norm_and_slope(const Matrix& inverse_factor);
    double second_norm(const JointPart& part, bool slope);
    /// What of the ball and the base models is less, of the value V_{h+1}; feature_ is set.
    struct BallBackup {
        double value = 0;
        Index farthest = -1;  // the base model, if that is it
    };
    BallBackup ball_backup(Step h, Index pair);
    void direction_of(Index pair, std::span<const double> value);
    double robust_backup(Step h, Index pair, double expected);
    void add_robust_slope(Step h, Index pair, double amount, std::span<double> next);
    void add_slope(Index pair, double amount, std::span<double> next) const;
    void add_law(std::span<const double> law, Index pair, double amount, std::span<double> next) const;
    void pass_on(Step h, State s, bool weights, JointAdjoint& adjoint);

    const JointProblem& problem_;
    const FeatureMap& features_;
    Shape shape_;
    Index p_;
    std::vector<double> psi_;  // of every entry, in the coordinates of the problem
    JointPoint point_;
    double scale_, value_ = 0;
    RobustBackup robust_;
    std::vector<SupportFunction> supports_;     // of attained robust backups
    std::vector<std::vector<double>> kernels_;  // of every part, by entries
    std::vector<double> model_, optimistic_;    // (H+1) x S
    std::vector<double> unclipped_;             // H x S: V_h(s) before it was clipped
    std::int64_t backups_ = 0;
    std::vector<std::uint8_t> changed_, changed_next_;  // states, of a step and of the one after it
    Vector feature_, whitened_, slope_, direction_;

    // As of `keep`:
    Step kept_ = -1;
    double kept_value_ = 0;
    std::vector<double> kept_model_, kept_optimistic_, kept_unclipped_;
    std::vector<std::int32_t> kept_actions_;
    std::vector<std::uint8_t> kept_rewards_;
};

}  // namespace alidade::detail
