#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "alidade/certify/pair_differences.hpp"
#include "alidade/explore/explorer.hpp"
#include "support/climbing_members.hpp"
#include "support/effort.hpp"
#include "support/learned_models.hpp"
#include "support/off_mixture.hpp"
#include "support/pair_difference.hpp"

// What two pairs can do together, against members of the sets and functions that climb, and by all subsets in
// longer numbers.
namespace alidade::attack_pair_differences_test {
namespace {

using support::difference_of;
using support::Long;
using support::product;

/// The most that a member and a function in [0,1] attain: the best function for a member is known, and the
/// best member for a function nearly so; in turn, from random ones.
class Climber {
public:
    Climber(const ConfidenceSet& set, const std::map<std::int32_t, Vector>& difference) : set_(set) {
        for (const auto& [target, phi] : difference) states_.push_back(phi);
    }

    double from(const Vector& direction) const {
        Vector goal = direction;
        double most = 0;
        for (int round = 0; round < 12; ++round) {
            const Vector member = set_.farthest_member({goal.data(), static_cast<std::size_t>(goal.size())});
            const auto [reached, next] = best_function(member);
            if (reached <= most) break;
            most = reached;
            goal = next;
        }
        return most;
    }
    double from_function(Stream& random) const {
        Vector goal = Vector::Zero(set_.features());
        for (const Vector& phi : states_)
            if (sample_index(random, 2) == 0) goal += phi;
        return from(goal);
    }

private:
    std::pair<double, Vector> best_function(const Vector& member) const {
        const Vector off = member - set_.weights();
        Vector up = Vector::Zero(off.size()), down = up;
        Long above = 0, below = 0;
        for (const Vector& phi : states_) {
            const Long change = product(off, phi);
            (change > 0 ? above : below) += std::abs(change);
            (change > 0 ? up : down) += phi;
        }
        // A member need not have a mirror image, so only what it adds counts: the same up to rounding.
        return {static_cast<double>(std::min(above, below)), up};
    }

    const ConfidenceSet& set_;
    std::vector<Vector> states_;
};

/// By every subset of the states that either pair leads to, in long numbers, and every base model.
double by_subsets(const ConfidenceSet& set, const std::map<std::int32_t, Vector>& difference,
                  bool base_models) {
    const Matrix metric = set.estimate().inverse_factor * set.parameters().space().basis.transpose();
    const Index p = metric.rows();
    std::vector<std::vector<Long>> generators;
    for (const auto& [target, phi] : difference) {
        std::vector<Long>& g = generators.emplace_back();
        for (Index i = 0; i < p; ++i) g.push_back(product(metric.row(i).transpose(), phi));
    }
    Long longest = 0;
    std::vector<Long> sum(at(p), 0);
    // Neighbours in Gray's order differ in one state.
    for (std::size_t code = 1; code < std::size_t{1} << generators.size(); ++code) {
        const auto changed = static_cast<std::size_t>(std::countr_zero(code));
        const bool in = ((code ^ (code >> 1)) >> changed & 1) != 0;
        Long square = 0;
        for (std::size_t i = 0; i < sum.size(); ++i) {
            sum[i] += in ? generators[changed][i] : -generators[changed][i];
            square += sum[i] * sum[i];
        }
        longest = std::max(longest, square);
    }
    Long bound = static_cast<Long>(set.refined_radius()) * std::sqrt(longest);
    if (base_models) {
        Long farthest = 0;
        for (Index i = 0; i < set.features(); ++i) {
            Long apart = 0;
            for (const auto& [target, phi] : difference)
                apart += std::abs(static_cast<Long>(phi[i]) - product(phi, set.weights())) / 2;
            farthest = std::max(farthest, apart);
        }
        bound = std::min(bound, farthest);
    }
    return static_cast<double>(bound);
}

struct Tally {
    std::int64_t compared = 0, attained = 0;
    double closest = 0;
    double excess = 0;
};

/// What numbers of size 1 are rounded by, a hundredth of what every certificate allows for.
constexpr double rounding = 1e-11;

void attack(const LearnedMixture& learned, Stream& random, int pairs, bool subsets, Tally& tally,
            const std::string& what) {
    SCOPED_TRACE(what);
    const Shape& shape = learned.shape();
    if (shape.horizon < 2 || shape.pairs() < 2) return;
    const FeatureMap& features = learned.model().features();
    detail::DifferenceWidths widths;
    for (int trial = 0; trial < pairs; ++trial) {
        const Step h = sample_index(random, shape.learned_steps());
        const detail::PairDifferences step(learned, h);
        const Index one = sample_index(random, shape.pairs());
        const Index other = (one + 1 + sample_index(random, shape.pairs() - 1)) % shape.pairs();
        const double exact = widths.exact(step, one, other), refined = widths.refined(step, one, other),
                     quick = widths.quick(step, one, other);
        ++tally.compared;
        ASSERT_TRUE(std::isfinite(quick));
        EXPECT_GE(exact, 0);
        EXPECT_LE(exact, refined);
        EXPECT_LE(refined, quick);
        EXPECT_NEAR(widths.exact(step, other, one), exact, rounding + 1e-9 * exact);
        const auto difference = difference_of(features, one, other);
        const ConfidenceSet& set = learned.set(h);
        const Climber climber(set, difference);
        double most = 0;
        for (int start = 0; start < 4; ++start) most = std::max(most, climber.from_function(random));
        if (set.vertices() == nullptr && subsets && difference.size() <= 16) {
            const double bound = by_subsets(set, difference, features.kind() == FeatureKind::base_models);
            EXPECT_GE(exact, bound - rounding);
            EXPECT_LE(exact, bound * (1 + 1e-6) + rounding);
        }
        ++tally.attained;
        tally.excess = std::max(tally.excess, most - exact);
        EXPECT_LE(most, exact + rounding) << difference.size() << " states, dimension " << set.dimension();
        if (exact > 1e-6) tally.closest = std::max(tally.closest, most / exact);
    }
}

void report(const Tally& tally) {
    ::testing::Test::RecordProperty("compared", std::to_string(tally.compared));
    ::testing::Test::RecordProperty("closest", std::to_string(tally.closest));
    ::testing::Test::RecordProperty("excess in 1e-15", std::to_string(1e15 * tally.excess));
}

// Sets of likelihoods and of any metric, thin ones and those larger than the simplex; base models with faces
// of their own, equal or nearly so, rows that are nearly sure; up to 24 states that two pairs lead to
// together.
TEST(PairDifferencesAttack, NoMemberAndFunctionAreAbove) {
    Tally tally;
    for (int seed = 0; seed < support::runs(250, 8000); ++seed) {
        Stream random = support::test_stream(static_cast<std::uint64_t>(seed), 1100);
        const Index states = 1 + sample_index(random, 24);
        const support::RandomSizes sizes{
            .shape = {states, 1 + sample_index(random, 3), 2 + sample_index(random, 2)},
            .features = 1 + sample_index(random, 8),
            .successors = 1 + sample_index(random, std::min<Index>(states, 12)),
            .homogeneous = sample_index(random, 3) == 0,
            .concentration =
                std::vector{0.02, 0.1, 1.0, 3.0}[static_cast<std::size_t>(sample_index(random, 4))]};
        const LearnedMixture learned = support::random_learned_model(random, sizes, seed % 4 == 0);
        attack(learned, random, 6, seed % 2 == 0, tally, "seed " + std::to_string(seed));
    }
    report(tally);
    EXPECT_GT(tally.closest, 0.99);
}

// Steps that are sure, by which base model one cannot tell and by which one can.
TEST(PairDifferencesAttack, NorWhereRowsAreSure) {
    Tally tally;
    for (int seed = 0; seed < support::runs(100, 2000); ++seed) {
        Stream random = support::test_stream(static_cast<std::uint64_t>(seed), 1101);
        const support::RandomSizes sizes{.shape = {2 + sample_index(random, 6), 2, 3},
                                         .features = 2 + sample_index(random, 4)};
        std::vector<BaseKernel> kernels(at(sizes.features));
        const bool same = seed % 3 == 0;
        for (BaseKernel& kernel : kernels) {
            kernel.rows = sizes.shape.pairs();
            kernel.columns = sizes.shape.states;
            kernel.offsets.push_back(0);
        }
        for (Index pair = 0; pair < sizes.shape.pairs(); ++pair) {
            const Index common = sample_index(random, sizes.shape.states);
            for (BaseKernel& kernel : kernels) {
                // The same state named twice, as files may.
                const Index target = same ? common : sample_index(random, sizes.shape.states);
                kernel.targets.insert(kernel.targets.end(), {target, target});
                kernel.probabilities.insert(kernel.probabilities.end(), {0.25, 0.75});
                kernel.offsets.push_back(static_cast<std::int64_t>(kernel.targets.size()));
            }
        }
        const auto features = std::make_shared<const FeatureMap>(
            FeatureMap::from_base_kernels(sizes.shape.states, sizes.shape.actions, kernels));
        const MixtureModel truth = support::random_model(random, features, sizes);
        const Knowledge knowledge = support::knowledge_about(truth, static_cast<std::uint64_t>(seed),
                                                             std::pow(10.0, 12 * sample_uniform(random) - 3));
        attack(knowledge.mixture(), random, 8, true, tally, "seed " + std::to_string(seed));
        if (same) {
            detail::DifferenceWidths widths;
            const detail::PairDifferences step(*knowledge.learned, 0);
            EXPECT_LE(widths.exact(step, 0, 1), 1e-12);
        }
    }
    report(tally);
    EXPECT_GT(tally.closest, 0.99);
}

// Sets with vertices, and two sets at once.
TEST(PairDifferencesAttack, NorOfVerticesAndOfTwoSetsAtOnce) {
    Tally tally;
    int vertices = 0;
    for (int seed = 0; seed < support::runs(60, 1200); ++seed) {
        Stream random = support::test_stream(static_cast<std::uint64_t>(seed), 1102);
        const support::RandomSizes sizes{.shape = {12, 2, 3},
                                         .features = 2 + sample_index(random, 3),
                                         .successors = 1 + sample_index(random, 8)};
        const MixtureModel truth =
            support::random_model(random, support::random_base_models(random, sizes), sizes);
        const std::string what = "seed " + std::to_string(seed);
        if (seed % 2 == 0) {
            Task task{truth.shared_features(), 3, truth.start(), false, 0.01};
            const Counts counts = support::counts_of(truth, truth.shared_features(),
                                                     std::vector{3, 100, 10000}[at(seed % 3)], random);
            const Knowledge knowledge = learn(task, counts, 0.1);
            vertices += knowledge.mixture().set(0).vertices() != nullptr ? 1 : 0;
            attack(knowledge.mixture(), random, 6, true, tally, what);
        } else {
            const double information = std::pow(10.0, 5 * sample_uniform(random));
            const Knowledge one = support::knowledge_about(truth, 2 * static_cast<std::uint64_t>(seed),
                                                           information),
                            other = support::knowledge_about(truth, 2 * static_cast<std::uint64_t>(seed) + 1,
                                                             information);
            std::vector<ConfidenceSet> both;
            for (std::size_t k = 0; k < one.mixture().sets().size(); ++k)
                both.push_back(one.mixture().sets()[k].also_within(other.mixture().sets()[k]));
            attack(LearnedMixture(truth.shared_features(), 3, truth.start(), false, std::move(both), 0.1),
                   random, 6, true, tally, what);
        }
    }
    report(tally);
    EXPECT_GE(vertices, support::effort_is("sanitized") ? 1 : 20);
    EXPECT_GT(tally.closest, 0.9);
}

// Radii and metrics at the ends of what numbers can be: whatever is infinite or zero is so outward.
TEST(PairDifferencesAttack, NorAtTheEndsOfTheNumbers) {
    Tally tally;
    for (int seed = 0; seed < support::runs(60, 600); ++seed) {
        Stream random = support::test_stream(static_cast<std::uint64_t>(seed), 1103);
        const support::RandomSizes sizes{.shape = {14, 2, 2},
                                         .features = 2 + sample_index(random, 5),
                                         .successors = 1 + sample_index(random, 9)};
        const MixtureModel truth =
            support::random_model(random, support::random_base_models(random, sizes), sizes);
        const ParameterSet parameters = ParameterSet::of(truth.features());
        const Index p = parameters.space().dimension();
        const double precision = std::pow(10.0, 200 * sample_uniform(random) - 100);
        const double radius = std::vector{0.0, 1e-12, 1.0, 1e12}[at(seed % 4)] * std::sqrt(precision);
        std::vector<ConfidenceSet> sets{{parameters,
                                         estimate_with(parameters.space().coordinates(truth.weights(0)),
                                                       precision * Matrix::Identity(p, p)),
                                         radius}};
        const LearnedMixture learned(truth.shared_features(), 2, truth.start(), false, std::move(sets), 0.1);
        attack(learned, random, 6, false, tally, "seed " + std::to_string(seed));
    }
    report(tally);
}

}  // namespace
}  // namespace alidade::attack_pair_differences_test
