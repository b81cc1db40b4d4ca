#include "alidade/model/width_pass.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "alidade/model/parameter_set.hpp"
#include "alidade/random/samplers.hpp"
#include "alidade/width/width.hpp"
#include "support/lane_widths.hpp"
#include "support/random_models.hpp"

namespace alidade::width_pass_test {
namespace {

struct Widths {
    std::vector<double> lower, upper;
    std::vector<std::uint8_t> witness;
    Index alone = 0;  ///< how many pairs were asked by themselves
};

/// One pair after another, by the oracle that tries its vertices.
void by_oracle(const FeatureMap& features, const TangentFeatures& tangent, const Matrix& inverse, Index pair,
               Widths& to) {
    const Index p = tangent.space.dimension(), m = features.successors(pair),
                first = features.first_entry(pair);
    std::vector<double> generators(at(m * p));
    for (Index j = 0; j < m; ++j) {
        const Vector psi = tangent.psi(first + j);
        for (Index i = 0; i < p; ++i) {
            double sum = 0;
            for (Index k = 0; k <= i; ++k) sum += inverse(i, k) * psi[k];
            generators[at(j * p + i)] = sum;
        }
    }
    const WidthBracket bracket =
        Width().bracket({generators, p, m}, std::span(to.witness).subspan(at(first), at(m)));
    to.lower[at(pair)] = bracket.lower;
    to.upper[at(pair)] = bracket.upper;
}

Widths by_pass(const FeatureMap& features, const TangentFeatures& tangent, const Matrix& inverse,
               detail::LaneWidth width, int threads) {
    Widths found{std::vector<double>(at(features.pairs())), std::vector<double>(at(features.pairs())),
                 std::vector<std::uint8_t>(at(features.entries())), 0};
    const auto alone = [&] {
        return [&](Index pair) {
            by_oracle(features, tangent, inverse, pair, found);
            if (threads == 1) ++found.alone;
        };
    };
    detail::pass_over_widths(
        features, {&tangent, &inverse, 12, alone, found.lower, found.upper, found.witness}, threads, width);
    return found;
}

void expect_the_oracles(const FeatureMap& features, const Matrix& inverse, const std::string& what) {
    const TangentFeatures tangent(features, ParameterSet::of(features).space());
    Widths exact{std::vector<double>(at(features.pairs())), std::vector<double>(at(features.pairs())),
                 std::vector<std::uint8_t>(at(features.entries())), 0};
    for (Index pair = 0; pair < features.pairs(); ++pair) by_oracle(features, tangent, inverse, pair, exact);
    for (const detail::LaneWidth width : support::lane_widths())
        for (const int threads : {1, 2}) {
            const Widths found = by_pass(features, tangent, inverse, width, threads);
            EXPECT_EQ(found.lower, exact.lower) << what;
            EXPECT_EQ(found.upper, exact.upper) << what;
            EXPECT_EQ(found.witness, exact.witness) << what;
        }
}

Matrix random_inverse_factor(Stream& random, Index p) {
    Matrix factor = Matrix::Zero(p, p);
    for (Index i = 0; i < p; ++i)
        for (Index k = 0; k <= i; ++k)
            factor(i, k) = i == k ? 0.1 + sample_uniform(random) : sample_normal(random);
    return factor;
}

// Same bits as vertex after vertex of one pair: widths, upper ends and witnesses.
TEST(WidthPass, GivesTheBitsOfTheOracle) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        Stream random = support::test_stream(seed, 61);
        const Index d = 2 + static_cast<Index>(seed % 9), m = 1 + static_cast<Index>(seed % 12);
        const auto features =
            support::random_features(random, {.shape = {13, 3, 3}, .features = d, .successors = m});
        expect_the_oracles(*features, random_inverse_factor(random, d - 1), "seed " + std::to_string(seed));
    }
}

/// Base models from a table of whole numbers over so many: rows that agree, vertices that tie exactly, zeros.
FeatureMap with_ties(Stream& random, Index states, Index d, Index m) {
    RowSource rows{states, 2, {}, m, {}};
    for (Index i = 0; i < d; ++i) rows.names.push_back(std::to_string(i));
    std::vector<BaseRow> made(at(states * 2));
    for (BaseRow& row : made) {
        for (Index j = 0; j < m; ++j) row.targets.push_back(j);
        row.probabilities.assign(at(m * d), 1.0 / static_cast<double>(m));
        const Index kind = sample_index(random, 3);
        for (Index i = 0; i < d && kind > 0 && m > 1; ++i) {
            // Mass of a quarter moved from one successor to another: many symmetries.
            const Index from = kind == 1 ? i % m : sample_index(random, m), to = (from + 1) % m;
            const double moved = 0.25 / static_cast<double>(m);
            row.probabilities[at(from * d + i)] -= moved;
            row.probabilities[at(to * d + i)] += moved;
        }
    }
    rows.make = [made] { return [made](Index pair, BaseRow& row) { row = made[at(pair)]; }; };
    return FeatureMap::from_rows(rows);
}

TEST(WidthPass, BreaksTiesAsTheOracleDoes) {
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
        Stream random = support::test_stream(seed, 62);
        const Index d = 2 + static_cast<Index>(seed % 5), m = 2 + static_cast<Index>(seed % 8);
        const FeatureMap features = with_ties(random, 11, d, m);
        expect_the_oracles(features, Matrix::Identity(d - 1, d - 1), "seed " + std::to_string(seed));
        expect_the_oracles(features, 1e-3 * random_inverse_factor(random, d - 1),
                           "seed " + std::to_string(seed));
    }
}

// Numbers whose squares leave the range of numbers, and pairs of more successors than are tried, go to the
// oracle.
TEST(WidthPass, AsksAloneWhatItCannotTell) {
    Stream random = support::test_stream(1, 63);
    const auto few = support::random_features(random, {.shape = {9, 2, 3}, .features = 3, .successors = 4});
    const auto many =
        support::random_features(random, {.shape = {16, 2, 3}, .features = 3, .successors = 14});
    for (const double scale : {1e-120, 1e120})
        expect_the_oracles(*few, scale * random_inverse_factor(random, 2), "scale");
    expect_the_oracles(*many, random_inverse_factor(random, 2), "many");
    const TangentFeatures tangent(*few, ParameterSet::of(*few).space());
    EXPECT_EQ(by_pass(*few, tangent, random_inverse_factor(random, 2), detail::widest_lanes(), 1).alone, 0);
}

}  // namespace
}  // namespace alidade::width_pass_test
