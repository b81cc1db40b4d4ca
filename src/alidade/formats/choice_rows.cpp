#include "choice_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "alidade/error.hpp"

namespace alidade::detail {
namespace {

/// A file can ask for the square of its length in coefficients; no more than 512 MiB of them.
constexpr std::size_t most_coefficients = std::size_t{1} << 26U;

std::int32_t position_of(std::string_view name, std::unordered_map<std::string, std::int32_t>& positions,
                         std::vector<std::string>& names) {
    const auto [place, fresh] = positions.emplace(std::string(name), static_cast<std::int32_t>(names.size()));
    if (fresh) names.emplace_back(name);
    return place->second;
}

}  // namespace

void ChoiceRows::begin_state(std::string place) {
    end_state();
    model_.states.emplace_back();
    row().clear();
    place_ = std::move(place);
}

void ChoiceRows::state_rewards(std::vector<double> rewards) {
    row().state_rewards = std::move(rewards);
}

void ChoiceRows::label(std::string_view name) {
    const std::int32_t position = position_of(name, labels_, model_.header.labels);
    auto& labels = row().labels;
    const auto after = std::ranges::lower_bound(labels, position);
    if (after == labels.end() || *after != position) labels.insert(after, position);
}

void ChoiceRows::begin_choice(std::string_view action, const std::vector<double>& rewards,
                              std::string place) {
    end_choice();
    in_choice_ = true;
    place_ = std::move(place);
    const bool unnamed = action == "__NOLABEL__" || action.empty();
    if (action != std::to_string(row().actions.size())) numbered_ = numbered_ && unnamed;
    row().actions.push_back(unnamed ? -1 : position_of(action, actions_, model_.header.actions));
    row().choice_rewards.insert(row().choice_rewards.end(), rewards.begin(), rewards.end());
}

void ChoiceRows::branch(Index target, double lower, double upper, const std::string& place) {
    // Written so that a NaN fails.
    expects(lower >= 0 && lower <= upper && upper <= 1, "{}: the probability is {}; it must lie in [0, 1]",
            place, lower == upper ? fmt::format("{}", lower) : fmt::format("[{}, {}]", lower, upper));
    add({target, lower, upper, {}}, place);
}

void ChoiceRows::branch(Index target, const Affine& probability, const std::string& place) {
    const std::size_t width = 1 + model_.header.parameters.size();
    coefficients_ += width;
    expects(coefficients_ <= most_coefficients,
            "{}: more than {} coefficients of {} parameters; such a model is too large to be read", place,
            most_coefficients, width - 1);
    const double constant = probability.constant;
    add({target, constant, constant, {probability.slopes.begin(), probability.slopes.end()}}, place);
}

void ChoiceRows::add(Branch branch, const std::string& place) {
    if (!in_choice_) begin_choice({}, std::vector<double>(model_.header.rewards.size(), 0), place);
    branches_.push_back(std::move(branch));
}

void ChoiceRows::check_sum() const {
    double low = 0;
    double high = 0;
    std::map<std::int32_t, double> slopes;
    for (const Branch& branch : branches_) {
        low += branch.lower;
        high += branch.upper;
        for (const auto& [parameter, slope] : branch.slopes) slopes[parameter] += slope;
    }
    const ExplicitState& row = model_.states.back();
    const bool parametric = model_.header.kind == BranchKind::parametric;
    const auto where = [&] {
        return fmt::format("{}: state {}, choice {}", place_, states() - 1, row.actions.size() - 1);
    };
    expects(low <= 1 + row_sum_tolerance && high >= 1 - row_sum_tolerance,
            "{}: {} to {}; they must sum to 1 within 1e-9", where(),
            parametric ? "the constants of its branches sum" : "probabilities sum",
            low == high ? fmt::format("{}", low) : fmt::format("at least {} and at most {}", low, high));
    for (const auto& [parameter, slope] : slopes)
        expects(std::abs(slope) <= row_sum_tolerance,
                "{}: the coefficient of {} sums to {} over its branches; it must be 0 within 1e-9", where(),
                model_.header.parameters[static_cast<std::size_t>(parameter)], slope);
}

void ChoiceRows::end_choice() {
    if (!in_choice_) return;
    in_choice_ = false;
    expects(!branches_.empty(), "{}: the choice has no transition", place_);
    if (check_sums_) check_sum();
    std::ranges::stable_sort(branches_, {}, &Branch::target);
    const bool parametric = model_.header.kind == BranchKind::parametric;
    const std::size_t width = 1 + model_.header.parameters.size();
    for (std::size_t i = 0; i < branches_.size(); ++i) {
        const Branch& branch = branches_[i];
        expects(i == 0 || branches_[i - 1].target != branch.target, "{}: next state {} is named twice",
                place_, branch.target);
        row().targets.push_back(branch.target);
        if (!parametric) {
            row().lower.push_back(branch.lower);
            row().upper.push_back(branch.upper);
            continue;
        }
        const std::size_t first = row().coefficients.size();
        row().coefficients.resize(first + width, 0);
        row().coefficients[first] = branch.lower;
        for (const auto& [parameter, slope] : branch.slopes)
            row().coefficients[first + 1 + static_cast<std::size_t>(parameter)] = slope;
    }
    branches_.clear();
    row().offsets.push_back(static_cast<std::int64_t>(row().targets.size()));
}

void ChoiceRows::end_state() {
    if (model_.states.empty()) return;
    end_choice();
    expects(row().choices() > 0, "{}: the state has no choice", place_);
    model_.header.choices += row().choices();
    model_.header.branches += static_cast<Index>(row().targets.size());
}

void ChoiceRows::drop_positions() {
    model_.header.actions.clear();
    for (ExplicitState& state : model_.states) std::ranges::fill(state.actions, -1);
}

void ChoiceRows::finish(std::string_view file) {
    expects(!model_.states.empty(), "{}: there are no states", file);
    end_state();
    model_.header.states = states();
    if (numbered_) drop_positions();
    if (model_.header.kind == BranchKind::point)
        for (ExplicitState& state : model_.states) state.upper.clear();
}

}  // namespace alidade::detail
