#include "alidade/model/planning_pass.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>

#include <cmath>

#include "alidade/confidence/value_regression.hpp"
#include "portable_passes.hpp"
#include "support/lane_widths.hpp"
#include "support/random_models.hpp"
#include "support/signed_features.hpp"

namespace alidade::planning_pass_test {
namespace {

struct Case {
    SharedFeatures features;
    TangentFeatures tangent;
    std::vector<ConfidenceSet> sets;
    std::vector<double> next;
    std::vector<std::uint8_t> witness;
};

Case random_case(std::uint64_t seed, Index states, Index d, Index successors) {
    Stream random = support::test_stream(seed);
    const support::RandomSizes sizes{
        .shape = {states, 3, 4}, .features = d, .successors = successors, .concentration = 0.3};
    auto features = support::random_features(random, sizes);
    const ParameterSet parameters = ParameterSet::of(*features);
    std::vector<detail::RidgeStatistics> statistics;
    for (int k = 0; k < 2; ++k) {
        detail::RidgeStatistics step(d - 1);
        for (int t = 0; t < 30; ++t) {
            Vector x(d - 1);
            for (Index i = 0; i + 1 < d; ++i) x[i] = sample_normal(random);
            step.add(x.data(), 1, 0.02 * sample_normal(random));
        }
        statistics.push_back(step);
    }
    Case result{features,
                TangentFeatures(*features, parameters.space()),
                detail::regression_sets(features, statistics, 0.1),
                {},
                {}};
    for (State s = 0; s < states; ++s) result.next.push_back(sample_uniform(random));
    for (Index e = 0; e < 2 * features->entries(); ++e)
        result.witness.push_back(static_cast<std::uint8_t>(sample_index(random, 2)));
    return result;
}

struct Outcome {
    std::vector<double> values;
    std::vector<std::uint8_t> witness;
    bool operator==(const Outcome&) const = default;
};

Outcome run(const Case& given, int ascents, const detail::PlanningPass::Options& options,
            detail::KeptTiles kept = detail::KeptTiles::by_size) {
    detail::PlanningPass pass(*given.features, given.tangent, 2, kept);
    const auto entries = static_cast<std::size_t>(given.features->entries());
    for (const Index set : {0, 1})
        pass.take_witnesses(set, std::span(given.witness).subspan(at(set) * entries, entries));
    std::vector<double> values(static_cast<std::size_t>(given.features->pairs()));
    pass.run({1, &given.sets[1].estimate().inverse_factor, &given.sets[1].projection().coordinates, 2.5,
              given.next, ascents},
             values, options);
    std::vector<std::uint8_t> witness(2 * entries);
    for (const Index set : {0, 1})
        pass.witnesses(set, std::span(witness).subspan(at(set) * entries, entries));
    return {values, witness};
}

TEST(PlanningPass, GivesTheSameBitsByAllVectorsByPairsAndOnThreads) {
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        // Rows of a large model are read by eights: up to three of them.
        const Case given = random_case(seed, 5 + static_cast<Index>(seed % 4) * 70,
                                       2 + static_cast<Index>(seed % 17), 1 + static_cast<Index>(seed % 5));
        for (const detail::KeptTiles kept : {detail::KeptTiles::yes, detail::KeptTiles::no})
            for (const int ascents : {0, 1, 3}) {
                const Outcome plain =
                    run(given, ascents, {.threads = 1, .width = detail::LaneWidth::one}, kept);
                for (const detail::LaneWidth width : support::lane_widths())
                    for (const int threads : {1, 2, 4})
                        EXPECT_EQ(run(given, ascents, {.threads = threads, .width = width}, kept), plain)
                            << "seed " << seed;
            }
    }
}

TEST(PlanningPass, GivesTheSameBitsWithoutVectors) {
    ASSERT_TRUE(portable::without_vectors());
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const Case given = random_case(seed, 5 + static_cast<Index>(seed % 4) * 20,
                                       2 + static_cast<Index>(seed % 11), 1 + static_cast<Index>(seed % 5));
        const Matrix& inverse_factor = given.sets[1].estimate().inverse_factor;
        const Vector& weights = given.sets[1].projection().coordinates;
        const auto entries = static_cast<std::size_t>(given.features->entries());
        const std::vector<std::uint8_t> start(given.witness.begin(),
                                              given.witness.begin() + static_cast<std::ptrdiff_t>(entries));
        for (const detail::KeptTiles kept : {detail::KeptTiles::yes, detail::KeptTiles::no})
            for (const int ascents : {0, 1, 3}) {
                detail::PlanningPass pass(*given.features, given.tangent, 1, kept);
                pass.take_witnesses(0, start);
                std::vector<double> values(static_cast<std::size_t>(given.features->pairs()));
                const WidthPlanner::Step step{0, &inverse_factor, &weights, 2.5, given.next, ascents};
                pass.run(step, values);
                std::vector<std::uint8_t> witness = start;
                EXPECT_EQ(portable::planning_pass(*given.features, given.tangent, step, kept, witness),
                          values);
                std::vector<std::uint8_t> moved(entries);
                pass.witnesses(0, moved);
                EXPECT_EQ(witness, moved) << "seed " << seed;
            }
    }
}

// Bits are written down with a run and read again.
TEST(PlanningPass, TakesWitnessesUpAsItHoldsThem) {
    const Case given = random_case(3, 13, 5, 4);
    const auto entries = static_cast<std::size_t>(given.features->entries());
    const auto set_of = [&](auto& numbers, Index set) {
        return std::span(numbers).subspan(at(set) * entries, entries);
    };
    detail::PlanningPass one(*given.features, given.tangent, 2), other(*given.features, given.tangent, 2);
    for (const Index set : {0, 1}) one.take_witnesses(set, set_of(given.witness, set));
    other.take_witness_bits(one.witness_bits());
    std::vector<std::uint8_t> taken(2 * entries);
    for (const Index set : {0, 1}) other.witnesses(set, set_of(taken, set));
    EXPECT_EQ(taken, given.witness);
    EXPECT_THROW(other.take_witness_bits(one.witness_bits().subspan(1)), InvalidArgument);
    EXPECT_THROW(other.take_witnesses(0, given.witness), InvalidArgument);
}

TEST(PlanningPass, AddsTheWidthOfTheWitnessToTheExpectation) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const Case given = random_case(seed, 6, 2 + static_cast<Index>(seed), 4);
        for (const detail::KeptTiles kept : {detail::KeptTiles::yes, detail::KeptTiles::no}) {
            const Outcome outcome = run(given, 0, {}, kept);
            EXPECT_EQ(outcome.witness, given.witness);
            const ConfidenceSet& set = given.sets[1];
            for (Index pair = 0; pair < given.features->pairs(); ++pair) {
                // Independently, in the weights: theta . phi_next and |N' phi_V| in the dual metric.
                std::vector<double> value(6, 0.0);
                for (Index e = given.features->first_entry(pair); e < given.features->first_entry(pair + 1);
                     ++e)
                    value[at(given.features->targets()[at(e)])] =
                        given.witness[at(given.features->entries() + e)];
                const Vector x =
                    given.tangent.space.basis.transpose() * given.features->phi_value(pair, value);
                const double expected = set.weights().dot(given.features->phi_value(pair, given.next));
                EXPECT_NEAR(outcome.values[at(pair)], 2.5 * set.dual_norm(x) + expected, 1e-12)
                    << "seed " << seed;
            }
        }
    }
}

// One step of an ascent of a large model, by the definition: successors that the slope at the witness
// favours.
TEST(PlanningPass, MovesAWitnessToWhatItsSlopeFavours) {
    Index compared = 0, moved = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const Case given = random_case(seed, 9, 2 + static_cast<Index>(seed), 5);
        const Outcome outcome = run(given, 1, {}, detail::KeptTiles::no);
        const FeatureMap& features = *given.features;
        const Matrix inverse =
            given.sets[1].estimate().inverse_factor.transpose() * given.sets[1].estimate().inverse_factor;
        const Matrix& basis = given.tangent.space.basis;
        for (Index pair = 0; pair < features.pairs(); ++pair) {
            const Index first = features.first_entry(pair), end = features.first_entry(pair + 1);
            const auto row = [&](Index entry) {
                return Eigen::Map<const Vector>(features.values().data() + entry * features.features(),
                                                features.features());
            };
            const auto bit = [&](const std::vector<std::uint8_t>& of, Index entry) {
                return static_cast<int>(of[at(features.entries() + entry)]);
            };
            Vector sum = Vector::Zero(features.features());
            for (Index e = first; e < end; ++e) sum += bit(given.witness, e) * row(e);
            const Vector slope = basis * (inverse * (basis.transpose() * sum));
            for (Index e = first; e < end; ++e) {
                const double score = slope.dot(row(e));
                if (std::abs(score) < 1e-10) continue;
                EXPECT_EQ(bit(outcome.witness, e), score > 0 ? 1 : 0) << "seed " << seed;
                ++compared;
                moved += bit(outcome.witness, e) != bit(given.witness, e) ? 1 : 0;
            }
        }
    }
    EXPECT_GE(compared, 1000);
    EXPECT_GE(moved, 200);
}

/// Whether the ascent of a pair begins where V is constant: |psi_V| is zero there, and where it leads from
/// there is what rounding makes of zero.
bool begins_nowhere(const Case& given, Index pair) {
    const auto start = std::span(given.witness)
                           .subspan(at(given.features->entries() + given.features->first_entry(pair)),
                                    at(given.features->successors(pair)));
    return std::ranges::all_of(start, [&](std::uint8_t bit) { return bit == start.front(); });
}

// A large model takes sums of features into coordinates: the same numbers but for rounding.
TEST(PlanningPass, GivesTheSameNumbersOfLargeModels) {
    Index compared = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const Case given =
            random_case(seed, 40, 2 + static_cast<Index>(seed % 19), 1 + static_cast<Index>(seed % 5));
        for (const int ascents : {0, 3}) {
            const Outcome small = run(given, ascents, {}, detail::KeptTiles::yes);
            const Outcome large = run(given, ascents, {}, detail::KeptTiles::no);
            for (Index pair = 0; pair < given.features->pairs(); ++pair) {
                if (begins_nowhere(given, pair)) continue;
                EXPECT_NEAR(large.values[at(pair)], small.values[at(pair)], 1e-12) << "seed " << seed;
                ++compared;
            }
        }
    }
    EXPECT_GE(compared, 1000);
}

// Neither differences from the first feature nor a triangular basis: what base models have and these do not.
TEST(PlanningPass, GivesTheSameNumbersOfLargeModelsWithSignedFeatures) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        Stream random = support::test_stream(seed);
        const Index d = 3 + static_cast<Index>(seed % 8), p = d - 1;
        const FeatureMap features = support::random_signed_features(random, {12, 3, 2}, d, 4, 2.0);
        const TangentFeatures tangent(features, TangentSpace::of(features));
        ASSERT_EQ(tangent.space.dimension(), p);
        Matrix factor = Matrix::Identity(p, p);
        Vector weights(p);
        for (Index i = 0; i < p; ++i) {
            weights[i] = 0.1 * sample_normal(random);
            for (Index k = 0; k < i; ++k) factor(i, k) = sample_normal(random);
        }
        std::vector<double> next;
        for (State s = 0; s < 12; ++s) next.push_back(sample_uniform(random));
        std::vector<std::uint8_t> start;
        for (Index pair = 0; pair < features.pairs(); ++pair) start.insert(start.end(), {1, 0, 1, 0});
        for (const int ascents : {0, 3}) {
            std::vector<std::vector<double>> values;
            for (const detail::KeptTiles kept : {detail::KeptTiles::yes, detail::KeptTiles::no}) {
                detail::PlanningPass pass(features, tangent, 1, kept);
                pass.take_witnesses(0, start);
                values.emplace_back(at(features.pairs()));
                pass.run({0, &factor, &weights, 2.5, next, ascents}, values.back());
            }
            for (Index pair = 0; pair < features.pairs(); ++pair)
                EXPECT_NEAR(values[1][at(pair)], values[0][at(pair)], 1e-11) << "seed " << seed;
        }
    }
}

// Base models that agree carry exactly no information there, too: no bonus, and witnesses that stay.
TEST(PlanningPass, FindsNothingToLearnWhereBaseModelsAgree) {
    const std::vector<double> row{0.1, 0.7, 0.2};
    RowSource rows{9, 2, {"one", "other", "third"}, 3, {}};
    rows.make = [row] {
        return [row](Index pair, BaseRow& made) {
            made.targets = {pair % 7, pair % 7 + 1, pair % 7 + 2};
            made.probabilities.clear();
            for (const double p : row) made.probabilities.insert(made.probabilities.end(), 3, p);
        };
    };
    const FeatureMap features = FeatureMap::from_rows(rows);
    const TangentFeatures tangent(features, ParameterSet::of(features).space());
    const Matrix inverse = 3 * Matrix::Identity(2, 2);
    const Vector weights = (Vector(2) << 0.1, -0.2).finished();
    const std::vector<double> nothing(9, 0.0);
    for (const detail::KeptTiles kept : {detail::KeptTiles::yes, detail::KeptTiles::no}) {
        detail::PlanningPass pass(features, tangent, 1, kept);
        std::vector<double> values(at(features.pairs()), -1.0);
        pass.run({0, &inverse, &weights, 1e9, nothing, 3}, values);
        EXPECT_EQ(values, std::vector<double>(values.size(), 0.0));
    }
}

// A large model takes the slope's product with features, not with their differences: what rounding leaves of
// nothing must not choose.
TEST(PlanningPass, ChoosesNoSuccessorOnWhichBaseModelsAgree) {
    RowSource rows{40, 2, {"one", "other", "third"}, 3, {}};
    rows.make = [] {
        return [](Index pair, BaseRow& made) {
            made.targets = {pair % 7, pair % 7 + 1, pair % 7 + 2};
            made.probabilities.assign(9, 0.1);
            for (Index k = 0; k < 3; ++k) {
                const double part = 0.8 * static_cast<double>((pair * 7 + k * 5) % 11 + 1) / 13;
                made.probabilities[at(3 + k)] = part;
                made.probabilities[at(6 + k)] = 0.9 - part;
            }
        };
    };
    const FeatureMap features = FeatureMap::from_rows(rows);
    const TangentFeatures tangent(features, ParameterSet::of(features).space());
    const Matrix inverse = (Matrix(2, 2) << 3.1, 0, 0.7, 1.3).finished();
    const Vector weights = (Vector(2) << 0.1, -0.2).finished();
    const std::vector<double> nothing(40, 0.0);
    // The first two of each, one of which all base models agree on.
    std::vector<std::uint8_t> start;
    for (Index pair = 0; pair < features.pairs(); ++pair) start.insert(start.end(), {1, 1, 0});
    for (const detail::KeptTiles kept : {detail::KeptTiles::yes, detail::KeptTiles::no}) {
        detail::PlanningPass pass(features, tangent, 1, kept);
        pass.take_witnesses(0, start);
        std::vector<double> values(at(features.pairs()));
        pass.run({0, &inverse, &weights, 1, nothing, 1}, values);
        for (Index pair = 0; pair < features.pairs(); ++pair) {
            EXPECT_FALSE(pass.witness(0, pair, 0)) << pair;
            EXPECT_NE(pass.witness(0, pair, 1), pass.witness(0, pair, 2)) << pair;
        }
    }
}

TEST(PlanningPass, NeverLowersAWidth) {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        const Case given = random_case(seed, 20, 5, 5);
        const Outcome before = run(given, 0, {}), after = run(given, 3, {});
        for (std::size_t pair = 0; pair < before.values.size(); ++pair)
            EXPECT_GE(after.values[pair], before.values[pair] - 1e-12) << "seed " << seed;
    }
}

}  // namespace
}  // namespace alidade::planning_pass_test
