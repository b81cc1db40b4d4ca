#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "alidade/types.hpp"

namespace alidade {

/// max over V in [0,1]^m of |sum_j V_j g_j| (Euclidean): the generators g_j are a pair's tangent
/// features in the metric of the confidence ellipsoid (L^-1 psi_j where L L' is the precision), so the
/// maximum times the ellipsoid's radius bounds every change of a value in [0,1]. The g_j sum to zero,
/// hence V and 1-V have the same norm and the maximum is half of max over signs |sum_j sigma_j g_j|; where
/// rounding leaves a small sum, upper ends are raised by its norm.
struct WidthProblem {
    std::span<const double> generators;  ///< m times p numbers, generator after generator
    Index dimension = 0;                 ///< p >= 0
    Index successors = 0;                ///< m >= 1
};

/// Which argument proves the upper end of a bracket.
enum class WidthProof {
    trivial,      ///< nothing to move in: p = 0, or all generators zero
    enumeration,  ///< every vertex was tried
    eigenvalue,   ///< |G s|^2 <= (sum y) lambda_max(sum g g'/y) for one y > 0 [oracle §0.3]
    signs,        ///< a portfolio (docs/algorithms/numerics.md): exact for p <= 2, else branch and bound
    relaxation,   ///< the L1 norm instead of the Euclidean one
};

/// lower <= maximum <= upper; `lower` is attained by the witness, up to rounding; `upper` is rounded outward.
struct WidthBracket {
    double lower = 0;
    double upper = 0;
    WidthProof proof = WidthProof::trivial;
};

/// How upper ends are had.
enum class WidthMethod {
    exact,         ///< exactly where that is cheap, else as `nodes` says
    semidefinite,  ///< by the semidefinite bound alone: within sqrt(pi/2)
    l1,            ///< by the paper's L1 relaxation: within sqrt(p); for comparison
};

/// "exact", "sdp" or "l1". Throws InvalidArgument with what is allowed.
WidthMethod parse_width_method(std::string_view text);

struct WidthOptions {
    WidthMethod method = WidthMethod::exact;
    Index exact_successors = 12;  ///< enumerate up to this many successors, 1 to 20
    Index ascent_steps = 50;      ///< at most so many ascent steps from a start
    Index nodes = 0;              ///< of branch and bound for more successors; 0: one eigenvalue bound
    double tolerance = 1e-3;      ///< branch until upper <= lower (1 + tolerance)
};

/// The box-maximisation oracle. A value with scratch memory: one for each thread.
class Width {
public:
    explicit Width(WidthOptions options = {});

    /// Brackets the maximum. `witness` holds m zeros or ones: a start on entry, the achieving V on
    /// return. `upper` does not depend on the start. Throws InvalidArgument if a generator is not finite,
    /// BrokenInvariant if lower > upper.
    WidthBracket bracket(const WidthProblem& problem, std::span<std::uint8_t> witness);

    /// Ascent from the witness alone: raises the norm until no V improves the linearisation, and
    /// returns it. Fast, a lower bound only; a certificate must never be made of it.
    double ascend(const WidthProblem& problem, std::span<std::uint8_t> witness);

private:
    double enumerate(const WidthProblem& problem, std::span<std::uint8_t> witness);
    double search(const WidthProblem& problem, std::span<std::uint8_t> witness);
    WidthBracket maximise_signs(const WidthProblem& problem, std::span<std::uint8_t> witness);
    WidthBracket relax(const WidthProblem& problem, std::span<std::uint8_t> witness);
    double flip_one_by_one(const WidthProblem& problem, std::span<std::uint8_t> witness);

    WidthOptions options_;
    std::vector<double> low_, norms_, high_, sum_, score_;
    std::vector<std::uint8_t> trial_, best_;
};

/// The norm at one vertex: |sum of g_j over witness_j = 1|.
double width_at(const WidthProblem& problem, std::span<const std::uint8_t> witness);

/// The bound of [oracle §0.3], half of sqrt((sum y) lambda_max(sum_j g_j g_j'/y_j)), the least over
/// y = |g_j| and two blends of it with |g_j . x|, x = sum of the witness. Rounded outward.
double eigenvalue_bound(const WidthProblem& problem, std::span<const std::uint8_t> witness);

}  // namespace alidade
