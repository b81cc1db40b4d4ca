#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "alidade/formats/explicit_model.hpp"
#include "support/random_models.hpp"

/// Random explicit models for tests of model formats: valid, and everything a function of the stream.
namespace alidade::support {

/// What a random explicit model may have; formats that cannot keep a thing turn it off.
struct ExplicitFeatures {
    BranchKind kind = BranchKind::point;
    Index most_states = 8;
    Index most_choices = 3;           ///< of a state; every state has at least one
    bool same_choices = false;        ///< every state has the same number
    bool one_initial_state = false;   ///< else up to two
    bool action_names = true;         ///< half of the models have them
    bool unnamed_choices = true;      ///< where there are names, some choices have none
    bool labels = true;               ///< up to three
    bool rewards = true;              ///< up to two structures
    bool state_rewards = true;        ///< else they are all zero
    bool zero_probabilities = false;  ///< some points, or lower ends, are 0
    std::vector<std::string> spellings{"up", "Down_2", "x"};  ///< of actions and labels
};

/// Where a model's numbers are drawn: doubles with all their digits, and now and then a tiny or a round one.
inline double random_weight(Stream& random) {
    const Index kind = sample_index(random, 10);
    if (kind == 0) return 1e-300 * (1 + sample_uniform(random));
    if (kind == 1) return 0.25;
    return sample_uniform(random) + 1e-12;
}

/// A point, an interval or an affine row over `count` branches, appended to `row`.
inline void random_branches(Stream& random, const ExplicitHeader& header, bool zeros, Index count,
                            ExplicitState& row) {
    std::vector<double> law(static_cast<std::size_t>(count));
    for (double& p : law) p = random_weight(random);
    if (zeros && count > 1 && sample_index(random, 3) == 0)
        law[static_cast<std::size_t>(sample_index(random, count))] = 0;
    double sum = std::accumulate(law.begin(), law.end(), 0.0);
    if (!(sum > 1e-200)) law[0] = sum = 1;
    for (double& p : law) p = std::min(p / sum, 1.0);
    if (header.kind == BranchKind::point) {
        row.lower.insert(row.lower.end(), law.begin(), law.end());
        return;
    }
    if (header.kind == BranchKind::interval) {
        for (const double p : law) {
            const bool exact = sample_index(random, 5) == 0;
            row.lower.push_back(exact ? p : p * sample_uniform(random) * (zeros ? 1 : 0.5));
            row.upper.push_back(exact ? p : p + (1 - p) * sample_uniform(random));
        }
        return;
    }
    // Coefficients of each parameter that cancel over the branches exactly: paired opposite signs.
    const std::size_t width = 1 + header.parameters.size();
    const std::size_t first = row.coefficients.size();
    row.coefficients.resize(first + law.size() * width, 0.0);
    for (std::size_t i = 0; i < law.size(); ++i) row.coefficients[first + i * width] = law[i];
    for (std::size_t j = 1; j < width; ++j) {
        for (std::size_t i = 0; i + 1 < law.size(); i += 2) {
            if (sample_index(random, 2) == 0) continue;
            const double slope = sample_uniform(random) - 0.5;
            row.coefficients[first + i * width + j] = slope;
            row.coefficients[first + (i + 1) * width + j] = -slope;
        }
    }
}

inline std::vector<std::string> random_names(Stream& random, const std::vector<std::string>& spellings,
                                             Index fewest) {
    const auto most = static_cast<Index>(spellings.size());
    const Index count = std::min(most, fewest + sample_index(random, most - fewest + 1));
    return {spellings.begin(), spellings.begin() + count};
}

inline ExplicitHeader random_header(Stream& random, const ExplicitFeatures& with) {
    ExplicitHeader header;
    header.kind = with.kind;
    header.states = 1 + sample_index(random, with.most_states);
    if (with.kind == BranchKind::parametric)
        header.parameters = random_names(random, {"w_0_0", "w_0_1", "q"}, 1);
    if (with.action_names && sample_index(random, 2) == 0)
        header.actions = random_names(random, with.spellings, 1);
    if (with.labels) header.labels = random_names(random, with.spellings, 0);
    if (with.rewards) header.rewards = random_names(random, {"cost", "r2"}, 0);
    const Index initial =
        with.one_initial_state ? 1 : 1 + sample_index(random, std::min<Index>(2, header.states));
    header.initial_states = random_states(random, header.states, initial);
    return header;
}

/// A valid random model. All numbers survive a format that keeps doubles exactly.
inline ExplicitModel random_explicit_model(Stream& random, const ExplicitFeatures& with = {}) {
    ExplicitModel model{random_header(random, with), {}};
    ExplicitHeader& header = model.header;
    const Index same = 1 + sample_index(random, with.most_choices);
    for (Index s = 0; s < header.states; ++s) {
        ExplicitState row;
        row.clear();
        for (std::size_t label = 0; label < header.labels.size(); ++label)
            if (sample_index(random, 2) == 0) row.labels.push_back(static_cast<std::int32_t>(label));
        const Index choices = with.same_choices ? same : 1 + sample_index(random, with.most_choices);
        for (Index k = 0; k < choices; ++k) {
            const auto names = static_cast<Index>(header.actions.size());
            const Index name = names == 0 ? -1
                                          : sample_index(random, names + (with.unnamed_choices ? 1 : 0)) -
                                                (with.unnamed_choices ? 1 : 0);
            row.actions.push_back(static_cast<std::int32_t>(name));
            const Index count = 1 + sample_index(random, std::min<Index>(4, header.states));
            const auto targets = random_states(random, header.states, count);
            row.targets.insert(row.targets.end(), targets.begin(), targets.end());
            random_branches(random, header, with.zero_probabilities, count, row);
            row.offsets.push_back(static_cast<std::int64_t>(row.targets.size()));
            for (std::size_t r = 0; r < header.rewards.size(); ++r)
                row.choice_rewards.push_back(sample_index(random, 2) == 0 ? 0 : sample_normal(random));
        }
        for (std::size_t r = 0; r < header.rewards.size(); ++r)
            row.state_rewards.push_back(
                with.state_rewards && sample_index(random, 2) == 0 ? sample_normal(random) : 0);
        header.choices += choices;
        header.branches += static_cast<Index>(row.targets.size());
        model.states.push_back(std::move(row));
    }
    return model;
}

/// The names that are used, sorted, and where each old position went; -1 if nowhere.
inline std::vector<std::int32_t> sort_names(std::vector<std::string>& names, std::vector<bool> used) {
    std::vector<std::string> kept;
    for (std::size_t i = 0; i < names.size(); ++i)
        if (used[i]) kept.push_back(names[i]);
    std::sort(kept.begin(), kept.end());
    std::vector<std::int32_t> places;
    for (std::size_t i = 0; i < names.size(); ++i)
        places.push_back(used[i] ? static_cast<std::int32_t>(
                                       std::lower_bound(kept.begin(), kept.end(), names[i]) - kept.begin())
                                 : -1);
    names = std::move(kept);
    return places;
}

/// The same model with names of labels and actions in alphabetical order, those that nothing uses left out:
/// formats need not keep more than that.
inline ExplicitModel canonical(ExplicitModel model) {
    std::vector<bool> labels(model.header.labels.size()), actions(model.header.actions.size());
    for (const ExplicitState& row : model.states) {
        for (const std::int32_t label : row.labels) labels[static_cast<std::size_t>(label)] = true;
        for (const std::int32_t action : row.actions)
            if (action >= 0) actions[static_cast<std::size_t>(action)] = true;
    }
    const auto label_places = sort_names(model.header.labels, labels);
    const auto action_places = sort_names(model.header.actions, actions);
    for (ExplicitState& row : model.states) {
        for (std::int32_t& label : row.labels) label = label_places[static_cast<std::size_t>(label)];
        std::sort(row.labels.begin(), row.labels.end());
        for (std::int32_t& action : row.actions)
            if (action >= 0) action = action_places[static_cast<std::size_t>(action)];
    }
    return model;
}

}  // namespace alidade::support
