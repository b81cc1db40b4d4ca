#include "alidade/formats/layered_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include "alidade/confidence/learned_mixture.hpp"
#include "alidade/error.hpp"
#include "alidade/model/tangent_space.hpp"
#include "transition_intervals.hpp"

namespace alidade {
namespace {

/// The possible first states, ascending.
std::vector<std::pair<State, double>> start_of(const TransitionModel& model) {
    std::vector<std::pair<State, double>> result;
    for (const auto& atom : model.start().atoms())
        if (atom.second > 0) result.push_back(atom);
    return result;
}

bool has_start_state(const TransitionModel& model) {
    return start_of(model).size() != 1;
}

void check(const TransitionModel& model, const LearnedModel* learned, const LayeredOptions& options) {
    const Shape& shape = model.shape();
    const auto fits = [](const std::vector<std::string>& names, Index count, std::string_view what) {
        expects(names.empty() || std::ssize(names) == count, "{} names of {}; must be {} or none",
                names.size(), what, count);
    };
    fits(options.action_names, shape.actions, "actions");
    fits(options.state_names, shape.states, "states");
    expects(learned || options.view == BranchKind::point,
            "nothing is uncertain about a known model: it has neither intervals nor parameters");
    expects(options.unroll || (learned ? learned->homogeneous() && shape.horizon > 1 : model.homogeneous()),
            "the model depends on the step (or there is one step only): it can only be written unrolled");
    std::set<std::string, std::less<>> names;
    for (const auto& [name, reward] : options.rewards) {
        expects(!name.empty() && names.insert(name).second,
                "rewards must have names, each another; '{}' is not", name);
        expects(reward.shape() == shape, "reward '{}' has another shape than the model", name);
        expects(options.unroll || reward.stationary(),
                "reward '{}' depends on the step: with it the model can only be written unrolled", name);
    }
}

/// How many labels are those of steps.
Index step_labels(const TransitionModel& model, const LayeredOptions& options) {
    return options.unroll && options.step_labels ? model.shape().horizon : 0;
}

/// Names of labels, and which of them is each state's own.
struct Labels {
    std::vector<std::string> names;
    std::vector<std::int32_t> own;
};

Labels labels_of(const TransitionModel& model, const LayeredOptions& options) {
    Labels labels;
    if (options.unroll) {
        for (Step h = 0; h < step_labels(model, options); ++h)
            labels.names.push_back(fmt::format("step_{}", h));
        labels.names.emplace_back("end");
    }
    if (has_start_state(model)) labels.names.emplace_back("start");
    std::set<std::string, std::less<>> reserved(labels.names.begin(), labels.names.end());
    reserved.insert("init");
    std::map<std::string, std::int32_t, std::less<>> positions;
    for (const std::string& name : options.state_names) {
        const std::string label = reserved.contains(name) ? "state_" + name : name;
        const auto [place, fresh] = positions.emplace(label, static_cast<std::int32_t>(labels.names.size()));
        if (fresh) labels.names.push_back(label);
        labels.own.push_back(place->second);
    }
    return labels;
}

constexpr std::string_view parametric_view = "the parametric view";

/// Parameters of one confidence set.
Index slopes(const LearnedMixture& learned) {
    return ParameterSet::of(learned.model().features()).space().dimension();
}

std::vector<std::string> parameters_of(const LearnedMixture& learned) {
    std::vector<std::string> names;
    const bool base_models = learned.model().features().kind() == FeatureKind::base_models;
    const std::string_view letter = base_models ? "w" : "z";
    const Index count = slopes(learned);
    for (std::size_t k = 0; k < learned.sets().size(); ++k)
        for (Index i = 0; i < count; ++i)
            names.push_back(learned.homogeneous() ? fmt::format("{}_{}", letter, i)
                                                  : fmt::format("{}_{}_{}", letter, k, i));
    return names;
}

/// Branches of the steps that are in the file, the last one of an unrolled model apart.
Index transitions(const TransitionModel& model, const LayeredOptions& options) {
    const Index steps = options.unroll ? model.shape().horizon - 1 : 1;
    if (options.view != BranchKind::point) return steps * model.successors().entries();
    Index count = 0;
    for (Step h = 0; h < steps; ++h)
        for (Index pair = 0; pair < model.shape().pairs(); ++pair) {
            const Law law = model.probabilities(h, pair);
            count += std::count_if(law.begin(), law.end(), [](double p) { return p > 0; });
        }
    return count;
}

ExplicitHeader header_of(const TransitionModel& model, const LearnedModel* learned,
                         const LayeredOptions& options) {
    check(model, learned, options);
    const Shape& shape = model.shape();
    const auto atoms = start_of(model);
    ExplicitHeader header;
    header.kind = options.view;
    header.states = options.unroll ? shape.horizon * shape.states + 1 : shape.states;
    header.choices = options.unroll ? shape.horizon * shape.pairs() + 1 : shape.pairs();
    header.branches = transitions(model, options) + (options.unroll ? shape.pairs() + 1 : 0);
    header.initial_states = {atoms[0].first};
    if (has_start_state(model)) {
        header.initial_states = {header.states};
        ++header.states;
        ++header.choices;
        header.branches += std::ssize(atoms);
    }
    if (options.view == BranchKind::parametric)
        header.parameters = parameters_of(learned->as_mixture(parametric_view));
    header.actions = options.action_names;
    header.labels = labels_of(model, options).names;
    for (const auto& named : options.rewards) header.rewards.push_back(named.first);
    return header;
}

/// The probability of each entry as an affine function of a set's parameters: constant, then slopes.
std::vector<double> affine_entries(const LearnedMixture& learned) {
    const FeatureMap& features = learned.model().features();
    const Index p = slopes(learned);
    std::vector<double> result;
    result.reserve(at(features.entries() * (1 + p)));
    if (features.kind() == FeatureKind::base_models) {
        for (Index e = 0; e < features.entries(); ++e) {
            const auto phi = features.phi(e);
            result.push_back(phi.back());
            for (Index i = 0; i < p; ++i) result.push_back(phi[at(i)] - phi.back());
        }
        return result;
    }
    const TangentFeatures tangent(features, ParameterSet::of(features).space());
    for (Index e = 0; e < features.entries(); ++e) {
        result.push_back(tangent.centre(e));
        for (const double slope : tangent.psi(e)) result.push_back(slope);
    }
    return result;
}

}  // namespace

LayeredView::LayeredView(const TransitionModel& model, const LearnedModel* learned, LayeredOptions options)
    : ExplicitRows(header_of(model, learned, options)),
      model_(model),
      learned_(learned),
      options_(std::move(options)),
      own_labels_(labels_of(model_, options_).own) {
    if (options_.view == BranchKind::interval)
        intervals_ = detail::transition_intervals(*learned_, options_.exact_intervals, options_.threads);
    if (options_.view == BranchKind::parametric)
        affine_ = affine_entries(learned_->as_mixture(parametric_view));
}

LayeredView::LayeredView(const TransitionModel& known, LayeredOptions options)
    : LayeredView(known, nullptr, std::move(options)) {}

LayeredView::LayeredView(const LearnedModel& learned, LayeredOptions options)
    : LayeredView(learned.model(), &learned, std::move(options)) {}

void LayeredView::do_read(Index state, ExplicitState& row) const {
    const Shape& shape = model_.shape();
    const Index layered = (options_.unroll ? shape.horizon : 1) * shape.states;
    row.clear();
    row.state_rewards.assign(options_.rewards.size(), 0);
    if (state < layered) {
        const Step h = state / shape.states;
        const State s = state % shape.states;
        if (options_.unroll && options_.step_labels) row.labels.push_back(static_cast<std::int32_t>(h));
        if (!own_labels_.empty()) row.labels.push_back(own_labels_[at(s)]);
        for (Action a = 0; a < shape.actions; ++a) add_choice(h, s, a, row);
        return;
    }
    const bool end = options_.unroll && state == layered;
    // After those of the steps: `end`, if there is one, then `start`.
    const Index place = step_labels(model_, options_) + (options_.unroll && !end ? 1 : 0);
    row.labels.push_back(static_cast<std::int32_t>(place));
    row.actions.push_back(-1);
    row.choice_rewards.assign(options_.rewards.size(), 0);
    if (end)
        add_known(layered, 1, row);
    else
        add_start(row);
    row.offsets.push_back(std::ssize(row.targets));
}

void LayeredView::add_choice(Step h, State s, Action a, ExplicitState& row) const {
    const Shape& shape = model_.shape();
    row.actions.push_back(options_.action_names.empty() ? -1 : static_cast<std::int32_t>(a));
    if (options_.unroll && h == shape.horizon - 1)
        add_known(shape.horizon * shape.states, 1, row);
    else
        add_transitions(h, shape.pair(s, a), row);
    row.offsets.push_back(std::ssize(row.targets));
    for (const auto& named : options_.rewards) row.choice_rewards.push_back(named.second.at(h, s, a));
}

void LayeredView::add_start(ExplicitState& row) const {
    for (const auto& [state, probability] : start_of(model_)) add_known(state, probability, row);
}

void LayeredView::add_known(std::int64_t target, double probability, ExplicitState& row) const {
    row.targets.push_back(target);
    if (options_.view == BranchKind::parametric) {
        row.coefficients.push_back(probability);
        row.coefficients.insert(row.coefficients.end(), header().parameters.size(), 0);
        return;
    }
    row.lower.push_back(probability);
    if (options_.view == BranchKind::interval) row.upper.push_back(probability);
}

void LayeredView::add_transitions(Step h, Index pair, ExplicitState& row) const {
    const SuccessorMap& successors = model_.successors();
    const auto law = model_.probabilities(h, pair);
    const auto targets = successors.targets(pair);
    const double sum = std::accumulate(law.begin(), law.end(), 0.0);
    const Index base = options_.unroll ? (h + 1) * model_.shape().states : 0;
    for (std::size_t i = 0; i < law.size(); ++i) {
        if (options_.view == BranchKind::point && !(law[i] > 0)) continue;
        const Index entry = successors.first_entry(pair) + static_cast<Index>(i);
        row.targets.push_back(base + targets[i]);
        if (options_.view == BranchKind::parametric) {
            add_affine(h, entry, row);
        } else if (options_.view == BranchKind::interval) {
            const Interval& interval = intervals_[at(learned_->set_index(h) * successors.entries() + entry)];
            row.lower.push_back(interval.lower);
            row.upper.push_back(interval.upper);
        } else {
            row.lower.push_back(law[i] / sum);
        }
    }
}

void LayeredView::add_affine(Step h, Index entry, ExplicitState& row) const {
    const std::size_t sets = at(learned_->uncertain_steps());
    const std::size_t count = header().parameters.size() / sets;
    const double* const values = affine_.data() + static_cast<std::size_t>(entry) * (1 + count);
    const std::size_t first = row.coefficients.size();
    row.coefficients.resize(first + 1 + header().parameters.size(), 0);
    row.coefficients[first] = values[0];
    std::copy_n(values + 1, count,
                row.coefficients.begin() +
                    static_cast<std::ptrdiff_t>(first + 1 + at(learned_->set_index(h)) * count));
}

Policy policy_from_flat(const Shape& shape, std::span<const std::int32_t> choices) {
    const Index layered = shape.horizon * shape.states;
    const Index given = std::ssize(choices);
    const bool unrolled = given == layered + 1 || given == layered + 2;
    expects(unrolled || given == shape.states || given == shape.states + 1,
            "{} choices; must be {} for the states of an unrolled model ({} with a start state), or {} ({})",
            given, layered + 1, layered + 2, shape.states, shape.states + 1);
    std::vector<std::int32_t> actions(at(layered));
    for (Index i = 0; i < layered; ++i) {
        const std::int32_t choice = choices[at(unrolled ? i : i % shape.states)];
        expects(choice >= 0 && choice < shape.actions,
                "the choice of step {}, state {} is {}; must be 0 to {}", i / shape.states, i % shape.states,
                choice, shape.actions - 1);
        actions[at(i)] = choice;
    }
    return Policy::deterministic(shape, std::move(actions));
}

}  // namespace alidade
