// Width problems as they come up in exploration: how tight and how fast each method is. One line a size.
// With --json, the instances and our answers, one JSON object a line, for another solver to check.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <vector>

#include "alidade/estimate/ridge_regression.hpp"
#include "alidade/model/tangent_space.hpp"
#include "alidade/random/samplers.hpp"
#include "alidade/width/sign_maximum.hpp"

namespace alidade {
namespace {

/// Base rows of one pair in tangent coordinates: Dirichlet(0.3) laws over m common successors.
std::vector<double> tangent_rows(Stream& random, const TangentSpace& space, Index m) {
    const Index d = space.centre.size(), p = d - 1;
    Matrix rows(d, m);
    for (Index i = 0; i < d; ++i) {
        const auto law = sample_dirichlet(random, m, 0.3);
        for (Index j = 0; j < m; ++j) rows(i, j) = law[static_cast<std::size_t>(j)];
    }
    const Matrix psi = space.basis.transpose() * rows;
    return {psi.data(), psi.data() + p * m};
}

/// The generators of a pair after 3000 steps of exploration among 30 pairs, visited by Zipf's law
/// [oracle §A].
std::vector<double> explored_generators(std::uint64_t seed, Index d, Index m) {
    Stream random(seed, Purpose::test, static_cast<std::uint64_t>(d), static_cast<std::uint64_t>(m));
    const TangentSpace space = TangentSpace::simplex(d);
    const Index p = d - 1;
    std::vector<std::vector<double>> pairs;
    std::vector<double> zipf;
    for (int k = 0; k < 30; ++k) {
        pairs.push_back(tangent_rows(random, space, m));
        zipf.push_back(1.0 / (k + 1));
    }
    detail::RidgeStatistics statistics(p);
    detail::RidgeEstimate estimate = detail::solve_ridge(statistics, 0.25);
    for (int t = 0; t < 3000; ++t) {
        const auto& psi = pairs[static_cast<std::size_t>(sample_categorical(random, zipf))];
        // The V of a random direction: good enough to fill the metric as exploration does.
        Vector direction(p), x = Vector::Zero(p);
        for (Index i = 0; i < p; ++i) direction[i] = sample_normal(random);
        direction = estimate.inverse_factor.transpose() * direction;
        for (Index j = 0; j < m; ++j) {
            const Eigen::Map<const Vector> g(psi.data() + j * p, p);
            if (g.dot(direction) > 0) x += g;
        }
        statistics.add(x.data(), 1, 0);
        if (t % 100 == 99) estimate = detail::solve_ridge(statistics, 0.25);
    }
    const Eigen::Map<const Matrix> psi(pairs[0].data(), p, m);
    const Matrix generators = estimate.inverse_factor * psi;
    return {generators.data(), generators.data() + generators.size()};
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void size(Index d, Index m) {
    const int instances = 6;
    double relaxed = 0, settled = 0, time_relaxed = 0, time_settled = 0, l1 = 0;
    Index nodes = 0;
    for (int k = 0; k < instances; ++k) {
        const auto generators = explored_generators(static_cast<std::uint64_t>(k), d, m);
        const detail::SignProblem problem{generators, d - 1, m};
        auto begin = std::chrono::steady_clock::now();
        const detail::SignBracket quick = detail::semidefinite_bracket(problem);
        time_relaxed += seconds_since(begin);
        begin = std::chrono::steady_clock::now();
        const detail::SignBracket best =
            detail::sign_maximum(problem, {.tolerance = d <= 5 ? 1e-6 : 0.01, .seconds = 1.0});
        time_settled += seconds_since(begin);
        relaxed = std::max(relaxed, quick.upper / best.lower);
        settled = std::max(settled, best.upper / best.lower);
        nodes += best.nodes;
        if (d <= 16) l1 += detail::l1_relaxation(problem) / best.upper / instances;
    }
    fmt::print("{:>3} {:>4} {:>12.4f} {:>11.0f} {:>14.7f} {:>11.0f} {:>7} {:>9.2f}\n", d, m, relaxed,
               1e6 * time_relaxed / instances, settled, 1e6 * time_settled / instances, nodes / instances,
               l1);
}

void instances_as_json(Index d, Index m, int count) {
    for (int k = 0; k < count; ++k) {
        const auto generators = explored_generators(static_cast<std::uint64_t>(k), d, m);
        const detail::SignProblem problem{generators, d - 1, m};
        std::vector<double> times;
        detail::SignBracket best;
        for (int repeat = 0; repeat < 5; ++repeat) {
            const auto begin = std::chrono::steady_clock::now();
            best = detail::sign_maximum(problem, {.tolerance = 1e-6});
            times.push_back(seconds_since(begin));
        }
        std::ranges::sort(times);
        fmt::print(
            "{{\"dimension\": {}, \"count\": {}, \"lower\": {}, \"upper\": {}, \"seconds\": {}, "
            "\"generators\": [{}]}}\n",
            d - 1, m, best.lower, best.upper, times[2], fmt::join(generators, ", "));
    }
}

}  // namespace
}  // namespace alidade

int main(int argc, char** argv) {
    if (argc > 1 && std::strcmp(argv[1], "--json") == 0) {
        alidade::instances_as_json(8, 16, 10);
        return 0;
    }
    fmt::print("Worst of 6 instances; portfolio to 1e-6 for d <= 5, to 1 % beyond, one second at most.\n");
    fmt::print("{:>3} {:>4} {:>12} {:>11} {:>14} {:>11} {:>7} {:>9}\n", "d", "m", "SDP hi/lo", "us",
               "portfolio hi/lo", "us", "nodes", "L1/ours");
    for (const alidade::Index d : {4, 5, 8, 16, 32})
        for (const alidade::Index m : {16, 64, 256}) alidade::size(d, m);
}
