// Explores a system with a continuous state through a grid, and certifies what was learned of it: a reservoir
// whose level s in [0, 1] becomes min(1, (1 - r) s + W) when the share r is released and the inflow W comes.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "alidade/certify/reward_certificate.hpp"
#include "alidade/environment/continuous.hpp"
#include "alidade/environment/deployment.hpp"
#include "alidade/explore/exploration.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/problem/aggregation.hpp"
#include "alidade/problem/problem.hpp"
#include "alidade/random/samplers.hpp"

namespace {

constexpr alidade::Index actions = 3, horizon = 4;
constexpr double most = 0.75;  // inflow of a step

double released(alidade::Action a) {
    return static_cast<double>(a + 1) / static_cast<double>(actions + 1);
}

/// A law of the inflow: a triangular density on [0, most] with this peak.
struct Inflow {
    double peak;

    double chance_of_at_most(double w) const {
        if (w <= 0 || w >= most) return w <= 0 ? 0 : 1;
        return w < peak ? w * w / (most * peak) : 1 - (most - w) * (most - w) / (most * (most - peak));
    }
    double quantile(double u) const {
        return u * most < peak ? std::sqrt(u * most * peak)
                               : most - std::sqrt((1 - u) * most * (most - peak));
    }
};

/// The law of the next cell, exactly, from the distribution function.
alidade::BaseLaw law_of(const alidade::Grid& grid, std::string name, Inflow inflow) {
    return {
        std::move(name), [=](std::span<const double> level, alidade::Action a, alidade::CellMasses& law) {
            const double kept = (1 - released(a)) * level[0];
            double below = 0;
            for (alidade::State cell = grid.cell_of({&kept, 1}); cell < grid.cells() && below < 1; ++cell) {
                const bool full = cell + 1 == grid.cells();  // what does not fit is spilled
                const double up_to =
                    full ? 1 : inflow.chance_of_at_most(grid.axes()[0].edge(cell + 1) - kept);
                law.add(cell, std::max(0.0, up_to - below));
                below = up_to;
            }
        }};
}

/// The same law, to be stepped.
alidade::Simulator simulator_of(Inflow inflow) {
    return [=](std::span<const double> level, alidade::Action a, alidade::Stream& random,
               std::span<double> next) {
        next[0] =
            std::min(1.0, (1 - released(a)) * level[0] + inflow.quantile(alidade::sample_uniform(random)));
    };
}

/// One for each step that begins with a level in [0.25, 0.75].
alidade::Reward half_full(const alidade::Grid& grid) {
    std::vector<double> values;
    for (alidade::State cell = 0; cell < grid.cells(); ++cell)
        values.insert(values.end(), actions, std::abs(grid.centre(cell)[0] - 0.5) <= 0.25 ? 1.0 : 0.0);
    return alidade::Reward({grid.cells(), actions, horizon}, values);
}

}  // namespace

int main() {
    // The model: three laws of the inflow, and a grid over the level.
    const alidade::Grid grid({{.lower = 0, .upper = 1, .cells = 100}});
    const Inflow dry{0}, usual{most / 2}, wet{most};
    const std::vector<alidade::BaseLaw> laws{law_of(grid, "dry", dry), law_of(grid, "usual", usual),
                                             law_of(grid, "wet", wet)};
    alidade::ProblemDescription parts;
    parts.name = "reservoir";
    parts.features = alidade::aggregate(grid, actions, laws).features;
    parts.horizon = horizon;
    const double first_level = 0.5;
    parts.start = alidade::StartLaw(grid.cell_of({&first_level, 1}));
    // Proved: the level is carried over with slope 1 - r, averaged points are half a cell away on average,
    // and the total variation of a triangular density is twice its height of 2 / most.
    parts.misspecification = alidade::shift_variation(1 - released(0), grid.axes()[0].width() / 2, 4 / most);
    const alidade::Problem problem(parts);
    fmt::print("{} cells, {} actions, {} inflow laws; no law is off by more than {:.4g}\n",
               problem.shape().states, problem.shape().actions, problem.features().features(),
               problem.misspecification());

    // The real reservoir, which nobody sees but through the grid: the level stays continuous.
    const alidade::Matrix weights = (alidade::Matrix(1, 3) << 0.2, 0.5, 0.3).finished();
    alidade::ContinuousEnvironment real(
        grid, actions, horizon, [=](alidade::Stream&, std::span<double> first) { first[0] = first_level; },
        alidade::mixture_dynamics({simulator_of(dry), simulator_of(usual), simulator_of(wet)}, weights));
    alidade::StepwiseDeployer system(real, 1);

    alidade::Exploration exploration(task_of(problem), {.algorithm = "hoeffding", .delta = 0.1});
    exploration.run(system, {.episodes = 20'000});

    const alidade::Knowledge& knowledge = exploration.best();
    fmt::print("any reward: loss at most {:.4f} of {}\n", knowledge.certificate.bound, horizon);
    const alidade::Reward reward = half_full(grid);
    const auto plan = alidade::backward_induction(knowledge.learned->model(), reward);
    const auto claim = alidade::certify_reward(knowledge, reward, plan.policy);
    fmt::print("half full: value in [{:.4f}, {:.4f}], loss at most {:.4f}\n", claim.value.lower,
               claim.value.upper, claim.loss_bound);
    return 0;
}
