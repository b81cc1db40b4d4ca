#include "alidade/formats/unrolled_model.hpp"

#include <algorithm>

namespace alidade {
namespace {

constexpr std::int32_t end_label = 0, start_label = 1;

std::vector<std::pair<State, double>> first_states(const TransitionModel& model) {
    std::vector<std::pair<State, double>> result;
    for (const auto& atom : model.start().atoms())
        if (atom.second > 0) result.push_back(atom);
    std::sort(result.begin(), result.end());
    return result;
}

ExplicitHeader header_of(const TransitionModel& model) {
    const Shape& shape = model.shape();
    const auto start = first_states(model);
    const Index end = shape.horizon * shape.states;
    ExplicitHeader header;
    header.states = end + 1;
    header.choices = shape.horizon * shape.pairs() + 1;
    header.branches = shape.pairs() + 1;
    for (Step h = 0; h + 1 < shape.horizon; ++h)
        header.branches += std::ranges::count_if(model.probabilities(h), [](double p) { return p > 0; });
    header.labels = {"end"};
    header.rewards = {"r"};
    header.initial_states = {start.front().first};
    if (start.size() > 1) {
        header.initial_states = {end + 1};
        header.states += 1;
        header.choices += 1;
        header.branches += std::ssize(start);
        header.labels.emplace_back("start");
    }
    return header;
}

void add_branch(std::int64_t target, double probability, ExplicitState& row) {
    row.targets.push_back(target);
    row.lower.push_back(probability);
}

void close_choice(double reward, ExplicitState& row) {
    row.actions.push_back(-1);
    row.offsets.push_back(std::ssize(row.targets));
    row.choice_rewards.push_back(reward);
}

}  // namespace

UnrolledModel::UnrolledModel(const TransitionModel& model, const Reward& reward)
    : ExplicitRows(header_of(model)), model_(model), reward_(reward), start_(first_states(model)) {}

void UnrolledModel::do_read(Index state, ExplicitState& row) const {
    const Shape& shape = model_.shape();
    const Index end = shape.horizon * shape.states;
    row.clear();
    row.state_rewards.assign(1, 0.0);
    if (state >= end) {
        row.labels.push_back(state == end ? end_label : start_label);
        if (state == end)
            add_branch(end, 1, row);
        else
            for (const auto& [first, probability] : start_) add_branch(first, probability, row);
        close_choice(0, row);
        return;
    }
    const Step h = state / shape.states;
    for (Action a = 0; a < shape.actions; ++a) {
        const Index pair = shape.pair(state % shape.states, a);
        if (h + 1 == shape.horizon) {
            add_branch(end, 1, row);
        } else {
            const auto targets = model_.successors().targets(pair);
            const auto probabilities = model_.probabilities(h, pair);
            for (std::size_t i = 0; i < targets.size(); ++i)
                if (probabilities[i] > 0)
                    add_branch((h + 1) * shape.states + targets[i], probabilities[i], row);
        }
        close_choice(reward_.at(h)[static_cast<std::size_t>(pair)], row);
    }
}

}  // namespace alidade
