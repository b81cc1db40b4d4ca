#include "alidade/problem/problem.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <span>
#include <utility>

#include "alidade/error.hpp"

namespace alidade {
namespace {

void check_names(const std::vector<std::string>& names, Index count, const char* what) {
    if (names.empty()) return;
    expects(static_cast<Index>(names.size()) == count, "the problem has {} {} names for {} {}s", names.size(),
            what, count, what);
    std::set<std::string> seen;
    for (std::size_t i = 0; i < names.size(); ++i) {
        expects(!names[i].empty(), "the name of {} {} is empty", what, i);
        expects(seen.insert(names[i]).second, "the name \"{}\" of {} {} is already taken", names[i], what, i);
    }
}

void check_rewards(const std::vector<NamedReward>& rewards, const Shape& shape) {
    std::set<std::string> seen;
    for (const NamedReward& named : rewards) {
        expects(!named.name.empty(), "a natural reward of the problem has no name");
        expects(seen.insert(named.name).second, "the problem has two natural rewards called \"{}\"",
                named.name);
        const Shape& given = named.reward.shape();
        expects(given == shape,
                "reward \"{}\" is for {} states, {} actions and {} steps; the problem has {}, {} and {}",
                named.name, given.states, given.actions, given.horizon, shape.states, shape.actions,
                shape.horizon);
    }
}

void check_target(const ProblemTarget& target, Index horizon) {
    if (target.epsilon)
        expects(*target.epsilon > 0 && *target.epsilon <= static_cast<double>(horizon),
                "target epsilon is {}; it must be above 0 and at most the horizon, {}", *target.epsilon,
                horizon);
    if (target.delta)
        expects(*target.delta > 0 && *target.delta < 1, "target delta is {}; it must be between 0 and 1",
                *target.delta);
    if (target.episodes)
        expects(*target.episodes >= 1, "target episodes is {}; it must be at least 1", *target.episodes);
}

void check_truth(const Matrix& truth, const ParameterSet& parameters, Index rows) {
    expects(truth.rows() == rows && truth.cols() == parameters.features(),
            "the true weights have {} rows of {} numbers; they need {} rows of {}", truth.rows(),
            truth.cols(), rows, parameters.features());
    for (Index h = 0; h < rows; ++h) {
        const Vector weights = truth.row(h);
        expects(weights.allFinite(), "the true weights of step {} are not all finite", h);
        if (parameters.kind() == ParameterSetKind::simplex)
            expects(parameters.contains(weights),
                    "the true weights of step {} are not convex weights: their smallest is {} and they sum "
                    "to {}; they must be at least 0 and sum to 1 within 1e-9",
                    h, weights.minCoeff(), weights.sum());
        else
            expects(parameters.contains(weights),
                    "the true weights of step {} do not fit the features: their norm is {}, the bound is {}, "
                    "and every row of the transition law must sum to 1 without a negative probability",
                    h, weights.norm(), std::hypot(parameters.radius(), parameters.space().centre.norm()));
    }
}

Task task_of(const ProblemDescription& parts) {
    return {parts.features,         parts.horizon, parts.start, parts.homogeneous,
            parts.misspecification, parts.linear,  parts.reach};
}

/// What can be checked before the parameter set exists, which needs features.
ProblemDescription checked(ProblemDescription parts) {
    expects(parts.features != nullptr || parts.linear != nullptr, "the problem \"{}\" has no features",
            parts.name);
    expects(parts.features == nullptr || parts.linear == nullptr,
            "the problem \"{}\" has features of transitions and of pairs; must be of one kind", parts.name);
    const Shape shape = task_of(parts).shape();
    validate(shape);
    parts.start.validate(shape.states);
    check_names(parts.state_names, shape.states, "state");
    check_names(parts.action_names, shape.actions, "action");
    check_rewards(parts.rewards, shape);
    check_target(parts.target, shape.horizon);
    expects(parts.misspecification >= 0 && parts.misspecification < 1,
            "misspecification is {}; it must be at least 0 and less than 1", parts.misspecification);
    expects(parts.linear == nullptr || parts.misspecification == 0,
            "misspecification is {}; it must be 0 for a linear MDP, whose regressions do not allow for any",
            parts.misspecification);
    expects(parts.linear == nullptr || !parts.truth, "a linear MDP's truth are measures, not weights");
    expects(parts.linear != nullptr || parts.measures.empty(), "a mixture's truth are weights, not measures");
    expects(!parts.foreign || parts.truth || !parts.measures.empty(),
            "the problem \"{}\" has a foreign part of the truth, but no true {} for the rest of it",
            parts.name, parts.linear ? "measures" : "weights");
    return parts;
}

void check_foreign(const ForeignPart& foreign, const SuccessorMap& map) {
    expects(foreign.share > 0 && foreign.share <= 1,
            "the share of the truth's foreign part is {}; must be greater than 0 and at most 1",
            foreign.share);
    expects(
        foreign.law.size() == at(map.entries()),
        "the truth's foreign part has {} probabilities; must have {}, one for each successor of each pair",
        foreign.law.size(), map.entries());
    for (Index pair = 0; pair < map.pairs(); ++pair) {
        double sum = 0, least = 0;
        for (Index e = map.first_entry(pair); e < map.first_entry(pair + 1); ++e) {
            sum += foreign.law[at(e)];
            least = std::min(least, foreign.law[at(e)]);
        }
        expects(
            least >= 0 && std::abs(sum - 1) <= 1e-9,
            "the truth's foreign part at state {}, action {}: its smallest probability is {} and they sum "
            "to {}; must be at least 0 and sum to 1 within 1e-9",
            pair / map.actions(), pair % map.actions(), least, sum);
    }
}

/// (1 - share) of the model and `share` of the foreign part.
TransitionModel with_foreign(const TransitionModel& model, const ForeignPart& foreign, bool homogeneous) {
    const Index steps = homogeneous ? 1 : model.shape().horizon;
    std::vector<double> probabilities;
    probabilities.reserve(at(steps) * foreign.law.size());
    for (Step h = 0; h < steps; ++h) {
        const std::vector<double> here = model.all_probabilities(h);
        for (std::size_t e = 0; e < here.size(); ++e)
            probabilities.push_back((1 - foreign.share) * here[e] + foreign.share * foreign.law[e]);
    }
    return {model.shared_successors(), model.shape().horizon, model.start(), std::move(probabilities)};
}

std::string name_of(const std::vector<std::string>& names, Index i, Index count, const char* what) {
    expects(i >= 0 && i < count, "there is no {} {}; the problem has {}", what, i, count);
    return names.empty() ? fmt::format("{} {}", what, i) : names[static_cast<std::size_t>(i)];
}

}  // namespace

Problem::Problem(ProblemDescription description)
    : parts_(checked(std::move(description))),
      successors_(task_of(parts_).successors()),
      shape_{successors_->states(), successors_->actions(), parts_.horizon} {
    const Index rows = parts_.homogeneous ? 1 : parts_.horizon;
    if (is_linear()) {
        if (parts_.measures.empty()) return;
        expects(static_cast<Index>(parts_.measures.size()) == rows,
                "the true measures are of {} steps; must be of {}", parts_.measures.size(), rows);
        if (parts_.foreign) check_foreign(*parts_.foreign, *successors_);
        true_system();  // checks that all laws are laws
        return;
    }
    parameters_ = ParameterSet::of(*parts_.features);
    if (!parts_.truth) return;
    check_truth(*parts_.truth, *parameters_, rows);
    // Convex weights of base models always give distributions; with signed features only the model knows.
    if (parts_.features->kind() == FeatureKind::general) mixture_part();
    if (parts_.foreign) check_foreign(*parts_.foreign, *successors_);
}

const FeatureMap& Problem::features() const {
    expects(!is_linear(),
            "the problem \"{}\" is a linear MDP, which has features of pairs and no base models",
            parts_.name);
    return *parts_.features;
}

const SharedFeatures& Problem::shared_features() const {
    features();
    return parts_.features;
}

const ParameterSet& Problem::parameters() const {
    features();
    return *parameters_;
}

const PairFeatures& Problem::pair_features() const {
    expects(is_linear(), "the problem \"{}\" is a mixture; only linear MDPs have features of pairs",
            parts_.name);
    return *parts_.linear;
}

std::string Problem::state_name(State s) const {
    return name_of(parts_.state_names, s, shape_.states, "state");
}

std::string Problem::action_name(Action a) const {
    return name_of(parts_.action_names, a, shape_.actions, "action");
}

TransitionModel Problem::true_system() const {
    TransitionModel described = described_part();
    if (parts_.foreign) return with_foreign(described, *parts_.foreign, parts_.homogeneous);
    return described;
}

TransitionModel Problem::described_part() const {
    // The system is a kernel; how it came about is nobody's business.
    if (!is_linear()) return static_cast<const TransitionModel&>(mixture_part());
    expects(truth_known(), "the true measures of the problem \"{}\" are not known, so it cannot be simulated",
            parts_.name);
    return linear_model(parts_.linear, parts_.horizon, parts_.start, parts_.measures);
}

MixtureModel Problem::true_model() const {
    expects(!parts_.foreign,
            "the truth of the problem \"{}\" is {} something else than a mixture, so no weights describe it",
            parts_.name, parts_.foreign ? parts_.foreign->share : 0.0);
    return mixture_part();
}

double Problem::true_misspecification() const {
    expects(truth_known(), "the truth of the problem \"{}\" is not known", parts_.name);
    if (!parts_.foreign) return 0;
    const TransitionModel described = described_part();
    double largest = 0;
    for (Step h = 0;
         h < (homogeneous() ? std::min<Index>(1, shape_.learned_steps()) : shape_.learned_steps()); ++h)
        for (Index pair = 0; pair < shape_.pairs(); ++pair) {
            const Law law = described.probabilities(h, pair);
            const auto foreign = std::span(parts_.foreign->law).subspan(at(successors_->first_entry(pair)));
            double distance = 0;
            for (std::size_t j = 0; j < law.size(); ++j) distance += std::abs(law[j] - foreign[j]);
            largest = std::max(largest, parts_.foreign->share * distance / 2);
        }
    return largest;
}

MixtureModel Problem::mixture_part() const {
    features();
    expects(parts_.truth.has_value(),
            "the true weights of the problem \"{}\" are not known, so it cannot be simulated", parts_.name);
    return MixtureModel(parts_.features, parts_.horizon, parts_.start, *parts_.truth);
}

Task task_of(const Problem& problem) {
    return task_of(problem.description());
}

}  // namespace alidade
