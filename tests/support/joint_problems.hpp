#pragma once

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "alidade/certify/joint_problem.hpp"
#include "alidade/estimate/ridge_regression.hpp"
#include "support/random_models.hpp"

namespace alidade::support {

/// How a random joint problem is made.
struct JointSizes {
    RandomSizes model;
    int rows = 30;         ///< of the regressions that make its metrics
    double radius = 1;     ///< beta-hat
    bool robust = false;   ///< the backup over the set, instead of the printed one
    bool clipped = false;  ///< at the steps that are left; else nothing is ever clipped
};

/// A joint problem with metrics of random rows, in coordinates of the hull, and what it points to.
struct RandomJointProblem {
    std::shared_ptr<const TangentFeatures> tangent;
    detail::JointProblem problem;
};

/// The estimate of so many rows psi_V of random pairs and V.
inline detail::RidgeEstimate random_rows(Stream& random, const FeatureMap& features,
                                         const TangentFeatures& tangent, const Vector& truth, int rows) {
    detail::RidgeStatistics sums(tangent.space.dimension());
    for (int row = 0; row < rows; ++row) {
        const Index pair = sample_index(random, features.pairs());
        std::vector<double> value(at(features.states()));
        for (double& v : value) v = sample_uniform(random);
        const Vector phi = features.phi_value(pair, value);
        const Vector psi = tangent.space.basis.transpose() * phi;
        sums.add(psi.data(), 1, (truth - tangent.space.centre).dot(phi) + 0.3 * sample_normal(random));
    }
    return detail::solve_ridge(sums, 0.25);
}

inline RandomJointProblem random_joint_problem(Stream& random, const JointSizes& sizes) {
    const MixtureModel truth = random_model(random, sizes.model);
    const SharedFeatures features = truth.shared_features();
    const ParameterSet parameters = ParameterSet::of(*features);
    RandomJointProblem made{std::make_shared<const TangentFeatures>(*features, parameters.space()), {}};
    const Shape shape = sizes.model.shape;
    made.problem.task = {features, shape.horizon, truth.start(), sizes.model.homogeneous, 0};
    made.problem.coordinates = made.tangent.get();
    const Index parts = sizes.model.homogeneous ? 1 : shape.learned_steps();
    for (Index k = 0; k < parts; ++k) {
        const Vector weights = truth.weights(k);
        const detail::RidgeEstimate first =
            random_rows(random, *features, *made.tangent, weights, sizes.rows);
        const detail::RidgeEstimate second =
            random_rows(random, *features, *made.tangent, weights, sizes.rows);
        // Large enough for the parameters to be met.
        ConfidenceSet set(parameters, first, sizes.radius + 1);
        made.problem.parts.push_back({first.inverse_factor, sizes.radius,
                                      sizes.robust
                                          ? std::vector<Matrix>{}
                                          : std::vector<Matrix>{first.inverse_factor, second.inverse_factor},
                                      2 * sizes.radius, std::move(set)});
    }
    for (Step h = 0; h < shape.learned_steps(); ++h)
        made.problem.clips.push_back(sizes.clipped ? static_cast<double>(shape.steps_after(h)) : 1e9);
    return made;
}

/// The weights of a set of two base models are an interval: those at its ends.
inline std::vector<Vector> ends_of(const ConfidenceSet& set) {
    const Vector direction = Vector::Unit(2, 0);
    std::vector<Vector> ends;
    for (const double sign : {-1.0, 1.0}) {
        const Vector along = sign * direction;
        ends.push_back(set.exact_support({along.data(), 2}).witness);
    }
    return ends;
}

/// The value of a joint problem once more, by plain recursion over the definition; robust backups over the
/// ends of the interval, as they are linear in the weights.
inline double plain_joint_value(const detail::JointProblem& problem, const std::vector<Action>& actions,
                                const std::vector<double>& rewards, const std::vector<Vector>& weights) {
    const FeatureMap& features = *problem.task.features;
    const Shape shape = problem.task.shape();
    std::vector<double> model(at(shape.states)), optimistic(at(shape.states), 0.0);
    for (State s = 0; s < shape.states; ++s)
        model[at(s)] = rewards[at((shape.horizon - 1) * shape.states + s)];
    for (Step h = shape.horizon - 2; h >= 0; --h) {
        const detail::JointPart& part = problem.part(h);
        const Vector& theta = weights[at(problem.part_index(h))];
        std::vector<double> now_model(at(shape.states)), now(at(shape.states));
        for (State s = 0; s < shape.states; ++s) {
            const Index pair = shape.pair(s, actions[at(h * shape.states + s)]);
            const Vector phi_model = features.phi_value(pair, model);
            const Vector phi = features.phi_value(pair, optimistic);
            const Matrix to_psi = problem.coordinates->space.basis.transpose();
            double backup = theta.dot(phi);
            if (part.second.empty()) {
                backup = 0;
                for (const Vector& end : ends_of(part.set)) backup = std::max(backup, end.dot(phi));
            } else {
                double least = 1e300;
                for (const Matrix& metric : part.second)
                    least = std::min(least, (metric * (to_psi * phi)).norm());
                backup += part.second_radius * least;
            }
            now_model[at(s)] = rewards[at(h * shape.states + s)] + theta.dot(phi_model);
            now[at(s)] = std::min(problem.clips[at(h)],
                                  part.first_radius * (part.first * (to_psi * phi_model)).norm() + backup);
        }
        model = now_model;
        optimistic = now;
    }
    return problem.task.start.expect(optimistic);
}

}  // namespace alidade::support
