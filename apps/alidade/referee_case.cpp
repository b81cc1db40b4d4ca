#include "referee_case.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "alidade/error.hpp"
#include "alidade/spec/request.hpp"
#include "load_run.hpp"

namespace alidade::app {
namespace {

/// Features of transitions, and what is known of their weights.
void describe_weights(const Problem& problem, referee::Setting& setting) {
    const FeatureMap& features = problem.features();
    const TangentSpace& space = problem.parameters().space();
    setting.features = features.features();
    setting.base_models = features.kind() == FeatureKind::base_models;
    setting.norm_bound = features.norm_bound();
    setting.phi.assign(features.values().begin(), features.values().end());
    setting.centre.assign(space.centre.data(), space.centre.data() + space.centre.size());
    setting.basis.assign(space.basis.data(), space.basis.data() + space.basis.size());
}

void describe_pairs(const PairFeatures& features, referee::Setting& setting) {
    setting.features = features.features();
    setting.base_models = false;
    setting.pair_features = true;
    setting.norm_bound = features.norm_bound();
    setting.phi.assign(features.values().begin(), features.values().end());
}

referee::Setting setting_of(const Problem& problem) {
    const SuccessorMap& successors = problem.successors();
    referee::Setting setting;
    setting.states = successors.states();
    setting.actions = successors.actions();
    setting.horizon = problem.shape().horizon;
    setting.homogeneous = problem.homogeneous();
    setting.misspecification = problem.misspecification();
    for (Index pair = 0; pair <= successors.pairs(); ++pair)
        setting.offsets.push_back(successors.first_entry(pair));
    setting.targets.assign(successors.targets().begin(), successors.targets().end());
    setting.start.assign(problem.start().atoms().begin(), problem.start().atoms().end());
    if (problem.is_linear())
        describe_pairs(problem.pair_features(), setting);
    else
        describe_weights(problem, setting);
    return setting;
}

/// The model that was handed over, as a claim.
void add_model(const LearnedModel& learned, referee::Case& given) {
    const Index sets = confidence_sets(learned.shape().horizon, learned.homogeneous());
    for (Index set = 0; set < sets; ++set) {
        if (given.setting.pair_features) {
            for (Index pair = 0; pair < learned.shape().pairs(); ++pair) {
                const auto law = learned.model().probabilities(set, pair);
                given.laws.insert(given.laws.end(), law.begin(), law.end());
            }
            continue;
        }
        const Matrix& weights = learned.as_mixture("a table of weights").model().weights();
        for (Index i = 0; i < weights.cols(); ++i) given.weights.push_back(weights(set, i));
    }
}

template <class T>
const std::vector<T>* find(const std::map<std::string, std::vector<T>>& arrays, const std::string& name) {
    const auto found = arrays.find(name);
    return found == arrays.end() ? nullptr : &found->second;
}

std::optional<referee::Regression> sums_of(const Snapshot& record, const std::string& prefix, bool centred,
                                           std::int64_t episodes) {
    const auto* gram = find(record.numbers, prefix + "gram");
    const auto* moment = find(record.numbers, prefix + "moment");
    const auto* observations = find(record.integers, prefix + "observations");
    if (gram == nullptr || moment == nullptr || observations == nullptr) return std::nullopt;
    const auto sets = static_cast<Index>(observations->size());
    const Index dimension = sets > 0 ? static_cast<Index>(moment->size()) / sets : 0;
    return referee::Regression{dimension, centred, *gram, *moment, *observations, episodes};
}

/// The parts of a record that are kept under one of these prefixes [docs/formats.md].
referee::Evidence evidence_of(const Snapshot& record, std::initializer_list<std::string_view> prefixes,
                              bool centred, Counts empty) {
    referee::Evidence evidence;
    for (const std::string_view each : prefixes) {
        const std::string prefix(each);
        const auto* episodes = find(record.integers, prefix + "episodes");
        const auto* counts = find(record.integers, prefix + "counts");
        const auto* predicted = find(record.numbers, prefix + "predicted");
        if (episodes == nullptr || episodes->size() != 1) continue;
        if (const auto sums = sums_of(record, prefix, centred, episodes->front())) evidence.regression = sums;
        // Of the five regressions of Algorithm 2 the third is a plain one, on squares of values: it is enough
        // to confirm what the others' far larger radii give.
        if (const auto sums = sums_of(record, prefix + "rows3.", false, episodes->front()))
            evidence.regression = sums;
        const auto* inverse = find(record.numbers, prefix + "inverse_variances");
        const auto* least = find(record.numbers, prefix + "least_variances");
        const auto coarse = sums_of(record, prefix + "coarse.", true, episodes->front());
        const auto rows = sums_of(record, prefix + "rows.", true, episodes->front());
        if (coarse && rows && inverse != nullptr && least != nullptr)
            evidence.weighted = {*coarse, *rows, *inverse, *least};
        if (counts != nullptr) {
            empty.take_record(*counts);
            evidence.likelihood = {empty.dense(), episodes->front()};
        }
        if (predicted != nullptr) evidence.predicted = *predicted;
    }
    return evidence;
}

}  // namespace

referee::Case referee_case(const Problem& problem, double delta, const std::string& confidence,
                           const RunCheckpoint& checkpoint, const RunResult& result,
                           const LearnedModel& learned) {
    referee::Case given;
    given.setting = setting_of(problem);
    // The run may assume another one than the problem.
    if (learned.mixture() != nullptr) given.setting.misspecification = learned.mixture()->misspecification();
    given.delta = delta;
    const Counts empty(problem.shared_successors(), problem.shape().horizon, Elsewhere::counted);
    given.counted = {checkpoint.counts.dense(), checkpoint.counts.episodes()};
    given.whole_episodes = result.stopped != stopped_at_logs && !checkpoint.contradiction;
    // The paper's regression has no centre, and its certificate a name of its own.
    const bool paper = result.method == "printed";
    given.evidence =
        evidence_of(result.evidence, {"", "regression.", "weighted.", "bernstein.", "likelihood.", "linear."},
                    !paper, empty);
    expects(given.evidence.regression || given.evidence.weighted || given.evidence.likelihood,
            "the stored evidence is of no known kind");
    given.latest =
        evidence_of(checkpoint.memory, {"regression.", "weighted.", "bernstein.", "likelihood.", "linear."},
                    !paper, empty);
    for (const Request& source : parse_requests(confidence))
        if (const auto radius = source.given.find("radius"); radius != source.given.end())
            given.evidence.centred = radius->second == "centred";
    given.episodes = result.episodes;
    add_model(learned, given);
    given.candidates = result.candidates;
    given.bound = result.reward_free;
    given.method = result.method;
    return given;
}

}  // namespace alidade::app
