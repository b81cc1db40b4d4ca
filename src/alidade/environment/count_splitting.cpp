#include <algorithm>
#include <utility>

#include "alidade/environment/deployment.hpp"
#include "batch.hpp"

namespace alidade {

void CountSplittingDeployer::StateCounts::arrive(std::int32_t state, std::int64_t count) {
    std::int64_t& present = episodes[static_cast<std::size_t>(state)];
    if (present == 0) occupied.push_back(state);
    present += count;
}

CountSplittingDeployer::CountSplittingDeployer(TransitionModel model, std::uint64_t seed)
    : model_(std::move(model)), seed_(seed), start_weights_(detail::start_weights(model_.start())) {
    const auto states = static_cast<std::size_t>(model_.shape().states);
    for (StateCounts* crowd : {&here_, &next_}) {
        crowd->episodes.assign(states, 0);
        crowd->occupied.reserve(states);
    }
    cells_.resize(
        std::max(static_cast<std::size_t>(model_.successors().max_successors()), start_weights_.size()));
    actions_.resize(static_cast<std::size_t>(model_.shape().actions));
}

void CountSplittingDeployer::deploy(const Policy& policy, std::int64_t first_episode, std::int64_t episodes,
                                    Counts& counts) {
    const Shape& shape = model_.shape();
    detail::expect_batch(shape, policy, first_episode, episodes, counts);
    expects(counts.over(model_.successors()),
            "the counts are over other successors than the simulated model's");
    const auto stream_of = [&](Index address) {
        return Stream(seed_, Purpose::splitting, static_cast<std::uint64_t>(first_episode),
                      static_cast<std::uint64_t>(address));
    };
    counts.add_episodes(episodes);
    if (episodes == 0 || shape.learned_steps() == 0) return;
    Stream start = stream_of(shape.horizon * shape.states);
    if (episodes == 1) {
        walk(policy, start, counts);
        return;
    }

    split_start(episodes, start);
    for (Step h = 0; h < shape.learned_steps(); ++h) {
        for (const std::int32_t s : here_.occupied) {
            Stream random = stream_of(h * shape.states + s);
            split_state(policy, h, s, random, counts);
            here_.episodes[static_cast<std::size_t>(s)] = 0;
        }
        here_.occupied.clear();
        std::swap(here_, next_);
    }
    // Those who reached the last step are not counted; leave the tables clean for the next deployment.
    for (const std::int32_t s : here_.occupied) here_.episodes[static_cast<std::size_t>(s)] = 0;
    here_.occupied.clear();
}

void CountSplittingDeployer::walk(const Policy& policy, Stream& random, Counts& counts) const {
    const Shape& shape = model_.shape();
    State state = detail::sample_start(random, model_.start(), start_weights_);
    for (Step h = 0; h < shape.learned_steps(); ++h) {
        const Action action = detail::sample_action(random, policy, h, state);
        const Index entry = detail::sample_entry(random, model_, h, shape.pair(state, action));
        counts.add(h, entry, 1);
        state = model_.successors().targets()[static_cast<std::size_t>(entry)];
    }
}

void CountSplittingDeployer::split_start(std::int64_t episodes, Stream& random) {
    const auto cells = std::span(cells_).first(start_weights_.size());
    if (cells.size() == 1) {
        cells[0] = episodes;
    } else {
        detail::split(random, episodes, start_weights_, cells);
    }
    for (std::size_t i = 0; i < cells.size(); ++i) {
        const auto state = static_cast<std::int32_t>(model_.start().atoms()[i].first);
        if (cells[i] > 0) here_.arrive(state, cells[i]);
    }
}

void CountSplittingDeployer::split_state(const Policy& policy, Step h, State s, Stream& random,
                                         Counts& counts) {
    const Shape& shape = model_.shape();
    const std::int64_t episodes = here_.episodes[static_cast<std::size_t>(s)];
    if (policy.is_deterministic()) {
        split_pair(h, shape.pair(s, policy.action(h, s)), episodes, random, counts);
        return;
    }
    detail::split(random, episodes, detail::action_law(policy, h, s), actions_);
    for (Action a = 0; a < shape.actions; ++a) {
        const std::int64_t taken = actions_[static_cast<std::size_t>(a)];
        if (taken > 0) split_pair(h, shape.pair(s, a), taken, random, counts);
    }
}

void CountSplittingDeployer::split_pair(Step h, Index pair, std::int64_t episodes, Stream& random,
                                        Counts& counts) {
    const SuccessorMap& successors = model_.successors();
    const auto law = model_.probabilities(h, pair);
    const auto first = static_cast<std::size_t>(successors.first_entry(pair));
    const std::int32_t* const targets = successors.targets().data() + first;
    const auto cells = std::span(cells_).first(law.size());
    detail::split(random, episodes, law, cells);
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (cells[i] == 0) continue;
        counts.add(h, static_cast<Index>(first + i), cells[i]);
        next_.arrive(targets[i], cells[i]);
    }
}

}  // namespace alidade
