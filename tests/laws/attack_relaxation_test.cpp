// Attacks on the certificate `relaxation`: on models so small that every policy, every reward in {0,1} and a
// grid of weights can be tried, nothing may be above it; members that are as far from the truth as the sets
// allow lose up to four times its value, and no more.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "alidade/certify/relaxation.hpp"
#include "alidade/estimate/point_estimate.hpp"
#include "alidade/model/parameter_set.hpp"
#include "alidade/random/samplers.hpp"
#include "support/effort.hpp"
#include "support/random_models.hpp"

namespace alidade::attack_relaxation_test {
namespace {

using detail::JointPart;
using detail::JointProblem;

constexpr Index actions = 2, features = 2;
const double half_simplex = std::sqrt(0.5);  // zeta of two base models is in [-sqrt(1/2), sqrt(1/2)]

/// A number whose logarithm is uniform.
double spread(Stream& random, double least, double most) {
    return least * std::pow(most / least, sample_uniform(random));
}

Matrix inverse_factor(const Matrix& precision) {
    return estimate_with(Vector::Zero(precision.rows()), precision).inverse_factor;
}

Matrix random_precision(Stream& random, Index p) {
    const double size = spread(random, 1e-3, 1e6);
    Matrix precision = Matrix::Identity(p, p) * size * spread(random, 1e-3, 1);
    for (Index k = 0; k <= p; ++k) {
        Vector x(p);
        for (Index i = 0; i < p; ++i) x[i] = sample_normal(random);
        precision += size * spread(random, 1e-3, 1) * x * x.transpose();
    }
    return precision;
}

/// The members of a set of two base models: an interval of zeta.
struct Members {
    double least = -half_simplex, most = half_simplex;

    Vector weights(double share) const {
        const double zeta = (1 - share) * least + share * most;
        return TangentSpace::simplex(features).weights(Vector::Constant(1, zeta));
    }
};

/// A joint problem with its coordinates, and what brute force needs of it.
struct Tiny {
    Task task;
    std::unique_ptr<TangentFeatures> coordinates;
    JointProblem problem;
    std::vector<Members> members;
    std::vector<Matrix> phi;  // of every pair: d x S

    Tiny(Task given, bool hull)
        : task(std::move(given)),
          coordinates(std::make_unique<TangentFeatures>(
              *task.features,
              hull ? TangentSpace::simplex(features)
                   : TangentSpace{Vector::Zero(features), Matrix::Identity(features, features)})),
          problem{task, coordinates.get(), {}, {}} {
        const FeatureMap& map = *task.features;
        for (Index pair = 0; pair < map.pairs(); ++pair) {
            Matrix own = Matrix::Zero(features, map.states());
            for (Index e = map.first_entry(pair); e < map.first_entry(pair + 1); ++e)
                own.col(map.targets()[at(e)]) += Eigen::Map<const Vector>(map.phi(e).data(), features);
            phi.push_back(own);
        }
    }

    /// A set of several balls about some common member; `thin`: they have hardly another.
    void add_part(Stream& random, bool printed, bool thin) {
        const ParameterSet parameters = ParameterSet::simplex(features);
        const double member =
            half_simplex * (sample_index(random, 4) == 0 ? 1 : 2 * sample_uniform(random) - 1);
        Members own;
        std::vector<ConfidenceSet> balls;
        const Index number = thin ? 4 : 1 + sample_index(random, 3);
        for (Index k = 0; k < number; ++k) {
            const double precision = spread(random, 1e-2, 1e8);
            const double reach =
                !thin && sample_index(random, 2) == 0 ? spread(random, 0.3, 3) : spread(random, 1e-8, 3);
            const double side = sample_index(random, 2) == 0 ? 1 : -1;
            const double share = thin ? 1 - spread(random, 1e-10, 1e-2) : sample_uniform(random);
            const double centre = member + side * reach * share;
            balls.emplace_back(parameters,
                               estimate_with(Vector::Constant(1, centre), Matrix::Constant(1, 1, precision)),
                               reach * std::sqrt(precision));
            own = {std::max(own.least, centre - reach), std::min(own.most, centre + reach)};
        }
        if (own.least > own.most) own = {member, member};  // rounding
        ConfidenceSet set = balls.front();
        for (std::size_t k = 1; k < balls.size(); ++k) set = set.also_within(balls[k]);
        const Index p = coordinates->space.dimension();
        std::vector<Matrix> second;
        if (printed)
            for (Index k = 0; k <= sample_index(random, 2); ++k)
                second.push_back(inverse_factor(random_precision(random, p)));
        problem.parts.push_back({inverse_factor(random_precision(random, p)), spread(random, 1e-4, 1e3),
                                 std::move(second), spread(random, 1e-4, 1e3), set});
        members.push_back(own);
    }

    double relaxed() const { return relaxed_value(problem, detail::relaxation(problem, {})); }

    /// u_1 and the backup of V, before it is clipped.
    double worth(Step h, Index pair, const Vector& weights, const Vector& model,
                 const Vector& optimistic) const {
        const JointPart& part = problem.part(h);
        const Matrix psi = coordinates->space.basis.transpose() * phi[at(pair)];
        const double first = part.first_radius * (part.first * (psi * model)).norm();
        const Vector direction = phi[at(pair)] * optimistic;
        if (part.second.empty()) {
            const Members& own = members[at(problem.part_index(h))];
            return first + std::max(own.weights(0).dot(direction), own.weights(1).dot(direction));
        }
        double least = std::numeric_limits<double>::infinity();
        for (const Matrix& metric : part.second)
            least = std::min(least, (metric * (psi * optimistic)).norm());
        return first + part.second_radius * least + weights.dot(direction);
    }

    /// J of a policy, rewards and weights, all told by the bits of a number.
    double value(unsigned policy, unsigned rewards, const std::vector<Vector>& weights) const {
        const Index states = task.features->states();
        const auto bit = [&](unsigned bits, Step h, State s) {
            return static_cast<Index>(bits >> static_cast<unsigned>(h * states + s) & 1U);
        };
        Vector model(states), optimistic = Vector::Zero(states);
        for (State s = 0; s < states; ++s) model[s] = static_cast<double>(bit(rewards, task.horizon - 2, s));
        for (Step h = task.horizon - 2; h >= 0; --h) {
            Vector next_model(states), next(states);
            for (State s = 0; s < states; ++s) {
                const Index pair = s * actions + bit(policy, h, s);
                const Vector& own = weights[at(problem.part_index(h))];
                // The reward of the first step matters to nothing.
                next_model[s] = (h > 0 ? static_cast<double>(bit(rewards, h - 1, s)) : 0.0) +
                                own.dot(phi[at(pair)] * model);
                next[s] = std::min(problem.clips[at(h)], worth(h, pair, own, model, optimistic));
            }
            model = next_model;
            optimistic = next;
        }
        return task.start.expect({optimistic.data(), at(states)});
    }

    double optimum(int grid) const {
        const unsigned choices = 1U << static_cast<unsigned>(task.features->states() * (task.horizon - 1));
        double best = 0;
        const auto parts = members.size();
        for (int point = 0; point < static_cast<int>(std::pow(grid, parts)); ++point) {
            std::vector<Vector> weights;
            for (int k = 0, rest = point; k < static_cast<int>(parts); ++k, rest /= grid)
                weights.push_back(members[static_cast<std::size_t>(k)].weights((rest % grid) / (grid - 1.0)));
            for (unsigned policy = 0; policy < choices; ++policy)
                for (unsigned rewards = 0; rewards < choices; ++rewards)
                    best = std::max(best, value(policy, rewards, weights));
        }
        return best;
    }
};

Tiny random_tiny(std::uint64_t seed, bool thin) {
    Stream random = support::test_stream(seed, thin ? 771 : 770);
    const Index horizon = 2 + sample_index(random, 2);
    const support::RandomSizes sizes{.shape = {2, actions, horizon},
                                     .features = features,
                                     .successors = 2,
                                     .homogeneous = sample_index(random, 3) == 0,
                                     .concentration = sample_index(random, 2) == 0 ? 1 : 0.2};
    const SharedFeatures map = support::random_features(random, sizes);
    const StartLaw start =
        sample_index(random, 2) == 0 ? support::random_start(random, 2) : StartLaw(State{1});
    Tiny tiny({map, horizon, start, sizes.homogeneous, 0}, sample_index(random, 2) == 0);
    const bool printed = sample_index(random, 2) == 0;
    for (Index k = 0; k < (sizes.homogeneous ? 1 : horizon - 1); ++k) tiny.add_part(random, printed, thin);
    // Where little is added at the first step, what comes after must be backed up from above.
    if (sample_index(random, 2) == 0) tiny.problem.parts.front().first_radius *= 1e-3;
    const Index kind = sample_index(random, 3);
    for (Step h = 0; h + 1 < horizon; ++h)
        tiny.problem.clips.push_back(kind == 0   ? static_cast<double>(horizon - 1 - h)
                                     : kind == 1 ? static_cast<double>(horizon)
                                                 : spread(random, 0.01, 10));
    return tiny;
}

// Both backups, hull and R^d, several balls, tiny and huge radii, pooled and not: never below, and often met.
TEST(AttackRelaxation, NoPolicyRewardAndWeightsAreAbove) {
    const int problems = support::runs(150, 3000);
    int met = 0;
    for (int seed = 0; seed < problems; ++seed) {
        const Tiny tiny = random_tiny(static_cast<std::uint64_t>(seed), false);
        const double bound = tiny.relaxed(), optimum = tiny.optimum(4);
        ASSERT_GE(bound, optimum * (1 - 1e-12)) << seed;
        met += bound <= optimum * (1 + 1e-9) ? 1 : 0;
    }
    if (!support::effort_is("sanitized")) {
        EXPECT_GT(met, problems / 4);
    }
}

// Balls that have next to nothing in common: no contradiction is claimed, and nothing is above.
TEST(AttackRelaxation, NearlyEmptySets) {
    const int problems = support::runs(100, 2000);
    for (int seed = 0; seed < problems; ++seed) {
        const Tiny tiny = random_tiny(static_cast<std::uint64_t>(seed), true);
        ASSERT_GE(tiny.relaxed(), tiny.optimum(3) * (1 - 1e-12)) << seed;
    }
}

/// State 0 leads to the good state 1 with theta_1 by the first action, with theta_2 and a little more by the
/// second; the reward is to be there.
Task two_ways(double tilt) {
    const std::vector<std::int64_t> offsets{0, 2, 4, 5, 6, 7, 8}, targets{1, 2, 1, 2, 1, 1, 2, 2};
    const std::vector<BaseKernel> kernels{{"a", 6, 3, offsets, targets, {1, 0, tilt, 1 - tilt, 1, 1, 1, 1}},
                                          {"b", 6, 3, offsets, targets, {0, 1, 1, 0, 1, 1, 1, 1}}};
    const auto map = std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(3, 2, kernels));
    return {map, 2, StartLaw(State{0}), false, 0};
}

/// What the model's best action loses under the truth.
double loss(double model, double truth, double tilt) {
    const auto chance = [&](double theta, Index action) {
        return action == 0 ? theta : 1 - theta + tilt * theta;
    };
    const Index taken = chance(model, 1) > chance(model, 0) ? 1 : 0;
    return std::max(chance(truth, 0), chance(truth, 1)) - chance(truth, taken);
}

// [theory T16] The truth and theta~ at opposite ends of the set, 2 beta-hat apart: 2B is false, 4B is not,
// and a little less than 4B would be. Of the projection 2B holds.
TEST(AttackRelaxation, MembersTwiceTheRadiusAwayNeedFourTimes) {
    const double tilt = 1e-6;
    for (const bool hull : {true, false})
        for (const double x : {0.2, 0.02, 1e-3})
            for (const double precision : {1.0, 1e4}) {
                Tiny tiny(two_ways(tilt), hull);
                // Members have theta_1 from 1/2 to 1/2 + 2x.
                const PointEstimate estimate =
                    estimate_with(Vector::Constant(1, std::sqrt(2.0) * x), Matrix::Constant(1, 1, precision));
                const double radius = std::sqrt(2 * precision) * x * (1 + 1e-12);
                const ConfidenceSet set(ParameterSet::simplex(features), estimate, radius);
                // In R^d what all weights have in common is known well.
                const Matrix full = precision * Matrix::Identity(2, 2) + 1e9 * Matrix::Ones(2, 2);
                tiny.problem.parts.push_back(
                    {hull ? estimate.inverse_factor : inverse_factor(full), radius, {}, 0, set});
                tiny.problem.clips = {1.0};
                const ErrorRecursion relaxed = detail::relaxation(tiny.problem, {});
                const double value = relaxed_value(tiny.problem, relaxed);
                const double certified = relaxation_certificate(tiny.problem, relaxed);
                const Vector model = tiny.coordinates->space.dimension() == 1
                                         ? tiny.coordinates->space.weights(Vector::Zero(1))
                                         : Vector::Constant(2, 0.5);
                ASSERT_TRUE(set.contains(model));
                const double truth = 0.5 + 2 * x, lost = loss(0.5, truth, tilt);
                EXPECT_GT(lost, 2 * value * 1.5);
                EXPECT_GT(lost, 4 * value * 0.99);
                EXPECT_LE(lost, 2 * certified);
                for (const double other : {0.5, 0.5 + x, truth})
                    EXPECT_LE(loss(set.weights()[0], other, tilt), certified);
            }
}

/// The largest loss of a model's best policies over all rewards in {0,1}, of two states, three steps.
double worst_loss(const std::vector<std::vector<Vector>>& truth,
                  const std::vector<std::vector<Vector>>& model, const StartLaw& start) {
    double worst = 0;
    const std::size_t steps = truth.size();
    for (unsigned rewards = 0; rewards < 1U << (4 * (steps + 1)); ++rewards) {
        Vector planned = Vector::Zero(2), had = planned, best = planned;
        for (std::size_t h = steps + 1; h-- > 0;) {
            Vector next_planned(2), next_had(2), next_best(2);
            for (Index s = 0; s < 2; ++s) {
                double highest = -1, own = 0, most = 0;
                for (Index a = 0; a < actions; ++a) {
                    const auto pair = static_cast<std::size_t>(s * actions + a);
                    const double reward = rewards >> (4 * h + pair) & 1U;
                    const bool last = h == steps;
                    const double q = reward + (last ? 0 : model[h][pair].dot(planned)),
                                 t = reward + (last ? 0 : truth[h][pair].dot(had));
                    // Of ties, what is worse.
                    if (q > highest + 1e-12 || (q > highest - 1e-12 && t < own)) {
                        highest = std::max(highest, q);
                        own = t;
                    }
                    most = std::max(most, reward + (last ? 0 : truth[h][pair].dot(best)));
                }
                next_planned[s] = highest;
                next_had[s] = own;
                next_best[s] = most;
            }
            planned = next_planned;
            had = next_had;
            best = next_best;
        }
        worst = std::max(worst, start.expect({best.data(), 2}) - start.expect({had.data(), 2}));
    }
    return worst;
}

// Truths at both ends of the sets, off their mixtures as far as allowed: no reward makes the projection lose
// more than 2B, nor a member more than 4B.
TEST(AttackRelaxation, LossesOverAllRewards) {
    const int problems = support::runs(60, 1500);
    double largest = 0;
    for (int seed = 0; seed < problems; ++seed) {
        Stream random = support::test_stream(static_cast<std::uint64_t>(seed), 772);
        const support::RandomSizes sizes{.shape = {2, actions, 3}, .features = features, .successors = 2};
        const double off = seed % 2 == 0 ? 0 : spread(random, 0.01, 0.2);
        Tiny tiny({support::random_features(random, sizes), 3, support::random_start(random, 2), false, off},
                  true);
        JointProblem members = tiny.problem;
        std::vector<std::vector<Vector>> truth, projected, member;
        for (Step h = 0; h < 2; ++h) {
            const double precision = spread(random, 1, 1e6), reach = spread(random, 1e-3, 1);
            const double centre = half_simplex * (2 * sample_uniform(random) - 1);
            const PointEstimate estimate =
                estimate_with(Vector::Constant(1, centre), Matrix::Constant(1, 1, precision));
            const ConfidenceSet set(ParameterSet::simplex(features), estimate, reach * std::sqrt(precision));
            tiny.problem.parts.push_back({estimate.inverse_factor, set.refined_radius(), {}, 0, set});
            members.parts.push_back({estimate.inverse_factor, set.radius() * (1 + 1e-12), {}, 0, set});
            const Members ends{std::max(-half_simplex, centre - reach),
                               std::min(half_simplex, centre + reach)};
            const double side = static_cast<double>(sample_index(random, 2));
            truth.emplace_back();
            projected.emplace_back();
            member.emplace_back();
            for (const Matrix& phi : tiny.phi) {
                Vector law = phi.transpose() * ends.weights(side);
                const Index from = sample_index(random, 2);
                const double moved = std::min(off, law[from]);
                law[from] -= moved;
                law[1 - from] += moved;
                truth.back().push_back(law);
                projected.back().emplace_back(phi.transpose() * set.weights());
                member.back().emplace_back(phi.transpose() * ends.weights(1 - side));
            }
            tiny.problem.clips.push_back(2.0 - static_cast<double>(h));
        }
        members.clips = tiny.problem.clips;
        const double two = relaxation_certificate(tiny.problem, detail::relaxation(tiny.problem, {})),
                     four = 2 * relaxation_certificate(members, detail::relaxation(members, {}));
        const double lost = worst_loss(truth, projected, tiny.task.start);
        ASSERT_LE(lost, two) << seed;
        ASSERT_LE(worst_loss(truth, member, tiny.task.start), four) << seed;
        largest = std::max(largest, lost / two);
    }
    if (!support::effort_is("sanitized")) {
        EXPECT_GT(largest, 0.1);
    }
    RecordProperty("largest share of the certificate", std::to_string(largest));
}

}  // namespace
}  // namespace alidade::attack_relaxation_test
