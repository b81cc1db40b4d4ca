// Attacks on likelihood sets of signed features: random linear images of base models and hard lines, truths
// on faces, counts that no truth would give, and members searched for on the very edge of what the event
// allows.

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "alidade/confidence/learned_mixture.hpp"
#include "alidade/confidence/signed_likelihood.hpp"
#include "alidade/environment/deployment.hpp"
#include "alidade/error.hpp"
#include "alidade/explore/explorer.hpp"
#include "alidade/problem/families/hard.hpp"
#include "support/effort.hpp"
#include "support/random_models.hpp"

namespace alidade::attack_signed_likelihood_test {
namespace {

using detail::SignedLikelihood;

Matrix rotation(Stream& random, Index d) {
    Matrix m(d, d);
    for (double& x : m.reshaped()) x = sample_normal(random);
    return Eigen::HouseholderQR<Matrix>(m).householderQ();
}

/// Base models seen through a random invertible map: phi' = A phi, theta' = A^-T theta.
SharedFeatures random_image(Stream& random, double concentration, double condition, double scale) {
    const Index d = 2 + sample_index(random, 4);
    support::RandomSizes sizes{.shape = {4, 2, 3}, .features = d, .successors = 2 + sample_index(random, 2)};
    sizes.concentration = concentration;
    const SharedFeatures base = support::random_features(random, sizes);
    Vector stretch(d);
    for (double& x : stretch) x = scale * std::pow(condition, -sample_uniform(random));
    const Matrix left = rotation(random, d), right = rotation(random, d);
    const Matrix map = left * stretch.asDiagonal() * right;
    const Matrix dual = left * stretch.cwiseInverse().asDiagonal() * right;
    SignedFeatures data{4, 2, d, {0}, {}, {}, 1};
    data.norm_bound = std::max(1.0, (1 + sample_uniform(random)) * dual.colwise().norm().maxCoeff());
    for (Index pair = 0; pair < base->pairs(); ++pair) {
        for (Index e = base->first_entry(pair); e < base->first_entry(pair + 1); ++e) {
            data.targets.push_back(base->targets()[at(e)]);
            const Vector f = map * Eigen::Map<const Vector>(base->phi(e).data(), d);
            data.values.insert(data.values.end(), f.begin(), f.end());
        }
        data.offsets.push_back(static_cast<std::int64_t>(data.targets.size()));
    }
    return std::make_shared<const FeatureMap>(FeatureMap::from_features(data));
}

SharedFeatures random_problem(Stream& random, int kind) {
    if (kind % 3 == 0)
        return std::make_shared<const FeatureMap>(
            detail::HardLine(2 + sample_index(random, 3), 2 + sample_index(random, 4),
                             std::pow(10.0, 1 + 4 * sample_uniform(random)))
                .map(1.5));
    return random_image(random, kind % 3 == 1 ? 1.0 : 0.1, 10,
                        kind % 2 == 0 ? 1.0 : std::pow(10.0, 6 * (sample_uniform(random) - 0.5)));
}

/// A corner, or a point on the way to one, mostly close to it.
Vector random_member(Stream& random, const SignedLikelihood& likelihood) {
    const ParameterSet& parameters = likelihood.parameters();
    const Index p = parameters.space().dimension();
    Vector zeta(p);
    for (double& x : zeta) x = sample_normal(random);
    zeta *= 3 * parameters.radius() / zeta.norm();
    const Vector corner = project(parameters, zeta, Matrix::Identity(p, p)).weights;
    const double left =
        sample_index(random, 2) == 0 ? sample_uniform(random) : std::pow(10.0, -13 * sample_uniform(random));
    return corner + left * (likelihood.inner() - corner);
}

long double log_likelihood(const FeatureMap& features, std::span<const double> counts,
                           const Vector& weights) {
    long double sum = 0;
    for (Index e = 0; e < features.entries(); ++e) {
        if (counts[at(e)] <= 0) continue;
        long double chance = 0;
        for (Index i = 0; i < weights.size(); ++i)
            chance += static_cast<long double>(features.phi(e)[at(i)]) * weights[i];
        if (chance <= 0) return -std::numeric_limits<long double>::infinity();
        sum += counts[at(e)] * std::log(chance);
    }
    return sum;
}

std::vector<double> random_counts(Stream& random, const FeatureMap& features, const Vector& weights) {
    std::vector<double> counts(at(features.entries()), 0.0);
    for (Index pair = 0; pair < features.pairs(); ++pair) {
        const auto visits = static_cast<std::int64_t>(std::pow(10.0, 9 * sample_uniform(random))) - 1;
        std::vector<double> law;
        for (Index e = features.first_entry(pair); e < features.first_entry(pair + 1); ++e)
            law.push_back(
                std::max(0.0, weights.dot(Eigen::Map<const Vector>(features.phi(e).data(), weights.size()))));
        std::vector<std::int64_t> seen(law.size());
        if (visits > 0) sample_multinomial(random, visits, law, seen);
        for (std::size_t j = 0; j < seen.size(); ++j)
            counts[at(features.first_entry(pair)) + j] = static_cast<double>(seen[j]);
    }
    return counts;
}

// Every member that is likely enough lies in the ellipsoid, to the very edge: each is moved along the line
// from the centre to where its likelihood is just what the event asks for. With ln(1/failure) forgotten some
// do not.
TEST(AttackSignedLikelihood, MembersOnTheEdgeAreInside) {
    Index asked = 0, found = 0;
    double deepest = 0;
    for (int seed = 0; seed < support::repetitions(300, 20); ++seed) {
        Stream random = support::test_stream(static_cast<std::uint64_t>(seed), 170);
        const SharedFeatures features = random_problem(random, seed);
        const SignedLikelihood likelihood(features);
        auto counts = random_counts(random, *features, random_member(random, likelihood));
        if (seed % 5 == 0)
            for (double& n : counts)
                if (sample_index(random, 4) == 0) n = std::floor(std::pow(10.0, 6 * sample_uniform(random)));
        const double failure = 0.5 * std::pow(10.0, -3 * sample_uniform(random));
        const Vector predictor = likelihood.fit(counts, std::pow(10.0, 2 - 4 * sample_uniform(random)));
        const double predicted = detail::signed_log_likelihood(*features, counts, predictor);
        if (!std::isfinite(predicted)) continue;
        const ConfidenceSet set = detail::prediction_set(likelihood, *features, counts, predicted, failure);
        const Vector centre = likelihood.parameters().space().weights(set.estimate().coordinates);
        const long double level = predicted - std::log(1 / static_cast<long double>(failure));
        for (int k = 0; k < 30; ++k) {
            const Vector goal = random_member(random, likelihood);
            double low = 0, high = 1;
            for (int step = 0; step < 60; ++step) {
                const double t = step == 0 ? 1 : 0.5 * (low + high);
                const Vector there = centre + t * (goal - centre);
                (log_likelihood(*features, counts, there) >= level ? low : high) = t;
            }
            if (low == 0) continue;
            const double depth = set.depth(centre + low * (goal - centre));
            EXPECT_LE(depth, 1) << seed;
            deepest = std::max(deepest, depth);
            ++asked;
        }
        // Planted: as if nothing were paid for the failure probability.
        try {
            const ConfidenceSet wrong = detail::prediction_set(
                likelihood, *features, counts, predicted + 0.999 * std::log(1 / failure), failure);
            for (int k = 0; k < 5; ++k) {
                const Vector other = centre + 1e-3 * (random_member(random, likelihood) - centre);
                if (log_likelihood(*features, counts, other) >= level && wrong.depth(other) > 1) ++found;
            }
        } catch (const ModelContradiction&) {
            ++found;
        }
    }
    EXPECT_GT(asked, support::repetitions(5000, 300));
    EXPECT_GT(found, 0);
    RecordProperty("deepest", std::to_string(deepest));
}

// Whole runs, asked twice and restored between asking and telling, truths on faces: held after every batch.
TEST(AttackSignedLikelihood, RunsHoldTheTruth) {
    const int runs = support::runs(40, 600);
    int failures = 0;
    for (int seed = 0; seed < runs; ++seed) {
        const auto number = static_cast<std::uint64_t>(seed);
        Stream random = support::test_stream(number, 171);
        const SharedFeatures features =
            seed % 2 == 0 ? random_problem(random, 0) : random_image(random, 0.5, 10, 1);
        const SignedLikelihood likelihood(features);
        const Index horizon = 2 + sample_index(random, 3);
        const bool homogeneous = seed % 4 == 1;
        Matrix weights(homogeneous ? 1 : horizon, features->features());
        for (Index h = 0; h < weights.rows(); ++h) {
            const Vector corner = random_member(random, likelihood);
            weights.row(h) = (corner + 1e-13 * (likelihood.inner() - corner)).transpose();
        }
        const Task task{features, horizon, StartLaw(State{0}), homogeneous, 0};
        const char* const schedules[] = {"growth=0.5", "doubling", "growth=0.05"};
        const ExplorerOptions options{.algorithm = seed % 3 == 0 ? "hoeffding" : "uniform",
                                      .confidence = "likelihood",
                                      .delta = 0.1,
                                      .seed = number,
                                      .schedule = parse_schedule(schedules[seed / 2 % 3])};
        auto explorer = std::make_unique<Explorer>(task, options);
        CountSplittingDeployer system(MixtureModel(features, horizon, StartLaw(State{0}), weights), number);
        bool covered = true;
        for (int batch = 0; batch < 25 && covered; ++batch) {
            explorer->ask();
            if (batch % 3 == 0) {
                const Snapshot memory = explorer->memory();
                explorer = std::make_unique<Explorer>(task, options);
                explorer->restore(memory);
            }
            const Deployment next = explorer->ask();
            Counts counts(features, horizon);
            system.deploy(*next.policy, explorer->episodes(), next.episodes, counts);
            explorer->tell(counts);
            try {
                const Knowledge now = explorer->knowledge();
                for (std::size_t k = 0; k < now.mixture().sets().size(); ++k)
                    covered = covered && now.mixture().sets()[k].depth(
                                             weights.row(static_cast<Index>(k)).transpose()) <= 1;
            } catch (const ModelContradiction&) {
                covered = false;
            }
        }
        failures += covered ? 0 : 1;
    }
    EXPECT_LE(failures, support::allowed_failures(runs));
}

// What no weights allow, seen, is a contradiction and not an invalid argument.
TEST(AttackSignedLikelihood, ImpossibleTransitionsAreContradictions) {
    const SignedFeatures data{2, 1, 2, {0, 2, 4}, {0, 1, 0, 1}, {0.5, 0.2, 0.5, -0.2, 1, 0, 0, 0}, 2};
    const auto features = std::make_shared<const FeatureMap>(FeatureMap::from_features(data));
    const SignedLikelihood likelihood(features);
    EXPECT_THROW(detail::prediction_set(likelihood, *features, std::vector<double>{3, 4, 5, 2}, -10, 0.1),
                 ModelContradiction);
}

// A start on the ball of the norms has nowhere to go outwards; the search once halved its step for ever.
TEST(AttackSignedLikelihood, FitsStartFromTheBall) {
    const SignedFeatures data{2, 1, 2, {0, 2, 3}, {0, 1, 1}, {0.5, 0.2, 0.5, -0.2, 1, 0}, 1.5};
    const auto features = std::make_shared<const FeatureMap>(FeatureMap::from_features(data));
    const SignedLikelihood likelihood(features);
    const ParameterSet& parameters = likelihood.parameters();
    for (const double side : {-1.0, 1.0}) {
        const Vector edge =
            parameters.space().weights(Vector::Constant(1, side * (1 - 3e-13) * parameters.radius()));
        EXPECT_TRUE(likelihood.fit(std::vector<double>{1e15, 1, 0}, 1e-6, edge).allFinite());
    }
}

}  // namespace
}  // namespace alidade::attack_signed_likelihood_test
