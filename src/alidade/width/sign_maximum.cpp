#include "sign_maximum.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "alidade/error.hpp"
#include "local_search.hpp"
#include "unit_scale.hpp"

namespace alidade::detail {

namespace {

void validate(const SignProblem& problem, const SignOptions& options) {
    validate(problem);
    largest_of(problem.generators);  // refuses what is not finite
    expects(options.tolerance >= 0 && options.nodes >= 0 && options.seconds >= 0,
            "tolerance {}, nodes {} and seconds {} must not be negative", options.tolerance, options.nodes,
            options.seconds);
    expects(options.enumerate >= 1 && options.enumerate <= 24, "enumerate is {}; must be 1 to 24",
            options.enumerate);
}

SignBracket closed_form(const SignProblem& problem) {
    SignBracket result;
    double sum = 0;
    for (const double g : problem.generators) {
        sum += std::abs(g);
        result.signs.push_back(g < 0 ? -1 : 1);
    }
    result.lower = norm_at(problem, result.signs);
    result.upper = std::max(sum, result.lower) * (1 + 1e-15 * static_cast<double>(problem.count + 2));
    result.proof = SignProof::closed_form;
    return result;
}

/// Gray code over all signs but the last, which symmetry fixes: one generator changes from one to the next.
SignBracket enumerate(const SignProblem& problem) {
    const Generators generators = generators_of(problem);
    const Index free = problem.count - 1;
    constexpr std::uint64_t afresh = 1024;
    Vector sum = generators.rowwise().sum();
    std::vector<std::int8_t> signs(at(problem.count), 1), best_signs = signs;
    double best = sum.squaredNorm();
    for (std::uint64_t code = 1; code < (std::uint64_t{1} << free); ++code) {
        const auto j = static_cast<Index>(std::countr_zero(code));
        sum -= 2.0 * static_cast<double>(signs[at(j)]) * generators.col(j);
        signs[at(j)] = static_cast<std::int8_t>(-signs[at(j)]);
        // Start afresh now and then, so that rounding does not pile up.
        if ((code & (afresh - 1)) == 0) {
            sum.setZero();
            for (Index k = 0; k < problem.count; ++k)
                sum += static_cast<double>(signs[at(k)]) * generators.col(k);
        }
        const double square = sum.squaredNorm();
        if (square > best) best = square, best_signs = signs;
    }
    SignBracket result;
    result.signs = std::move(best_signs);
    result.lower = norm_at(problem, result.signs);
    // Twice `count`, because generator 0 may itself be a sum of the others (`box_maximum`).
    result.upper = std::max(std::sqrt(best), result.lower) +
                   summation_slack(generators, static_cast<Index>(afresh) + 2 * problem.count);
    result.proof = SignProof::enumeration;
    return result;
}

SignBracket portfolio(const SignProblem& problem, const SignOptions& options) {
    // First what tries everything; then what may run out of its budget [oracle §A.4].
    if (problem.dimension == 1) return closed_form(problem);
    if (problem.dimension == 2) return angular_sweep(problem);
    if (problem.count <= options.enumerate) return enumerate(problem);
    if (options.nodes == 0) return semidefinite_bracket(problem);
    if (problem.dimension > 4) return sign_search(problem, options);
    SignBracket by_cones = cone_search(problem, options);
    if (by_cones.upper <= by_cones.lower * (1 + options.tolerance) * (1 + 2e-9)) return by_cones;
    // A spent budget: one semidefinite bound may still be better.
    SignBracket relaxed = semidefinite_bracket(problem);
    if (relaxed.lower < by_cones.lower) relaxed.lower = by_cones.lower, relaxed.signs = by_cones.signs;
    if (by_cones.upper <= relaxed.upper)
        relaxed.upper = by_cones.upper, relaxed.proof = SignProof::cone_search;
    relaxed.nodes = by_cones.nodes;
    return relaxed;
}

}  // namespace

std::string to_string(SignProof proof) {
    switch (proof) {
        case SignProof::closed_form:
            return "closed form";
        case SignProof::angular_sweep:
            return "angular sweep";
        case SignProof::enumeration:
            return "enumeration";
        case SignProof::cone_search:
            return "cone search";
        case SignProof::sign_search:
            return "sign search";
        case SignProof::semidefinite:
            break;
    }
    return "semidefinite";
}

double norm_at(const SignProblem& problem, std::span<const std::int8_t> signs) {
    validate(problem);
    expects(signs.size() == at(problem.count), "{} signs for {} generators", signs.size(), problem.count);
    const UnitScale unit(problem.generators);
    const Generators generators(unit.numbers().data(), problem.dimension, problem.count);
    Vector sum = Vector::Zero(problem.dimension);
    for (Index j = 0; j < problem.count; ++j) sum += static_cast<double>(signs[at(j)]) * generators.col(j);
    return unit.down(sum.norm());
}

SignBracket sign_maximum(const SignProblem& problem, const SignOptions& options) {
    validate(problem, options);
    // Zero generators only cost time, and trip up what divides by their norm [oracle §A.4, pitfall iii].
    std::vector<double> kept;
    std::vector<Index> numbers;
    for (Index j = 0; j < problem.count; ++j) {
        const auto g = problem.generators.subspan(at(j * problem.dimension), at(problem.dimension));
        if (std::ranges::all_of(g, [](double x) { return x == 0; })) continue;
        kept.insert(kept.end(), g.begin(), g.end());
        numbers.push_back(j);
    }
    SignBracket result;
    if (numbers.empty()) {
        result.proof = SignProof::closed_form;
        result.signs.assign(at(problem.count), 1);
        return result;
    }
    result = at_unit_scale({kept, problem.dimension, static_cast<Index>(numbers.size())},
                           [&](const SignProblem& unit) { return portfolio(unit, options); });
    std::vector<std::int8_t> signs(at(problem.count), 1);
    for (std::size_t k = 0; k < numbers.size(); ++k) signs[at(numbers[k])] = result.signs[k];
    result.signs = std::move(signs);
    ensures(result.lower <= result.upper, "sign bracket is [{}, {}] by {}", result.lower, result.upper,
            to_string(result.proof));
    return result;
}

SignBracket box_maximum(const SignProblem& problem, double box, const SignOptions& options) {
    expects(std::isfinite(box) && box > 0, "box is {}; must be a finite number greater than 0", box);
    validate(problem, options);
    // V = box (1 + sigma)/2, so sum V_j g_j = (box/2)(g_0 + sum sigma_j g_j) with g_0 = sum g_j.
    const UnitScale unit(problem.generators);
    std::vector<double> all(at(problem.dimension), 0.0);
    for (Index j = 0; j < problem.count; ++j)
        for (Index i = 0; i < problem.dimension; ++i)
            all[at(i)] += unit.numbers()[at(j * problem.dimension + i)];
    all.insert(all.end(), unit.numbers().begin(), unit.numbers().end());
    SignBracket result = sign_maximum({all, problem.dimension, problem.count + 1}, options);
    // Turning all signs round changes no norm, so that of g_0 may be made +1.
    const std::int8_t orientation = result.signs.front();
    result.signs.erase(result.signs.begin());
    for (std::int8_t& sign : result.signs) sign = static_cast<std::int8_t>(sign * orientation);
    int exponent = 0;
    const double mantissa = std::frexp(box, &exponent);
    result.lower = unit.down(result.lower * mantissa, exponent - 1);
    result.upper = unit.up(result.upper * mantissa * (1 + 0x1p-51), exponent - 1);
    return result;
}

double l1_relaxation(const SignProblem& problem) {
    validate(problem, {});
    expects(problem.dimension <= 24, "the L1 relaxation tries 2^(p-1) sign patterns; p is {}, at most 24",
            problem.dimension);
    const Generators generators = generators_of(problem);
    double best = 0;
    for (std::uint64_t pattern = 0; pattern < (std::uint64_t{1} << (problem.dimension - 1)); ++pattern) {
        Vector xi = Vector::Ones(problem.dimension);
        for (Index i = 0; i + 1 < problem.dimension; ++i)
            if ((pattern >> i) & 1U) xi[i] = -1;
        best = std::max(best, (generators.transpose() * xi).cwiseAbs().sum());
    }
    // Rounding takes at most 2^-53 (n + p) of the sum of all |g_ij|, which is at most p times the maximum.
    return best *
           (1 + 0x1p-52 * static_cast<double>((problem.count + problem.dimension) * problem.dimension));
}

}  // namespace alidade::detail
