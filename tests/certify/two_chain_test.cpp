#include "alidade/certify/two_chain.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "alidade/certify/model_gaps.hpp"
#include "alidade/certify/reward_certificate.hpp"
#include "alidade/certify/row_coupling.hpp"
#include "alidade/certify/total_variance.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "support/candidates.hpp"
#include "support/effort.hpp"
#include "support/learned_models.hpp"
#include "support/two_base_models.hpp"

namespace alidade::two_chain_test {
namespace {

using support::candidate;
using support::TwoBaseModels;

/// [docs/algorithms/two-chains.md, Theorem 5] once more in plain loops over all states, with nothing cut but
/// at n_h.
class Plain {
public:
    explicit Plain(const TwoBaseModels& m) : m_(m), n_(at(m.states)) {
        spans_.assign(at(m.horizon + 1), Table(n_, std::vector<double>(n_, 0.0)));
        for (Step h = m.horizon - 1; h >= 0; --h) span_step(h);
        errors_.assign(at(m.horizon), std::vector<double>(n_, 0.0));
        chains_.assign(at(m.horizon), Table(n_, std::vector<double>(n_, 0.0)));
        for (Step h = m.horizon - 2; h >= 0; --h) {
            error_step(h);
            for (std::size_t x = 0; x < n_; ++x)
                for (std::size_t y = 0; y < n_; ++y) chains_[at(h)][x][y] = chain(h, x, y);
        }
    }

    double error() const { return errors_[0][0]; }
    double loss() const { return chains_[0][0][0]; }
    std::map<std::string, int> met;

private:
    using Table = std::vector<std::vector<double>>;

    double law(Step h, Index pair, std::size_t s) const {
        return m_.probability(h, pair, static_cast<State>(s));
    }

    /// The mean of a table over two rows, shared mass first and the rest independently.
    double coupled(Step h, Index one, Index other, const Table& table) const {
        double sum = 0, left = 0, apart = 0;
        std::vector<double> first(n_), second(n_);
        for (std::size_t s = 0; s < n_; ++s) {
            const double shared = std::min(law(h, one, s), law(h, other, s));
            sum += shared * table[s][s];
            first[s] = law(h, one, s) - shared;
            second[s] = law(h, other, s) - shared;
            left += first[s];
        }
        for (std::size_t i = 0; i < n_; ++i)
            for (std::size_t j = 0; j < n_; ++j) apart += first[i] * second[j] * table[i][j];
        return left > 1e-14 ? sum + apart / left : sum;
    }

    void span_step(Step h) {
        for (std::size_t x = 0; x < n_; ++x)
            for (std::size_t y = 0; y < n_; ++y) {
                if (x == y) continue;
                double worst = 0;
                for (Action a = 0; h + 1 < m_.horizon && a < m_.actions; ++a) {
                    double least = 1e9;
                    for (Action b = 0; b < m_.actions; ++b)
                        least = std::min(least,
                                         coupled(h, static_cast<Index>(x) * m_.actions + a,
                                                 static_cast<Index>(y) * m_.actions + b, spans_[at(h + 1)]));
                    worst = std::max(worst, least);
                }
                spans_[at(h)][x][y] = std::min(static_cast<double>(m_.horizon - h), 1 + worst);
            }
    }

    /// The largest span over where one pair, or one of two, may lead.
    double span(Step h, Index one, Index other, bool anywhere) const {
        double most = 0;
        for (std::size_t i = 0; i < n_; ++i)
            for (std::size_t j = 0; j < n_; ++j) {
                const auto there = [&](std::size_t s) {
                    return anywhere || m_.leads[at(one) * n_ + s] != 0 || m_.leads[at(other) * n_ + s] != 0;
                };
                if (there(i) && there(j)) most = std::max(most, spans_[at(h)][i][j]);
            }
        return most;
    }
    bool anywhere() const { return m_.misspecification > 0; }

    void error_step(Step h) {
        const double n = static_cast<double>(m_.horizon - 1 - h);
        for (std::size_t s = 0; s < n_; ++s) {
            double worst = 0;
            for (Action a = 0; a < m_.actions; ++a) {
                const Index pair = static_cast<Index>(s) * m_.actions + a;
                const double tau = m_.deviation(h, pair);
                const double by_span =
                    span(h + 1, pair, pair, anywhere()) * tau + m_.upper(h, pair, errors_[at(h + 1)]);
                std::vector<std::pair<double, double>> order;
                for (std::size_t j = 0; j < n_; ++j)
                    order.emplace_back(errors_[at(h + 1)][j], law(h, pair, j));
                std::ranges::sort(order);
                double removed = tau, rest = n * tau;
                for (const auto& [value, mass] : order) {
                    const double taken = std::min(mass, removed);
                    removed -= taken;
                    rest += (mass - taken) * value;
                }
                worst = std::max(worst, std::min(by_span, rest));
            }
            errors_[at(h)][s] = std::min(n, worst);
        }
    }

    double chain(Step h, std::size_t x, std::size_t y) {
        double worst = 0;
        for (Action a = 0; a < m_.actions; ++a)
            for (Action b = 0; b < m_.actions; ++b)
                worst = std::max(worst, pair_of_pairs(h, static_cast<Index>(x) * m_.actions + a,
                                                      static_cast<Index>(y) * m_.actions + b));
        const double both = errors_[at(h)][x] + errors_[at(h)][y];
        ++met[both < worst ? "cut" : "chain"];
        return std::min(both, worst);
    }

    double pair_of_pairs(Step h, Index one, Index other) {
        const Table& next = chains_[at(h + 1)];
        if (one == other) {
            std::vector<double> diagonal(n_);
            for (std::size_t s = 0; s < n_; ++s) diagonal[s] = next[s][s];
            return m_.upper(h, one, diagonal);
        }
        double variation = 0;
        for (std::size_t s = 0; s < n_; ++s)
            variation += std::abs(m_.slope[at(one) * n_ + s] - m_.slope[at(other) * n_ + s]) / 2;
        // Of two base models P_1 - P~ and P_2 - P~ are multiples of P_1 - P_2.
        const double own = m_.farthest[at(h * m_.pairs() + one)], slope = steepness(one);
        const double farthest = slope > 0 ? own / slope : 1;
        const double width = std::min(m_.reach[at(h)], farthest) * variation;
        const double first = span(h + 1, one, one, anywhere()),
                     second = span(h + 1, other, other, anywhere());
        const double together =
            span(h + 1, one, other, false) * width + m_.misspecification * (first + second);
        const double apart = first * m_.deviation(h, one) + second * m_.deviation(h, other);
        ++met[together < apart ? "together" : "apart"];
        return std::min(together, apart) + coupled(h, one, other, next) +
               m_.deviation(h, one) * oscillation(next, one, other) +
               m_.deviation(h, other) * oscillation(next, other, one);
    }

    double steepness(Index pair) const {
        double sum = 0;
        for (std::size_t s = 0; s < n_; ++s) sum += std::abs(m_.slope[at(pair) * n_ + s]) / 2;
        return sum;
    }

    double oscillation(const Table& next, Index first, Index second) const {
        double most = 0;
        for (std::size_t y = 0; y < n_; ++y) {
            if (!anywhere() && m_.leads[at(second) * n_ + y] == 0) continue;
            double low = 1e9, high = 0;
            for (std::size_t x = 0; x < n_; ++x) {
                if (!anywhere() && m_.leads[at(first) * n_ + x] == 0) continue;
                low = std::min(low, next[x][y]);
                high = std::max(high, next[x][y]);
            }
            most = std::max(most, high - low);
        }
        return most;
    }

    const TwoBaseModels& m_;
    std::size_t n_;
    std::vector<Table> spans_, chains_;
    Table errors_;
};

// Every factor is for all steps and states, so that 60 models with few and many data leave no term unseen.
TEST(TwoChain, IsItsFormulaInPlainLoops) {
    std::map<std::string, int> met;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        const LearnedMixture learned =
            support::learned_about_two(seed, std::pow(10.0, static_cast<double>(seed % 6)) - 1,
                                       seed % 4 == 3 ? 0.02 : 0.0, seed % 3 == 0 ? 0.1 : 1.0);
        const TwoBaseModels m(learned);
        Plain plain(m);
        const RewardFreeCertificate found =
            certify_reward_free(learned, m.deviations(), {.certificates = {"optimal-span", "two-chain"}});
        EXPECT_NEAR(candidate(found, "optimal-span"), 2 * plain.error() + 4e-9, 1e-9) << "seed " << seed;
        EXPECT_NEAR(candidate(found, "two-chain"), plain.loss() + 4e-9, 1e-9) << "seed " << seed;
        for (const auto& [name, times] : plain.met) met[name] += times;
        ASSERT_EQ(found.forms.size(), 2U);
        EXPECT_EQ(found.forms[1].second, "all pairs of states");
    }
    for (const char* name : {"cut", "chain", "together", "apart"}) EXPECT_GE(met[name], 100) << name;
}

TEST(TwoChain, IsTheSumOfItsContributionsAndNeverAboveTheOthers) {
    std::map<std::string, int> least;
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        // Every third has more pairs of pairs than are looked at.
        const support::RandomSizes sizes{.shape = {seed % 3 == 0 ? 40 : 6, 3, 5},
                                         .features = 3,
                                         .successors = 3,
                                         .start_law = seed % 2 == 0};
        const Knowledge knowledge = support::knowledge_about(support::random_model(seed, sizes), seed,
                                                             std::pow(10.0, static_cast<double>(seed % 5)));
        const DeviationTable deviations = DeviationTable::of(*knowledge.learned);
        const RewardFreeCertificate all =
            certify_reward_free(*knowledge.learned, deviations, {.contributions = 1'000'000});
        const double two = candidate(all, "two-chain"), one = candidate(all, "optimal-span");
        EXPECT_LE(two, one + 1e-9);
        for (const auto& [name, bound] : all.candidates)
            EXPECT_LE(name == "two-chain" ? two : one, bound + 1e-9) << name;
        EXPECT_EQ(all.forms[1].second.starts_with("the diagonal alone"), seed % 3 == 0);
        for (const char* name : {"two-chain", "optimal-span"}) {
            const RewardFreeCertificate alone = certify_reward_free(
                *knowledge.learned, deviations, {.certificates = {name}, .contributions = 1'000'000});
            double sum = 0;
            for (const Contribution& part : alone.contributions) sum += part.amount;
            EXPECT_NEAR(sum, candidate(alone, name), 1e-7) << name << ", seed " << seed;
        }
        ++least[all.method];
    }
    EXPECT_GE(least["two-chain"], 10);
}

TEST(RowCoupling, HasTheLawsThatItCouples) {
    Stream random = support::test_stream(1, 403);
    for (int trial = 0; trial < 200; ++trial) {
        const auto one = support::random_states(random, 6, 1 + sample_index(random, 6));
        const auto other = support::random_states(random, 6, 1 + sample_index(random, 6));
        const std::vector<std::int32_t> first(one.begin(), one.end()), second(other.begin(), other.end());
        const auto p = sample_dirichlet(random, static_cast<Index>(one.size()), 0.5),
                   q = sample_dirichlet(random, static_cast<Index>(other.size()), 0.5);
        detail::RowCoupling coupling;
        coupling.couple({first, p}, {second, q});
        std::vector<double> left(6, 0.0), right(6, 0.0);
        double together = 0, variation = 0;
        coupling.each([&](State i, State j, double mass) {
            left[at(i)] += mass;
            right[at(j)] += mass;
            if (i == j) together += mass;
        });
        std::vector<double> gap(6, 0.0);
        for (std::size_t i = 0; i < first.size(); ++i) {
            EXPECT_NEAR(left[at(first[i])], p[i], 1e-12);
            gap[at(first[i])] += p[i];
        }
        for (std::size_t j = 0; j < second.size(); ++j) {
            EXPECT_NEAR(right[at(second[j])], q[j], 1e-12);
            gap[at(second[j])] -= q[j];
        }
        for (const double difference : gap) variation += std::abs(difference) / 2;
        EXPECT_NEAR(together, 1 - variation, 1e-12);
        EXPECT_NEAR(coupling.mean([](State i, State j) { return i == j ? 0.0 : 1.0; }), variation, 1e-11);
    }
}

}  // namespace
}  // namespace alidade::two_chain_test
