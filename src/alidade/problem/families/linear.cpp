#include <algorithm>
#include <cmath>

#include "alidade/error.hpp"
#include "alidade/problem/reward_catalogue.hpp"
#include "alidade/random/samplers.hpp"
#include "drawing.hpp"
#include "families.hpp"
#include "parameters.hpp"

namespace alidade::detail {
namespace {

constexpr Index max_linear_states = 3'000;  // every state may follow every pair

std::vector<FamilyParameter> linear_parameters(Index states, Index actions, Index features, Index horizon) {
    return {integer_parameter("states", states, 2, max_linear_states, "Number of states."),
            integer_parameter("actions", actions, 1, 100, "Number of actions."),
            integer_parameter("features", features, 1, 100, "Number of features d of a state and action."),
            horizon_parameter(horizon), seed_parameter()};
}

/// What both families have in common: all of `values` are laws on the features, all of mu laws on the states.
Problem linear_problem(const std::string& name, const FamilyArguments& arguments, std::vector<double> values,
                       std::vector<Matrix> measures) {
    const Index states = arguments.integer("states"), actions = arguments.integer("actions"),
                d = arguments.integer("features");
    ProblemDescription parts;
    parts.name = name;
    parts.linear = std::make_shared<const PairFeatures>(all_successors(states, actions), d, std::move(values),
                                                        std::sqrt(static_cast<double>(d)));
    parts.horizon = arguments.integer("horizon");
    parts.measures = std::move(measures);
    const Shape shape{states, actions, parts.horizon};
    parts.rewards.push_back(
        {"target", "1 in the last state, 0 elsewhere.", single_state_reward(shape, states - 1)});
    return Problem(std::move(parts));
}

Problem make_linear_random(const FamilyArguments& arguments) {
    const Index states = arguments.integer("states"), actions = arguments.integer("actions"),
                d = arguments.integer("features");
    std::vector<double> values;
    for (Index pair = 0; pair < states * actions; ++pair) {
        Stream random = instance_stream(arguments, Draw::rows, pair);
        const std::vector<double> phi = sample_dirichlet(random, d, 0.5);
        values.insert(values.end(), phi.begin(), phi.end());
    }
    std::vector<Matrix> measures;
    for (Step h = 0; h < arguments.integer("horizon"); ++h) {
        Stream random = instance_stream(arguments, Draw::measures, h);
        Matrix mu(d, states);
        for (Index i = 0; i < d; ++i) {
            const std::vector<double> law = sample_dirichlet(random, states, 0.3);
            mu.row(i) = Eigen::Map<const Eigen::RowVectorXd>(law.data(), states);
        }
        measures.push_back(std::move(mu));
    }
    return linear_problem("linear-random", arguments, std::move(values), std::move(measures));
}

Problem make_linear_lock(const FamilyArguments& arguments) {
    const Index states = arguments.integer("states"), actions = arguments.integer("actions"),
                d = arguments.integer("features");
    expects(d >= 2, "builtin:linear-lock: parameter 'features' is {}; a lock needs 2", d);
    std::vector<double> values;
    for (State s = 0; s < states; ++s)
        for (Action a = 0; a < actions; ++a) {
            // Action 0 turns the lock by one; the others open nothing.
            const Index hot = a == 0 ? std::min(std::min(s, d - 2) + 1, d - 1) : 0;
            for (Index i = 0; i < d; ++i) values.push_back(i == hot ? 1.0 : 0.0);
        }
    std::vector<Matrix> measures;
    for (Step h = 0; h < arguments.integer("horizon"); ++h) {
        Stream random = instance_stream(arguments, Draw::measures, h);
        Matrix mu = Matrix::Zero(d, states);
        for (Index i = 0; i + 1 < d; ++i) {
            mu(i, std::min(i, states - 1)) += 0.9;
            mu(i, 0) += 0.1;
        }
        const std::vector<double> law = sample_dirichlet(random, states, 0.5);
        mu.row(d - 1) = Eigen::Map<const Eigen::RowVectorXd>(law.data(), states);
        measures.push_back(std::move(mu));
    }
    return linear_problem("linear-lock", arguments, std::move(values), std::move(measures));
}

}  // namespace

Family linear_random_family() {
    return {"linear-random",
            "A random linear MDP: features of states and actions are known, and the laws that they mix are "
            "not.",
            linear_parameters(10, 3, 3, 5), make_linear_random};
}

Family linear_lock_family() {
    return {"linear-lock",
            "A linear MDP whose last feature, the only one that surprises, lies at the end of a lock.",
            linear_parameters(20, 4, 5, 5), make_linear_lock};
}

}  // namespace alidade::detail
