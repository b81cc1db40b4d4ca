#include "alidade/confidence/vertex_set.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/effort.hpp"
#include "support/random_models.hpp"

namespace alidade::vertex_set_test {
namespace {

Vector random_direction(Stream& random, Index d) {
    Vector direction(d);
    for (Index i = 0; i < d; ++i) direction[i] = sample_normal(random);
    return direction;
}

std::span<const double> span_of(const Vector& vector) {
    return {vector.data(), static_cast<std::size_t>(vector.size())};
}

/// Half-spaces about a point of the simplex, which they contain.
HalfSpaces random_spaces(Stream& random, Index d, Index count, const Vector& inside, double room) {
    HalfSpaces spaces{Matrix(count, d), Vector(count)};
    for (Index k = 0; k < count; ++k) {
        const Vector normal = random_direction(random, d) * std::exp(3 * sample_normal(random));
        spaces.normals.row(k) = normal.transpose();
        spaces.offsets[k] = normal.dot(inside) - room * sample_uniform(random) * normal.norm();
    }
    return spaces;
}

bool within(const HalfSpaces& spaces, const Vector& weights) {
    return ((spaces.normals * weights).array() >= spaces.offsets.array()).all();
}

TEST(VertexSet, RangesAreThoseOfTheLinearProgram) {
    for (std::uint64_t seed = 0; seed < support::repetitions<std::uint64_t>(150); ++seed) {
        Stream random = support::test_stream(seed, 1);
        const Index d = 2 + static_cast<Index>(seed % 6);
        const Vector inside = support::random_weights(random, 1, d).row(0).transpose();
        const double room = std::pow(10.0, -4 * sample_uniform(random));
        const HalfSpaces spaces = random_spaces(random, d, 1 + sample_index(random, 40), inside, room);
        const auto set = VertexSet::of(spaces, 100'000);
        ASSERT_TRUE(set.has_value()) << seed;
        EXPECT_LE(set->depth(inside), 1);
        for (int k = 0; k < 10; ++k) {
            const Vector f = random_direction(random, d);
            const double program = upper_by_duality(spaces, span_of(f)), scale = f.cwiseAbs().maxCoeff();
            const Interval range = set->range(span_of(f));
            // Half-spaces are moved outward, by far less than this but where they are nearly parallel.
            EXPECT_NEAR(range.upper, program, 1e-6 * scale) << seed;
            EXPECT_GE(range.upper, program - 1e-12 * scale) << seed;
            EXPECT_GE(range.upper, f.dot(inside));
            EXPECT_LE(range.lower, f.dot(inside));
            EXPECT_EQ(range.upper, set->upper(span_of(f)));
        }
    }
}

TEST(VertexSet, ContainsEveryMember) {
    for (std::uint64_t seed = 0; seed < support::repetitions<std::uint64_t>(60); ++seed) {
        Stream random = support::test_stream(seed, 2);
        const Index d = 2 + static_cast<Index>(seed % 4);
        const Vector inside = support::random_weights(random, 1, d).row(0).transpose();
        const HalfSpaces spaces = random_spaces(random, d, 12, inside, 0.5);
        for (const Index most : {Index{4096}, d + 1}) {
            const auto set = VertexSet::of(spaces, most);
            ASSERT_TRUE(set.has_value());
            EXPECT_LE(set->size(), std::max(most, d));
            int members = 0;
            for (int k = 0; k < 400; ++k) {
                const double share = sample_uniform(random) * sample_uniform(random);
                const Vector weights =
                    (1 - share) * inside + share * support::random_weights(random, 1, d).row(0).transpose();
                if (!within(spaces, weights)) continue;
                ++members;
                EXPECT_LE(set->depth(weights), 1 + 1e-9);
                const Vector f = random_direction(random, d);
                EXPECT_LE(f.dot(weights), set->range(span_of(f)).upper);
                EXPECT_GE(f.dot(weights), set->range(span_of(f)).lower);
            }
            EXPECT_GT(members, 0) << seed;
        }
        // And each vertex, moved a little towards the centre, is one, if none was left out.
        const auto set = VertexSet::of(spaces);
        for (Index k = 0; k < set->size(); ++k)
            EXPECT_TRUE(within(spaces, set->centre() + (1 - 1e-6) * (set->vertices().col(k) - set->centre())))
                << seed;
    }
}

TEST(VertexSet, OfNothingIsTheSimplexAndOfTooMuchNothing) {
    for (Index d = 1; d <= 7; ++d) {
        const HalfSpaces none{Matrix(0, d), Vector(0)};
        const auto simplex = VertexSet::of(none);
        ASSERT_TRUE(simplex.has_value());
        EXPECT_EQ(simplex->vertices(), Matrix(Matrix::Identity(d, d)));
        HalfSpaces spaces{Matrix::Constant(1, d, 2.0), Vector::Constant(1, 2.5)};
        EXPECT_FALSE(VertexSet::of(spaces).has_value()) << "the weights sum to one, not more";
        spaces.offsets[0] = 2;
        EXPECT_TRUE(VertexSet::of(spaces).has_value());
        if (d == 1) continue;
        // The first weight at least 0.6, and at most 0.5.
        HalfSpaces both{Matrix::Zero(2, d), Vector(2)};
        both.normals(0, 0) = 1;
        both.normals(1, 0) = -1;
        both.offsets << 0.6, -0.5;
        EXPECT_FALSE(VertexSet::of(both).has_value());
        const Vector f = Vector::Ones(d);
        EXPECT_EQ(upper_by_duality(both, span_of(f)), -std::numeric_limits<double>::infinity());
        both.offsets << 0.5, -0.5;
        const auto flat = VertexSet::of(both);
        ASSERT_TRUE(flat.has_value());
        const Vector first = Vector::Unit(d, 0);
        EXPECT_NEAR(flat->range(span_of(first)).upper, 0.5, 1e-9);
        EXPECT_NEAR(flat->range(span_of(first)).lower, 0.5, 1e-9);
    }
}

TEST(VertexSet, StandsManyFacesThroughOnePoint) {
    // Half-spaces through the middle of the simplex, each several times: all that is left is a cone, or it.
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        Stream random = support::test_stream(seed, 3);
        const Index d = 3 + static_cast<Index>(seed % 3), count = 6;
        const Vector middle = Vector::Constant(d, 1.0 / static_cast<double>(d));
        HalfSpaces spaces{Matrix(3 * count, d), Vector(3 * count)};
        for (Index k = 0; k < count; ++k) {
            const Vector normal = random_direction(random, d);
            for (Index copy = 0; copy < 3; ++copy) {
                spaces.normals.row(3 * k + copy) = normal.transpose();
                spaces.offsets[3 * k + copy] = normal.dot(middle);
            }
        }
        const auto set = VertexSet::of(spaces, 1'000'000);
        ASSERT_TRUE(set.has_value());
        for (int k = 0; k < 20; ++k) {
            const Vector f = random_direction(random, d);
            EXPECT_GE(set->upper(span_of(f)), f.dot(middle) - 1e-15);
            EXPECT_NEAR(set->upper(span_of(f)), upper_by_duality(spaces, span_of(f)), 1e-6);
        }
    }
}

TEST(UpperByDuality, IsNeverBelowAMember) {
    for (std::uint64_t seed = 0; seed < support::repetitions<std::uint64_t>(40); ++seed) {
        Stream random = support::test_stream(seed, 4);
        const Index d = 8 + static_cast<Index>(seed % 5);
        const Vector inside = support::random_weights(random, 1, d).row(0).transpose();
        const HalfSpaces spaces = random_spaces(random, d, 100, inside, 0.05);
        const Vector f = random_direction(random, d);
        const double upper = upper_by_duality(spaces, span_of(f));
        EXPECT_GE(upper, f.dot(inside));
        EXPECT_LT(upper, f.maxCoeff()) << "half-spaces that are near bind";
    }
}

}  // namespace
}  // namespace alidade::vertex_set_test
