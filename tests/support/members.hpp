#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "alidade/confidence/learned_mixture.hpp"
#include "alidade/confidence/likelihood_sets.hpp"
#include "alidade/random/samplers.hpp"
#include "support/random_models.hpp"

/// Truths that the confidence sets leave possible, anywhere in them.
namespace alidade::support {

/// A truth inside all sets: from the centres in random directions of the tangent space, or towards random
/// corners of the simplex, to the boundary, or a random part of the way if `inside`.
inline MixtureModel random_member(const LearnedMixture& learned, Stream& random, bool inside) {
    const MixtureModel& model = learned.model();
    Matrix weights = model.weights();
    for (Index k = 0; k < static_cast<Index>(learned.sets().size()); ++k) {
        const ConfidenceSet& set = learned.sets()[static_cast<std::size_t>(k)];
        Vector goal = set.weights();
        if (set.parameters().kind() == ParameterSetKind::simplex && sample_index(random, 2) == 0) {
            const auto law = sample_dirichlet(random, set.features(), 0.2);
            goal = Eigen::Map<const Vector>(law.data(), set.features());
        } else {
            Vector zeta(set.dimension());
            for (Index i = 0; i < zeta.size(); ++i) zeta[i] = sample_normal(random);
            goal += set.parameters().space().basis * zeta;
        }
        double low = 0, high = 1;
        for (int step = 0; step < 40; ++step) {
            const double t = 0.5 * (low + high);
            (set.contains((1 - t) * set.weights() + t * goal) ? low : high) = t;
        }
        if (inside) low *= sample_uniform(random);
        weights.row(k) = ((1 - low) * set.weights() + low * goal).transpose();
    }
    // What `contains` tolerates.
    weights = weights.cwiseMax(model.features().kind() == FeatureKind::base_models ? 0.0 : -1e300);
    if (model.features().kind() == FeatureKind::base_models)
        for (Index k = 0; k < weights.rows(); ++k) weights.row(k) /= weights.row(k).sum();
    return MixtureModel(model.shared_features(), model.shape().horizon, model.start(), weights);
}

/// Likelihood sets of data that are as they should be: every pair of every step seen `visits` times, its
/// successors in proportion to their probabilities, up to a random rounding.
inline LearnedMixture likelihood_model(const MixtureModel& truth, Stream& random, double visits,
                                       double delta = 0.1) {
    const FeatureMap& features = truth.features();
    std::vector<detail::LikelihoodRows> rows;
    for (Index k = 0; k < confidence_sets(truth.shape().horizon, truth.homogeneous()); ++k) {
        std::vector<SeenEntry> counts;
        Index entry = 0;
        for (const double probability : truth.all_probabilities(k)) {
            const auto count = static_cast<std::int64_t>(visits * probability + sample_uniform(random));
            if (count > 0) counts.push_back({entry, count});
            ++entry;
        }
        rows.push_back(detail::likelihood_rows(features, counts));
    }
    std::vector<ConfidenceSet> sets;
    for (const detail::LikelihoodSet& set : detail::likelihood_sets(rows, {.delta = delta}))
        sets.push_back(set.ellipsoid);
    return LearnedMixture(truth.shared_features(), truth.shape().horizon, truth.start(), truth.homogeneous(),
                          std::move(sets), delta);
}

/// Random kernels with a share of the entries zero, differently in each: supports differ.
inline SharedFeatures ragged_features(Stream& random, const RandomSizes& sizes, double missing) {
    auto kernels = random_kernels(random, sizes);
    for (BaseKernel& kernel : kernels)
        for (std::size_t row = 0; row + 1 < kernel.offsets.size(); ++row) {
            double sum = 0;
            const auto first = static_cast<std::size_t>(kernel.offsets[row]),
                       last = static_cast<std::size_t>(kernel.offsets[row + 1]);
            for (std::size_t e = first; e < last; ++e) {
                if (e > first && sample_uniform(random) < missing) kernel.probabilities[e] = 0;
                sum += kernel.probabilities[e];
            }
            for (std::size_t e = first; e < last; ++e) kernel.probabilities[e] /= sum;
        }
    return std::make_shared<const FeatureMap>(
        FeatureMap::from_base_kernels(sizes.shape.states, sizes.shape.actions, kernels));
}

}  // namespace alidade::support
