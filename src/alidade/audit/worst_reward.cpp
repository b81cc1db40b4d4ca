#include "worst_reward.hpp"

#include <Clp_C_Interface.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

namespace alidade::detail {

namespace {

/// What following the plan is paid for.
constexpr double share_of_plan = 1e-6;

struct RewardProgramCloser {
    void operator()(Clp_Simplex* program) const { Clp_deleteModel(program); }
};
using RewardProgram = std::unique_ptr<Clp_Simplex, RewardProgramCloser>;

/// How often a deterministic policy is in every state of every step.
std::vector<double> visits_of(const TransitionModel& truth, const Policy& policy) {
    const Shape& shape = truth.shape();
    std::vector<double> mass(at(shape.horizon * shape.states), 0.0);
    for (const auto& [state, probability] : truth.start().atoms()) mass[at(state)] += probability;
    for (Step h = 0; h + 1 < shape.horizon; ++h)
        for (State s = 0; s < shape.states; ++s) {
            const double here = mass[at(h * shape.states + s)];
            if (!(here > 0)) continue;
            const Index pair = shape.pair(s, policy.action(h, s));
            const auto targets = truth.successors().targets(pair);
            const auto law = truth.probabilities(h, pair);
            for (std::size_t j = 0; j < targets.size(); ++j)
                mass[at((h + 1) * shape.states + targets[j])] += here * law[j];
        }
    return mass;
}

/// A column for each reward, then one for each value in the model; a row for each (h, s, a): R + P~ V' - V,
/// which is at most 0, and 0 of the plan's action.
struct RewardColumns {
    std::vector<CoinBigIndex> starts{0};
    std::vector<int> rows;
    std::vector<double> numbers;

    void end_column() { starts.push_back(static_cast<CoinBigIndex>(rows.size())); }
    void add(Index row, double number) {
        rows.push_back(static_cast<int>(row));
        numbers.push_back(number);
    }
};

RewardColumns reward_columns(const TransitionModel& model) {
    const Shape& shape = model.shape();
    RewardColumns columns;
    for (Index row = 0; row < shape.horizon * shape.pairs(); ++row) {
        columns.add(row, 1);
        columns.end_column();
    }
    for (Step h = 0; h < shape.horizon; ++h) {
        // What leads to every state from the step before.
        std::vector<std::vector<std::pair<Index, double>>> arriving(at(shape.states));
        for (Index pair = 0; h > 0 && pair < shape.pairs(); ++pair) {
            const auto targets = model.successors().targets(pair);
            const auto law = model.probabilities(h - 1, pair);
            for (std::size_t j = 0; j < targets.size(); ++j)
                if (law[j] > 0) arriving[at(targets[j])].emplace_back((h - 1) * shape.pairs() + pair, law[j]);
        }
        for (State s = 0; s < shape.states; ++s) {
            for (const auto& [row, probability] : arriving[at(s)]) columns.add(row, probability);
            for (Action a = 0; a < shape.actions; ++a) columns.add(h * shape.pairs() + shape.pair(s, a), -1);
            columns.end_column();
        }
    }
    return columns;
}

}  // namespace

std::optional<std::vector<double>> worst_reward(const TransitionModel& model, const TransitionModel& truth,
                                                const Policy& best, const Policy& plan) {
    const Shape& shape = model.shape();
    const Index rewards = shape.horizon * shape.pairs(), values = shape.horizon * shape.states;
    const std::vector<double> best_visits = visits_of(truth, best), plan_visits = visits_of(truth, plan);
    std::vector<double> most(at(rewards + values), 1.0), gain(most.size(), 0.0), least(at(rewards), -1e30),
        zero(at(rewards), 0.0);
    for (Step h = 0; h < shape.horizon; ++h)
        for (State s = 0; s < shape.states; ++s) {
            const auto place = at(h * shape.states + s);
            const Index first = h * shape.pairs();
            gain[at(first + shape.pair(s, best.action(h, s)))] -= best_visits[place];
            gain[at(first + shape.pair(s, plan.action(h, s)))] += plan_visits[place];
            least[at(first + shape.pair(s, plan.action(h, s)))] = 0;
            most[at(rewards) + place] = static_cast<double>(shape.horizon - h);
        }
    const RewardColumns columns = reward_columns(model);
    const RewardProgram program(Clp_newModel());
    if (program == nullptr) return std::nullopt;
    Clp_setLogLevel(program.get(), 0);
    // As a minimisation; a null lower bound of a column is 0.
    Clp_loadProblem(program.get(), static_cast<int>(most.size()), static_cast<int>(rewards),
                    columns.starts.data(), columns.rows.data(), columns.numbers.data(), nullptr, most.data(),
                    gain.data(), least.data(), zero.data());
    Clp_setPrimalTolerance(program.get(), 1e-9);
    Clp_initialDualSolve(program.get());
    if (Clp_status(program.get()) != 0) return std::nullopt;
    const double* const found = Clp_getColSolution(program.get());
    std::vector<double> reward(found, found + rewards);
    for (double& each : reward)
        each = std::isfinite(each) ? (1 - share_of_plan) * std::clamp(each, 0.0, 1.0) : 0;
    for (Step h = 0; h < shape.horizon; ++h)
        for (State s = 0; s < shape.states; ++s)
            reward[at(h * shape.pairs() + shape.pair(s, plan.action(h, s)))] += share_of_plan;
    return reward;
}

}  // namespace alidade::detail
