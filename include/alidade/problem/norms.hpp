#pragma once

#include "alidade/problem/problem.hpp"
#include "alidade/types.hpp"
#include "alidade/width/width.hpp"

namespace alidade {

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
