#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "alidade/certify/deviation.hpp"
#include "alidade/certify/knowledge.hpp"
#include "alidade/certify/reward_free.hpp"
#include "alidade/confidence/learned_mixture.hpp"
#include "alidade/confidence/value_regression.hpp"
#include "alidade/confidence/width_table.hpp"
#include "support/random_models.hpp"

/// Learned models whose confidence sets are known to contain a given truth.
namespace alidade::support {

/// A learned model about which nothing is random but the seed: `information` scales how much the
/// statistics know (0: nothing), and the estimate is exact, so that the truth is inside for certain.
inline Knowledge knowledge_about(const MixtureModel& truth, std::uint64_t seed, double information,
                                 double delta = 0.1) {
    const SharedFeatures& features = truth.shared_features();
    const ParameterSet parameters = ParameterSet::of(*features);
    const TangentFeatures tangent(*features, parameters.space());
    const Index p = parameters.space().dimension();
    const bool homogeneous = truth.homogeneous();
    const Index sets = confidence_sets(truth.shape().horizon, homogeneous);
    Stream random = test_stream(seed, 77);
    std::vector<detail::RidgeStatistics> statistics;
    for (Index k = 0; k < sets; ++k) {
        detail::RidgeStatistics step(p);
        for (int t = 0; t < 40; ++t) {
            Vector x(p);
            for (Index i = 0; i < p; ++i) x[i] = sample_normal(random);
            step.add(x.data(), 1, 0);
        }
        step.gram *= information;
        // The moment that makes the regularised estimate hit the truth.
        const Vector zeta = parameters.space().coordinates(truth.weights(k));
        const Matrix gram = step.gram.selfadjointView<Eigen::Lower>();
        if (p > 0) step.moment = gram * zeta + detail::ridge_regularisation(parameters) * zeta;
        statistics.push_back(std::move(step));
    }
    auto confidence = detail::regression_sets(features, statistics, delta);
    WidthTable widths(sets, *features);
    bracket_widths(*features, tangent, confidence, {}, 1, widths);
    const auto learned = std::make_shared<const LearnedMixture>(
        features, truth.shape().horizon, truth.start(), homogeneous, std::move(confidence), delta);
    RewardFreeCertificate certificate =
        certify_reward_free(*learned, DeviationTable(*learned, widths),
                            {.certificates = {"model", "coupling", "span"}, .contributions = 1000000});
    return {learned, std::move(certificate), 0};
}

/// A different truth inside the sets: pushed from the centre to the boundary in a random direction.
inline MixtureModel adversarial_truth(const Knowledge& knowledge, std::uint64_t seed) {
    const MixtureModel& model = knowledge.mixture().model();
    Stream random = test_stream(seed, 78);
    Matrix weights = model.weights();
    for (Index h = 0; h < static_cast<Index>(knowledge.mixture().sets().size()); ++h) {
        const ConfidenceSet& set = knowledge.mixture().sets()[static_cast<std::size_t>(h)];
        const auto law = sample_dirichlet(random, set.features(), 0.3);
        const Vector corner = Eigen::Map<const Vector>(law.data(), set.features());
        double low = 0, high = 1;
        for (int step = 0; step < 40; ++step) {
            const double t = 0.5 * (low + high);
            (set.contains((1 - t) * set.weights() + t * corner) ? low : high) = t;
        }
        weights.row(h) = ((1 - low) * set.weights() + low * corner).transpose();
    }
    return MixtureModel(model.shared_features(), model.shape().horizon, model.start(), weights);
}

}  // namespace alidade::support
