#include "alidade/width/width.hpp"

#include <algorithm>
#include <cmath>

#include "alidade/error.hpp"
#include "sign_maximum.hpp"
#include "unit_scale.hpp"

namespace alidade {

namespace {

double sum_of_witness(const WidthProblem& problem, std::span<const std::uint8_t> witness,
                      std::span<double> sum) {
    const Index p = problem.dimension;
    std::ranges::fill(sum, 0.0);
    for (Index j = 0; j < problem.successors; ++j) {
        if (!witness[at(j)]) continue;
        const double* g = problem.generators.data() + j * p;
        for (Index i = 0; i < p; ++i) sum[at(i)] += g[i];
    }
    double square = 0;
    for (Index i = 0; i < p; ++i) square += sum[at(i)] * sum[at(i)];
    return std::sqrt(square);
}

}  // namespace

WidthMethod parse_width_method(std::string_view text) {
    if (text == "exact") return WidthMethod::exact;
    if (text == "sdp") return WidthMethod::semidefinite;
    expects(text == "l1", "width is '{}'; must be exact, sdp or l1", text);
    return WidthMethod::l1;
}

Width::Width(WidthOptions options) : options_(options) {
    expects(options.exact_successors >= 1 && options.exact_successors <= 20,
            "exact_successors is {}; must be 1 to 20 (every vertex is tried)", options.exact_successors);
    expects(options.ascent_steps >= 1, "ascent_steps is {}; must be at least 1", options.ascent_steps);
}

double width_at(const WidthProblem& problem, std::span<const std::uint8_t> witness) {
    std::vector<double> sum(at(problem.dimension));
    return sum_of_witness(problem, witness, sum);
}

double Width::ascend(const WidthProblem& problem, std::span<std::uint8_t> witness) {
    const Index p = problem.dimension, m = problem.successors;
    sum_.resize(at(p));
    double norm = sum_of_witness(problem, witness, sum_);
    for (Index step = 0; step < options_.ascent_steps; ++step) {
        // A convex function lies above its linearisation, whose maximiser takes every positive score.
        bool changed = false;
        for (Index j = 0; j < m; ++j) {
            const double* g = problem.generators.data() + j * p;
            double score = 0;
            for (Index i = 0; i < p; ++i) score += g[i] * sum_[at(i)];
            const auto bit = static_cast<std::uint8_t>(score > 0);
            changed = changed || bit != witness[at(j)];
            witness[at(j)] = bit;
        }
        if (!changed) break;
        const double next = sum_of_witness(problem, witness, sum_);
        // In exact arithmetic an ascent never lowers the norm; where it seems to, the search is at its end.
        if (next <= norm) break;
        norm = next;
    }
    return sum_of_witness(problem, witness, sum_);
}

double Width::flip_one_by_one(const WidthProblem& problem, std::span<std::uint8_t> witness) {
    const Index p = problem.dimension, m = problem.successors;
    double norm = sum_of_witness(problem, witness, sum_);
    for (bool improved = true; improved;) {
        improved = false;
        for (Index j = 0; j < m; ++j) {
            const double* g = problem.generators.data() + j * p;
            const double sign = witness[at(j)] ? -1.0 : 1.0;
            double square = 0;
            for (Index i = 0; i < p; ++i) square += (sum_[at(i)] + sign * g[i]) * (sum_[at(i)] + sign * g[i]);
            // A relative margin keeps rounding from flipping back and forth for ever.
            if (square <= norm * norm * (1 + 1e-12)) continue;
            witness[at(j)] ^= 1U;
            norm = sum_of_witness(problem, witness, sum_);
            improved = true;
        }
    }
    return norm;
}

// From one start a coordinate of the metric, so that the result depends on the problem alone: an upper
// bound made from it is the same whenever it is recomputed.
double Width::search(const WidthProblem& problem, std::span<std::uint8_t> witness) {
    const Index p = problem.dimension, m = problem.successors;
    trial_.resize(at(m));
    sum_.resize(at(p));
    double best = -1;
    for (Index i = 0; i < p; ++i) {
        for (Index j = 0; j < m; ++j)
            trial_[at(j)] = static_cast<std::uint8_t>(problem.generators[at(j * p + i)] > 0);
        ascend(problem, trial_);
        const double value = flip_one_by_one(problem, trial_);
        if (value > best) {
            best = value;
            std::ranges::copy(trial_, witness.begin());
        }
    }
    return best;
}

// V = (1 + sigma)/2, so psi_V = (G sigma + G 1)/2 and G 1 is zero but for rounding.
WidthBracket Width::maximise_signs(const WidthProblem& problem, std::span<std::uint8_t> witness) {
    const detail::SignBracket signs =
        detail::sign_maximum({problem.generators, problem.dimension, problem.successors},
                             {.tolerance = options_.tolerance, .nodes = options_.nodes});
    for (std::size_t j = 0; j < witness.size(); ++j) witness[j] = signs.signs[j] > 0 ? 1 : 0;
    // The same vertex summed in another order may differ by rounding, and so may G 1: by m additions, each
    // of 2^-53 sum_j |g_ij| in coordinate i, which is at most the maximum over signs.
    const double additions = static_cast<double>(problem.successors);
    const double slack = 1e-12 + 1e-15 * additions * std::sqrt(static_cast<double>(problem.dimension));
    return {width_at(problem, witness), signs.upper / 2 * (1 + slack), WidthProof::signs};
}

// Lower ends by the vertex that the local search finds, upper ends by the relaxation asked for.
WidthBracket Width::relax(const WidthProblem& problem, std::span<std::uint8_t> witness) {
    WidthBracket result;
    result.lower = search(problem, witness);
    const detail::SignProblem signs{problem.generators, problem.dimension, problem.successors};
    const bool l1 = options_.method == WidthMethod::l1;
    result.upper =
        (l1 ? detail::l1_relaxation(signs) : detail::semidefinite_bracket(signs).upper) / 2 * (1 + 1e-12);
    result.proof = l1 ? WidthProof::relaxation : WidthProof::signs;
    return result;
}

WidthBracket Width::bracket(const WidthProblem& problem, std::span<std::uint8_t> witness) {
    const Index p = problem.dimension, m = problem.successors;
    expects(problem.generators.size() == at(m * p) && witness.size() == at(m),
            "width problem has {} numbers and a witness of {}; must be {} and {}", problem.generators.size(),
            witness.size(), m * p, m);
    const double largest = detail::largest_of(problem.generators);
    if (largest == 0) {
        std::ranges::fill(witness, std::uint8_t{0});
        return {};
    }
    if (!detail::has_ordinary_scale(largest)) {
        const detail::UnitScale unit(problem.generators);
        WidthBracket result = bracket({unit.numbers(), p, m}, witness);
        result.lower = unit.down(result.lower);
        result.upper = unit.up(result.upper);
        return result;
    }
    // Tangent features sum to zero up to the rounding of the base models, which is not small next to base
    // models that nearly agree; |V| and |1-V| differ by at most this.
    sum_.resize(at(p));
    trial_.assign(at(m), 1);
    const double imbalance = sum_of_witness(problem, trial_, sum_);
    WidthBracket result;
    if (options_.method != WidthMethod::exact) {
        result = relax(problem, witness);
        result.upper += imbalance / 2;
    } else if (m <= options_.exact_successors) {
        result.lower = enumerate(problem, witness);
        // The vertex found is the maximiser up to the rounding of norms compared with each other.
        result.upper = (result.lower + imbalance) * (1 + 1e-12);
        result.proof = WidthProof::enumeration;
    } else if (p <= 2 || options_.nodes > 0) {
        result = maximise_signs(problem, witness);
        result.upper += imbalance / 2;
    } else {
        // While exploring. The lower end follows the present witness, too; the upper end is made from a
        // search that does not know it, so that it is the same whenever it is recomputed.
        ascend(problem, witness);
        const double warm = flip_one_by_one(problem, witness);
        best_.resize(at(m));
        result.lower = search(problem, best_);
        result.upper = eigenvalue_bound(problem, best_);
        result.proof = WidthProof::eigenvalue;
        if (warm > result.lower)
            result.lower = warm;
        else
            std::ranges::copy(best_, witness.begin());
    }
    // A y that is not positive, or a search gone wrong, would show here [oracle §A.4, pitfall ii].
    ensures(result.lower <= result.upper, "width bracket is [{}, {}] for {} successors in dimension {}",
            result.lower, result.upper, m, p);
    return result;
}

}  // namespace alidade
