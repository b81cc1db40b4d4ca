#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "alidade/certify/atlas.hpp"
#include "alidade/confidence/learned_linear.hpp"
#include "alidade/environment/deployment.hpp"
#include "alidade/explore/explorer.hpp"
#include "support/effort.hpp"
#include "support/learned_models.hpp"
#include "support/learned_row_balls.hpp"
#include "support/linear_truths.hpp"
#include "support/members.hpp"
#include "support/off_mixture.hpp"
#include "support/plain_losses.hpp"

// An atlas against truths that its confidence sets leave possible, all over small models: what it says of
// losses at corners, in cells and anywhere, of values, and of what no policy reaches.
namespace alidade::attack_atlas_test {
namespace {

using support::AtlasPromises;
using support::Comparisons;
using support::PlainTruth;

/// 4 states, 2 actions, 2 base models, 4 steps.
support::RandomSizes tiny(std::uint64_t seed, bool homogeneous) {
    return {.shape = {4, 2, 4},
            .features = 2,
            .successors = 3,
            .start_law = seed % 3 == 0,
            .homogeneous = homogeneous,
            .concentration = seed % 2 == 0 ? 1.0 : 0.3};
}

/// What a task's default sets know after so many episodes of any actions.
Knowledge after_episodes(const MixtureModel& truth, std::int64_t episodes, std::uint64_t seed) {
    Task task{truth.shared_features(), truth.shape().horizon, truth.start(), truth.homogeneous()};
    Counts counts(truth.shared_features(), truth.shape().horizon);
    CountSplittingDeployer(truth, seed).deploy(Policy::uniform(truth.shape()), 0, episodes, counts);
    return learn(task, counts, 0.1);
}

/// The last members of a set of two base models along their line, a hair inside.
std::pair<double, double> ends_of_line(const ConfidenceSet& set) {
    std::pair<double, double> ends{0, 0};
    for (const double sign : {-1.0, 1.0}) {
        double low = 0, high = 1;
        for (int round = 0; round < 50; ++round) {
            const double middle = 0.5 * (low + high);
            const Vector moved = set.weights() + sign * middle * Vector{{1, -1}};
            (moved.minCoeff() >= 0 && set.contains(moved) ? low : high) = middle;
        }
        (sign < 0 ? ends.first : ends.second) = sign * low * (1 - 1e-7);
    }
    return ends;
}

/// Every member on a grid of the confidence sets of two base models, `each` of them a set.
template <class Visit>
void for_each_member(const LearnedMixture& learned, int each, const Visit& visit) {
    const MixtureModel& model = learned.model();
    const auto sets = learned.sets().size();
    Matrix weights = model.weights();
    std::vector<std::pair<double, double>> ends;
    for (const ConfidenceSet& set : learned.sets()) ends.push_back(ends_of_line(set));
    std::vector<int> place(sets, 0);
    while (true) {
        for (std::size_t k = 0; k < sets; ++k) {
            const auto [least, most] = ends[k];
            const double moved = least + (most - least) * place[k] / (each - 1);
            weights.row(static_cast<Index>(k)) =
                (learned.sets()[k].weights() + moved * Vector{{1, -1}}).cwiseMax(0.0).transpose();
        }
        visit(MixtureModel(model.shared_features(), model.shape().horizon, model.start(), weights));
        std::size_t next = 0;
        while (next < sets && ++place[next] == each) place[next++] = 0;
        if (next == sets) return;
    }
}

/// A region of weights with room, of any size down to a thousandth.
void cut_weights(Stream& random, Index objectives, AtlasOptions& options) {
    const auto inside = sample_dirichlet(random, objectives, 1.0);
    for (const double weight : inside) {
        const double room = std::pow(10.0, -3 * sample_uniform(random));
        options.at_least.push_back(std::max(0.0, weight - room * sample_uniform(random)));
        options.at_most.push_back(std::min(1.0, weight + room * sample_uniform(random) + 1e-3));
        options.at_least.back() *= sample_index(random, 2) == 0 ? 0.0 : 1.0;
    }
}

/// What is compared with truths.
struct Attacked {
    Atlas atlas;
    AtlasPromises promises;

    Attacked(const Knowledge& knowledge, const Objectives& objectives, const AtlasOptions& options,
             Stream& random, int each_cell)
        : atlas(make_atlas(knowledge, objectives, options)), promises(atlas, objectives, random, each_cell) {
        check_cover(atlas);
        EXPECT_LE(recheck(atlas, knowledge, objectives), 0);
        // The look-up says no more than the corners do, up to what is rounded.
        EXPECT_LE(promises.worse(), 1e-12);
    }
    Attacked(const Attacked&) = delete;
};

/// Where cells are few and where they are as many as the data allow.
AtlasOptions some_options(Stream& random, Index objectives, Index horizon) {
    AtlasOptions options{.certificates = 150};
    const Index kind = sample_index(random, 3);
    options.loss = kind == 0 ? 0 : (kind == 1 ? 0.02 : 0.2) * static_cast<double>(horizon);
    if (sample_index(random, 3) == 0) cut_weights(random, objectives, options);
    return options;
}

void report(const Comparisons& tally) {
    ::testing::Test::RecordProperty("comparisons", std::to_string(tally.made));
    ::testing::Test::RecordProperty("closest", std::to_string(tally.closest));
    ::testing::Test::RecordProperty("excess in 1e-15", std::to_string(1e15 * tally.excess));
    EXPECT_EQ(tally.broken, 0) << "of " << tally.made << ", by up to " << tally.excess;
}

TEST(AtlasAttack, HoldsForEveryMemberOnAGrid) {
    Comparisons tally;
    for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(support::runs(12, 60)); ++seed) {
        const bool homogeneous = seed % 4 == 3;
        const MixtureModel truth = support::random_model(seed, tiny(seed, homogeneous));
        for (const std::int64_t episodes : {3, 30, 300}) {
            Stream random = support::test_stream(seed, 900 + static_cast<std::uint64_t>(episodes));
            const Knowledge knowledge = after_episodes(truth, episodes, seed);
            const Objectives objectives =
                support::random_objectives(random, truth.shape(), 2 + sample_index(random, 2));
            const Attacked attacked(knowledge, objectives,
                                    some_options(random, objectives.count(), truth.shape().horizon), random,
                                    2);
            for_each_member(knowledge.mixture(), homogeneous ? 49 : 7, [&](const MixtureModel& member) {
                attacked.promises.compare(PlainTruth(member), tally);
            });
        }
    }
    report(tally);
    EXPECT_GT(tally.closest, 0.9);
}

TEST(AtlasAttack, HoldsForRegressionSets) {
    Comparisons tally;
    for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(support::runs(20, 200)); ++seed) {
        Stream random = support::test_stream(seed, 910);
        const bool homogeneous = seed % 2 == 1;
        const MixtureModel truth = support::random_model(seed, tiny(seed, homogeneous));
        const Knowledge knowledge =
            support::knowledge_about(truth, seed, std::pow(10.0, 4 * sample_uniform(random)));
        const Objectives objectives =
            support::random_objectives(random, truth.shape(), 2 + sample_index(random, 3));
        const Attacked attacked(knowledge, objectives,
                                some_options(random, objectives.count(), truth.shape().horizon), random, 2);
        for_each_member(knowledge.mixture(), homogeneous ? 20 : 3, [&](const MixtureModel& member) {
            attacked.promises.compare(PlainTruth(member), tally);
        });
    }
    report(tally);
    EXPECT_GT(tally.closest, 0.5);
}

/// The mixture with mass of every row moved: of actions of the policy to where it is worst off, of the others
/// to where the best plan is best off.
PlainTruth moved_against(const MixtureModel& mixture, const Objectives& objectives, const AtlasCell& cell,
                         const Atlas& atlas, double misspecification, Stream& random) {
    const support::PlainObjectives plain(objectives);
    PlainTruth truth(mixture);
    const auto reward = plain.weighted(
        atlas.corners[at(cell.corners[at(sample_index(random, static_cast<Index>(cell.corners.size())))])]);
    const Policy& policy = atlas.policies[at(cell.policy)].policy;
    const support::PlainValues best = plain.values(truth, reward, nullptr),
                               own = plain.values(truth, reward, &policy);
    const Shape& shape = truth.shape;
    for (Step h = 0; h + 1 < shape.horizon; ++h)
        for (State s = 0; s < shape.states; ++s)
            for (Action a = 0; a < shape.actions; ++a) {
                const bool taken = policy.probability(h, s, a) > 0;
                const std::vector<double>& value = (taken ? own : best)[at(h + 1)];
                std::vector<State> order(at(shape.states));
                std::iota(order.begin(), order.end(), 0);
                std::ranges::sort(order, {},
                                  [&](State next) { return taken ? -value[at(next)] : value[at(next)]; });
                double rest = misspecification;
                for (const State next : order) {
                    double& here = truth.probability(h, shape.pair(s, a), next);
                    const double moved = std::min(rest, here);
                    here -= moved;
                    rest -= moved;
                }
                truth.probability(h, shape.pair(s, a), order.back()) += misspecification - rest;
            }
    return truth;
}

TEST(AtlasAttack, HoldsForTruthsOffTheMixtures) {
    Comparisons tally;
    for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(support::runs(32, 640)); ++seed) {
        Stream random = support::test_stream(seed, 920);
        const MixtureModel truth = support::random_model(seed, tiny(seed, seed % 4 == 3));
        const double off = std::pow(10.0, -3 + 2.3 * sample_uniform(random));
        Task task{truth.shared_features(), 4, truth.start(), truth.homogeneous(), off};
        const Counts counts =
            support::counts_of(truth, truth.shared_features(), std::vector{10, 100, 10000}[seed % 3], random);
        const Knowledge knowledge = learn(task, counts, 0.1);
        const Objectives objectives =
            support::random_objectives(random, truth.shape(), 2 + sample_index(random, 2));
        const Attacked attacked(knowledge, objectives,
                                some_options(random, objectives.count(), truth.shape().horizon), random, 2);
        for (int n = 0; n < 12; ++n) {
            const MixtureModel member = support::random_member(knowledge.mixture(), random, n % 3 == 2);
            const Atlas& atlas = attacked.atlas;
            const auto& cell = atlas.cells[at(sample_index(random, static_cast<Index>(atlas.cells.size())))];
            attacked.promises.compare(
                moved_against(member, objectives, cell, atlas, off * (1 - 1e-9), random), tally);
        }
    }
    report(tally);
    EXPECT_GT(tally.closest, 0.5);
}

TEST(AtlasAttack, HoldsForRowsInBalls) {
    Comparisons tally;
    for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(support::runs(32, 640)); ++seed) {
        Stream random = support::test_stream(seed, 930);
        const auto learned = std::make_shared<const LearnedRows>(support::random_rows(
            random, tiny(seed, seed % 4 == 3), std::pow(10.0, -2 * sample_uniform(random))));
        const Knowledge knowledge{learned, {}, 0};
        const Objectives objectives =
            support::random_objectives(random, learned->shape(), 2 + sample_index(random, 2));
        const Attacked attacked(knowledge, objectives,
                                some_options(random, objectives.count(), learned->shape().horizon), random,
                                2);
        for (int n = 0; n < 12; ++n)
            attacked.promises.compare(PlainTruth(support::member_of(*learned, random)), tally);
    }
    report(tally);
}

TEST(AtlasAttack, HoldsForTheTruthOfLinearProblems) {
    Comparisons tally;
    int inside = 0;
    const int runs = static_cast<int>(support::runs(20, 200));
    for (std::uint64_t seed = 0; seed < static_cast<std::uint64_t>(runs); ++seed) {
        Stream random = support::test_stream(seed, 940);
        const support::LinearTruth truth = support::random_linear_truth(
            random, {.homogeneous = seed % 3 == 0, .start_law = seed % 2 == 0, .one_hot = seed % 4 == 0});
        Counts counts(truth.task.linear, truth.task.horizon);
        CountSplittingDeployer(truth.model(), seed)
            .deploy(Policy::uniform(truth.task.shape()), 0, std::vector{100, 10000, 1000000}[seed % 3],
                    counts);
        const Knowledge knowledge = learn(truth.task, counts, 0.1);
        if (!knowledge.learned->contains(truth.model())) continue;
        ++inside;
        const Objectives objectives = support::random_objectives(random, truth.task.shape(), 3);
        const Attacked attacked(knowledge, objectives, some_options(random, 3, truth.task.horizon), random,
                                2);
        attacked.promises.compare(PlainTruth(truth.model()), tally);
    }
    report(tally);
    EXPECT_GT(inside, runs * 3 / 4);
}

}  // namespace
}  // namespace alidade::attack_atlas_test
