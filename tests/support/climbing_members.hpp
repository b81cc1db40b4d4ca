#pragma once

#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "alidade/confidence/learned_mixture.hpp"
#include "alidade/convex/support.hpp"
#include "support/dense_algebra.hpp"
#include "support/members.hpp"

/// Learned models of all kinds, and members of their sets that climb to where a function is large.
namespace alidade::support {

/// Base models of which some may have a face of their own, be equal or nearly so.
inline SharedFeatures random_base_models(Stream& random, const RandomSizes& sizes) {
    const Index kind = sample_index(random, 4);
    if (kind == 0) return ragged_features(random, sizes, 0.4);
    auto kernels = random_kernels(random, sizes);
    const double apart =
        std::vector{0.0, 1e-3, 1e-8, 1e-14}[static_cast<std::size_t>(sample_index(random, 4))];
    for (std::size_t i = 1; kind == 1 && i < kernels.size(); ++i)
        for (std::size_t e = 0; e < kernels[i].probabilities.size(); ++e)
            kernels[i].probabilities[e] =
                (1 - apart) * kernels[0].probabilities[e] + apart * kernels[i].probabilities[e];
    return std::make_shared<const FeatureMap>(
        FeatureMap::from_base_kernels(sizes.shape.states, sizes.shape.actions, kernels));
}

/// Sets of a likelihood, or of any metric about an estimate that may lie outside the simplex. `thin`: metrics
/// of condition up to 1e14, radii down to 1e-9.
inline LearnedMixture random_learned_model(Stream& random, const RandomSizes& sizes, bool thin) {
    const MixtureModel truth = random_model(random, random_base_models(random, sizes), sizes);
    const double decades = thin ? 13 : 6;
    if (sample_index(random, 3) == 0)
        return likelihood_model(truth, random, std::pow(10.0, decades * sample_uniform(random)));
    const ParameterSet parameters = ParameterSet::of(truth.features());
    const Index p = parameters.space().dimension();
    const auto normal = [&] {
        Vector x(p);
        for (Index i = 0; i < p; ++i) x[i] = sample_normal(random);
        return x;
    };
    std::vector<ConfidenceSet> sets;
    for (Index k = 0; k < confidence_sets(sizes.shape.horizon, truth.homogeneous()); ++k) {
        Matrix precision = 0.05 * Matrix::Identity(p, p);
        for (Index t = 0; t < 2 * p; ++t) {
            const Vector x = normal();
            precision += std::pow(10.0, decades * sample_uniform(random)) * x * x.transpose();
        }
        const double radius =
            thin ? std::pow(10.0, 10 * sample_uniform(random) - 9) : 0.1 + 3 * sample_uniform(random);
        Vector estimate = parameters.space().coordinates(truth.weights(k));
        if (p > 0)
            estimate += 0.25 * radius / std::sqrt(static_cast<double>(p)) *
                        Vector(solve(cholesky(precision).transpose(), normal()));
        sets.emplace_back(parameters, estimate_with(estimate, precision), radius);
    }
    return LearnedMixture(truth.shared_features(), sizes.shape.horizon, truth.start(), truth.homogeneous(),
                          std::move(sets), 0.1);
}

/// Sizes from one on, of every kind.
inline RandomSizes small_sizes(Stream& random) {
    const Shape shape{1 + sample_index(random, 5), 1 + sample_index(random, 4), 1 + sample_index(random, 6)};
    return {
        .shape = shape,
        .features = 1 + sample_index(random, 6),
        .successors = 1 + sample_index(random, shape.states),
        .start_law = sample_index(random, 2) == 0,
        .homogeneous = sample_index(random, 2) == 0,
        .concentration = std::vector{0.1, 0.5, 1.0, 3.0}[static_cast<std::size_t>(sample_index(random, 4))]};
}

/// Whether the weights are members for certain, whatever is rounded in saying so.
inline bool inside(const LearnedMixture& learned, const Matrix& weights) {
    for (std::size_t k = 0; k < learned.sets().size(); ++k) {
        const ConfidenceSet& set = learned.sets()[k];
        const Vector row = weights.row(static_cast<Index>(k)).transpose();
        if (row.minCoeff() < 0) return false;
        if (set.dimension() == 0) continue;
        if (!set.contains(row) || set.depth(row) > 1 - 4e-16 * set.estimate().factor.norm() / set.radius())
            return false;
    }
    return true;
}

/// For each set the member that is farthest in the direction in its row.
class Farthest {
public:
    explicit Farthest(const LearnedMixture& learned) {
        for (const ConfidenceSet& set : learned.sets())
            supports_.push_back(set.support_function({.tolerance = 1e-7}));
    }

    Matrix operator()(Matrix weights, const Matrix& directions) const {
        for (Index k = 0; k < directions.rows(); ++k) move(weights, k, directions);
        return weights;
    }

    /// The same of one set alone.
    void move(Matrix& weights, Index k, const Matrix& directions) const {
        const Vector direction = directions.row(k).transpose();
        const Vector found = supports_[static_cast<std::size_t>(k)]
                                 .bracket({direction.data(), static_cast<std::size_t>(direction.size())})
                                 .witness;
        if (found.size() == 0) return;
        weights.row(k) = found.cwiseMax(0.0).transpose();
        weights.row(k) /= weights.row(k).sum();
    }

private:
    std::vector<SupportFunction> supports_;
};

/// Climbs from the weights to members under which `height` is larger, by steps towards those that are
/// farthest in the directions that `ascent` says. Members only are returned.
template <class Height, class Ascent>
Matrix climb(const LearnedMixture& learned, const Farthest& farthest, Matrix weights, const Height& height,
             const Ascent& ascent) {
    double highest = height(weights);
    for (int round = 0; round < 6; ++round) {
        const Matrix from = weights, goal = farthest(weights, ascent(from));
        bool higher = false;
        for (const double step : {1.0, 0.999999, 0.7, 0.3, 0.1}) {
            const Matrix trial = (1 - step) * from + step * goal;
            const double reached = height(trial);
            if (reached <= highest + 1e-14 || !inside(learned, trial)) continue;
            highest = reached;
            weights = trial;
            higher = true;
        }
        if (!higher) break;
    }
    return weights;
}

/// The same, one set at a time, to the member of it that is farthest in its direction: where `height` is a
/// largest of functions that are linear in each set's weights, `ascent` the slope of the one that is largest
/// at the moment, no step leads down, and the end is a member that no set alone can better.
template <class Height, class Ascent>
Matrix climb_by_sets(const LearnedMixture& learned, const Farthest& farthest, Matrix weights,
                     const Height& height, const Ascent& ascent) {
    // Witnesses may be outside by a rounding; this much towards the model brings them in.
    constexpr double inward = 1e-7;
    const Matrix& centre = learned.model().weights();
    double highest = height(weights);
    for (int round = 0; round < 20; ++round) {
        const double before = highest;
        for (Index k = 0; k < static_cast<Index>(learned.sets().size()); ++k) {
            Matrix trial = weights;
            farthest.move(trial, k, ascent(weights));
            trial.row(k) = (1 - inward) * trial.row(k) + inward * centre.row(k);
            const double reached = height(trial);
            if (reached <= highest || !inside(learned, trial)) continue;
            highest = reached;
            weights = trial;
        }
        if (highest <= before * (1 + 1e-9) + 1e-14) break;
    }
    return weights;
}

}  // namespace alidade::support
