#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "alidade/certify/divergence.hpp"
#include "alidade/certify/reward_free.hpp"
#include "alidade/certify/span.hpp"
#include "alidade/certify/total_variance.hpp"
#include "alidade/certify/trajectory_kl.hpp"
#include "support/two_base_models.hpp"

// The reward-free recursions of docs/algorithms/hoeffding.md, section 6, and likelihood.md, "Certificates",
// once more in plain loops over two base models: equal to nine digits, so that no factor can be off. Truths
// that the sets leave possible show no such thing: they are mostly far inside a bound of the worst case.
namespace alidade::plain_recursions_test {
namespace {

using support::TwoBaseModels;
using Values = std::vector<std::vector<double>>;  // steps x states

constexpr double digits = 1e-9;

/// Backwards from zero at the last step: the largest of `backup(h, pair, next)` over actions.
Values backwards(const TwoBaseModels& m,
                 const std::function<double(Step, Index, const std::vector<double>&)>& backup) {
    Values values(TwoBaseModels::size(m.horizon), std::vector<double>(TwoBaseModels::size(m.states), 0.0));
    for (Step h = m.horizon - 2; h >= 0; --h)
        for (State s = 0; s < m.states; ++s) {
            double best = 0;
            for (Action a = 0; a < m.actions; ++a)
                best = std::max(best, backup(h, s * m.actions + a, values[TwoBaseModels::size(h + 1)]));
            values[TwoBaseModels::size(h)][TwoBaseModels::size(s)] = best;
        }
    return values;
}

double steps_after(const TwoBaseModels& m, Step h) {
    return static_cast<double>(m.horizon - 1 - h);
}

Values model_values(const TwoBaseModels& m) {
    return backwards(m, [&](Step h, Index pair, const std::vector<double>& next) {
        const double n = steps_after(m, h);
        return std::min(n, n * m.deviation(h, pair) + m.expect(h, pair, next));
    });
}

/// n tau and the most that a part of P~ of mass 1 - tau has: its largest values first.
double coupled(const TwoBaseModels& m, Step h, Index pair, const std::vector<double>& next) {
    const double tau = m.deviation(h, pair);
    std::vector<std::pair<double, double>> order;
    for (State s = 0; s < m.states; ++s)
        order.emplace_back(next[TwoBaseModels::size(s)], m.probability(h, pair, s));
    std::ranges::sort(order, std::greater<>());
    double left = 1 - tau, sum = steps_after(m, h) * tau;
    for (const auto& [value, mass] : order) {
        sum += std::min(left, mass) * value;
        left -= std::min(left, mass);
    }
    return sum;
}

Values coupling_values(const TwoBaseModels& m) {
    return backwards(
        m, [&](Step h, Index pair, const std::vector<double>& next) { return coupled(m, h, pair, next); });
}

Values span_values(const TwoBaseModels& m) {
    std::vector<double> spans(TwoBaseModels::size(m.horizon + 1), 0.0);
    for (Step h = m.horizon - 1; h >= 0; --h) {
        double apart = 0;
        for (Index one = 0; h + 1 < m.horizon && one < m.pairs(); ++one)
            for (Index other = 0; other < m.pairs(); ++other) {
                double variation = 0;
                for (State s = 0; s < m.states; ++s)
                    variation += std::abs(m.probability(h, one, s) - m.probability(h, other, s)) / 2;
                apart = std::max(apart, variation);
            }
        spans[TwoBaseModels::size(h)] =
            std::min(static_cast<double>(m.horizon - h), 1 + apart * spans[TwoBaseModels::size(h + 1)]);
    }
    return backwards(m, [&](Step h, Index pair, const std::vector<double>& next) {
        return std::min(steps_after(m, h),
                        spans[TwoBaseModels::size(h + 1)] * m.deviation(h, pair) + m.upper(h, pair, next));
    });
}

/// KL(P~ || P) at most, by the lemma with no successor set aside, and chi-square.
double kl_bound(const TwoBaseModels& m, const LearnedMixture& learned, Step h, Index pair, bool chi_square) {
    const FeatureMap& features = learned.model().features();
    double bound = 0, farthest[2] = {0, 0};
    for (Index e = features.first_entry(pair); e < features.first_entry(pair + 1); ++e) {
        const auto phi = features.phi(e);
        const double p = m.probability(h, pair, features.targets()[TwoBaseModels::size(e)]);
        const double x = m.reach[TwoBaseModels::size(h)] * std::abs(phi[0] - phi[1]) / p;
        const double c = std::min(x, 1 - std::min(phi[0], phi[1]) / p);
        bound += p * x * x * (chi_square ? 1 : (-c - std::log1p(-c)) / (c * c));
        for (std::size_t i = 0; i < 2; ++i)
            farthest[i] += chi_square ? (phi[i] - p) * (phi[i] - p) / p : p * std::log(p / phi[i]);
    }
    return std::min(bound, std::max(farthest[0], farthest[1]));
}

double variation(double kl) {
    return std::min(std::sqrt(kl / 2), std::sqrt(1 - std::exp(-kl)));
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

// One factor is for all pairs and steps, so 40 models with few and many data leave none of the terms unseen:
// the counts at the end say that the clips and the terms themselves were met.
TEST(PlainRecursions, AreModelCouplingAndSpan) {
    std::map<std::string, int> clipped;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const LearnedMixture learned =
            support::learned_about_two(seed, std::pow(10.0, static_cast<double>(seed % 5)) - 1,
                                       seed % 4 == 3 ? 0.02 : 0.0, seed % 3 == 0 ? 0.1 : 1.0);
        const TwoBaseModels m(learned);
        const DeviationTable deviations = m.deviations();
        const Values model = model_values(m), coupling = coupling_values(m), span = span_values(m);
        expect_equal(model, model_recursion(learned, deviations), "model");
        expect_equal(coupling, coupling_recursion(learned, deviations), "coupling");
        expect_equal(span, detail::span_recursion(learned, deviations), "span");
        const RewardFreeCertificate certificate =
            certify_reward_free(learned, deviations, {.certificates = {"model", "coupling", "span"}});
        ASSERT_EQ(certificate.candidates.size(), 3u);
        EXPECT_NEAR(certificate.candidates[0].second, 2 * at_start(learned, model) + 4e-9, digits);
        EXPECT_NEAR(certificate.candidates[1].second, 2 * at_start(learned, coupling) + 4e-9, digits);
        EXPECT_NEAR(certificate.candidates[2].second, 2 * at_start(learned, span) + 4e-9, digits);
        clipped["model"] += model[0][0] >= 3;
        clipped["span"] += span[0][0] >= 3;
        clipped["none"] += model[0][0] < 1;
    }
    EXPECT_GE(clipped["model"], 1);
    EXPECT_GE(clipped["span"], 1);
    EXPECT_GE(clipped["none"], 10);
}

// tau itself, from the width oracle: the ball reaches it, and so does a member of the set where the ball lies
// within the simplex.
TEST(PlainRecursions, AreAboutDeviationsThatMembersReach) {
    int reached = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const LearnedMixture learned =
            support::learned_about_two(seed, std::pow(10.0, static_cast<double>(seed % 5)) - 1,
                                       seed % 4 == 3 ? 0.02 : 0.0, seed % 3 == 0 ? 0.1 : 1.0);
        const TwoBaseModels m(learned);
        const FeatureMap& features = learned.model().features();
        const TangentFeatures tangent(features, ParameterSet::of(features).space());
        WidthTable widths(static_cast<Index>(learned.sets().size()), features);
        bracket_widths(features, tangent, learned.sets(), {}, 1, widths);
        const DeviationTable deviations(learned, widths);
        for (Step h = 0; h + 1 < m.horizon; ++h)
            for (Index pair = 0; pair < m.pairs(); ++pair) {
                EXPECT_NEAR(deviations.at(h, pair), m.deviation(h, pair), digits) << "seed " << seed;
                double apart = 0;
                for (State s = 0; s < m.states; ++s)
                    apart += std::abs(m.slope[TwoBaseModels::size(pair * m.states + s)]) / 2;
                reached += std::abs(m.largest(h, apart) + m.misspecification - deviations.at(h, pair)) < 1e-8;
            }
    }
    EXPECT_GE(reached, 100);
}

TEST(PlainRecursions, AreTrajectoryKlHybridAndTotalVariance) {
    int by_trajectory = 0, by_coupling = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const LearnedMixture learned =
            support::learned_about_two(seed, std::pow(10.0, 2 + static_cast<double>(seed % 4)));
        const TwoBaseModels m(learned);
        const DeviationTable deviations = m.deviations();
        const detail::DivergenceTable kls(learned, Divergence::kl), chis(learned, Divergence::chi_square);
        bool set_aside = false;  // the lemma's other choice was less
        for (Step h = 0; h + 1 < m.horizon; ++h)
            for (Index pair = 0; pair < m.pairs(); ++pair) {
                const double kl = kl_bound(m, learned, h, pair, false);
                EXPECT_LE(kls.at(h, pair), kl * (1 + digits)) << "seed " << seed;
                set_aside = set_aside || kls.at(h, pair) < kl * (1 - digits);
                const double chi = kl_bound(m, learned, h, pair, true);
                EXPECT_NEAR(chis.at(h, pair), chi, digits * chi) << "seed " << seed;
            }
        if (set_aside) continue;
        Values trajectory = backwards(m, [&](Step h, Index pair, const std::vector<double>& next) {
            return kl_bound(m, learned, h, pair, false) + m.expect(h, pair, next);
        });
        for (Step h = 0; h + 1 < m.horizon; ++h)
            for (double& value : trajectory[TwoBaseModels::size(h)])
                value = steps_after(m, h) * variation(value);
        const ErrorRecursion found = detail::trajectory_kl_recursion(learned, kls);
        expect_equal(trajectory, found, "trajectory-kl");
        Values hybrid = trajectory;
        for (Step h = m.horizon - 2; h >= 0; --h)
            for (State s = 0; s < m.states; ++s) {
                double best = 0;
                for (Action a = 0; a < m.actions; ++a)
                    best =
                        std::max(best, coupled(m, h, s * m.actions + a, hybrid[TwoBaseModels::size(h + 1)]));
                double& value = hybrid[TwoBaseModels::size(h)][TwoBaseModels::size(s)];
                (value < best ? by_trajectory : by_coupling) += 1;
                value = std::min(value, best);
            }
        expect_equal(hybrid, detail::hybrid_recursion(learned, deviations, found), "hybrid");
        const RewardFreeCertificate certificate = certify_reward_free(learned, deviations);
        ASSERT_EQ(certificate.candidates.size(), 8u);
        EXPECT_NEAR(certificate.candidates[3].second, 2 * at_start(learned, trajectory) + 4e-9, digits);
        EXPECT_NEAR(certificate.candidates[4].second, 2 * at_start(learned, hybrid) + 4e-9, digits);
    }
    EXPECT_GE(by_trajectory, 10);
    EXPECT_GE(by_coupling, 10);
}

/// c_h and B_h of likelihood.md, Theorem 8.
double weight_of(const TwoBaseModels& m, const detail::TotalVarianceWeights& weights, Step h) {
    return weights.variance *
           std::pow((2 * steps_after(m, h) - 1) / (2 * steps_after(m, 0) - 1), weights.falling / 2);
}
double variances(const TwoBaseModels& m, const detail::TotalVarianceWeights& weights, Step from) {
    double sum = 0;
    for (Step h = from; h + 1 < m.horizon; ++h) {
        const double n = steps_after(m, h);
        sum += (n * n - (n - 1) * (n - 1)) / (8 * weight_of(m, weights, h));
    }
    return sum;
}

/// (6) of likelihood.md without the cut: every term as it is written.
Values total_variance_values(const TwoBaseModels& m, const LearnedMixture& learned,
                             const detail::TotalVarianceWeights& weights, const ErrorRecursion& cap,
                             int& by_growth, int& by_set) {
    const double eta = weights.growth;
    Values values(TwoBaseModels::size(m.horizon), std::vector<double>(TwoBaseModels::size(m.states), 0.0));
    for (Step h = m.horizon - 2; h >= 0; --h)
        for (State s = 0; s < m.states; ++s) {
            const std::vector<double>& next = values[TwoBaseModels::size(h + 1)];
            const double n = steps_after(m, h), grown = std::pow(1 + eta, static_cast<double>(h));
            double best = 0;
            for (Action a = 0; a < m.actions; ++a) {
                const Index pair = s * m.actions + a;
                const double tau = m.deviation(h, pair), chi = kl_bound(m, learned, h, pair, true);
                const double c = weight_of(m, weights, h);
                double bound = std::min(n * tau, c / 2 * grown * chi);
                if (h + 2 < m.horizon) {
                    const double one = (1 + eta) * m.expect(h, pair, next) + chi * (n - 1) / (4 * eta);
                    const double two =
                        m.upper(h, pair, next) + tau * variances(m, weights, h + 1) / (grown * (1 + eta));
                    (one < two ? by_growth : by_set) += 1;
                    bound += std::min(one, two);
                }
                best = std::max(best, bound);
            }
            values[TwoBaseModels::size(h)][TwoBaseModels::size(s)] = std::min(best, cap.values(h, s));
        }
    return values;
}

TEST(PlainRecursions, AreTheTotalVarianceWithAnyWeights) {
    int by_growth = 0, by_set = 0;
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        const LearnedMixture learned =
            support::learned_about_two(seed, std::pow(10.0, 2 + static_cast<double>(seed % 4)));
        const TwoBaseModels m(learned);
        const DeviationTable deviations = m.deviations();
        const detail::DivergenceTable chis(learned, Divergence::chi_square);
        ErrorRecursion none{Matrix::Zero(4, 3), {}};
        for (Step h = 0; h < 4; ++h) none.values.row(h).setConstant(static_cast<double>(3 - h));
        for (const double c : {0.1, 1.0, 30.0})
            for (const double eta : {0.01, 0.3, 2.0})
                for (const double falling : {0.0, 1.0}) {
                    const detail::TotalVarianceWeights weights{c, eta, falling};
                    expect_equal(total_variance_values(m, learned, weights, none, by_growth, by_set),
                                 detail::total_variance_recursion(learned, deviations, chis, none, weights),
                                 "ltv");
                    const Values plain = total_variance_values(m, learned, weights, none, by_growth, by_set);
                    const ErrorRecursion each =
                        detail::total_variance_errors(learned, deviations, chis, none, weights);
                    for (Step h = 0; h < 4; ++h)
                        EXPECT_NEAR(each.values(h, 0),
                                    std::min(static_cast<double>(3 - h),
                                             plain[TwoBaseModels::size(h)][0] +
                                                 variances(m, weights, h) /
                                                     std::pow(1 + eta, static_cast<double>(h))),
                                    digits);
                }
        // What the search hands over is the bound at the weights it found: B_0 is added once.
        const ErrorRecursion hybrid = detail::hybrid_recursion(
            learned, deviations,
            detail::trajectory_kl_recursion(learned, detail::DivergenceTable(learned, Divergence::kl)));
        const detail::TotalVarianceBound bound =
            detail::total_variance_bound(learned, deviations, chis, hybrid);
        const Values plain = total_variance_values(m, learned, bound.weights, hybrid, by_growth, by_set);
        EXPECT_NEAR(bound.error, at_start(learned, plain) + variances(m, bound.weights, 0), digits);
        const RewardFreeCertificate certificate = certify_reward_free(learned, deviations);
        EXPECT_NEAR(certificate.candidates[5].second, 2 * bound.error + 4e-9, digits);
    }
    EXPECT_GE(by_growth, 10);
    EXPECT_GE(by_set, 10);
}

}  // namespace
}  // namespace alidade::plain_recursions_test
