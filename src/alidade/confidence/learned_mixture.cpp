#include "alidade/confidence/learned_mixture.hpp"

#include <algorithm>
#include <utility>

#include "alidade/convex/projection.hpp"
#include "alidade/error.hpp"

namespace alidade {

namespace {

/// Whether both are weights of the same features, as far as the sets can tell.
bool alike(const ParameterSet& one, const ParameterSet& other) {
    if (one.kind() != other.kind() || one.features() != other.features()) return false;
    if (!one.rows()) return true;
    return one.radius() == other.radius() && one.space().centre == other.space().centre &&
           one.rows()->targets == other.rows()->targets;
}

/// Of the last step, on which nothing depends. The centre of general features need not be a transition law.
Vector last_weights(const ParameterSet& parameters, const std::vector<ConfidenceSet>& sets) {
    if (parameters.kind() == ParameterSetKind::simplex) return parameters.space().centre;
    if (!sets.empty()) return sets.back().weights();
    const Index p = parameters.space().dimension();
    return project(parameters, Vector::Zero(p), Matrix::Identity(p, p)).weights;
}

Matrix weights_of(const FeatureMap& features, Index horizon, bool homogeneous,
                  const std::vector<ConfidenceSet>& sets) {
    const Index expected = confidence_sets(horizon, homogeneous);
    expects(static_cast<Index>(sets.size()) == expected, "{} confidence sets; must be {} for horizon {}{}",
            sets.size(), expected, horizon, homogeneous ? ", homogeneous" : "");
    const Index rows = homogeneous && expected > 0 ? 1 : horizon;
    const ParameterSet parameters = ParameterSet::of(features);
    for (const ConfidenceSet& set : sets)
        expects(alike(set.parameters(), parameters),
                "a confidence set is about {} weights of other features; must be about the {} of the model",
                set.features(), features.features());
    Matrix weights(rows, features.features());
    for (Index r = 0; r < expected && r < rows; ++r)
        weights.row(r) = sets[static_cast<std::size_t>(r)].weights().transpose();
    if (rows > expected) weights.row(rows - 1) = last_weights(parameters, sets).transpose();
    return weights;
}

}  // namespace

LearnedMixture::LearnedMixture(const SharedFeatures& features, Index horizon, StartLaw start,
                               bool homogeneous, std::vector<ConfidenceSet> sets, double delta,
                               double misspecification, Reach reach)
    : LearnedModel(homogeneous, delta),
      model_(features, horizon, std::move(start), weights_of(*features, horizon, homogeneous, sets)),
      sets_(std::move(sets)),
      misspecification_(misspecification),
      reach_(reach) {
    expects(misspecification >= 0 && misspecification < 1,
            "misspecification is {}; must be at least 0 and less than 1", misspecification);
}

LearnedMixture::LearnedMixture(const Task& task, std::vector<ConfidenceSet> sets, double delta)
    : LearnedMixture(task.features, task.horizon, task.start, task.homogeneous, std::move(sets), delta,
                     task.misspecification, task.reach) {}

LearnedMixture LearnedMixture::exact() const {
    return LearnedMixture(model_.shared_features(), shape().horizon, model_.start(), homogeneous(), sets_,
                          delta());
}

double LearnedMixture::depth(const MixtureModel& truth) const {
    require_shape_of(truth);
    double deepest = 0;
    for (Step h = 0; h + 1 < shape().horizon; ++h)
        deepest = std::max(deepest, set(h).depth(truth.weights(h)));
    return deepest;
}

bool LearnedMixture::contains(const MixtureModel& truth) const {
    require_shape_of(truth);
    for (Step h = 0; h + 1 < shape().horizon; ++h)
        if (!set(h).contains(truth.weights(h))) return false;
    return true;
}

double LearnedMixture::depth(const TransitionModel&) const {
    throw InvalidArgument("weights are uncertain, and the truth is given without its weights");
}

bool LearnedMixture::contains(const TransitionModel& truth) const {
    return depth(truth) <= 1;
}

}  // namespace alidade
