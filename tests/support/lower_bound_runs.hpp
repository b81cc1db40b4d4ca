#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "alidade/audit/audit.hpp"
#include "alidade/environment/deployment.hpp"
#include "alidade/explore/exploration.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/theory/bounds.hpp"

namespace alidade::support {

/// A lower-bound instance made for n episodes and explored for as many.
struct LowerBoundCase {
    std::string family;     ///< hard, hard-simplex or hard-short
    std::string algorithm;  ///< explorer
    Index features = 5, horizon = 10;
    std::int64_t episodes = 160;  ///< n

    bool is_short() const { return family == "hard-short"; }
    double rho() const { return is_short() ? 1.0 / 6 : 1 / static_cast<double>(horizon); }
    /// Delta, as the theorem prints it.
    double gap() const { return std::sqrt(rho() / static_cast<double>(episodes)) / (4 * std::sqrt(2.0)); }
};

/// What no policy's loss exceeds on these instances: (d H / (4 sqrt 2)) sqrt(H / n).
inline double largest_loss(const LowerBoundCase& each) {
    const auto H = static_cast<double>(each.horizon);
    return static_cast<double>(each.features) * H / (4 * std::sqrt(2.0)) *
           std::sqrt(H / static_cast<double>(each.episodes));
}

/// What no algorithm's mean loss is below, over the draws of the signs [docs/bounds.md, Theorem 3 with a
/// constant]: (d-1) Delta W (1 - g t).
inline double proved_mean_loss(const LowerBoundCase& each) {
    const auto n = static_cast<double>(each.episodes), H = static_cast<double>(each.horizon);
    const double moved = static_cast<double>(each.features - 1) * each.gap();
    if (each.is_short()) {
        // One transition an episode tells anything, with a chance of at least 1/6 - (d-1) Delta.
        const double least = each.rho() - moved;
        const double variation = each.gap() * std::sqrt(2 * n / (least * (1 - least)));
        return moved * (H - 1) * (1 - variation);
    }
    const HardInstance sums = hard_instance({each.features, each.horizon, 1 + moved, 0.1});
    return moved * sums.least * (1 - sums.signal * each.gap() * std::sqrt(H * n));
}

/// Over draws of the signs, each with a run of its own.
struct LowerBoundMeans {
    double loss = 0;         ///< true loss of the plan for the reward `exit` after n episodes, mean
    double deviation = 0;    ///< standard error of that mean
    double best_loss = 0;    ///< the same by the model with the least certificate, which is handed over
    double certificate = 0;  ///< the least of all runs, not clipped at H
    double mean_certificate = 0;
    Index above = 0;  ///< runs whose loss, by the model handed over, is above its certificate
};

inline LowerBoundMeans explore_draws(const LowerBoundCase& each, int draws) {
    LowerBoundMeans means;
    double squares = 0;
    means.certificate = std::numeric_limits<double>::infinity();
    for (int seed = 1; seed <= draws; ++seed) {
        const Problem problem =
            make_builtin(fmt::format("builtin:{}?features={}&horizon={}&episodes={}&seed={}", each.family,
                                     each.features, each.horizon, each.episodes, seed));
        const MixtureModel truth = problem.true_model();
        CountSplittingDeployer system(truth, static_cast<std::uint64_t>(seed));
        Exploration exploration(task_of(problem),
                                {.algorithm = each.algorithm,
                                 .seed = static_cast<std::uint64_t>(seed),
                                 .schedule = {.growth = each.algorithm == "bernstein" ? 1.0 : 0.5}});
        exploration.run(system, {.episodes = each.episodes});
        const Knowledge& best = exploration.best();
        const Reward& reward = problem.rewards().front().reward;
        const double loss = true_loss(*exploration.explorer().knowledge().learned, truth, reward);
        const double best_loss = true_loss(*best.learned, truth, reward);
        double least = best.certificate.candidates.front().second;
        for (const auto& [name, value] : best.certificate.candidates) least = std::min(least, value);
        means.loss += loss / draws;
        squares += loss * loss / draws;
        means.certificate = std::min(means.certificate, least);
        means.mean_certificate += least / draws;
        means.best_loss += best_loss / draws;
        if (best_loss > least) ++means.above;
    }
    means.deviation = std::sqrt(std::max(0.0, squares - means.loss * means.loss) / (draws - 1));
    return means;
}

}  // namespace alidade::support
