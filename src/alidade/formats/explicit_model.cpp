#include "alidade/formats/explicit_model.hpp"

#include <algorithm>
#include <cmath>

#include "alidade/error.hpp"

namespace alidade {
namespace {

/// One state of a model, and how messages call it.
struct Place {
    const ExplicitHeader& header;
    const ExplicitState& row;
    std::string_view where;
    Index state;
};

void check_sizes(const Place& place) {
    const auto& [header, row, where, state] = place;
    const auto fits = [where = where, state = state](std::size_t size, std::size_t wanted,
                                                     std::string_view what) {
        expects(size == wanted, "{}: state {} has {} {}; there must be {}", where, state, size, what, wanted);
    };
    expects(row.offsets.size() >= 2, "{}: state {} has no choice; every state needs at least one", where,
            state);
    const std::size_t choices = row.offsets.size() - 1;
    expects(row.offsets.front() == 0, "{}: state {}: the first offset is {}; it must be 0", where, state,
            row.offsets.front());
    for (std::size_t k = 0; k < choices; ++k)
        expects(row.offsets[k] < row.offsets[k + 1], "{}: state {}, choice {} has no branch", where, state,
                k);
    const std::size_t branches = row.targets.size();
    expects(row.offsets.back() == static_cast<std::int64_t>(branches),
            "{}: state {} has {} next states; its offsets end at {}", where, state, branches,
            row.offsets.back());
    const bool parametric = header.kind == BranchKind::parametric;
    fits(row.actions.size(), choices, "actions of choices");
    fits(row.lower.size(), parametric ? 0 : branches, "probabilities");
    fits(row.upper.size(), header.kind == BranchKind::interval ? branches : 0, "upper probabilities");
    fits(row.coefficients.size(), parametric ? branches * (1 + header.parameters.size()) : 0, "coefficients");
    fits(row.state_rewards.size(), header.rewards.size(), "rewards of the state");
    fits(row.choice_rewards.size(), choices * header.rewards.size(), "rewards of choices");
}

void check_positions(const Place& place) {
    const auto& [header, row, where, state] = place;
    for (std::size_t i = 0; i < row.labels.size(); ++i) {
        const std::int32_t label = row.labels[i];
        expects(label >= 0 && at(label) < header.labels.size(), "{}: state {} has label {} of {}", where,
                state, label, header.labels.size());
        expects(i == 0 || row.labels[i - 1] < label, "{}: state {}: its labels are not ascending", where,
                state);
    }
    for (const std::int32_t action : row.actions)
        expects(action >= -1 && (action < 0 || at(action) < header.actions.size()),
                "{}: state {} has a choice with action {} of {}", where, state, action,
                header.actions.size());
    for (Index k = 0; k < row.choices(); ++k) {
        for (auto i = at(row.offsets[at(k)]); i < at(row.offsets[at(k + 1)]); ++i) {
            const std::int64_t target = row.targets[i];
            expects(target >= 0 && target < header.states,
                    "{}: state {}, choice {} leads to state {}; there are {}", where, state, k, target,
                    header.states);
            expects(at(row.offsets[at(k)]) == i || row.targets[i - 1] < target,
                    "{}: state {}, choice {}: next states are not ascending at {}", where, state, k, target);
        }
    }
    const auto finite = [](double x) { return std::isfinite(x); };
    expects(std::all_of(row.state_rewards.begin(), row.state_rewards.end(), finite) &&
                std::all_of(row.choice_rewards.begin(), row.choice_rewards.end(), finite),
            "{}: state {} has a reward that is not finite", where, state);
}

void check_ends(const Place& place, Index choice, std::size_t from, std::size_t to) {
    const auto& [header, row, where, state] = place;
    const bool interval = header.kind == BranchKind::interval;
    double low = 0;
    double high = 0;
    for (std::size_t i = from; i < to; ++i) {
        const double lower = row.lower[i];
        const double upper = interval ? row.upper[i] : lower;
        // Written so that a NaN fails.
        expects(lower >= 0 && lower <= upper && upper <= 1,
                "{}: state {}, choice {}: the probability of next state {} is {}; it must lie in [0, 1]",
                where, state, choice, row.targets[i],
                interval ? fmt::format("[{}, {}]", lower, upper) : fmt::format("{}", lower));
        low += lower;
        high += upper;
    }
    if (interval) {
        expects(low <= 1 + row_sum_tolerance && high >= 1 - row_sum_tolerance,
                "{}: state {}, choice {}: lower ends sum to {} and upper ends to {}; 1 must lie between",
                where, state, choice, low, high);
    } else {
        expects(std::abs(low - 1) <= row_sum_tolerance,
                "{}: state {}, choice {}: probabilities sum to {}; they must sum to 1 within 1e-9", where,
                state, choice, low);
    }
}

void check_coefficients(const Place& place, Index choice, std::size_t from, std::size_t to) {
    const auto& [header, row, where, state] = place;
    const std::size_t width = 1 + header.parameters.size();
    for (std::size_t j = 0; j < width; ++j) {
        double sum = 0;
        for (std::size_t i = from; i < to; ++i) sum += row.coefficients[i * width + j];
        // Written so that what is not finite fails.
        const double aim = j == 0 ? 1 : 0;
        expects(std::abs(sum - aim) <= row_sum_tolerance,
                "{}: state {}, choice {}: the {} of its branches sums to {}; it must be {} within 1e-9",
                where, state, choice,
                j == 0 ? "constant" : fmt::format("coefficient of {}", header.parameters[j - 1]), sum, aim);
    }
}

void check_initial_states(const ExplicitHeader& header, std::string_view where) {
    expects(!header.initial_states.empty(), "{}: there is no initial state", where);
    for (std::size_t i = 0; i < header.initial_states.size(); ++i) {
        const std::int64_t state = header.initial_states[i];
        expects(state >= 0 && state < header.states, "{}: initial state {} is not one of the {} states",
                where, state, header.states);
        expects(i == 0 || header.initial_states[i - 1] < state, "{}: initial states are not ascending",
                where);
    }
}

}  // namespace

void ExplicitState::clear() {
    labels.clear();
    actions.clear();
    offsets.assign(1, 0);
    targets.clear();
    lower.clear();
    upper.clear();
    coefficients.clear();
    state_rewards.clear();
    choice_rewards.clear();
}

void RowsOfModel::do_read(Index state, ExplicitState& row) const {
    row = model_.states[static_cast<std::size_t>(state)];
}

ExplicitModel collect(const ExplicitRows& rows) {
    ExplicitModel model{rows.header(), {}};
    model.states.resize(static_cast<std::size_t>(model.header.states));
    for (Index state = 0; state < model.header.states; ++state)
        rows.read(state, model.states[static_cast<std::size_t>(state)]);
    return model;
}

void validate(const ExplicitModel& model, std::string_view where) {
    const ExplicitHeader& header = model.header;
    expects(header.states >= 1 && at(header.states) == model.states.size(),
            "{}: {} states are announced and {} are there", where, header.states, model.states.size());
    expects(header.kind == BranchKind::parametric || header.parameters.empty(),
            "{}: only parametric models have parameters", where);
    check_initial_states(header, where);
    Index choices = 0;
    Index branches = 0;
    for (Index state = 0; state < header.states; ++state) {
        const ExplicitState& row = model.states[at(state)];
        const Place place{header, row, where, state};
        check_sizes(place);
        check_positions(place);
        for (Index k = 0; k < row.choices(); ++k) {
            const auto from = at(row.offsets[at(k)]);
            const auto to = at(row.offsets[at(k + 1)]);
            if (header.kind == BranchKind::parametric)
                check_coefficients(place, k, from, to);
            else
                check_ends(place, k, from, to);
        }
        choices += row.choices();
        branches += static_cast<Index>(row.targets.size());
    }
    expects(choices == header.choices, "{}: {} choices are announced and {} are there", where, header.choices,
            choices);
    expects(branches == header.branches, "{}: {} branches are announced and {} are there", where,
            header.branches, branches);
}

void normalise(ExplicitModel& model) {
    if (model.header.kind != BranchKind::point) return;
    for (ExplicitState& row : model.states) {
        for (Index k = 0; k < row.choices(); ++k) {
            const auto from = row.lower.begin() + row.offsets[at(k)];
            const auto to = row.lower.begin() + row.offsets[at(k + 1)];
            double sum = 0;
            for (auto p = from; p != to; ++p) sum += *p;
            if (!(sum > 0) || !std::isfinite(sum)) continue;
            for (auto p = from; p != to; ++p) *p /= sum;
        }
    }
}

}  // namespace alidade
