#include "flat_model.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "alidade/error.hpp"

namespace alidade::detail {
namespace {

void check_offsets(const std::vector<std::int64_t>& offsets, std::size_t targets, std::string_view what,
                   bool may_be_empty, std::string_view file) {
    expects(!offsets.empty() && offsets.front() == 0,
            "{}: the positions of {} start at {}; they must start at 0", file, what,
            offsets.empty() ? -1 : offsets.front());
    for (std::size_t i = 1; i < offsets.size(); ++i)
        expects(offsets[i] >= offsets[i - 1] + (may_be_empty ? 0 : 1) && at(offsets[i]) <= targets,
                "{}: position {} of {} is {}; it must be {} {} (the one before) and at most {}", file, i,
                what, offsets[i], may_be_empty ? "at least" : "above", offsets[i - 1], targets);
    expects(at(offsets.back()) == targets, "{}: the positions of {} end at {}; there are {} of them", file,
            what, offsets.back(), targets);
}

void check_size(std::size_t size, std::size_t expected, std::string_view what, std::string_view file) {
    expects(size == expected, "{}: there are {} {}; there must be {}", file, size, what, expected);
}

void check_sizes(const FlatModel& flat, std::string_view file) {
    expects(flat.state_choices.size() >= 2, "{}: there are no states; a model needs one", file);
    expects(!flat.choice_branches.empty(), "{}: there are no choices; every state needs one", file);
    const std::size_t states = flat.state_choices.size() - 1, choices = flat.choice_branches.size() - 1,
                      branches = flat.targets.size(), rewards = flat.header.rewards.size();
    check_offsets(flat.state_choices, choices, "the choices of a state", false, file);
    check_offsets(flat.choice_branches, branches, "the branches of a choice", false, file);
    const BranchKind kind = flat.header.kind;
    check_size(flat.lower.size(), kind == BranchKind::parametric ? 0 : branches, "probabilities of branches",
               file);
    check_size(flat.upper.size(), kind == BranchKind::interval ? branches : 0,
               "upper probabilities of branches", file);
    std::size_t numbers = 0;
    expects(!__builtin_mul_overflow(branches, 1 + flat.header.parameters.size(), &numbers),
            "{}: too many parameters", file);
    check_size(flat.coefficients.size(), kind == BranchKind::parametric ? numbers : 0, "coefficients", file);
    if (!flat.choice_actions.empty()) check_size(flat.choice_actions.size(), choices, "actions", file);
    // Divided rather than multiplied: the product may not fit.
    const auto fits = [&](std::size_t size, std::size_t count) {
        return rewards == 0 ? size == 0 : size % rewards == 0 && size / rewards == count;
    };
    expects(fits(flat.state_rewards.size(), states) && fits(flat.choice_rewards.size(), choices),
            "{}: there are {} rewards of states and {} of choices; {} reward structures over {} states and "
            "{} choices need one for each",
            file, flat.state_rewards.size(), flat.choice_rewards.size(), rewards, states, choices);
    if (flat.label_offsets.empty()) return check_size(flat.labels.size(), 0, "labels of states", file);
    check_size(flat.label_offsets.size(), states + 1, "positions of labels", file);
    check_offsets(flat.label_offsets, flat.labels.size(), "the labels of a state", true, file);
}

/// The sum of two probabilities; one if it exceeds one by at most `excess` and neither of them does.
double add_up(double a, double b, double excess) {
    const double sum = a + b;
    return a <= 1 && b <= 1 && sum > 1 && sum <= 1 + excess ? 1 : sum;
}

std::int32_t checked(std::int64_t value, std::size_t count, std::int64_t smallest, std::string_view what,
                     Index state, std::string_view file) {
    expects(value >= smallest && value < static_cast<std::int64_t>(count),
            "{}: state {} has {} {}; it must be from {} to {}", file, state, what, value, smallest,
            static_cast<std::int64_t>(count) - 1);
    return static_cast<std::int32_t>(value);
}

void add_choice(const FlatModel& flat, Index state, std::int64_t choice, ExplicitState& row,
                std::string_view file) {
    const ExplicitHeader& header = flat.header;
    const std::size_t first = at(flat.choice_branches[at(choice)]),
                      last = at(flat.choice_branches[at(choice + 1)]), start = row.targets.size(),
                      width = 1 + header.parameters.size();
    const auto slice = [&](const auto& from, auto& to, std::size_t each) {
        if (from.empty()) return;
        const auto begin = from.begin();
        to.insert(to.end(), begin + static_cast<std::ptrdiff_t>(first * each),
                  begin + static_cast<std::ptrdiff_t>(last * each));
    };
    slice(flat.targets, row.targets, 1);
    slice(flat.lower, row.lower, 1);
    slice(flat.upper, row.upper, 1);
    slice(flat.coefficients, row.coefficients, width);
    sort_branches(row, start, header.kind, header.parameters.size());
    row.offsets.push_back(static_cast<std::int64_t>(row.targets.size()));
    row.actions.push_back(
        flat.choice_actions.empty()
            ? -1
            : checked(flat.choice_actions[at(choice)], header.actions.size(), -1, "action", state, file));
    for (std::size_t r = 0; r < header.rewards.size(); ++r)
        row.choice_rewards.push_back(flat.choice_rewards[at(choice) * header.rewards.size() + r]);
}

}  // namespace

void sort_branches(ExplicitState& row, std::size_t first, BranchKind kind, std::size_t parameters) {
    const auto begin = row.targets.begin() + static_cast<std::ptrdiff_t>(first);
    if (std::is_sorted(begin, row.targets.end(), std::less_equal<>())) return;
    const std::size_t count = row.targets.size() - first, width = 1 + parameters;
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), first);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return row.targets[a] < row.targets[b]; });
    std::vector<std::int64_t> targets;
    std::vector<double> lower, upper, coefficients;
    for (const std::size_t i : order) {
        const bool again = !targets.empty() && targets.back() == row.targets[i];
        if (!again) targets.push_back(row.targets[i]);
        const auto put = [&](std::vector<double>& to, double value, double excess) {
            again ? void(to.back() = add_up(to.back(), value, excess)) : to.push_back(value);
        };
        if (kind != BranchKind::parametric) put(lower, row.lower[i], 1e-9);
        // Two intervals can add up to more than a probability can be.
        if (kind == BranchKind::interval) put(upper, row.upper[i], 1);
        if (kind != BranchKind::parametric) continue;
        for (std::size_t k = 0; k < width; ++k) {
            const double value = row.coefficients[i * width + k];
            again ? void(coefficients[coefficients.size() - width + k] += value)
                  : coefficients.push_back(value);
        }
    }
    const auto replace = [](auto& values, std::size_t from, const auto& with) {
        if (from >= values.size()) return;
        values.resize(from);
        values.insert(values.end(), with.begin(), with.end());
    };
    replace(row.targets, first, targets);
    replace(row.lower, first, lower);
    replace(row.upper, first, upper);
    replace(row.coefficients, first * width, coefficients);
}

ExplicitModel assemble(const FlatModel& flat, std::string_view file, const ModelReadOptions& options) {
    check_sizes(flat, file);
    ExplicitModel model{flat.header, {}};
    ExplicitHeader& header = model.header;
    header.states = static_cast<Index>(flat.state_choices.size()) - 1;
    header.choices = static_cast<Index>(flat.choice_branches.size()) - 1;
    header.branches = 0;
    model.states.resize(at(header.states));
    for (Index state = 0; state < header.states; ++state) {
        ExplicitState& row = model.states[at(state)];
        row.clear();
        if (!flat.label_offsets.empty())
            for (auto i = flat.label_offsets[at(state)]; i < flat.label_offsets[at(state + 1)]; ++i)
                row.labels.push_back(
                    checked(flat.labels[at(i)], header.labels.size(), 0, "label", state, file));
        for (auto c = flat.state_choices[at(state)]; c < flat.state_choices[at(state + 1)]; ++c)
            add_choice(flat, state, c, row, file);
        for (std::size_t r = 0; r < header.rewards.size(); ++r)
            row.state_rewards.push_back(flat.state_rewards[at(state) * header.rewards.size() + r]);
        header.branches += static_cast<Index>(row.targets.size());
    }
    if (options.normalise) normalise(model);
    validate(model, file);
    return model;
}

SpooledModel::SpooledModel(const ExplicitRows& rows, const std::filesystem::path& output)
    : state_choices(output),
      choice_branches(output),
      targets(output),
      lower(output),
      upper(output),
      coefficients(output),
      choice_actions(output),
      labels(output),
      state_rewards(output),
      choice_rewards(output),
      header_(rows.header()),
      output_(output.string()),
      state_reward_used_(header_.rewards.size(), false),
      choice_reward_used_(header_.rewards.size(), false) {
    state_choices.append_value(std::int64_t{0});
    choice_branches.append_value(std::int64_t{0});
    ExplicitState row;
    for (Index state = 0; state < header_.states; ++state) {
        rows.read(state, row);
        add(row, state);
    }
    expects(choices_ == header_.choices && branches_ == header_.branches,
            "{}: the model has {} choices and {} branches, but its header says {} and {}", output_, choices_,
            branches_, header_.choices, header_.branches);
}

void SpooledModel::add(const ExplicitState& row, Index state) {
    const std::size_t choices = at(row.choices()), branches = row.targets.size(),
                      rewards = header_.rewards.size();
    const bool points = header_.kind != BranchKind::parametric;
    expects(choices >= 1 && row.actions.size() == choices && at(row.offsets.back()) == branches &&
                row.lower.size() == (points ? branches : 0) &&
                row.upper.size() == (header_.kind == BranchKind::interval ? branches : 0) &&
                row.coefficients.size() == (points ? 0 : branches * (1 + header_.parameters.size())) &&
                row.state_rewards.size() == rewards && row.choice_rewards.size() == choices * rewards,
            "{}: the row of state {} does not have the sizes that its choices and the header ask for",
            output_, state);
    choices_ += row.choices();
    state_choices.append_value(choices_);
    for (std::size_t c = 0; c < choices; ++c) {
        choice_branches.append_value(branches_ + row.offsets[c + 1]);
        has_unnamed_choices_ = has_unnamed_choices_ || row.actions[c] < 0;
        for (std::size_t r = 0; r < rewards; ++r)
            if (row.choice_rewards[c * rewards + r] != 0) choice_reward_used_[r] = true;
    }
    branches_ += static_cast<std::int64_t>(branches);
    for (std::size_t r = 0; r < rewards; ++r)
        if (row.state_rewards[r] != 0) state_reward_used_[r] = true;
    targets.append_values(std::span(row.targets));
    lower.append_values(std::span(row.lower));
    upper.append_values(std::span(row.upper));
    coefficients.append_values(std::span(row.coefficients));
    choice_actions.append_values(std::span(row.actions));
    labels.append_value(static_cast<std::int32_t>(row.labels.size()));
    labels.append_values(std::span(row.labels));
    state_rewards.append_values(std::span(row.state_rewards));
    choice_rewards.append_values(std::span(row.choice_rewards));
}

}  // namespace alidade::detail
