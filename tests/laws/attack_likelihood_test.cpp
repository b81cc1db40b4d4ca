#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "alidade/certify/advantage.hpp"
#include "alidade/certify/reward_free.hpp"
#include "alidade/confidence/likelihood_sets.hpp"
#include "alidade/environment/deployment.hpp"
#include "alidade/explore/explorer.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "support/effort.hpp"
#include "support/greedy_plans.hpp"
#include "support/learned_models.hpp"
#include "support/levels.hpp"
#include "support/members.hpp"

// Attacks on likelihood sets and on what is certified from sets: truths found by ascent, data that leave some
// weights a billion times better known than others, designs that an adversary chooses.
namespace alidade::attack_likelihood_test {
namespace {

/// An ellipsoid of any shape about a point anywhere in the simplex, also at its boundary.
ConfidenceSet arbitrary_set(Stream& random, Index d) {
    const ParameterSet parameters = ParameterSet::simplex(d);
    const Index p = d - 1;
    const auto law = sample_dirichlet(random, d, sample_index(random, 2) == 0 ? 0.2 : 1.0);
    Vector centre = Eigen::Map<const Vector>(law.data(), d);
    if (sample_index(random, 4) == 0) centre = Vector::Unit(d, sample_index(random, d));
    Matrix precision = Matrix::Identity(p, p);
    for (int term = 0; term < 3; ++term) {
        Vector x(p);
        for (Index i = 0; i < p; ++i) x[i] = sample_normal(random);
        precision += std::pow(10.0, 5 * sample_uniform(random)) * x * x.transpose();
    }
    return ConfidenceSet(parameters, estimate_with(parameters.space().coordinates(centre), precision),
                         3 * sample_uniform(random));
}

/// Small problems of every kind: supports that differ, deterministic rows, one base model, H = 1, pooled;
/// sets from likelihood, from regression, or arbitrary.
LearnedMixture any_learned(std::uint64_t seed) {
    Stream random = support::test_stream(seed, 90);
    const Shape shape{2 + sample_index(random, 3), 1 + sample_index(random, 3), 1 + sample_index(random, 5)};
    const support::RandomSizes sizes{.shape = shape,
                                     .features = 1 + sample_index(random, 4),
                                     .successors = 2 + sample_index(random, shape.states - 1),
                                     .start_law = seed % 2 == 0,
                                     .homogeneous = seed % 3 == 0,
                                     .concentration = seed % 5 == 0 ? 0.2 : 1.0};
    const MixtureModel truth = support::random_model(
        random, support::ragged_features(random, sizes, 0.45 * static_cast<double>(seed % 3)), sizes);
    const double information = std::pow(10.0, 6 * sample_uniform(random) - 1);
    if (seed % 4 == 0) return support::likelihood_model(truth, random, information);
    if (seed % 4 == 1) return support::knowledge_about(truth, seed, information).mixture();
    std::vector<ConfidenceSet> sets;
    for (Index k = 0; k < confidence_sets(shape.horizon, sizes.homogeneous); ++k)
        sets.push_back(arbitrary_set(random, sizes.features));
    return LearnedMixture(truth.shared_features(), shape.horizon, truth.start(), sizes.homogeneous,
                          std::move(sets), 0.1);
}

MixtureModel with_weights(const LearnedMixture& learned, const Matrix& weights) {
    return MixtureModel(learned.model().shared_features(), learned.shape().horizon, learned.model().start(),
                        weights);
}

/// Gradient of the policy's value in the weights of one set, the later values being those under `truth`.
Vector value_slope(const MixtureModel& truth, const Policy& policy, const Reward& reward,
                   const LearnedMixture& learned, Index set) {
    const Matrix visits = occupancy(truth, policy), values = evaluate(truth, policy, reward).values;
    Vector slope = Vector::Zero(truth.features().features());
    for (Step h = 0; h + 1 < truth.shape().horizon; ++h) {
        if (learned.set_index(h) != set) continue;
        const Vector next = values.row(h + 1).transpose();
        for (Index pair = 0; pair < truth.shape().pairs(); ++pair)
            slope += visits(h, pair) * truth.features().phi_value(pair, {next.data(), at(next.size())});
    }
    return slope;
}

/// Moves the weights of every set to where the linearised objective is largest, as long as it grows: exact
/// block ascent where steps have their own weights.
template <class Objective, class Slope>
Matrix ascend(const LearnedMixture& learned, Matrix weights, Objective objective, Slope slope) {
    double best = objective(with_weights(learned, weights));
    for (int round = 0; round < 3; ++round)
        for (Index set = 0; set < static_cast<Index>(learned.sets().size()); ++set) {
            const Vector direction = slope(with_weights(learned, weights), set);
            const SupportBracket goal =
                learned.sets()[at(set)].exact_support({direction.data(), at(direction.size())});
            if (goal.witness.size() == 0) continue;
            for (double length = 1; length > 0.1; length /= 2) {
                Matrix trial = weights;
                trial.row(set) += length * (goal.witness.transpose() - weights.row(set));
                trial.row(set) = trial.row(set).cwiseMax(0.0);
                trial.row(set) /= trial.row(set).sum();
                const double value = objective(with_weights(learned, trial));
                if (value <= best) continue;
                best = value;
                weights = trial;
                break;
            }
        }
    return weights;
}

/// The reward that tells two systems apart best, given the policy.
Reward telling_reward(const MixtureModel& one, const MixtureModel& other, const Policy& policy) {
    const Matrix more = occupancy(one, policy) - occupancy(other, policy);
    std::vector<double> values;
    for (Step h = 0; h < one.shape().horizon; ++h)
        for (Index pair = 0; pair < one.shape().pairs(); ++pair)
            values.push_back(more(h, pair) > 0 ? 1.0 : 0.0);
    return Reward(one.shape(), std::move(values));
}

const std::uint64_t reward_free_cases = support::repetitions<std::uint64_t>(120, 60);

TEST(AttackLikelihood, ReachesNoRewardFreeCandidateByAscentOverPoliciesRewardsAndMembers) {
    std::vector<double> tightest(16, 0.0);
    for (std::uint64_t seed = 0; seed < reward_free_cases; ++seed) {
        const LearnedMixture learned = any_learned(seed);
        const RewardFreeCertificate certificate = certify_reward_free(learned, DeviationTable::of(learned));
        Stream random = support::test_stream(seed, 91);
        double worst = 0, worst_loss = 0;
        for (int start = 0; start < 3; ++start) {
            Policy policy = start == 2 ? support::random_stochastic_policy(random, learned.shape())
                                       : support::random_deterministic_policy(random, learned.shape());
            Reward reward = support::random_sparse_reward(random, learned.shape(), 0.4);
            Matrix weights = support::random_member(learned, random, false).weights();
            for (int round = 0; round < 3; ++round) {
                const double known = evaluate(learned.model(), policy, reward).value;
                weights = ascend(
                    learned, weights,
                    [&](const MixtureModel& m) { return evaluate(m, policy, reward).value - known; },
                    [&](const MixtureModel& m, Index set) {
                        return value_slope(m, policy, reward, learned, set);
                    });
                const MixtureModel truth = with_weights(learned, weights);
                reward = telling_reward(truth, learned.model(), policy);
                worst = std::max(worst, std::abs(evaluate(truth, policy, reward).value -
                                                 evaluate(learned.model(), policy, reward).value));
                const Policy plan = backward_induction(learned.model(), reward).policy;
                worst_loss = std::max(worst_loss, backward_induction(truth, reward).value -
                                                      evaluate(truth, plan, reward).value);
                if (start == 0) policy = backward_induction(truth, reward).policy;
            }
        }
        for (std::size_t k = 0; k < certificate.candidates.size(); ++k) {
            const auto& [name, bound] = certificate.candidates[k];
            EXPECT_LE(worst_loss, bound + 1e-12) << name << ", seed " << seed;
            if (support::of_greedy_plans(name)) continue;
            EXPECT_LE(2 * worst, bound + 1e-12) << name << ", seed " << seed;
            if (bound > 1e-6) tightest[k] = std::max(tightest[k], 2 * worst / bound);
        }
    }
    for (std::size_t k = 0; k < 7; ++k)
        RecordProperty("tightest " + std::to_string(k), std::to_string(tightest[k]));
    EXPECT_GT(*std::ranges::max_element(tightest), 0.9);
}

/// Every row is moved towards the one end or the other.
MixtureModel misspecified(const MixtureModel& mixture, const Matrix& value, double zeta, Stream& random) {
    return support::moved_off(mixture, value, zeta, Reach::anywhere,
                              [&] { return sample_index(random, 2) == 0 ? 1.0 : -1.0; });
}

const std::uint64_t reward_cases = support::repetitions<std::uint64_t>(160, 60);

TEST(AttackLikelihood, FindsNoLossAboveAdvantageOrGapByAscentOverMembers) {
    double tightest = 0;
    for (std::uint64_t seed = 0; seed < reward_cases; ++seed) {
        // Members are those of ellipsoids: what the convex sets in them save is not looked at.
        const LearnedMixture exact = support::without_levels(any_learned(seed + 1000));
        const double zeta = seed % 3 == 2 ? std::pow(10.0, -1 - static_cast<double>(seed % 2) * 2) : 0.0;
        const LearnedMixture learned(exact.model().shared_features(), exact.shape().horizon,
                                     exact.model().start(), exact.homogeneous(), exact.sets(), 0.1, zeta);
        const DeviationTable deviations = DeviationTable::of(learned);
        Stream random = support::test_stream(seed, 92);
        for (int r = 0; r < 4; ++r) {
            const Reward reward = r % 2 == 0 ? support::random_reward(random, learned.shape())
                                             : support::random_sparse_reward(random, learned.shape(), 0.3);
            const Policy policy = r < 2    ? backward_induction(learned.model(), reward).policy
                                  : r == 2 ? support::random_stochastic_policy(random, learned.shape())
                                           : support::random_deterministic_policy(random, learned.shape());
            const ValueBounds bounds = value_bounds(learned, reward, policy);
            const detail::AdvantageBounds result =
                detail::advantage_bounds(learned, deviations, reward, policy, bounds);
            const auto loss_of = [&](const MixtureModel& m) {
                return backward_induction(m, reward).value - evaluate(m, policy, reward).value;
            };
            const auto check = [&](const MixtureModel& truth) {
                const double loss = loss_of(truth), value = evaluate(truth, policy, reward).value;
                EXPECT_LE(loss, result.advantage + 1e-12) << "seed " << seed << ", reward " << r;
                EXPECT_LE(loss, result.gap + 1e-12) << "seed " << seed << ", reward " << r;
                EXPECT_GE(value, result.value.lower - 1e-12) << "seed " << seed << ", reward " << r;
                EXPECT_LE(value, result.value.upper + 1e-12) << "seed " << seed << ", reward " << r;
                if (result.advantage > 1e-6) tightest = std::max(tightest, loss / result.advantage);
                const Evaluation policy_values = evaluate(truth, policy, reward);
                for (Step h = 0; h < truth.shape().horizon; ++h)
                    for (State s = 0; s < truth.shape().states; ++s) {
                        EXPECT_LE(bounds.policy_lower(h, s), policy_values.values(h, s) + 1e-9);
                        EXPECT_GE(bounds.policy_upper(h, s), policy_values.values(h, s) - 1e-9);
                    }
            };
            for (int goal = 0; goal < 3; ++goal) {
                const double sign = goal == 1 ? 1 : -1;
                const Matrix weights = ascend(
                    learned, support::random_member(learned, random, false).weights(),
                    [&](const MixtureModel& m) {
                        return goal == 0 ? loss_of(m) : sign * evaluate(m, policy, reward).value;
                    },
                    [&](const MixtureModel& m, Index set) -> Vector {
                        const Vector own = value_slope(m, policy, reward, learned, set);
                        if (goal > 0) return sign * own;
                        return value_slope(m, backward_induction(m, reward).policy, reward, learned, set) -
                               own;
                    });
                const MixtureModel mixture = with_weights(learned, weights);
                check(mixture);
                if (zeta > 0)
                    check(misspecified(mixture,
                                       goal == 0 ? backward_induction(mixture, reward).values
                                                 : evaluate(mixture, policy, reward).values,
                                       zeta, random));
            }
        }
    }
    RecordProperty("tightest", std::to_string(tightest));
    EXPECT_GT(tightest, 0.9);
}

/// Rows of three base models of which the one at `place` is excluded by `many` transitions, while `few` tell
/// the two others apart: theta_place and the rest differ by ten magnitudes and more in what is known.
detail::LikelihoodRows lopsided(Index place, double many, double few, double contrast) {
    detail::LikelihoodRows rows;
    rows.features = 3;
    const auto add = [&](double one, double other, double count) {
        if (count < 1) return;
        std::vector<double> f(3, 0.0);
        f[at((place + 1) % 3)] = one;
        f[at((place + 2) % 3)] = other;
        rows.rows.insert(rows.rows.end(), f.begin(), f.end());
        rows.counts.push_back(std::floor(count));
        rows.observations += std::floor(count);
    };
    add(0.7, 0.7, many);
    add(0.5 + contrast, 0.5 - contrast, 0.6 * few);
    add(0.5 - contrast, 0.5 + contrast, 0.4 * few);
    return rows;
}

double exact_ratio(const detail::LikelihoodRows& rows, const Vector& one, const Vector& other) {
    long double sum = 0;
    for (Index k = 0; k < rows.size(); ++k) {
        long double above = 0, below = 0;
        for (Index i = 0; i < rows.features; ++i) {
            above += static_cast<long double>(rows.row(k)[i]) * static_cast<long double>(one[i]);
            below += static_cast<long double>(rows.row(k)[i]) * static_cast<long double>(other[i]);
        }
        sum += static_cast<long double>(rows.counts[at(k)]) * std::log(above / below);
    }
    return static_cast<double>(sum);
}

// All likelihood terms factor into (1 - theta_place)^t and a function of the share u of one of the others, so
// that the mixture is 2/(t+2) times a one-dimensional integral. An orthonormal basis mixes what is known to
// 1e-9 with what is not known: there a factorisation fails, or its small eigenvalues are noise.
TEST(AttackLikelihood, SurvivesWeightsThatAreKnownToVeryDifferentAccuracies) {
    for (const double many : {1e4, 1e6, 1e8, 1e9, 1e10})
        for (const double few : {0.0, 30.0, 1000.0})
            for (const double contrast : {0.15, 0.005})
                for (Index place = 0; place < 3; ++place) {
                    const std::vector<detail::LikelihoodRows> rows{lopsided(place, many, few, contrast)};
                    SCOPED_TRACE(std::to_string(many) + " " + std::to_string(few) + " " +
                                 std::to_string(contrast) + " " + std::to_string(place));
                    const detail::LikelihoodSet set = detail::likelihood_sets(rows, {})[0];
                    EXPECT_LT(set.fit.gap, 1e-3);
                    Vector one = Vector::Zero(3), other = one;
                    one[(place + 1) % 3] = 1;
                    other[(place + 2) % 3] = 1;
                    const Vector middle = 0.5 * (one + other);
                    double integral = 0;
                    const int cells = 2000;
                    for (int cell = 0; cell < cells; ++cell) {
                        const double u = (cell + 0.5) / cells;
                        integral += std::exp(exact_ratio(rows[0], u * one + (1 - u) * other, middle));
                    }
                    const double regret = exact_ratio(rows[0], set.fit.weights, middle) -
                                          std::log(2 / (rows[0].observations + 2) * integral / cells);
                    EXPECT_GE(set.regret_det, regret - 1e-6);
                    EXPECT_LE(set.regret_det, regret + 3);
                    for (const Vector& end : {one, other}) {
                        double low = 0, high = 1;
                        for (int step = 0; step < 50; ++step) {
                            const double t = 0.5 * (low + high);
                            const Vector point = (1 - t) * set.fit.weights + t * end;
                            (exact_ratio(rows[0], set.fit.weights, point) <= set.allowance ? low : high) = t;
                        }
                        const Vector point = (1 - low) * set.fit.weights + low * end;
                        EXPECT_LE(set.ellipsoid.depth(point), 1);
                        const std::vector<double> f(one.data(), one.data() + 3);
                        EXPECT_GE(set.ellipsoid.range(f).upper, point.dot(one) - 1e-12);
                        EXPECT_LE(set.ellipsoid.range(f).lower, point.dot(one) + 1e-12);
                    }
                    // theta_place is at most (B + g)/t; the ellipsoid may know less, but not much.
                    Vector excluded = Vector::Zero(3);
                    excluded[place] = 1;
                    const std::vector<double> f(excluded.data(), excluded.data() + 3);
                    EXPECT_LE(set.ellipsoid.range(f).upper, std::max(2e-5, 100 / many));
                }
}

// Predictions count for a batch with the weights that were stored before it was run, also in a run that is
// resumed before every batch, and their sum is what the evidence says.
TEST(AttackLikelihood, PredictsEveryBatchWithWeightsThatWereStoredBeforeIt) {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        const support::RandomSizes sizes{.shape = {3, 2, 4}, .homogeneous = seed % 2 == 0};
        const MixtureModel truth = support::random_model(seed, sizes);
        Task task;
        task.features = truth.shared_features();
        task.horizon = 4;
        task.homogeneous = sizes.homogeneous;
        ExplorerOptions options{.algorithm = "likelihood", .confidence = "likelihood?prequential=true"};
        if (seed % 3 == 0) options.schedule.kind = Schedule::Kind::doubling;
        Explorer explorer(task, options);
        CountSplittingDeployer deployer(truth, seed);
        std::vector<double> sums(at(confidence_sets(4, sizes.homogeneous)), 0.0);
        Index done = 0;
        for (int batch = 0; batch < 25; ++batch) {
            const Deployment deployment = explorer.ask();
            const Snapshot before = explorer.memory();
            Explorer resumed(task, options);
            resumed.restore(before);
            const Deployment again = resumed.ask();
            EXPECT_EQ(*again.policy, *deployment.policy);
            Counts counts(task.features, 4);
            deployer.deploy(*deployment.policy, done, deployment.episodes, counts);
            done += deployment.episodes;
            const std::vector<double>& weights = before.numbers.at("likelihood.smoothed");
            for (Step h = 0; h + 1 < 4; ++h)
                for (Index entry = 0; entry < task.features->entries(); ++entry) {
                    const std::size_t set = sizes.homogeneous ? 0 : at(h);
                    double predicted = 0;
                    for (std::size_t i = 0; i < 3; ++i)
                        predicted += weights[set * 3 + i] * task.features->phi(entry)[i];
                    if (counts.count(h, entry) > 0)
                        sums[set] += static_cast<double>(counts.count(h, entry)) * std::log(predicted);
                }
            explorer.tell(counts);
            resumed.tell(counts);
            EXPECT_TRUE(resumed.memory() == explorer.memory()) << "seed " << seed << ", batch " << batch;
        }
        for (std::size_t set = 0; set < sums.size(); ++set)
            EXPECT_NEAR(explorer.evidence().numbers.at("predicted")[set], sums[set],
                        1e-12 * std::abs(sums[set]));
    }
}

}  // namespace
}  // namespace alidade::attack_likelihood_test
