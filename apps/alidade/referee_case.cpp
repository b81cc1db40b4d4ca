#include "referee_case.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "alidade/error.hpp"
#include "load_run.hpp"

namespace alidade::app {
namespace {

referee::Setting setting_of(const Problem& problem) {
    const FeatureMap& features = problem.features();
    const TangentSpace& space = problem.parameters().space();
    referee::Setting setting;
    setting.states = features.states();
    setting.actions = features.actions();
    setting.horizon = problem.shape().horizon;
    setting.features = features.features();
    setting.base_models = features.kind() == FeatureKind::base_models;
    setting.norm_bound = features.norm_bound();
    setting.homogeneous = problem.homogeneous();
    setting.misspecification = problem.misspecification();
    for (Index pair = 0; pair <= features.pairs(); ++pair)
        setting.offsets.push_back(features.first_entry(pair));
    setting.targets.assign(features.targets().begin(), features.targets().end());
    setting.phi.assign(features.values().begin(), features.values().end());
    setting.start.assign(problem.start().atoms().begin(), problem.start().atoms().end());
    setting.centre.assign(space.centre.data(), space.centre.data() + space.centre.size());
    setting.basis.assign(space.basis.data(), space.basis.data() + space.basis.size());
    return setting;
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
                              bool centred) {
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
        if (counts != nullptr) evidence.likelihood = {*counts, episodes->front()};
        if (predicted != nullptr) evidence.predicted = *predicted;
    }
    return evidence;
}

}  // namespace

referee::Case referee_case(const Problem& problem, double delta, const RunCheckpoint& checkpoint,
                           const RunResult& result, const Matrix& weights) {
    referee::Case given;
    given.setting = setting_of(problem);
    given.delta = delta;
    const auto counted = checkpoint.counts.values();
    given.counted = {{counted.begin(), counted.end()}, checkpoint.counts.episodes()};
    given.whole_episodes = result.stopped != stopped_at_logs && !checkpoint.contradiction;
    // The paper's regression has no centre, and its certificate a name of its own.
    const bool paper = result.method == "printed";
    given.evidence =
        evidence_of(result.evidence, {"", "regression.", "weighted.", "bernstein.", "likelihood."}, !paper);
    expects(given.evidence.regression || given.evidence.weighted || given.evidence.likelihood,
            "the stored evidence is of no known kind");
    given.latest =
        evidence_of(checkpoint.memory, {"regression.", "weighted.", "bernstein.", "likelihood."}, !paper);
    given.episodes = result.episodes;
    const Index sets = problem.homogeneous() ? std::min<Index>(1, problem.shape().horizon - 1)
                                             : problem.shape().learned_steps();
    for (Index set = 0; set < sets; ++set)
        for (Index i = 0; i < weights.cols(); ++i) given.weights.push_back(weights(set, i));
    given.candidates = result.candidates;
    given.bound = result.reward_free;
    given.method = result.method;
    return given;
}

}  // namespace alidade::app
