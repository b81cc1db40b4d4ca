#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "alidade/certify/divergence.hpp"
#include "alidade/certify/mixture_recursions.hpp"
#include "alidade/certify/reward_caps.hpp"
#include "alidade/certify/reward_class.hpp"
#include "alidade/certify/span.hpp"
#include "alidade/certify/total_variance.hpp"
#include "alidade/certify/trajectory_kl.hpp"
#include "support/two_base_models.hpp"

// The recursions of docs/algorithms/reward-classes.md once more, in plain loops over two base models: equal
// to nine digits, so that no factor can be off.
namespace alidade::plain_classes_test {
namespace {

using support::TwoBaseModels;
using Values = std::vector<std::vector<double>>;  // steps x states

constexpr double digits = 1e-9;

std::size_t size(Index i) {
    return TwoBaseModels::size(i);
}

/// Two base models of three states, each pair with two or three successors.
LearnedMixture learned_of(std::uint64_t seed, double misspecification) {
    const support::RandomSizes sizes{.shape = {3, 2, 4},
                                     .features = 2,
                                     .successors = 2 + static_cast<Index>(seed / 8 % 2),
                                     .start_law = seed % 3 == 0,
                                     .concentration = seed % 5 == 0 ? 0.2 : 1.0};
    const double information = std::pow(10.0, static_cast<double>(seed % 5)) - 1;
    const Knowledge known = support::knowledge_about(support::random_model(seed, sizes), seed, information);
    const LearnedMixture& learned = known.mixture();
    if (misspecification == 0) return learned;
    return LearnedMixture(learned.model().shared_features(), sizes.shape.horizon, learned.model().start(),
                          false, learned.sets(), learned.delta(), misspecification);
}

/// Caps of which some are zero, in whole steps and states too; every second with a total.
RewardClass class_of(const Shape& shape, std::uint64_t seed) {
    Stream random = support::test_stream(seed, 811);
    std::vector<double> caps;
    for (Step h = 0; h < shape.horizon; ++h)
        for (Index pair = 0; pair < shape.pairs(); ++pair) {
            const double drawn = sample_uniform(random);
            const double zero = seed % 8 < 4 ? 0.85 : 0.4;
            caps.push_back(drawn < zero || (seed % 4 < 2 && h == 1) || (seed % 8 < 2 && h == 3) ? 0
                           : drawn < 0.5 + zero / 2                                             ? 1
                                                                                                : drawn);
        }
    const RewardClass rewards = RewardClass::below(Reward(shape, caps));
    return seed % 2 == 0 ? rewards : rewards.both(RewardClass::total(shape, seed % 3 == 0 ? 1 : 1.3));
}

/// N_h(s,a), the most that is earned after it: by trying every path of states and actions.
struct Caps {
    const TwoBaseModels& m;
    const RewardClass& rewards;

    bool leads(Index pair, State s) const {
        return m.misspecification > 0 || m.leads[size(pair * m.states + s)] != 0;
    }
    double longest(Step h, Index pair) const {
        if (h + 1 >= m.horizon) return 0;
        double most = 0;
        for (State s = 0; s < m.states; ++s)
            for (Action a = 0; a < m.actions && leads(pair, s); ++a)
                most = std::max(most, rewards.caps().at(h + 1, s, a) + longest(h + 1, s * m.actions + a));
        return most;
    }
    double after(Step h, Index pair) const { return std::min(rewards.total(), longest(h, pair)); }
    double of_state(Step h, State s) const {
        double most = 0;
        for (Action a = 0; a < m.actions; ++a) most = std::max(most, after(h, s * m.actions + a));
        return most;
    }
    double later(Step h, Index pair) const {
        double most = 0;
        for (State s = 0; s < m.states && h + 2 < m.horizon; ++s)
            if (leads(pair, s)) most = std::max(most, of_state(h + 1, s));
        return most;
    }
};

Values backwards(const TwoBaseModels& m,
                 const std::function<double(Step, Index, const std::vector<double>&)>& backup,
                 const Values* cap = nullptr) {
    Values values(size(m.horizon), std::vector<double>(size(m.states), 0.0));
    for (Step h = m.horizon - 2; h >= 0; --h)
        for (State s = 0; s < m.states; ++s) {
            double best = 0;
            for (Action a = 0; a < m.actions; ++a)
                best = std::max(best, backup(h, s * m.actions + a, values[size(h + 1)]));
            values[size(h)][size(s)] = cap == nullptr ? best : std::min(best, (*cap)[size(h)][size(s)]);
        }
    return values;
}

/// N tau and the most that a part of P~ of mass 1 - tau has.
double coupled(const TwoBaseModels& m, double range, Step h, Index pair, const std::vector<double>& next) {
    const double tau = m.deviation(h, pair);
    std::vector<std::pair<double, double>> order;
    for (State s = 0; s < m.states; ++s) order.emplace_back(next[size(s)], m.probability(h, pair, s));
    std::ranges::sort(order, std::greater<>());
    double left = 1 - tau, sum = range * tau;
    for (const auto& [value, mass] : order) {
        sum += std::min(left, mass) * value;
        left -= std::min(left, mass);
    }
    return sum;
}

Values span_values(const TwoBaseModels& m, const Caps& caps) {
    std::vector<double> spans(size(m.horizon + 1), 0.0);
    for (Step h = m.horizon - 1; h >= 0; --h) {
        double apart = 0, reward = 0, most = 0;
        for (Index one = 0; one < m.pairs(); ++one) {
            reward = std::max(reward, caps.rewards.caps().at(h)[size(one)]);
            most = std::max(most, caps.rewards.caps().at(h)[size(one)] + caps.after(h, one));
            for (Index other = 0; h + 1 < m.horizon && other < m.pairs(); ++other) {
                double variation = 0;
                for (State s = 0; s < m.states; ++s)
                    variation += std::abs(m.probability(h, one, s) - m.probability(h, other, s)) / 2;
                apart = std::max(apart, variation);
            }
        }
        spans[size(h)] = std::min(most, reward + apart * spans[size(h + 1)]);
    }
    return backwards(m, [&](Step h, Index pair, const std::vector<double>& next) {
        return std::min(caps.after(h, pair),
                        spans[size(h + 1)] * m.deviation(h, pair) + m.upper(h, pair, next));
    });
}

void expect_equal(const Values& plain, const ErrorRecursion& found, const std::string& name) {
    for (std::size_t h = 0; h < plain.size(); ++h)
        for (std::size_t s = 0; s < plain[h].size(); ++s)
            EXPECT_NEAR(found.values(static_cast<Index>(h), static_cast<Index>(s)), plain[h][s], digits)
                << name << " at step " << h << ", state " << s;
}

double at_start(const LearnedMixture& learned, const Values& values) {
    return learned.model().start().expect(values[0]);
}

TEST(PlainClasses, AreModelCouplingAndSpan) {
    int unequal = 0;  // pairs of a step with different caps
    int beyond = 0;   // pairs after which more can be earned where the truth leaves the model's support
    for (std::uint64_t seed = 0; seed < 64; ++seed) {
        const LearnedMixture learned = learned_of(seed, seed % 4 == 3 ? 0.02 : 0.0);
        const TwoBaseModels m(learned);
        const RewardClass rewards = class_of(learned.shape(), seed);
        const Caps caps{m, rewards};
        const detail::RewardCaps used(learned, rewards);
        const TwoBaseModels of_mixture(learned_of(seed, 0));
        const Caps within{of_mixture, rewards};
        for (Step h = 0; h + 1 < m.horizon; ++h)
            for (Index pair = 0; pair < m.pairs(); ++pair) {
                beyond += used.at(h, pair) > within.after(h, pair);
                ASSERT_NEAR(used.at(h, pair), caps.after(h, pair), digits) << "seed " << seed;
                ASSERT_NEAR(used.later(h, pair), caps.later(h, pair), digits) << "seed " << seed;
                unequal += used.at(h, pair) != used.at(h, 0);
            }
        const DeviationTable deviations = m.deviations();
        const Values model = backwards(m, [&](Step h, Index pair, const std::vector<double>& next) {
            const double n = caps.after(h, pair);
            return std::min(n, n * m.deviation(h, pair) + m.expect(h, pair, next));
        });
        const Values coupling = backwards(m, [&](Step h, Index pair, const std::vector<double>& next) {
            return coupled(m, caps.after(h, pair), h, pair, next);
        });
        expect_equal(model, detail::model_recursion(learned, deviations, used, 1), "model");
        expect_equal(coupling, detail::coupling_recursion(learned, deviations, used, 1), "coupling");
        const ClassCertificate found =
            certify_class(learned, deviations, rewards, {.certificates = {"model", "coupling"}});
        if (used.nothing_follows(learned.model().start())) {
            EXPECT_EQ(found.bound, 0);
            continue;
        }
        EXPECT_NEAR(found.candidates[0].second, 2 * at_start(learned, model) + 4e-9, digits);
        EXPECT_NEAR(found.candidates[1].second, 2 * at_start(learned, coupling) + 4e-9, digits);
        if (rewards.of_histories()) continue;
        const Values span = span_values(m, caps);
        expect_equal(span, detail::span_recursion(learned, deviations, used), "span");
        const ClassCertificate by_span =
            certify_class(learned, deviations, rewards, {.certificates = {"span"}});
        EXPECT_NEAR(by_span.candidates[0].second, 2 * at_start(learned, span) + 4e-9, digits);
    }
    EXPECT_GE(unequal, 30);
    EXPECT_GE(beyond, 10);
}

TEST(PlainClasses, AreTrajectoryKlAndHybrid) {
    int ended = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const double zeta = seed % 4 == 3 ? 0.02 : 0.0;
        const LearnedMixture learned = learned_of(seed, zeta);
        const TwoBaseModels m(learned);
        const RewardClass rewards = class_of(learned.shape(), seed);
        const Caps caps{m, rewards};
        const detail::RewardCaps used(learned, rewards);
        const detail::DivergenceTable kls(learned, Divergence::kl);
        // Divergences are the tests' of other files; here it is what is made of them.
        Values trajectory = backwards(m, [&](Step h, Index pair, const std::vector<double>& next) {
            ended += caps.after(h, pair) == 0;
            if (caps.after(h, pair) == 0) return 0.0;
            double sum = kls.at(h, pair);
            for (State s = 0; s < m.states; ++s)
                if (m.probability(h, pair, s) > 1e-15) sum += m.probability(h, pair, s) * next[size(s)];
            return sum;
        });
        std::vector<double> transfer(size(m.horizon), 0.0);
        for (Step h = m.horizon - 2; h >= 0; --h) {
            double most = 0;
            for (Step k = h; k + 1 < m.horizon; ++k)
                for (State s = 0; s < m.states; ++s) most = std::max(most, caps.of_state(k, s));
            transfer[size(h)] = zeta * most + (1 - zeta) * transfer[size(h + 1)];
        }
        for (Step h = 0; h + 1 < m.horizon; ++h)
            for (State s = 0; s < m.states; ++s) {
                double& value = trajectory[size(h)][size(s)];
                const double n = caps.of_state(h, s);
                const double apart = std::min(std::sqrt(value / 2), std::sqrt(1 - std::exp(-value)));
                value = std::min(n, n * apart + transfer[size(h)]);
            }
        const ErrorRecursion found = detail::trajectory_kl_recursion(learned, kls, used, 1);
        expect_equal(trajectory, found, "trajectory-kl");
        const Values hybrid = backwards(
            m,
            [&](Step h, Index pair, const std::vector<double>& next) {
                return coupled(m, caps.after(h, pair), h, pair, next);
            },
            &trajectory);
        expect_equal(hybrid, detail::hybrid_recursion(learned, m.deviations(), found, used, 1), "hybrid");
        if (used.nothing_follows(learned.model().start())) continue;
        const ClassCertificate certificate =
            certify_class(learned, m.deviations(), rewards, {.certificates = {"trajectory-kl", "hybrid"}});
        EXPECT_NEAR(certificate.candidates[0].second, 2 * at_start(learned, trajectory) + 4e-9, digits);
        EXPECT_NEAR(certificate.candidates[1].second, 2 * at_start(learned, hybrid) + 4e-9, digits);
    }
    EXPECT_GE(ended, 40);
}

TEST(PlainClasses, AreTheTotalVariance) {
    int by_growth = 0, by_set = 0;
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        const LearnedMixture learned = learned_of(seed + 5, 0);
        const TwoBaseModels m(learned);
        // Every third is `total`, where all pairs have the same caps and those of what follows are the same.
        const RewardClass rewards =
            seed % 3 == 0 ? RewardClass::total(learned.shape()) : class_of(learned.shape(), seed);
        const Caps caps{m, rewards};
        const detail::RewardCaps used(learned, rewards);
        const DeviationTable deviations = m.deviations();
        const detail::DivergenceTable chis(learned, Divergence::chi_square);
        const ErrorRecursion cap = detail::coupling_recursion(learned, deviations, used, 1);
        const auto plain = [&](double c, double eta) {
            Values cut(size(m.horizon), std::vector<double>(size(m.states), 0.0));
            for (Step h = 0; h + 1 < m.horizon; ++h)
                for (State s = 0; s < m.states; ++s) cut[size(h)][size(s)] = cap.values(h, s);
            return backwards(
                m,
                [&](Step h, Index pair, const std::vector<double>& next) {
                    const double grown = std::pow(1 + eta, static_cast<double>(h));
                    const double tau = m.deviation(h, pair), chi = chis.at(h, pair);
                    const double later = caps.later(h, pair);
                    const double now = std::min(caps.after(h, pair) * tau, c / 2 * grown * chi);
                    if (later == 0) return now;
                    const double one = (1 + eta) * m.expect(h, pair, next) + chi * later / (4 * eta);
                    const double two =
                        m.upper(h, pair, next) + tau * later * later / (grown * (1 + eta)) / (8 * c);
                    (one < two ? by_growth : by_set) += 1;
                    return now + std::min(one, two);
                },
                &cut);
        };
        for (const double c : {0.1, 3.0})
            for (const double eta : {0.01, 1.0})
                expect_equal(plain(c, eta),
                             detail::total_variance_recursion(learned, deviations, chis, cap, used,
                                                              {.variance = c, .growth = eta}),
                             "ltv");
        if (used.nothing_follows(learned.model().start())) continue;
        const detail::TotalVarianceBound bound =
            detail::total_variance_bound(learned, deviations, chis, cap, used, 1);
        if (!std::isfinite(bound.error) || chis.at(0, 0) == 0) continue;
        std::vector<double> squares;
        for (State s = 0; s < m.states; ++s) squares.push_back(std::pow(caps.of_state(0, s), 2));
        EXPECT_NEAR(bound.error,
                    at_start(learned, plain(bound.weights.variance, bound.weights.growth)) +
                        learned.model().start().expect(squares) / (8 * bound.weights.variance),
                    digits);
        const ClassCertificate certificate =
            certify_class(learned, deviations, rewards, {.certificates = {"coupling", "ltv"}});
        EXPECT_GE(certificate.candidates[1].second + digits, certificate.bound);
    }
    EXPECT_GE(by_growth, 10);
    EXPECT_GE(by_set, 10);
}

}  // namespace
}  // namespace alidade::plain_classes_test
