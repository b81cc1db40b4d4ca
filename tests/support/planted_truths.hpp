#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "alidade/confidence/value_regression.hpp"
#include "alidade/model/task.hpp"
#include "support/dense_algebra.hpp"
#include "support/random_models.hpp"
#include "support/signed_features.hpp"

/// Small problems with a truth that sits where an adversary would have it: on the boundary of the confidence
/// sets, and as far from the mixture as the misspecification allows.
namespace alidade::support {

/// A task and the weights that are true of it (a row a step, or one).
struct PlantedTruth {
    Task task;
    Matrix weights;

    Vector weights_of(Index set) const { return weights.row(std::min(set, weights.rows() - 1)).transpose(); }
};

/// The features A phi, whose weights are A'^-1 theta.
inline FeatureMap sheared(const FeatureMap& features, const Matrix& shear, double norm_bound) {
    const Index d = features.features();
    SignedFeatures data{features.states(), features.actions(), d, {0}, {}, {}, norm_bound};
    for (Index pair = 0; pair < features.pairs(); ++pair) {
        for (Index e = features.first_entry(pair); e < features.first_entry(pair + 1); ++e) {
            const Vector phi = shear * Eigen::Map<const Vector>(features.phi(e).data(), d);
            data.targets.push_back(features.targets()[static_cast<std::size_t>(e)]);
            data.values.insert(data.values.end(), phi.data(), phi.data() + d);
        }
        data.offsets.push_back(static_cast<std::int64_t>(data.targets.size()));
    }
    return FeatureMap::from_features(data);
}

/// Signed features, every other time sheared and scaled, so that the centre of their hull is no law; weights
/// inside or on the boundary of those that are.
inline void plant_signed(Stream& random, const Shape& shape, Index successors, Index rows,
                         PlantedTruth& planted) {
    const Index d = 2 + sample_index(random, 3);
    FeatureMap features =
        random_signed_features(random, shape, d, successors, 1 + 2 * sample_uniform(random));
    Matrix shear = Matrix::Identity(d, d);
    if (sample_index(random, 2) == 0) {
        for (Index i = 0; i < d * d; ++i) shear.data()[i] += sample_normal(random);
        shear *= std::pow(10.0, 4 * sample_uniform(random) - 2);
        const double least = inverse(shear.transpose()).col(0).norm();
        features = sheared(features, shear, std::max(1.0, least * (1 + sample_uniform(random))));
    }
    const Matrix back = inverse(shear.transpose());
    const ParameterSet parameters = ParameterSet::of(features);
    planted.weights.resize(rows, d);
    for (Index row = 0; row < rows; ++row) {
        Vector direction = Vector::Zero(d);
        for (Index i = 1; i < d; ++i) direction[i] = sample_normal(random);
        double inside = 0, outside = 10;
        for (int step = 0; step < 60; ++step) {
            const double t = 0.5 * (inside + outside);
            (parameters.contains(back * (Vector::Unit(d, 0) + t * direction), 1e-12) ? inside : outside) = t;
        }
        if (sample_index(random, 2) == 0) inside *= sample_uniform(random);
        planted.weights.row(row) = (back * (Vector::Unit(d, 0) + inside * direction)).transpose();
    }
    planted.task.features = std::make_shared<const FeatureMap>(std::move(features));
}

/// Anything small: H from 1, d from 1, base models (weights inside or at a vertex) or signed features, with
/// their own weights at each step or not, a fixed start or not.
inline PlantedTruth planted_truth(std::uint64_t seed) {
    Stream random = test_stream(seed, 1);
    const Shape shape{2 + sample_index(random, 4), 1 + sample_index(random, 3), 1 + sample_index(random, 5)};
    PlantedTruth planted;
    planted.task.horizon = shape.horizon;
    planted.task.homogeneous = sample_index(random, 3) == 0;
    if (sample_index(random, 2) == 0) planted.task.start = random_start(random, shape.states);
    const Index rows = planted.task.homogeneous ? 1 : shape.horizon;
    const Index successors = 1 + sample_index(random, shape.states);
    if (sample_index(random, 3) == 0) {
        plant_signed(random, shape, std::max<Index>(successors, 2), rows, planted);
        return planted;
    }
    const Index d = 1 + sample_index(random, 4);
    planted.task.features =
        random_features(random, {.shape = shape,
                                 .features = d,
                                 .successors = successors,
                                 .concentration = sample_index(random, 2) == 0 ? 1.0 : 0.2});
    planted.weights = random_weights(random, rows, d);
    if (sample_index(random, 3) == 0)
        for (Index row = 0; row < rows; ++row)
            planted.weights.row(row) = Vector::Unit(d, sample_index(random, d)).transpose();
    return planted;
}

/// psi_V of a random pair and V in {0,1}.
inline Vector random_value_feature(Stream& random, const detail::ValueRegression& regression,
                                   const FeatureMap& features) {
    const Index p = regression.dimension(), pair = sample_index(random, features.pairs());
    Vector x = Vector::Zero(p);
    for (Index e = features.first_entry(pair); e < features.first_entry(pair + 1); ++e)
        if (sample_index(random, 2) == 0) x += regression.features().psi(e);
    return x;
}

/// Statistics of a regression whose estimates are `depth` radii from the truth, in a random direction or in
/// that in which some prediction is the worst.
inline std::vector<detail::RidgeStatistics> statistics_about(const PlantedTruth& planted,
                                                             const detail::ValueRegression& regression,
                                                             Stream& random, double depth) {
    const FeatureMap& features = *planted.task.features;
    const Index p = regression.dimension();
    const double size = std::pow(10.0, 4 * sample_uniform(random));
    std::vector<detail::RidgeStatistics> statistics;
    for (Index set = 0; set < regression.sets(); ++set) {
        detail::RidgeStatistics step(p);
        for (int t = 0; t < 12; ++t) {
            const Vector x = random_value_feature(random, regression, features);
            step.add(x.data(), 1 + static_cast<std::int64_t>(size * sample_uniform(random)), 0);
        }
        const detail::RidgeEstimate estimate = detail::solve_ridge(step, regression.regularisation());
        Vector direction(p);
        for (Index i = 0; i < p; ++i) direction[i] = sample_normal(random);
        if (sample_index(random, 2) == 0) {
            const Vector x = random_value_feature(random, regression, features);
            direction = estimate.inverse_factor.transpose() * (estimate.inverse_factor * x);
            if (sample_index(random, 2) == 0) direction = -direction;
        }
        Vector coordinates = regression.features().space.coordinates(planted.weights_of(set));
        const double norm = std::sqrt(direction.dot(estimate.precision * direction));
        if (norm > 0)
            coordinates += depth * regression.radius(estimate, step.observations) / norm * direction;
        step.moment = estimate.precision * coordinates;
        statistics.push_back(std::move(step));
    }
    return statistics;
}

/// Transition laws of every step, a number an entry.
using Laws = std::vector<std::vector<double>>;

inline Laws laws_of(const PlantedTruth& planted) {
    const MixtureModel model(planted.task.features, planted.task.horizon, planted.task.start,
                             planted.weights);
    Laws laws;
    for (Step h = 0; h < planted.task.horizon; ++h) laws.push_back(model.all_probabilities(h));
    return laws;
}

/// Moves mass `share` of one row to its successor of largest (or smallest) value, from the other end.
inline void move_mass(const FeatureMap& features, Index pair, std::span<const double> value, double share,
                      bool up, std::vector<double>& law) {
    std::vector<std::pair<double, std::size_t>> order;
    for (Index e = features.first_entry(pair); e < features.first_entry(pair + 1); ++e) {
        const auto entry = static_cast<std::size_t>(e);
        const double v = value[static_cast<std::size_t>(features.targets()[entry])];
        order.emplace_back(up ? v : -v, entry);
    }
    std::ranges::sort(order);
    const std::size_t gains = order.back().second;
    for (const auto& [v, entry] : order) {
        if (entry == gains) break;
        const double taken = std::min(share, law[entry]);
        law[entry] -= taken;
        law[gains] += taken;
        share -= taken;
    }
}

/// The system with those laws: a mixture of H kernels over the same entries, each for its step.
inline MixtureModel system_with(const Task& task, const Laws& laws) {
    const FeatureMap& features = *task.features;
    std::vector<BaseKernel> kernels;
    for (const std::vector<double>& law : laws) {
        BaseKernel kernel;
        kernel.rows = features.pairs();
        kernel.columns = features.states();
        for (Index pair = 0; pair <= features.pairs(); ++pair)
            kernel.offsets.push_back(features.first_entry(pair));
        kernel.targets.assign(features.targets().begin(), features.targets().end());
        kernel.probabilities = law;
        kernels.push_back(std::move(kernel));
    }
    auto shared = std::make_shared<const FeatureMap>(
        FeatureMap::from_base_kernels(features.states(), features.actions(), kernels));
    return MixtureModel(std::move(shared), task.horizon, task.start,
                        Matrix::Identity(task.horizon, task.horizon));
}

}  // namespace alidade::support
