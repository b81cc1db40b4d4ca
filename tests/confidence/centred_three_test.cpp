#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "alidade/confidence/likelihood_sets.hpp"
#include "alidade/model/parameter_set.hpp"
#include "alidade/random/samplers.hpp"
#include "support/random_models.hpp"

// The radius with a mixture about the hypothesis for three base models, in metrics of all shapes, against the
// mixtures themselves by quadrature [docs/algorithms/likelihood.md, Theorem 1c], and the sets' own support.
namespace alidade::centred_three_test {
namespace {

using detail::LikelihoodRows;

constexpr double exponent = 0.4;  // a of the law about a hypothesis, whose density is |.|^-(2-a)
constexpr double triangle = 0.8660254037844386;  // its area, sqrt(3)/2

/// Kinds of base models: any, the first two equal, the last in the middle of the others.
enum class Bases { any, equal, collinear };

LikelihoodRows random_rows(Stream& random, Bases bases, bool corner, int observations) {
    const auto weights = sample_dirichlet(random, 3, 1.0);
    LikelihoodRows rows;
    rows.features = 3;
    for (int action = 0; action < 3; ++action) {
        Matrix law(3, 3);
        for (Index i = 0; i < 3; ++i) {
            const auto base = sample_dirichlet(random, 3, 1.0);
            for (Index j = 0; j < 3; ++j) law(i, j) = base[at(j)];
        }
        if (bases == Bases::equal) law.row(1) = law.row(0);
        if (bases == Bases::collinear) law.row(2) = (law.row(0) + law.row(1)) / 2;
        std::vector<double> counts(3, 0.0);
        for (int t = 0; t < observations / 3 + 1; ++t) {
            double u = sample_uniform(random);
            Index j = 0;
            for (; j < 2; ++j) {
                double chance = 0;
                for (Index i = 0; i < 3; ++i) chance += (corner ? (i == 0) : weights[at(i)]) * law(i, j);
                if ((u -= chance) < 0) break;
            }
            counts[at(j)] += 1;
        }
        for (Index j = 0; j < 3; ++j) {
            if (!(counts[at(j)] > 0)) continue;
            for (Index i = 0; i < 3; ++i) rows.rows.push_back(law(i, j));
            rows.counts.push_back(counts[at(j)]);
            rows.observations += counts[at(j)];
        }
    }
    return rows;
}

Matrix random_metric(Stream& random, bool flat) {
    Matrix root(2, flat ? 1 : 2);
    for (Index i = 0; i < root.size(); ++i) root.data()[i] = sample_normal(random);
    return root * root.transpose();
}

Vector towards(double angle) {
    const Vector first = (Vector(3) << 1, -1, 0).finished() / std::sqrt(2.0);
    const Vector second = (Vector(3) << 1, 1, -2).finished() / std::sqrt(6.0);
    return std::cos(angle) * first + std::sin(angle) * second;
}

/// How far one may go from weights in a direction within the simplex.
double room(const Vector& weights, const Vector& direction) {
    double most = 10;
    for (Index i = 0; i < 3; ++i)
        if (direction[i] < 0) most = std::min(most, weights[i] / -direction[i]);
    return most;
}

/// ln of the mixtures' likelihood over that of the hypothesis. Dirichlet(1/2) is the law of the squares of a
/// point on the sphere; the others are in polar coordinates about the hypothesis, v = r^a.
double log_mixture(const LikelihoodRows& rows, const Vector& hypothesis, const Matrix& metric) {
    const auto likelihood = [&](const Vector& theta) {
        return std::exp(detail::log_likelihood_ratio(rows, theta, hypothesis));
    };
    constexpr int sphere = 150, angles = 180, radii = 150;
    double kt = 0, uniform = 0, centred = 0;
    for (int i = 0; i < sphere; ++i)
        for (int j = 0; j < sphere; ++j) {
            const double z = (i + 0.5) / sphere, turn = (j + 0.5) / sphere * std::numbers::pi / 2;
            const double rest = 1 - z * z, part = std::cos(turn) * std::cos(turn);
            kt += likelihood((Vector(3) << rest * part, rest * (1 - part), z * z).finished());
        }
    kt /= sphere * sphere;
    const ParameterSet simplex = ParameterSet::simplex(3);
    const Matrix& basis = simplex.space().basis;
    Matrix form = metric;
    form += 1e-3 * metric.trace() / 2 * Matrix::Identity(2, 2);
    const double determinant = form(0, 0) * form(1, 1) - form(0, 1) * form(1, 0);
    const double radius = std::sqrt(std::sqrt(determinant) * triangle / std::numbers::pi);
    const double normaliser = triangle * 2 / exponent * std::pow(radius, exponent - 2);
    for (int i = 0; i < angles; ++i) {
        const Vector direction = towards(2 * std::numbers::pi * (i + 0.5) / angles);
        const Vector tangent = basis.transpose() * direction;
        const double size = std::sqrt(tangent.dot(form * tangent)), end = room(hypothesis, direction);
        const double step = std::pow(end, exponent) / radii;
        for (int k = 0; k < radii; ++k) {
            const double r = std::pow((k + 0.5) * step, 1 / exponent);
            const double mass = likelihood((hypothesis + r * direction).cwiseMax(0)) * step / exponent * 2 *
                                std::numbers::pi / angles;
            centred += mass * std::pow(size, exponent - 2) / normaliser;
            uniform += mass * std::pow(r, 2 - exponent) / triangle;
        }
    }
    return std::log(0.05 * kt + 0.4 * uniform + 0.55 * centred);
}

/// The last weights on the way from the fit that are in the set; none if that is the edge of the simplex.
bool edge_of(const LikelihoodRows& rows, const detail::LikelihoodSet& set, double angle, Vector& edge) {
    const Vector& centre = set.fit.weights;
    const Vector direction = towards(angle);
    double inside = 0, outside = room(centre, direction) * (1 - 1e-9);
    if (contains(rows, set, centre + outside * direction)) return false;
    for (int step = 0; step < 50; ++step) {
        const double middle = (inside + outside) / 2;
        (contains(rows, set, centre + middle * direction) ? inside : outside) = middle;
    }
    edge = centre + outside * direction;
    return true;
}

TEST(CentredRadius, ExcludesWhatTheMixtureExcludesOfThreeWeights) {
    int edges = 0;
    double least = 1e9, sum = 0;
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
        Stream random = support::test_stream(seed, 710);
        const auto bases = static_cast<Bases>(seed % 3);
        const int observations = static_cast<int>(std::pow(10.0, 1 + static_cast<double>(seed % 5) / 2));
        const std::vector<LikelihoodRows> rows{random_rows(random, bases, seed % 4 == 3, observations)};
        const Matrix metric = random_metric(random, seed % 2 == 1);
        detail::LikelihoodSetOptions options{.delta = 0.1, .radius = detail::Radius::centred};
        options.prior.metric = metric;
        const detail::LikelihoodSet set = detail::likelihood_sets(rows, options)[0];
        for (int k = 0; k < 5; ++k) {
            Vector edge;
            if (!edge_of(rows[0], set, 1.3 * k + 0.1 * static_cast<double>(seed), edge)) continue;
            const double excess = log_mixture(rows[0], edge, metric) - std::log(10.0);
            EXPECT_GE(excess, -1e-3) << "seed " << seed;
            least = std::min(least, excess);
            sum += excess;
            ++edges;
        }
    }
    EXPECT_GE(edges, 40);
    // What the bounds of the integrals give away: 1.1 nats in the mean.
    EXPECT_LE(sum / edges, 1.6);
    EXPECT_LE(least, 0.6);
}

// The support by a few multipliers is above every member of the convex set, and below that of the ellipsoid;
// members are found by walking in all directions.
TEST(LevelSets, ReachNoLessThanTheirMembers) {
    double closest = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        Stream random = support::test_stream(seed, 711);
        LikelihoodRows rows = random_rows(random, static_cast<Bases>(seed % 3), seed % 4 == 3, 60);
        // Up to 1e9 observations: then what is left is as small as what rounding does to likelihoods.
        const double factor = std::pow(10.0, static_cast<double>(seed % 8));
        for (double& count : rows.counts) count *= factor;
        rows.observations *= factor;
        const detail::LikelihoodSet set = detail::likelihood_sets(
            std::vector<LikelihoodRows>{rows}, {.delta = 0.1, .radius = detail::Radius::centred})[0];
        ASSERT_TRUE(set.ellipsoid.has_level());
        std::vector<Vector> members;
        for (int k = 0; k < 720; ++k) {
            Vector edge;
            const double angle = 2 * std::numbers::pi * k / 720;
            if (!edge_of(rows, set, angle, edge))
                edge = set.fit.weights + room(set.fit.weights, towards(angle)) * towards(angle);
            members.push_back(edge);
        }
        for (int k = 0; k < 10; ++k) {
            Vector goal(3);
            for (Index i = 0; i < 3; ++i) goal[i] = sample_normal(random);
            const double here = goal.dot(set.fit.weights);
            const double sharp = set.ellipsoid.sharp_upper({goal.data(), 3});
            double most = -1e9;
            for (const Vector& member : members) most = std::max(most, goal.dot(member));
            EXPECT_LE(most - here, (sharp - here) * (1 + 1e-9) + 1e-14) << "seed " << seed;
            EXPECT_LE(sharp, set.ellipsoid.upper({goal.data(), 3})) << "seed " << seed;
            closest = std::max(closest, (most - here) / (sharp - here));
        }
    }
    EXPECT_GT(closest, 0.99);
}

}  // namespace
}  // namespace alidade::centred_three_test
