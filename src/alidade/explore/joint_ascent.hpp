#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "../certify/joint_problem.hpp"
#include "alidade/convex/support.hpp"
#include "joint_values.hpp"

namespace alidade::detail {

struct AscentOptions {
    /// Whether theta~ is searched, too; else it stays what it was at the start.
    bool joint = false;
    Index starts = 4;  ///< >= 1
    /// Backups after which a climb is given up, more or less: a limit for large problems.
    std::int64_t backups = 100'000;
};

/// A point that an ascent found. Its value is one that the joint problem has: a lower end of the maximum.
struct JointSolution {
    JointPoint point;
    double value = 0;  ///< J, with radii multiplied by `scale`
    double scale =
        1;  ///< below 1 where V would be clipped everywhere [docs/algorithms/bernstein.md, The search]
};

/// Block ascent for a joint problem: layers of actions and rewards, weights, and single choices in turn, each
/// taken only if the value does not fall [docs/algorithms/bernstein.md, The search]. A heuristic; nothing
/// that is claimed depends on how good it is. Reads the problem, which must outlive it.
class JointAscent {
public:
    JointAscent(const JointProblem& problem, const AscentOptions& options, double scale = 1);

    /// As far up as it goes from a start.
    JointSolution climb(JointPoint start);
    /// J after every step that was taken in the last climb, from the start's on.
    const std::vector<double>& trace() const noexcept { return trace_; }

    /// Everywhere the first action and the reward 1, at the weights that the sets hand over, or a member of
    /// theirs if those are none.
    JointPoint plain_start();
    /// The actions of a policy instead, and random rewards.
    JointPoint start_with(const std::vector<std::int32_t>& actions, std::uint64_t turn);
    /// Random actions and rewards and, where weights are searched, random corners of the sets.
    JointPoint random_start(std::uint64_t turn, std::uint64_t number);
    /// A point of another problem, with weights that are members here.
    JointPoint repaired(JointPoint point) const;

private:
    bool accept(JointValues& values, double before);
    bool layer_step(JointValues& values, Step h);
    bool state_by_state(JointValues& values, Step h, const JointPoint& wanted);
    bool weight_step(JointValues& values, Index part);
    bool polish(JointValues& values);
    struct Choice {
        Step h;
        State s;
        Action action;
        bool reward;
    };
    bool try_choice(JointValues& values, const Choice& choice);
    bool try_choices(JointValues& values, Step h, State s);
    const SupportFunction& support(Index part);

    const JointProblem& problem_;
    AscentOptions options_;
    Shape shape_;
    double scale_;
    std::vector<std::optional<SupportFunction>> supports_;
    JointAdjoint adjoint_;
    std::vector<double> trace_;
    std::int64_t limit_ = 0;  // of the climb's backups
};

/// The best of several starts: the solution before (repaired), the policy of the problem's relaxation, and
/// random ones, keyed by `turn`. Radii are scaled down until the value is below 9/10 of what clips it, from
/// twice the scale before at most: while everything is clipped all points are maxima and no slope shows where
/// to look [docs/algorithms/bernstein.md, The search].
JointSolution maximise(const JointProblem& problem, const AscentOptions& options,
                       const std::optional<JointSolution>& before, std::uint64_t turn);

/// What the solution is worth in the problem as it is, radii not scaled and robust backups attained: a lower
/// end of the problem's maximum.
double attained_value(const JointProblem& problem, const JointPoint& point);

}  // namespace alidade::detail
