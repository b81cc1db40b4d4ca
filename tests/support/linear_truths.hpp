#pragma once

#include <Eigen/LU>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "alidade/model/counts.hpp"
#include "alidade/model/pair_features.hpp"
#include "alidade/model/task.hpp"
#include "support/random_models.hpp"

/// Random linear MDPs of few states, whose every V in {0,1}^S can be listed.
namespace alidade::support {

/// What a linear MDP is drawn with.
struct LinearSizes {
    Shape shape{3, 2, 3};      ///< S, A, H
    Index laws = 2;            ///< k: rows are mixtures of so many laws
    Index features = 2;        ///< d >= k: of a linear image of the weights
    bool homogeneous = false;  ///< one law for all steps
    bool start_law = false;    ///< start from a distribution instead of state 0
    bool restricted = false;   ///< successors are those that can follow, not all states
    bool turned = false;       ///< features are a random linear image of the weights, with signs
    bool one_hot = false;      ///< weights are one-hot: few different features, of norm 1 unless turned
    double scale = 1;          ///< that all features are multiplied by
    double spread = 1;         ///< of the weights about those of the first pair: tiny if nearly collinear
};

/// A linear MDP and its laws: one matrix of pairs x S for each set, or step.
struct LinearTruth {
    Task task;
    std::vector<Matrix> laws;

    const Matrix& at(Step h) const { return laws[static_cast<std::size_t>(task.homogeneous ? 0 : h)]; }

    /// The truth as a model, for exact values; the last step is like the first.
    TransitionModel model() const {
        const SuccessorMap& map = *task.linear;
        std::vector<double> values;
        for (Step h = 0; h < (task.homogeneous ? 1 : task.horizon); ++h)
            for (Index pair = 0; pair < map.pairs(); ++pair)
                for (const std::int32_t target : map.targets(pair))
                    values.push_back(at(h + 1 < task.horizon ? h : 0)(pair, target));
        return TransitionModel(task.linear, task.horizon, task.start, std::move(values));
    }
};

/// The largest |sum over s' of mu(s') V(s')| over V in {0,1}^S.
inline double largest_measure(const Matrix& measures) {
    double most = 0;
    for (std::uint64_t code = 0; code < std::uint64_t{1} << measures.cols(); ++code) {
        Vector sum = Vector::Zero(measures.rows());
        for (Index s = 0; s < measures.cols(); ++s)
            if (code >> s & 1) sum += measures.col(s);
        most = std::max(most, sum.norm());
    }
    return most;
}

/// Laws with many zeros.
inline Matrix random_sparse_laws(Stream& random, Index laws, Index states) {
    Matrix result = Matrix::Zero(laws, states);
    for (Index i = 0; i < laws; ++i) {
        const Index support = 1 + sample_index(random, states);
        const auto law = sample_dirichlet(random, support, 0.7);
        const auto where = random_states(random, states, support);
        for (std::size_t j = 0; j < law.size(); ++j) result(i, where[j]) = law[j];
    }
    return result;
}

inline LinearTruth random_linear_truth(Stream& random, const LinearSizes& sizes) {
    const Index pairs = sizes.shape.pairs(), k = sizes.laws, d = sizes.features, states = sizes.shape.states;
    Matrix weights(pairs, k);
    for (Index pair = 0; pair < pairs; ++pair) {
        const auto law = sample_dirichlet(random, k, 0.5);
        const Index hot = pair < k ? pair : sample_index(random, k);
        for (Index i = 0; i < k; ++i)
            weights(pair, i) = sizes.one_hot ? (i == hot ? 1.0 : 0.0) : law[static_cast<std::size_t>(i)];
    }
    for (Index pair = 1; pair < pairs; ++pair)
        weights.row(pair) = weights.row(0) + sizes.spread * (weights.row(pair) - weights.row(0));
    Matrix image = Matrix::Identity(d, k);
    if (sizes.turned)
        for (Index i = 0; i < image.size(); ++i) image.data()[i] = sample_normal(random);
    // phi . mu = w' T'T (T'T)^-1 laws = w' laws.
    Matrix phi = image * weights.transpose();
    const double norm = phi.colwise().norm().maxCoeff();
    const double scale = sizes.scale * (norm > 1 ? 1 / norm : 1);
    phi *= scale;
    LinearTruth truth;
    double bound = 0;
    const Matrix lift = image * (image.transpose() * image).inverse() / scale;
    for (Step h = 0; h < (sizes.homogeneous ? 1 : sizes.shape.horizon - 1); ++h) {
        const Matrix laws = random_sparse_laws(random, k, states);
        truth.laws.push_back(weights * laws);
        bound = std::max(bound, largest_measure(lift * laws));
    }
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> targets;
    for (Index pair = 0; pair < pairs; ++pair) {
        for (State s = 0; s < states; ++s) {
            const bool follows =
                std::ranges::any_of(truth.laws, [&](const Matrix& m) { return m(pair, s) > 0; });
            if (follows || !sizes.restricted) targets.push_back(static_cast<std::int32_t>(s));
        }
        offsets.push_back(static_cast<std::int64_t>(targets.size()));
    }
    truth.task.linear = std::make_shared<const PairFeatures>(
        SuccessorMap(states, sizes.shape.actions, offsets, targets), d,
        std::vector<double>(phi.data(), phi.data() + phi.size()), bound * (1 + 1e-12));
    truth.task.horizon = sizes.shape.horizon;
    truth.task.homogeneous = sizes.homogeneous;
    if (sizes.start_law) truth.task.start = random_start(random, states);
    return truth;
}

/// One draw from a row of a matrix of laws.
inline State sample_row(Stream& random, const Matrix& laws, Index row) {
    double rest = sample_uniform(random);
    State last = 0;
    for (State s = 0; s < laws.cols(); ++s) {
        if (laws(row, s) <= 0) continue;
        last = s;
        rest -= laws(row, s);
        if (rest < 0) break;
    }
    return last;
}

}  // namespace alidade::support
