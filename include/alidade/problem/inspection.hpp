#pragma once

#include <cstdint>
#include <vector>

#include "alidade/problem/problem.hpp"
#include "alidade/types.hpp"
#include "alidade/width/width.hpp"

namespace alidade {

/// How many states the start can lead to and how much the weights can be told apart there, at one step.
struct StepInspection {
    Index reachable = 0;  ///< states that some policy and some base model reach at this step
    Index rank = 0;       ///< directions of the weights that the transitions from these states show
};

/// More steps than this are not listed one by one.
inline constexpr Step most_steps_inspected = 100'000;

/// What can be said about a valid problem before exploring it.
struct Inspection {
    /// H of them, but the first hundred thousand at most; the last step's transitions are never learned.
    std::vector<StepInspection> steps;
    std::vector<State> unreachable;  ///< states that no step reaches, ascending
    Index dimension = 0;             ///< p: directions in which the weights can move; d of a linear MDP
    /// Directions that the transitions from all reachable states together show; fewer than `dimension`
    /// means that the base models are collinear there: weights are not identifiable, predictions are.
    Index rank = 0;
    std::vector<Index> collinear;  ///< features that take part in a direction nothing shows, ascending
    std::int64_t bytes = 0;        ///< memory that exploring takes, roughly
};

/// Memory that exploring takes, roughly, in bytes: features, and for each step what is kept of pairs and
/// states [docs/large-models.md]. As in `Inspection`, at once.
std::int64_t exploring_bytes(const Problem& problem);

/// Inspects a problem. Ranks are numerical: singular values above 1e-6 of the largest count.
Inspection inspect(const Problem& problem);

/// How long features and weights are. The theorems take |phi_V| <= 1 for every V in [0,1]^S, where phi_V(s,a)
/// = sum over s' of phi(s,a,s') V(s'), and |theta_h| <= B [theory §2, erratum 20]. A Problem with longer true
/// weights is refused. Longer features are not: the sets of `sharp` constants need no bound of
/// them, and the paper's radii are raised by what they need; but sample sizes of the theorems are for
/// features divided by their length, whose weights are longer by as much.
struct Norms {
    WidthBracket features;  ///< of the largest |phi_V| over all pairs and all V in [0,1]^S
    Index pair = 0;         ///< s*A+a of a pair that attains the lower end
    double norm_bound = 1;  ///< B
    double weights = 0;     ///< largest |theta_h| of the truth; 0 where it is not known

    /// Whether |phi_V| <= 1, up to rounding, is proved.
    bool features_are_unit() const noexcept { return features.upper <= 1 + 1e-9; }
    /// B for features divided by their length where they are longer than one.
    double scaled_norm_bound() const noexcept;
};

/// Measures them: exactly, up to rounding, for pairs of few successors, with an upper bound for others. Base
/// models are measured as they are; their phi_1 has norm sqrt(d).
Norms measure_norms(const Problem& problem);

}  // namespace alidade
