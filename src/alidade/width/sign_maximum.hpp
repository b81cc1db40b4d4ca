#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "alidade/types.hpp"

namespace alidade::detail {

/// max over sigma in {-1,1}^n of |sum_j sigma_j g_j| (Euclidean): what every width reduces to. With
/// generators that sum to zero, twice the width over V in [0,1]^n; without, see `box_maximum`.
struct SignProblem {
    std::span<const double> generators;  ///< n times p numbers, generator after generator
    Index dimension = 0;                 ///< p >= 1
    Index count = 0;                     ///< n >= 1
};

/// Which argument proves the upper end of a bracket.
enum class SignProof {
    closed_form,    ///< p = 1: the sum of absolute values
    angular_sweep,  ///< p = 2: every vertex of the zonogon, in the order of angles
    enumeration,    ///< every sign vector
    cone_search,    ///< p = 3, 4: branch and bound over cones of directions
    sign_search,    ///< branch and bound over signs, with semidefinite bounds
    semidefinite,   ///< one y > 0: |G s|^2 <= (sum y) lambda_max(sum g g'/y) [oracle §0.3]
};
std::string to_string(SignProof proof);

/// lower <= maximum <= upper; `signs` attain `lower`. `upper` is rounded outward and holds for the generators
/// as given, of any finite size; `lower` is the norm at `signs` as computed, true but for its rounding.
struct SignBracket {
    double lower = 0;
    double upper = 0;
    SignProof proof = SignProof::semidefinite;
    std::vector<std::int8_t> signs;  ///< n times -1 or 1
    Index nodes = 0;                 ///< of branch and bound
};

struct SignOptions {
    double tolerance = 1e-6;  ///< stop branching once upper <= lower (1 + tolerance), >= 0
    Index nodes = 20'000;     ///< at most so many nodes of branch and bound; 0: the semidefinite bound only
    double seconds =
        std::numeric_limits<double>::infinity();  ///< at most so long; makes results depend on time
    Index enumerate = 12;  ///< try every sign vector up to this many generators, 1 to 24
};

/// Brackets the maximum by the cheapest method that is exact, or by branch and bound, or by the
/// semidefinite bound [oracle §A.4]. A spent budget still gives a valid bracket. Rounded outward.
SignBracket sign_maximum(const SignProblem& problem, const SignOptions& options = {});

/// max over V in [0, box]^m of |sum_j V_j g_j|, generators of any sum: with g_0 = sum g_j it is
/// (box/2) max over signs of m+1 generators. `signs` of the result are those of g_1.., oriented so
/// that g_0 has +1: V_j = box (1 + signs_j)/2. Lower and upper are of the box problem.
SignBracket box_maximum(const SignProblem& problem, double box, const SignOptions& options = {});

/// The paper's relaxation (after Zhang, Zhou and Gu 2021): max over signs of the L1 norm of sum sigma_j g_j.
/// Not a linear program, as the paper has it: maximising a norm is not convex, and it takes 2^(p-1) sign
/// patterns xi, each with the closed form sum_j |g_j . xi|. At least the L2 maximum and at most
/// sqrt(p) times it, so as a bonus it costs up to p times the episodes. Rounded outward, p <= 24.
/// For comparison.
double l1_relaxation(const SignProblem& problem);

/// The methods, for tests and benchmarks. Each returns a valid bracket whatever its budget, and throws
/// InvalidArgument if a generator is not finite.
SignBracket angular_sweep(const SignProblem& problem);
SignBracket cone_search(const SignProblem& problem, const SignOptions& options);
SignBracket sign_search(const SignProblem& problem, const SignOptions& options);
SignBracket semidefinite_bracket(const SignProblem& problem);

/// |sum_j signs_j g_j|.
double norm_at(const SignProblem& problem, std::span<const std::int8_t> signs);

}  // namespace alidade::detail
