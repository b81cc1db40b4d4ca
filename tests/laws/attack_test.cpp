#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "alidade/audit/audit.hpp"
#include "alidade/certify/reward_certificate.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "support/learned_models.hpp"

// Attempts to break certificates by brute force: exact worst cases on tiny models.
namespace alidade::attack_test {
namespace {

/// Calls visit(policy) for every deterministic policy; steps x states x log2(actions) must be small.
template <class Visit>
void for_each_policy(const Shape& shape, Visit visit) {
    std::vector<std::int32_t> actions(at(shape.horizon * shape.states), 0);
    while (true) {
        visit(Policy::deterministic(shape, actions));
        std::size_t i = 0;
        while (i < actions.size() && ++actions[i] == shape.actions) actions[i++] = 0;
        if (i == actions.size()) return;
    }
}

/// max over rewards in [0,1] of |V^pi_a - V^pi_b|, exactly: the value is linear in the reward, with the
/// occupancies as coefficients.
double worst_value_error(const MixtureModel& a, const MixtureModel& b, const Policy& policy) {
    const Matrix difference = occupancy(a, policy) - occupancy(b, policy);
    return std::max(difference.cwiseMax(0.0).sum(), (-difference).cwiseMax(0.0).sum());
}

/// max over 0/1 rewards of the true loss of the exact plan on the learned model.
double worst_loss(const LearnedMixture& learned, const MixtureModel& truth) {
    const Shape& shape = truth.shape();
    const Index bits = shape.horizon * shape.pairs();
    double worst = 0;
    for (Index code = 0; code < (Index{1} << bits); ++code) {
        std::vector<double> values(at(bits));
        for (Index b = 0; b < bits; ++b) values[at(b)] = static_cast<double>((code >> b) & 1);
        worst = std::max(worst, true_loss(learned, truth, Reward(shape, std::move(values))));
    }
    return worst;
}

/// The two ends of a confidence set for two base models: the ball about the estimate cut with the simplex.
std::pair<Vector, Vector> ends(const ConfidenceSet& set) {
    const TangentSpace& space = set.parameters().space();
    const double reach = set.radius() / set.estimate().factor(0, 0), centre = set.estimate().coordinates[0];
    const double one = space.coordinates(Vector::Unit(2, 0))[0],
                 other = space.coordinates(Vector::Unit(2, 1))[0];
    const auto inside = [&](double zeta) {
        zeta = std::clamp(zeta, std::min(one, other), std::max(one, other));
        return space.weights(Vector::Constant(1, zeta)).cwiseMax(0.0).eval();
    };
    return {inside(centre - reach), inside(centre + reach)};
}

/// A learned model for two base models whose estimates sit anywhere, also outside the simplex.
Knowledge two_model_knowledge(std::uint64_t seed, const support::RandomSizes& sizes) {
    Stream random = support::test_stream(seed);
    const SharedFeatures features = support::random_features(random, sizes);
    const ParameterSet parameters = ParameterSet::of(*features);
    const Index sets = confidence_sets(sizes.shape.horizon, sizes.homogeneous);
    std::vector<detail::RidgeStatistics> statistics(at(sets), detail::RidgeStatistics(1));
    for (detail::RidgeStatistics& step : statistics) {
        const double information = std::pow(10.0, 4 * sample_uniform(random)), one = 1;
        step.add(&one, 1, 0);
        step.gram *= information;
        step.moment[0] = (information + 0.25) * (1.5 * sample_uniform(random) - 0.75);
    }
    auto confidence = detail::regression_sets(features, statistics, 0.1);
    WidthTable widths(sets, *features);
    bracket_widths(*features, TangentFeatures(*features, parameters.space()), confidence, {}, 1, widths);
    StartLaw start = sizes.start_law ? support::random_start(random, sizes.shape.states) : StartLaw(State{0});
    const auto learned = std::make_shared<const LearnedMixture>(
        features, sizes.shape.horizon, std::move(start), sizes.homogeneous, std::move(confidence), 0.1);
    RewardFreeCertificate certificate = certify_reward_free(*learned, DeviationTable(*learned, widths),
                                                            {.certificates = {"model", "coupling", "span"}});
    return {learned, std::move(certificate), 0};
}

/// Calls visit(truth) for every choice of ends, one a set: the value is linear in each step's weights, so
/// some such truth is the worst of all members when the steps have their own weights.
template <class Visit>
void for_each_corner(const LearnedMixture& learned, Visit visit) {
    const auto sets = static_cast<Index>(learned.sets().size());
    for (Index code = 0; code < (Index{1} << sets); ++code) {
        Matrix weights = learned.model().weights();
        for (Index k = 0; k < sets; ++k) {
            const auto [low, high] = ends(learned.sets()[at(k)]);
            weights.row(k) = ((code >> k) & 1 ? high : low).transpose();
        }
        visit(MixtureModel(learned.model().shared_features(), learned.shape().horizon,
                           learned.model().start(), weights));
    }
}

// Exact: all truths (corners), all policies, all rewards.
TEST(Attack, NoTruthPolicyAndRewardBreakTheValueErrorOfTwoBaseModels) {
    double tightest = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const support::RandomSizes sizes{.shape = {2 + static_cast<Index>(seed % 2), 2, 3},
                                         .features = 2,
                                         .successors = 2,
                                         .start_law = seed % 3 == 0,
                                         .homogeneous = seed % 4 == 1,
                                         .concentration = 0.5};
        const Knowledge knowledge = two_model_knowledge(seed, sizes);
        double worst = 0;
        for_each_corner(knowledge.mixture(), [&](const MixtureModel& truth) {
            for_each_policy(sizes.shape, [&](const Policy& policy) {
                worst = std::max(worst, worst_value_error(truth, knowledge.mixture().model(), policy));
            });
        });
        for (const auto& [name, bound] : knowledge.certificate.candidates)
            EXPECT_LE(2 * worst, bound) << name << ", seed " << seed;
        tightest = std::max(tightest, 2 * worst / knowledge.certificate.candidates[1].second);
    }
    RecordProperty("tightest", std::to_string(tightest));
    EXPECT_GT(tightest, 0.9);  // the recursion is not idle
}

// Exact over 0/1 rewards and corners, H = 2 and 3: the factor 2 and the plan.
TEST(Attack, NoRewardMakesThePlanLoseMoreThanTheCertificate) {
    double tightest = 0;
    for (std::uint64_t seed = 0; seed < 24; ++seed) {
        const support::RandomSizes sizes{.shape = {2, 2, seed % 4 == 0 ? 3 : 2},
                                         .features = 2,
                                         .successors = 2,
                                         .start_law = seed % 3 == 0,
                                         .concentration = 0.3};
        const Knowledge knowledge = two_model_knowledge(seed, sizes);
        for_each_corner(knowledge.mixture(), [&](const MixtureModel& truth) {
            const double worst = worst_loss(knowledge.mixture(), truth);
            EXPECT_LE(worst, knowledge.certificate.bound) << "seed " << seed;
            tightest = std::max(tightest, worst / knowledge.certificate.bound);
        });
    }
    RecordProperty("tightest", std::to_string(tightest));
}

TEST(Attack, EveryPolicysTrueValueAndLossLieWithinItsRewardCertificate) {
    double narrowest = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const support::RandomSizes sizes{.shape = {2, 2, 3},
                                         .features = 2,
                                         .successors = 2,
                                         .start_law = seed % 3 == 0,
                                         .homogeneous = seed % 4 == 1};
        const Knowledge knowledge = two_model_knowledge(seed, sizes);
        Stream random = support::test_stream(seed, 5);
        for (int k = 0; k < 4; ++k) {
            const Reward reward = k % 2 ? support::random_reward(random, sizes.shape)
                                        : support::random_sparse_reward(random, sizes.shape, 0.5);
            const Policy policy = k < 2 ? support::random_stochastic_policy(random, sizes.shape)
                                        : support::random_deterministic_policy(random, sizes.shape);
            const RewardCertificate certificate = certify_reward(knowledge, reward, policy);
            double least = 10, most = 0;
            for_each_corner(knowledge.mixture(), [&](const MixtureModel& truth) {
                const double value = evaluate(truth, policy, reward).value;
                const double best = backward_induction(truth, reward).value;
                least = std::min(least, value);
                most = std::max(most, value);
                EXPECT_LE(best, certificate.optimal_upper + 1e-14);
                for (const auto& [name, bound] : certificate.methods)
                    EXPECT_LE(best - value, bound) << name << ", seed " << seed;
            });
            EXPECT_GE(least, certificate.value.lower) << "seed " << seed;
            EXPECT_LE(most, certificate.value.upper) << "seed " << seed;
            narrowest =
                std::max(narrowest, (most - least) / (certificate.value.upper - certificate.value.lower));
        }
    }
    RecordProperty("tightest", std::to_string(narrowest));
    EXPECT_GT(narrowest, 0.9);
}

/// A two-state model as its two base models mixed: every law over two states is possible.
LearnedMixture two_state_model(std::uint64_t seed, Index horizon) {
    const support::RandomSizes sizes{
        .shape = {2, 2, horizon}, .features = 3, .successors = 2, .start_law = seed % 2 == 0};
    return support::knowledge_about(support::random_model(seed, sizes), seed, 1).mixture();
}

// The adversary of the recursions: any law within tau of the model at every (step, pair), chosen
// independently. Two states, so the ball's corners are p - tau and p + tau, cut to [0,1].
TEST(Attack, RecursionsBoundTheExactWorstCaseOverTotalVariationBalls) {
    double coupling_tightest = 0, model_tightest = 0;
    const Shape shape{2, 2, 3};
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const LearnedMixture learned = two_state_model(seed, shape.horizon);
        Stream random = support::test_stream(seed, 9);
        std::vector<double> tau(at(2 * shape.pairs()));
        for (double& t : tau) t = std::pow(sample_uniform(random), 1.0 + static_cast<double>(seed % 4));
        const DeviationTable deviations(shape.pairs(), false, tau);
        double worst = 0;
        for_each_policy(shape, [&](const Policy& policy) {
            // Four (step, state) under this policy, each at one of two ends.
            for (int code = 0; code < 16; ++code) {
                Eigen::Matrix2d law[2];
                for (Step h = 0; h < 2; ++h)
                    for (State s = 0; s < 2; ++s) {
                        const Index pair = shape.pair(s, policy.action(h, s));
                        const double sign = (code >> (2 * h + s)) & 1 ? 1 : -1;
                        const double p = std::clamp(
                            learned.model().probabilities(h, pair)[0] + sign * deviations.at(h, pair), 0.0,
                            1.0);
                        law[h](s, 0) = p, law[h](s, 1) = 1 - p;
                    }
                Eigen::RowVector2d mass = Eigen::RowVector2d::Zero();
                for (const auto& [s, p] : learned.model().start().atoms()) mass[s] = p;
                const Matrix known = occupancy(learned.model(), policy);
                double up = 0, down = 0;
                for (Step h = 1; h < 3; ++h) {
                    mass = (mass * law[h - 1]).eval();
                    for (State s = 0; s < 2; ++s) {
                        const double d = mass[s] - known(h, shape.pair(s, policy.action(h, s)));
                        (d > 0 ? up : down) += std::abs(d);
                    }
                }
                worst = std::max({worst, up, down});
            }
        });
        const auto start = [&](const ErrorRecursion& recursion) {
            const Vector first = recursion.values.row(0).transpose();
            return learned.model().start().expect({first.data(), 2});
        };
        const double coupling = start(coupling_recursion(learned, deviations));
        const double model = start(model_recursion(learned, deviations));
        EXPECT_LE(worst, coupling + 1e-12) << "seed " << seed;
        EXPECT_LE(worst, model + 1e-12) << "seed " << seed;
        coupling_tightest = std::max(coupling_tightest, worst / coupling);
        model_tightest = std::max(model_tightest, worst / model);
    }
    RecordProperty("coupling", std::to_string(coupling_tightest));
    RecordProperty("model", std::to_string(model_tightest));
    EXPECT_GT(coupling_tightest, 0.9);
}

// Nothing to learn, or hardly anything: one base model, one step, two steps, one successor.
TEST(Attack, SmallestSizesAreCertified) {
    for (const Index d : {1, 2})
        for (const Index horizon : {1, 2})
            for (const Index m : {1, 2}) {
                const support::RandomSizes sizes{
                    .shape = {2, 2, horizon}, .features = d, .successors = m, .start_law = true};
                const MixtureModel truth = support::random_model(11, sizes);
                const Knowledge knowledge = support::knowledge_about(truth, 11, 1);
                const bool nothing = d == 1 || horizon == 1 || m == 1;
                EXPECT_EQ(knowledge.certificate.bound == 0, nothing);
                EXPECT_LE(worst_loss(knowledge.mixture(), truth), knowledge.certificate.bound + 1e-15);
                Stream random = support::test_stream(12);
                const Reward reward = support::random_reward(random, sizes.shape);
                const Policy policy = support::random_stochastic_policy(random, sizes.shape);
                const RewardCertificate certificate = certify_reward(knowledge, reward, policy);
                const double value = evaluate(truth, policy, reward).value;
                EXPECT_GE(value, certificate.value.lower);
                EXPECT_LE(value, certificate.value.upper);
                if (nothing) {
                    EXPECT_LT(certificate.value.upper - certificate.value.lower, 1e-8);
                }
            }
}

}  // namespace
}  // namespace alidade::attack_test
