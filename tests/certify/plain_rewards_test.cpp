#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include "alidade/certify/advantage.hpp"
#include "alidade/certify/reward_certificate.hpp"
#include "support/two_base_models.hpp"

// The certificates for one reward of docs/algorithms/likelihood.md, `plain`, `gap` and `advantage`, once more
// in plain loops over two base models, where a member of a set is a number: equal to seven digits, the slacks
// for rounding being 1e-9 a step.
namespace alidade::plain_rewards_test {
namespace {

using support::TwoBaseModels;

constexpr double digits = 1e-7;

std::size_t at(Index i) {
    return static_cast<std::size_t>(i);
}

/// All that is known of one policy and reward, by the formulas as they are written. Of every array the last
/// step is zero.
class PlainReward {
public:
    using Values = std::vector<std::vector<double>>;  // steps x states

    PlainReward(const TwoBaseModels& model, const Reward& reward, const Policy& policy)
        : m(model), reward_(reward), policy_(policy) {
        const Values zero(at(m.horizon + 1), std::vector<double>(at(m.states), 0.0));
        lower = upper = best = value = low = high = remainder = gap = loss = zero;
        sums.assign(at(m.horizon + 1),
                    std::vector<std::vector<double>>(at(m.states), std::vector<double>(at(m.horizon), 0.0)));
        for (Step h = m.horizon - 1; h >= 0; --h)
            for (State s = 0; s < m.states; ++s) {
                bound_values(h, s);
                expand(h, s);
                bound_losses(h, s);
            }
    }

    const TwoBaseModels& m;
    Values lower, upper, best;  ///< L, U^pi, U
    Values value, low, high;    ///< V~ and the interval of V^pi - V~
    Values remainder;           ///< R(s, pi)
    Values gap, loss;           ///< of Lemma 9, by either bound of the advantages
    int linear = 0, shared_remainders = 0, by_intervals = 0, by_middles = 0;  ///< which bound was the least

private:
    bool last(Step h) const { return h + 1 == m.horizon; }
    double steps_after(Step h) const { return static_cast<double>(m.horizon - 1 - h); }
    Index pair(State s, Action a) const { return s * m.actions + a; }
    double pi(Step h, State s, Action a) const { return policy_.probability(h, s, a); }
    double r(Step h, State s, Action a) const { return reward_.at(h, s, a); }
    double tau(Step h, State s, Action a) const { return m.deviation(h, pair(s, a)); }

    void bound_values(Step h, State s) {
        const double range = steps_after(h) + 1;
        for (Action a = 0; a < m.actions; ++a) {
            const Index p = pair(s, a);
            const double most = last(h) ? 0 : m.upper(h, p, best[at(h + 1)]);
            const double more = last(h) ? 0 : m.upper(h, p, upper[at(h + 1)]);
            const double less = last(h) ? 0 : m.lower(h, p, lower[at(h + 1)]);
            best[at(h)][at(s)] = std::max(best[at(h)][at(s)], std::min(range, r(h, s, a) + most));
            upper[at(h)][at(s)] += pi(h, s, a) * std::min(range, r(h, s, a) + more);
            lower[at(h)][at(s)] += pi(h, s, a) * std::max(0.0, r(h, s, a) + less);
        }
    }

    double model_value(Step h, State s, Action a) const {
        return r(h, s, a) + (last(h) ? 0 : m.expect(h, pair(s, a), value[at(h + 1)]));
    }
    /// M_{h->k}(s, a), its component along (1, -1): all that u multiplies.
    double sum(Step h, State s, Action a, Step k) const {
        if (k == h) return m.change(pair(s, a), value[at(h + 1)]);
        double total = 0;
        for (State t = 0; t < m.states; ++t)
            total += m.probability(h, pair(s, a), t) * sums[at(h + 1)][at(t)][at(k)];
        return total;
    }
    /// sum_j (phi_j . (1, -1)) M_{h+1->k}(j): B_k between two such vectors.
    double product(Step h, State s, Action a, Step k) const {
        double total = 0;
        for (State t = 0; t < m.states; ++t)
            total += m.slope[at(pair(s, a) * m.states + t)] * sums[at(h + 1)][at(t)][at(k)];
        return total;
    }
    double most_remainder(Step h, State s, Action a) const {
        double most = 0;
        for (State t = 0; t < m.states; ++t)
            if (m.leads[at(pair(s, a) * m.states + t)]) most = std::max(most, remainder[at(h + 1)][at(t)]);
        return most;
    }

    /// R_h(s,a) of Lemma 10.
    double own_remainder(Step h, State s, Action a) const {
        if (last(h)) return 0;
        double most = -1e300, least = 1e300, span_most = -1e300, span_least = 1e300;
        for (State t = 0; t < m.states; ++t) {
            span_most = std::max(span_most, value[at(h + 1)][at(t)]);
            span_least = std::min(span_least, value[at(h + 1)][at(t)]);
            if (m.misspecification == 0 && !m.leads[at(pair(s, a) * m.states + t)]) continue;
            most = std::max(most, high[at(h + 1)][at(t)]);
            least = std::min(least, low[at(h + 1)][at(t)]);
        }
        const double follows = m.expect(h, pair(s, a), remainder[at(h + 1)]);
        const double varied = tau(h, s, a) * (most - least);
        if (m.misspecification > 0) return varied + m.misspecification * (span_most - span_least) + follows;
        double second = 2 * tau(h, s, a) * most_remainder(h, s, a);
        for (Step k = h + 1; k + 1 < m.horizon; ++k)
            second += m.reach[at(h)] * m.reach[at(k)] * std::abs(product(h, s, a, k));
        return std::min(varied, second) + follows;
    }

    void expand(Step h, State s) {
        double error_low = 0, error_high = 0;
        for (Action a = 0; a < m.actions; ++a) {
            value[at(h)][at(s)] += pi(h, s, a) * model_value(h, s, a);
            remainder[at(h)][at(s)] += pi(h, s, a) * own_remainder(h, s, a);
        }
        for (Step k = h; k + 1 < m.horizon; ++k) {
            double& mean = sums[at(h)][at(s)][at(k)];
            for (Action a = 0; a < m.actions; ++a) mean += pi(h, s, a) * sum(h, s, a, k);
            error_low += m.smallest(k, mean);
            error_high += m.largest(k, mean);
        }
        const double v = value[at(h)][at(s)], rest = remainder[at(h)][at(s)], n = steps_after(h);
        low[at(h)][at(s)] = std::max({error_low - rest, lower[at(h)][at(s)] - v, -n});
        high[at(h)][at(s)] = std::min({error_high + rest, upper[at(h)][at(s)] - v, n});
    }

    /// A(s,a) at most, from the intervals [L, U^pi] of the next values: middles v and half widths e.
    double by_gap(Step h, State s, Action a) {
        double rewards = r(h, s, a);
        for (Action b = 0; b < m.actions; ++b) rewards -= pi(h, s, b) * r(h, s, b);
        if (last(h)) return rewards;
        std::vector<double> v(at(m.states)), e(at(m.states));
        for (State t = 0; t < m.states; ++t) {
            v[at(t)] = (lower[at(h + 1)][at(t)] + upper[at(h + 1)][at(t)]) / 2;
            e[at(t)] = (upper[at(h + 1)][at(t)] - lower[at(h + 1)][at(t)]) / 2;
        }
        double mean = m.expect(h, pair(s, a), v), slope = m.change(pair(s, a), v), widths = 0;
        for (Action b = 0; b < m.actions; ++b) {
            mean -= pi(h, s, b) * m.expect(h, pair(s, b), v);
            slope -= pi(h, s, b) * m.change(pair(s, b), v);
            widths += (b == a ? 1 - pi(h, s, a) : pi(h, s, b)) * m.upper(h, pair(s, b), e);
        }
        const auto [least, most] = std::ranges::minmax(v);
        const double middles = rewards + mean + m.largest(h, slope) + widths +
                               2 * (1 - pi(h, s, a)) * m.misspecification * (most - least);
        const double intervals = r(h, s, a) + m.upper(h, pair(s, a), upper[at(h + 1)]) - lower[at(h)][at(s)];
        (middles < intervals ? by_middles : by_intervals) += 1;
        return std::min(middles, intervals);
    }

    /// (7), and the remainders' difference in which what both suffer cancels.
    double by_expansion(Step h, State s, Action a) {
        double linear_part = model_value(h, s, a) - value[at(h)][at(s)], apart = 0;
        for (Step k = h; k + 1 < m.horizon; ++k)
            linear_part += m.largest(k, sum(h, s, a, k) - sums[at(h)][at(s)][at(k)]);
        for (Action b = 0; b < m.actions; ++b)
            apart += (b == a ? 1 - pi(h, s, a) : pi(h, s, b)) * own_remainder(h, s, b);
        if (last(h) || m.misspecification > 0) return linear_part + apart;
        double together = 0;
        for (Action b = 0; b < m.actions; ++b)
            together += (b == a ? 1 - pi(h, s, a) : pi(h, s, b)) * 2 * tau(h, s, b) * most_remainder(h, s, b);
        for (Step k = h + 1; k + 1 < m.horizon; ++k) {
            double form = product(h, s, a, k);
            for (Action b = 0; b < m.actions; ++b) form -= pi(h, s, b) * product(h, s, b, k);
            together += m.reach[at(h)] * m.reach[at(k)] * std::abs(form);
        }
        for (State t = 0; t < m.states; ++t) {
            double difference = m.probability(h, pair(s, a), t);
            for (Action b = 0; b < m.actions; ++b)
                difference -= pi(h, s, b) * m.probability(h, pair(s, b), t);
            together += std::abs(difference) * remainder[at(h + 1)][at(t)];
        }
        shared_remainders += together < apart;
        return linear_part + std::min(apart, together);
    }

    /// Whether the action has the law of the one that the policy is sure to take: then only rewards differ.
    bool same_law(Step h, State s, Action a) const {
        if (m.misspecification > 0) return false;
        for (Action b = 0; b < m.actions; ++b) {
            if (pi(h, s, b) < 1) continue;
            for (State t = 0; t < m.states; ++t)
                if (m.slope[at(pair(s, a) * m.states + t)] != m.slope[at(pair(s, b) * m.states + t)] ||
                    m.law[at(pair(s, a) * m.states + t)] != m.law[at(pair(s, b) * m.states + t)])
                    return false;
            return true;
        }
        return false;
    }
    double certain(Step h, State s, Action a) const {
        double difference = r(h, s, a);
        for (Action b = 0; b < m.actions; ++b) difference -= pi(h, s, b) * r(h, s, b);
        return same_law(h, s, a) ? difference : std::numeric_limits<double>::infinity();
    }

    /// Lemma 9.
    void bound_losses(Step h, State s) {
        const double most = std::min(steps_after(h) + 1, best[at(h)][at(s)] - lower[at(h)][at(s)]);
        double by_advantage = 0, by_intervals_alone = 0;
        for (Action a = 0; a < m.actions; ++a) {
            const bool own = pi(h, s, a) == 1;
            const double rough = own ? 0 : std::min(certain(h, s, a), by_gap(h, s, a));
            const double sharp = own ? 0 : by_expansion(h, s, a);
            linear += sharp < rough;
            const double follows = last(h) ? 0 : m.upper(h, pair(s, a), loss[at(h + 1)]);
            by_advantage = std::max(by_advantage, std::min(rough, sharp) + follows);
            const double after = last(h) ? 0 : m.upper(h, pair(s, a), gap[at(h + 1)]);
            by_intervals_alone = std::max(by_intervals_alone, rough + after);
        }
        loss[at(h)][at(s)] = std::min(by_advantage, most);
        gap[at(h)][at(s)] = std::min(by_intervals_alone, most);
    }

    std::vector<std::vector<std::vector<double>>>
        sums;  // M(s, pi) along (1, -1): steps x states x later steps
    const Reward& reward_;
    const Policy& policy_;
};

Policy some_policy(std::uint64_t seed, Stream& random, const Shape& shape) {
    return seed % 2 == 0 ? support::random_deterministic_policy(random, shape)
                         : support::random_stochastic_policy(random, shape);
}

double method(const RewardCertificate& certificate, std::string_view name) {
    for (const auto& [key, bound] : certificate.methods)
        if (key == name) return bound;
    ADD_FAILURE() << "no method " << name;
    return 0;
}

/// What the misspecification can do to values beyond a mixture's, at the start: the least of a coupling's and
/// of the spans of the mixtures' values [misspecification, Lemma 7].
struct PlainTransfer {
    double policy = 0, optimal = 0;

    PlainTransfer(double zeta, const TwoBaseModels& m, const PlainReward& mixtures) {
        double coupled = 0;
        for (Step h = m.horizon - 2; h >= 0; --h) {
            coupled = zeta * static_cast<double>(m.horizon - 1 - h) + (1 - zeta) * coupled;
            const double least = *std::ranges::min_element(mixtures.lower[at(h + 1)]);
            policy += zeta * (*std::ranges::max_element(mixtures.upper[at(h + 1)]) - least);
            optimal += zeta * (*std::ranges::max_element(mixtures.best[at(h + 1)]) - least);
        }
        policy = std::min(policy, coupled);
        optimal = std::min(optimal, coupled);
    }
};

// Every other truth is no mixture. 120 models, few and many data.
TEST(PlainRewards, AreTheBoundsOfValuesAndThePlainLoss) {
    for (std::uint64_t seed = 0; seed < 120; ++seed) {
        const LearnedMixture learned = support::learned_about_two(
            seed, std::pow(10.0, static_cast<double>(seed % 6)) - 1, seed % 4 == 3 ? 0.03 : 0.0);
        const TwoBaseModels m(learned);
        Stream random = support::test_stream(seed, 93);
        const Reward reward = support::random_reward(random, learned.shape());
        const Policy policy = some_policy(seed, random, learned.shape());
        const PlainReward plain(m, reward, policy);
        const ValueBounds bounds = value_bounds(learned, reward, policy);
        for (Step h = 0; h < m.horizon; ++h)
            for (State s = 0; s < m.states; ++s) {
                EXPECT_NEAR(bounds.policy_lower(h, s), plain.lower[at(h)][at(s)], digits) << "seed " << seed;
                EXPECT_NEAR(bounds.policy_upper(h, s), plain.upper[at(h)][at(s)], digits) << "seed " << seed;
                EXPECT_NEAR(bounds.optimal_upper(h, s), plain.best[at(h)][at(s)], digits) << "seed " << seed;
            }
        const RewardCertificate certificate = certify_reward(learned, m.deviations(), reward, policy);
        const double value = plain.value[0][0];
        double least = std::max(plain.lower[0][0], value + plain.low[0][0]),
               most = std::min(plain.upper[0][0], value + plain.high[0][0]), gap = plain.gap[0][0];
        if (learned.misspecification() > 0) {
            const TwoBaseModels near(learned.exact());
            const PlainReward mixtures(near, reward, policy);
            const PlainTransfer rest(learned.misspecification(), near, mixtures);
            least = std::max(
                {least, mixtures.lower[0][0] - rest.policy, value + mixtures.low[0][0] - rest.policy});
            most = std::min(
                {most, mixtures.upper[0][0] + rest.policy, value + mixtures.high[0][0] + rest.policy});
            gap = std::min(gap, mixtures.gap[0][0] + rest.policy + rest.optimal);
        }
        EXPECT_NEAR(certificate.value.lower, least, digits) << "seed " << seed;
        EXPECT_NEAR(certificate.value.upper, most, digits) << "seed " << seed;
        EXPECT_NEAR(method(certificate, "plain"), plain.best[0][0] - plain.lower[0][0], digits);
        EXPECT_NEAR(method(certificate, "gap"), gap, digits) << "seed " << seed;
    }
}

// The interval of a policy's value by the expansion of Lemma 10, remainder and all; which of its terms bind
// where is counted.
TEST(PlainRewards, AreTheValueByItsExpansion) {
    int remainders = 0;
    for (std::uint64_t seed = 0; seed < 120; ++seed) {
        const LearnedMixture learned = support::learned_about_two(
            seed, std::pow(10.0, static_cast<double>(seed % 6)) - 1, seed % 4 == 3 ? 0.01 : 0.0);
        const TwoBaseModels m(learned);
        Stream random = support::test_stream(seed, 94);
        const Reward reward = support::random_reward(random, learned.shape());
        const Policy policy = some_policy(seed, random, learned.shape());
        const PlainReward plain(m, reward, policy);
        const detail::AdvantageBounds found = detail::advantage_bounds(
            learned, m.deviations(), reward, policy, value_bounds(learned, reward, policy));
        const double value = plain.value[0][0], low = plain.low[0][0], high = plain.high[0][0];
        EXPECT_NEAR(found.value.lower, value + low, digits) << "seed " << seed;
        EXPECT_NEAR(found.value.upper, value + high, digits) << "seed " << seed;
        // By the expansion, and its remainder is seen in these digits.
        const bool narrower = low > plain.lower[0][0] - value && high < plain.upper[0][0] - value;
        remainders += narrower && plain.remainder[0][0] > 1e-4;
    }
    EXPECT_GE(remainders, 20);
}

// With a misspecification `advantage` is Lemma 9 alone, for all policies.
TEST(PlainRewards, AreTheAdvantageWhereTheTruthIsNoMixture) {
    int linear = 0, by_middles = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const LearnedMixture learned = support::learned_about_two(
            seed, std::pow(10.0, 1 + static_cast<double>(seed % 6)), seed % 2 == 0 ? 0.03 : 0.001);
        const TwoBaseModels m(learned);
        Stream random = support::test_stream(seed, 95);
        const Reward reward = support::random_reward(random, learned.shape());
        const Policy policy = some_policy(seed / 2, random, learned.shape());
        const PlainReward plain(m, reward, policy);
        const detail::AdvantageBounds found = detail::advantage_bounds(
            learned, m.deviations(), reward, policy, value_bounds(learned, reward, policy));
        EXPECT_NEAR(found.advantage, plain.loss[0][0], digits) << "seed " << seed;
        EXPECT_NEAR(found.gap, plain.gap[0][0], digits) << "seed " << seed;
        linear += plain.linear > 0;
        by_middles += plain.by_middles > 0;
    }
    EXPECT_GE(linear, 20);
    EXPECT_GE(by_middles, 20);
}

/// Only the first step has a choice, in state 0, which nothing leads to: everywhere else both actions have
/// the same law. So no other state's member can be shared, and the search of Lemma 11 gives what Lemma 9
/// gives.
LearnedMixture one_choice(std::uint64_t seed, double information) {
    Stream random = support::test_stream(seed, 96);
    std::vector<BaseKernel> kernels(2, BaseKernel{"", 6, 3, {0}, {}, {}});
    for (BaseKernel& kernel : kernels)
        for (State s = 0; s < 3; ++s) {
            double stay = sample_uniform(random);
            for (Action a = 0; a < 2; ++a) {
                if (s == 0 && a == 1) stay = sample_uniform(random);
                kernel.targets.insert(kernel.targets.end(), {1, 2});
                kernel.probabilities.insert(kernel.probabilities.end(), {stay, 1 - stay});
                kernel.offsets.push_back(static_cast<std::int64_t>(kernel.targets.size()));
            }
        }
    const auto features =
        std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(3, 2, std::move(kernels)));
    const MixtureModel truth(features, 4, StartLaw(0), support::random_weights(random, 4, 2));
    return support::knowledge_about(truth, seed, information).mixture();
}

TEST(PlainRewards, AreTheAdvantageOfOneChoice) {
    int linear = 0, shared = 0, positive = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const LearnedMixture learned = one_choice(seed, std::pow(10.0, 1 + static_cast<double>(seed % 5)));
        const TwoBaseModels m(learned);
        Stream random = support::test_stream(seed, 97);
        // Rewards do not depend on the action, so that only where it leads matters.
        std::vector<double> rewards;
        for (int i = 0; i < 12; ++i) rewards.insert(rewards.end(), 2, sample_uniform(random));
        const Reward reward(learned.shape(), rewards);
        const Policy policy = Policy::deterministic(learned.shape(), std::vector<std::int32_t>(12, 0));
        const PlainReward plain(m, reward, policy);
        const detail::AdvantageBounds found = detail::advantage_bounds(
            learned, m.deviations(), reward, policy, value_bounds(learned, reward, policy));
        EXPECT_NEAR(found.advantage, plain.loss[0][0], digits) << "seed " << seed;
        EXPECT_NEAR(found.gap, plain.gap[0][0], digits) << "seed " << seed;
        const bool seen = plain.loss[0][0] > 1e-3 && plain.loss[0][0] < plain.gap[0][0] - 1e-5;
        positive += seen;
        linear += seen && plain.linear > 0;
        shared += seen && plain.shared_remainders > 0;
    }
    EXPECT_GE(linear, 20);
    EXPECT_GE(shared, 20);
    EXPECT_GE(positive, 20);
}

TEST(PlainRewards, AreTheRewardFreeBoundAndTheShortfall) {
    int by_gaps = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const LearnedMixture learned =
            support::learned_about_two(seed, std::pow(10.0, 2 + static_cast<double>(seed % 4)));
        const TwoBaseModels m(learned);
        const DeviationTable deviations = m.deviations();
        const Knowledge knowledge{std::make_shared<const LearnedMixture>(learned),
                                  certify_reward_free(learned, deviations), 0};
        Stream random = support::test_stream(seed, 98);
        const Reward reward = support::random_reward(random, learned.shape());
        const Policy policy = some_policy(seed, random, learned.shape());
        // The best value in the model, by plain induction.
        std::vector<double> next(3, 0.0), now(3);
        for (Step h = m.horizon - 1; h >= 0; --h, next = now)
            for (State s = 0; s < m.states; ++s) {
                now[at(s)] = 0;
                for (Action a = 0; a < m.actions; ++a)
                    now[at(s)] = std::max(
                        now[at(s)],
                        reward.at(h, s, a) + (h + 1 < m.horizon ? m.expect(h, s * m.actions + a, next) : 0));
            }
        const double shortfall = next[0] - PlainReward(m, reward, policy).value[0][0];
        // What the plan's actions lack in the model along the worst way [docs/algorithms/two-chains.md, (1)].
        std::vector<double> best(3, 0.0), gaps(3, 0.0);
        for (Step h = m.horizon - 1; h >= 0; --h) {
            const bool last = h + 1 == m.horizon;
            std::vector<double> values(3, 0.0), worst(3, 0.0);
            for (State s = 0; s < m.states; ++s) {
                std::vector<double> actions;
                for (Action a = 0; a < m.actions; ++a)
                    actions.push_back(reward.at(h, s, a) + (last ? 0 : m.expect(h, s * m.actions + a, best)));
                values[at(s)] = *std::ranges::max_element(actions);
                for (Action a = 0; a < m.actions; ++a)
                    worst[at(s)] +=
                        policy.probability(h, s, a) *
                        (values[at(s)] - actions[at(a)] + (last ? 0 : m.upper(h, s * m.actions + a, gaps)));
            }
            best = values;
            gaps = worst;
        }
        EXPECT_GE(gaps[0], shortfall - digits);
        const double of_any = knowledge.certificate.any_plan + shortfall;
        const double of_greedy = knowledge.certificate.bound + gaps[0];
        EXPECT_NEAR(method(certify_reward(knowledge, deviations, reward, policy), "reward-free"),
                    std::min(of_any, of_greedy), 2 * digits)
            << "seed " << seed;
        by_gaps += of_greedy < of_any;
    }
    EXPECT_GE(by_gaps, 5);
}

}  // namespace
}  // namespace alidade::plain_rewards_test
