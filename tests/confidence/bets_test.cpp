#include "alidade/confidence/bets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "alidade/confidence/bet_sets.hpp"
#include "alidade/confidence/learned_mixture.hpp"
#include "alidade/error.hpp"
#include "support/effort.hpp"
#include "support/random_models.hpp"

namespace alidade::bets_test {
namespace {

struct Case {
    SharedFeatures features;
    Vector weights;
    double zeta = 0;
};

Case random_case(std::uint64_t seed) {
    Stream random = support::test_stream(seed, 1);
    const Index d = 2 + static_cast<Index>(seed % 4);
    const support::RandomSizes sizes{
        .shape = {5, 2, 2}, .features = d, .successors = 4, .concentration = seed % 3 == 0 ? 0.3 : 1.0};
    return {support::random_features(random, sizes), support::random_weights(random, 1, d).row(0).transpose(),
            seed % 5 == 0 ? 0.0 : 0.3 * sample_uniform(random)};
}

/// Counts of one step with visits of all pairs, under the mixture and with some that led elsewhere.
Counts random_counts(const Case& given, std::uint64_t seed, std::int64_t visits) {
    Stream random = support::test_stream(seed, 2);
    Counts counts(given.features, 2, Elsewhere::counted);
    for (Index pair = 0; pair < given.features->pairs(); ++pair) {
        for (std::int64_t k = 0; k < visits; ++k) {
            std::vector<double> law;
            for (Index e = given.features->first_entry(pair); e < given.features->first_entry(pair + 1); ++e)
                law.push_back(
                    given.weights.dot(Eigen::Map<const Vector>(given.features->phi(e).data(), given.weights.size())));
            counts.add(0, given.features->first_entry(pair) + sample_categorical(random, law), 1);
        }
        if (pair % 3 == 1) counts.add_elsewhere(0, pair, 1);
    }
    return counts;
}

/// h_b of every bet by the definition, in the order of the table: ordered pairs of base models, sizes, cuts.
std::vector<long double> plain_values(const Case& given, const Counts& counts, const Vector& weights) {
    const FeatureMap& features = *given.features;
    const Index d = features.features();
    std::vector<long double> values;
    const auto phi = [&](Index entry, Index i) { return static_cast<long double>(features.phi(entry)[at(i)]); };
    for (Index i = 0; i < d; ++i)
        for (Index l = 0; l < d; ++l) {
            if (i == l) continue;
            std::vector<long double> variation, chance, hits, visits;
            for (Index pair = 0; pair < features.pairs(); ++pair) {
                long double apart = 0, right = 0, seen = 0;
                for (Index e = features.first_entry(pair); e < features.first_entry(pair + 1); ++e) {
                    if (!(phi(e, i) > phi(e, l))) continue;
                    apart += phi(e, i) - phi(e, l);
                    for (Index j = 0; j < d; ++j) right += static_cast<long double>(weights[j]) * phi(e, j);
                    seen += static_cast<long double>(counts.count(0, e));
                }
                variation.push_back(apart);
                chance.push_back(right);
                hits.push_back(seen);
                visits.push_back(static_cast<long double>(counts.visits(0, pair)));
            }
            const long double most = *std::ranges::max_element(variation);
            for (const double size : {.003, .01, .03, .1, .3, 1.})
                for (const double cut : {0., .4, .7}) {
                    long double value = 0;
                    for (std::size_t k = 0; k < visits.size(); ++k) {
                        const long double stake =
                            size * std::max(0.L, variation[k] / most - cut) / (1 - static_cast<long double>(cut));
                        value += visits[k] *
                                     std::log1p(stake * std::min(1.L, chance[k] + static_cast<long double>(given.zeta))) -
                                 hits[k] * std::log1p(stake);
                    }
                    values.push_back(value);
                }
        }
    return values;
}

TEST(BetTable, HasTheValuesOfTheDefinition) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const Case given = random_case(seed);
        const Counts counts = random_counts(given, seed, 30);
        const BetDesign design(*given.features);
        const BetTable table = bet_tables(*given.features, design, counts, false).front();
        const Index d = table.features();
        ASSERT_EQ(table.bets(), 18 * d * (d - 1));
        ASSERT_EQ(design.bets(), table.bets());
        EXPECT_EQ(table.observations(), static_cast<double>(counts.transitions()));
        const std::vector<long double> expected = plain_values(given, counts, given.weights);
        for (Index b = 0; b < table.bets(); ++b) {
            const BetTable::Value found = table.value(b, given.weights, given.zeta, nullptr);
            EXPECT_NEAR(found.value, static_cast<double>(expected[at(b)]), 1e-9) << seed << " " << b;
            EXPECT_LE(std::abs(static_cast<long double>(found.value) - expected[at(b)]), found.rounding);
        }
    }
}

TEST(BetTable, HasTheGradientOfDifferencesAndIsConcave) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const Case given = random_case(seed);
        const Counts counts = random_counts(given, seed, 20);
        const BetTable table = bet_tables(*given.features, BetDesign(*given.features), counts, false).front();
        Stream random = support::test_stream(seed, 3);
        const Index d = table.features();
        Vector gradient(d);
        for (Index b = 0; b < table.bets(); b += 5) {
            const Vector one = support::random_weights(random, 1, d).row(0).transpose(),
                         other = support::random_weights(random, 1, d).row(0).transpose();
            const auto value = [&](const Vector& weights) {
                return table.value(b, weights, given.zeta, nullptr).value;
            };
            const double here = table.value(b, one, given.zeta, gradient.data()).value;
            EXPECT_GE(value(0.5 * (one + other)), 0.5 * (here + value(other)) - 1e-10);
            // Below its tangents.
            EXPECT_LE(value(other), here + gradient.dot(other - one) + 1e-10);
            EXPECT_GE(gradient.minCoeff(), 0);
            const double step = 1e-6;
            const Vector moved = one + step * (other - one), back = one - step * (other - one);
            if (given.zeta > 0) continue;  // there may be a corner
            EXPECT_NEAR((value(moved) - value(back)) / (2 * step), gradient.dot(other - one),
                        1e-4 * (1 + gradient.norm()));
        }
    }
}

// One transition multiplies the wealth of a bet by exp(-h_b), whose mean is at most one under every law within
// zeta of the mixture: the step that makes wealth a supermartingale [misspecification, Theorem 1].
TEST(BetTable, IsFairUnderEveryLawThatIsNearEnough) {
    for (std::uint64_t seed = 0; seed < support::repetitions<std::uint64_t>(60); ++seed) {
        const Case given = random_case(seed);
        const FeatureMap& features = *given.features;
        Stream random = support::test_stream(seed, 4);
        const Index pair = sample_index(random, features.pairs()), first = features.first_entry(pair);
        const Index m = features.successors(pair);
        const BetDesign design(features);
        std::vector<BetTable> tables;  // of one transition: to each successor, and elsewhere
        for (Index j = 0; j < m; ++j) {
            const SeenEntry seen{first + j, 1};
            tables.emplace_back(features, design, std::span(&seen, 1), std::span<const SeenEntry>{});
        }
        const SeenEntry there{pair, 1};
        tables.emplace_back(features, design, std::span<const SeenEntry>{}, std::span(&there, 1));
        Vector law = Vector::Zero(m + 1);
        for (Index j = 0; j < m; ++j)
            law[j] = given.weights.dot(Eigen::Map<const Vector>(features.phi(first + j).data(), given.weights.size()));
        double closest = 0;
        for (int k = 0; k < 100; ++k) {
            Vector moved = law;
            // Mass zeta from some places to others, as far as there is that much.
            const Index from = sample_index(random, m + 1), to = sample_index(random, m + 1);
            const double mass = std::min(given.zeta, moved[from]);
            moved[from] -= mass;
            moved[to] += mass;
            for (Index b = 0; b < tables.front().bets(); b += 7) {
                double mean = 0;
                for (Index j = 0; j <= m; ++j)
                    mean += moved[j] * std::exp(-tables[at(j)].value(b, given.weights, given.zeta, nullptr).value);
                EXPECT_LE(mean, 1 + 1e-12) << seed;
                closest = std::max(closest, mean);
            }
        }
        EXPECT_GT(closest, 0.9);
    }
}

TEST(BetHalfSpaces, ContainEveryMemberAndGrowWithTheMisspecification) {
    for (std::uint64_t seed = 0; seed < support::repetitions<std::uint64_t>(40); ++seed) {
        const Case given = random_case(seed);
        const Counts counts = random_counts(given, seed, seed % 2 == 0 ? 10 : 300);
        const BetTable table = bet_tables(*given.features, BetDesign(*given.features), counts, false).front();
        Stream random = support::test_stream(seed, 5);
        const Index d = table.features();
        const double allowance = bet_allowance(1, table.bets(), 0.1);
        const Vector about = seed % 3 == 0 ? Vector(Vector::Constant(d, 1.0 / static_cast<double>(d)))
                                           : given.weights;
        const HalfSpaces spaces = bet_half_spaces(table, given.zeta, allowance, about);
        const HalfSpaces wider = bet_half_spaces(table, given.zeta + 0.05, allowance, about);
        int members = 0;
        for (int k = 0; k < 300; ++k) {
            // Near the true weights, where members are.
            const double share = sample_uniform(random) * sample_uniform(random);
            const Vector weights = (1 - share) * given.weights +
                                   share * support::random_weights(random, 1, d).row(0).transpose();
            bool member = true;
            for (Index b = 0; b < table.bets() && member; ++b)
                member = table.value(b, weights, given.zeta, nullptr).value >= -allowance;
            if (!member) continue;
            ++members;
            EXPECT_GE((spaces.normals * weights - spaces.offsets).minCoeff(), 0) << seed;
            EXPECT_GE((wider.normals * weights - wider.offsets).minCoeff(), 0) << seed;
        }
        EXPECT_GT(members, 0) << seed;
    }
}

TEST(BetSets, DegenerateDataAndModels) {
    const BaseKernel one{"one", 2, 2, {0, 2, 4}, {0, 1, 0, 1}, {0.3, 0.7, 0.5, 0.5}};
    for (const Index d : {1, 2, 3}) {
        const std::vector<BaseKernel> kernels(static_cast<std::size_t>(d), one);
        const auto features = std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(2, 1, kernels));
        const BetDesign design(*features);
        EXPECT_EQ(design.bets(), 0) << "base models that agree everywhere cannot be told apart";
        Counts counts(features, 2, Elsewhere::counted);
        counts.add(0, 0, 1000);
        const std::vector<Vector> about{Vector::Constant(d, 1.0 / static_cast<double>(d))};
        const auto sets =
            detail::bet_sets(bet_tables(*features, design, counts, false), 0.01, 0.1, about);
        ASSERT_EQ(sets.size(), 1u);
        const Vector f = Vector::Unit(d, 0);
        EXPECT_NEAR(sets[0].range({f.data(), at(d)}).lower, d == 1 ? 1 : 0, 1e-12);
        EXPECT_EQ(sets[0].vertices()->size(), d);
    }
    // No data, and data that all led elsewhere, leave the simplex; the latter until that is too much.
    const Case given = random_case(1);
    const BetDesign design(*given.features);
    const std::vector<Vector> about{given.weights};
    const Vector f = Vector::Unit(given.weights.size(), 0);
    Counts counts(given.features, 2, Elsewhere::counted);
    auto sets = detail::bet_sets(bet_tables(*given.features, design, counts, false), 0.01, 0.1, about);
    EXPECT_EQ(sets[0].range({f.data(), at(f.size())}).upper, 1);
    counts.add_elsewhere(0, 0, 1'000'000);
    sets = detail::bet_sets(bet_tables(*given.features, design, counts, false), 0.01, 0.1, about);
    EXPECT_GT(sets[0].vertices()->size(), 0) << "nothing is won by what never happens";
}

TEST(BetSets, RefuteAMisspecificationThatIsTooSmall) {
    // Both base models say that the first successor has 0.2 or 0.3; the data, 0.9.
    const BaseKernel one{"one", 2, 2, {0, 2, 4}, {0, 1, 0, 1}, {0.2, 0.8, 0.5, 0.5}},
        other{"other", 2, 2, {0, 2, 4}, {0, 1, 0, 1}, {0.3, 0.7, 0.5, 0.5}};
    const auto features = std::make_shared<const FeatureMap>(
        FeatureMap::from_base_kernels(2, 1, std::vector{one, other}));
    const BetDesign design(*features);
    Counts counts(features, 2);
    counts.add(0, 0, 900);
    counts.add(0, 1, 100);
    const std::vector<BetTable> tables = bet_tables(*features, design, counts, false);
    const std::vector<Vector> about{Vector::Constant(2, 0.5)};
    EXPECT_THROW(detail::bet_sets(tables, 0.1, 0.1, about), ModelContradiction);
    EXPECT_NO_THROW(detail::bet_sets(tables, 0.65, 0.1, about));
}

TEST(BetTable, RoundsOutwardWhateverTheCounts) {
    // 1e9 visits, probabilities of 1e-300, and chances above one.
    const BaseKernel one{"one", 2, 3, {0, 3, 5}, {0, 1, 2, 0, 1}, {1e-300, 1 - 1e-12, 1e-12, 0.5, 0.5}},
        other{"other", 2, 3, {0, 3, 5}, {0, 1, 2, 0, 1}, {0.7, 0.3, 1e-300, 0.9, 0.1}};
    std::vector<BaseKernel> kernels{one, other};
    for (BaseKernel& kernel : kernels) {
        kernel.rows = 3;
        kernel.offsets.push_back(static_cast<std::int64_t>(kernel.targets.size()) + 1);
        kernel.targets.push_back(2);
        kernel.probabilities.push_back(1);
    }
    const Case given{std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(3, 1, kernels)),
                     (Vector(2) << 0.9, 0.1).finished(), 0.4};
    Counts counts(given.features, 2, Elsewhere::counted);
    counts.add(0, 0, 70'000'000);
    counts.add(0, 1, 930'000'000);
    counts.add(0, 3, 123'456'789);
    counts.add_elsewhere(0, 0, 3);
    const BetTable table = bet_tables(*given.features, BetDesign(*given.features), counts, false).front();
    const std::vector<long double> expected = plain_values(given, counts, given.weights);
    for (Index b = 0; b < table.bets(); ++b) {
        const BetTable::Value found = table.value(b, given.weights, given.zeta, nullptr);
        EXPECT_TRUE(std::isfinite(found.value));
        EXPECT_LE(std::abs(static_cast<long double>(found.value) - expected[at(b)]), found.rounding) << b;
    }
    const auto sets = detail::bet_sets(std::span(&table, 1), given.zeta, 0.1, std::vector{given.weights});
    EXPECT_LE(sets[0].depth(given.weights), 1);
}

/// Deviations and divergences of a learned model are the largest of members, and a vertex attains them.
TEST(BetSets, DeviationsAndDivergencesAreLargestAtAVertex) {
    for (std::uint64_t seed = 1; seed < support::repetitions<std::uint64_t>(20, 4); ++seed) {
        const Case given = random_case(seed);
        const Counts counts = random_counts(given, seed, 60);
        const auto sets = detail::bet_sets(bet_tables(*given.features, BetDesign(*given.features), counts, false),
                                           given.zeta, 0.1, std::vector{given.weights});
        const VertexSet& vertices = *sets[0].vertices();
        const LearnedMixture learned(given.features, 2, StartLaw(0), false, sets, 0.1, given.zeta);
        const std::vector<double> deviations = learned.variations(),
                                  kl = learned.divergences(Divergence::kl),
                                  chi = learned.divergences(Divergence::chi_square);
        Stream random = support::test_stream(seed, 6);
        const Index d = given.weights.size();
        for (Index pair = 0; pair < given.features->pairs(); ++pair) {
            double farthest = 0, largest = 0, squares = 0;
            for (Index k = 0; k < vertices.size() + 200; ++k) {
                Vector member = vertices.vertices().col(std::min(k, vertices.size() - 1));
                if (k >= vertices.size()) {
                    const auto shares = sample_dirichlet(random, vertices.size(), 0.3);
                    member.setZero();
                    for (Index v = 0; v < vertices.size(); ++v) member += shares[at(v)] * vertices.vertices().col(v);
                }
                double tv = 0, sum = 0, square = 0;
                for (Index e = given.features->first_entry(pair); e < given.features->first_entry(pair + 1); ++e) {
                    const Eigen::Map<const Vector> phi(given.features->phi(e).data(), d);
                    const double q = phi.dot(learned.model().weights(0)), p = phi.dot(member);
                    tv += 0.5 * std::abs(p - q);
                    sum += q * std::log(q / p);
                    square += (p - q) * (p - q) / q;
                }
                EXPECT_LE(std::min(1.0, tv + given.zeta), deviations[at(pair)] + 1e-15);
                EXPECT_TRUE(!std::isfinite(sum) || sum <= kl[at(pair)] + 1e-12) << sum;
                EXPECT_LE(square, chi[at(pair)] + 1e-12);
                if (k < vertices.size()) {
                    farthest = std::max(farthest, tv);
                    largest = std::max(largest, sum);
                    squares = std::max(squares, square);
                }
            }
            EXPECT_NEAR(deviations[at(pair)], std::min(1.0, farthest + given.zeta), 1e-9);
            EXPECT_TRUE(!(largest < 20) || std::abs(kl[at(pair)] - largest) <= 1e-6 * (1 + largest)) << largest;
            EXPECT_NEAR(chi[at(pair)], squares, 1e-6 * (1 + squares));
        }
    }
}

}  // namespace
}  // namespace alidade::bets_test
