#include <algorithm>
#include <cmath>
#include <numeric>

#include "alidade/error.hpp"
#include "sign_maximum.hpp"
#include "unit_scale.hpp"

namespace alidade::detail {

namespace {

// The maximum is at a vertex of the zonogon sum of [-g_j, g_j]. Oriented into one half plane and sorted by
// angle, the vertices are the sums in which a prefix is turned round [oracle §A.4].
SignBracket sweep(const SignProblem& problem) {
    const auto n = static_cast<std::size_t>(problem.count);
    std::vector<std::int8_t> orientation(n, 1);
    std::vector<double> x(n), y(n);
    for (std::size_t j = 0; j < n; ++j) {
        x[j] = problem.generators[2 * j];
        y[j] = problem.generators[2 * j + 1];
        // Each generator's own sign decides, so that one on the border is not lost [oracle §A.4, pitfall i].
        if (y[j] < 0 || (y[j] == 0 && x[j] < 0)) {
            orientation[j] = -1;
            x[j] = -x[j];
            y[j] = -y[j];
        }
    }
    std::vector<std::size_t> order(n);
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
        return std::pair(std::atan2(y[a], x[a]), a) < std::pair(std::atan2(y[b], x[b]), b);
    });
    double sum_x = std::accumulate(x.begin(), x.end(), 0.0), sum_y = std::accumulate(y.begin(), y.end(), 0.0);
    double best = std::hypot(sum_x, sum_y), scale = best;
    std::size_t turned = 0;
    for (std::size_t k = 0; k < n; ++k) {
        sum_x -= 2 * x[order[k]];
        sum_y -= 2 * y[order[k]];
        const double norm = std::hypot(sum_x, sum_y);
        scale += std::hypot(x[order[k]], y[order[k]]);
        if (norm > best) best = norm, turned = k + 1;
    }
    SignBracket result;
    result.signs = orientation;
    for (std::size_t k = 0; k < turned; ++k)
        result.signs[order[k]] = static_cast<std::int8_t>(-result.signs[order[k]]);
    // From the signs themselves, not from the running sum, which has rounded 2n times.
    result.lower = norm_at(problem, result.signs);
    // Rounding of the running sums: 2n additions of numbers below `scale`, at 2^-53 each. Rounded angles, in
    // error by 2^-51, may put a prefix on the wrong side of a direction w only for generators with
    // |g_j . w| <= 2^-50 |g_j|: another 2^-49 `scale`.
    result.upper = std::max(best, result.lower) + 1e-15 * static_cast<double>(n + 8) * scale;
    result.proof = SignProof::angular_sweep;
    return result;
}

}  // namespace

SignBracket angular_sweep(const SignProblem& problem) {
    expects(problem.dimension == 2, "an angular sweep needs dimension 2, not {}", problem.dimension);
    return at_unit_scale(problem, sweep);
}

}  // namespace alidade::detail
