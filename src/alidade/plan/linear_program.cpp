#include "linear_program.hpp"

#include <Clp_C_Interface.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "alidade/error.hpp"
#include "alidade/plan/evaluation.hpp"
#include "backup.hpp"

namespace alidade::detail {
namespace {

/// Occupancy below which a state counts as not visited: the solver's own tolerance.
constexpr double visited = 1e-9;

struct ClpCloser {
    void operator()(Clp_Simplex* program) const { Clp_deleteModel(program); }
};
using Program = std::unique_ptr<Clp_Simplex, ClpCloser>;

/// One column for each (h, s, a), one row for each (h, s): outflow minus inflow. As a minimisation of
/// -reward.
struct Columns {
    std::vector<CoinBigIndex> starts;
    std::vector<int> rows;
    std::vector<double> values, costs;
};

Columns columns_of(const TransitionModel& model, const Reward& reward) {
    const Shape& shape = model.shape();
    const SuccessorMap& successors = model.successors();
    const Index nonzeros = shape.horizon * shape.pairs() + (shape.horizon - 1) * successors.entries();
    expects(nonzeros <= std::numeric_limits<int>::max(),
            "the linear program has {} numbers, more than its solver can count (2^31 - 1); use "
            "backward-induction",
            nonzeros);
    Columns result;
    result.starts.reserve(static_cast<std::size_t>(shape.horizon * shape.pairs() + 1));
    result.rows.reserve(static_cast<std::size_t>(nonzeros));
    result.values.reserve(static_cast<std::size_t>(nonzeros));
    for (Step h = 0; h < shape.horizon; ++h) {
        for (Index pair = 0; pair < shape.pairs(); ++pair) {
            result.starts.push_back(static_cast<CoinBigIndex>(result.rows.size()));
            result.costs.push_back(-reward.at(h)[static_cast<std::size_t>(pair)]);
            result.rows.push_back(static_cast<int>(h * shape.states + pair / shape.actions));
            result.values.push_back(1);
            if (h + 1 == shape.horizon) continue;
            const auto probabilities = model.probabilities(h, pair);
            const auto targets = successors.targets(pair);
            for (std::size_t i = 0; i < targets.size(); ++i) {
                if (!(probabilities[i] > 0)) continue;
                result.rows.push_back(static_cast<int>((h + 1) * shape.states + targets[i]));
                result.values.push_back(-probabilities[i]);
            }
        }
    }
    result.starts.push_back(static_cast<CoinBigIndex>(result.rows.size()));
    return result;
}

Program solve(const TransitionModel& model, const Reward& reward) {
    const Shape& shape = model.shape();
    const Columns columns = columns_of(model, reward);
    std::vector<double> supply(static_cast<std::size_t>(shape.horizon * shape.states), 0.0);
    for (const auto& [state, probability] : model.start().atoms())
        supply[static_cast<std::size_t>(state)] += probability;
    Program program(Clp_newModel());
    ensures(program != nullptr, "Clp gave no linear program");
    Clp_setLogLevel(program.get(), 0);
    // Null bounds are 0 and infinity.
    Clp_loadProblem(program.get(), static_cast<int>(columns.costs.size()), static_cast<int>(supply.size()),
                    columns.starts.data(), columns.rows.data(), columns.values.data(), nullptr, nullptr,
                    columns.costs.data(), supply.data(), supply.data());
    Clp_setPrimalTolerance(program.get(), visited);
    Clp_setDualTolerance(program.get(), 1e-9);
    Clp_initialSolve(program.get());
    return program;
}

/// The dual values as H*S numbers in their range; whatever is no number becomes the largest value possible.
std::vector<double> dual_values(Clp_Simplex* program, const Shape& shape) {
    const double* const prices = Clp_getRowPrice(program);
    std::vector<double> values(static_cast<std::size_t>(shape.horizon * shape.states));
    for (std::size_t row = 0; row < values.size(); ++row) {
        const Step h = static_cast<Step>(row) / shape.states;
        const auto most = static_cast<double>(shape.horizon - h);
        values[row] = std::isfinite(prices[row]) ? std::clamp(-prices[row], 0.0, most) : most;
    }
    return values;
}

}  // namespace

Plan LinearProgramPlanner::do_plan(const TransitionModel& model, const Reward& reward) const {
    const Shape& shape = model.shape();
    const auto states = static_cast<std::size_t>(shape.states);
    const Program program = solve(model, reward);
    const double* const mass = Clp_getColSolution(program.get());
    const std::vector<double> values = dual_values(program.get(), shape);

    std::vector<std::int32_t> actions(values.size());
    std::vector<double> backed_up(states);
    double upper = model.start().expect(std::span<const double>(values.data(), states));
    for (Step h = 0; h < shape.horizon; ++h) {
        const std::size_t first = static_cast<std::size_t>(h) * states;
        optimal_backup(model, reward, h, {0, shape.states},
                       h + 1 == shape.horizon ? nullptr : values.data() + first + states, backed_up.data(),
                       actions.data() + first);
        double shortfall = 0;
        for (std::size_t s = 0; s < states; ++s) {
            shortfall = std::max(shortfall, backed_up[s] - values[first + s]);
            const double* const law = mass + (first + s) * static_cast<std::size_t>(shape.actions);
            const double* const most = std::max_element(law, law + shape.actions);
            if (*most > visited) actions[first + s] = static_cast<std::int32_t>(most - law);
        }
        // Lifting the values of steps 0 .. h by the shortfall of step h makes them feasible, and costs it
        // once.
        upper += shortfall;
    }
    Policy policy = Policy::deterministic(shape, std::move(actions));
    const double value = evaluate(model, policy, reward).value;
    return Plan{std::move(policy), value, std::max(0.0, upper - value)};
}

}  // namespace alidade::detail
