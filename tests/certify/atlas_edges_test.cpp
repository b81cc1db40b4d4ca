#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "alidade/certify/atlas.hpp"
#include "alidade/error.hpp"
#include "support/effort.hpp"
#include "support/learned_models.hpp"
#include "support/plain_losses.hpp"

// Atlases of objectives, models and regions of weights at the ends of what is allowed.
namespace alidade::atlas_edges_test {
namespace {

Knowledge small_knowledge(std::uint64_t seed, const Shape& shape, double information = 30) {
    const support::RandomSizes sizes{
        .shape = shape, .features = 2, .successors = std::min<Index>(3, shape.states)};
    return support::knowledge_about(support::random_model(seed, sizes), seed, information);
}

/// Made, checked, and compared with members at the ends of the sets.
Atlas attacked(const Knowledge& knowledge, const Objectives& objectives, const AtlasOptions& options,
               const std::string& what) {
    SCOPED_TRACE(what);
    Atlas atlas = make_atlas(knowledge, objectives, options);
    check_cover(atlas);
    EXPECT_LE(recheck(atlas, knowledge, objectives), 0);
    double share = 0;
    for (const AtlasPolicy& policy : atlas.policies) share += policy.share;
    EXPECT_NEAR(share, 1, 1e-9);
    Stream random = support::test_stream(7, 970);
    const support::AtlasPromises promises(atlas, objectives, random, 2);
    EXPECT_LE(promises.worse(), 1e-12);
    support::Comparisons tally;
    for (std::uint64_t n = 0; n < 6; ++n)
        promises.compare(support::PlainTruth(support::adversarial_truth(knowledge, n)), tally);
    EXPECT_EQ(tally.broken, 0) << "of " << tally.made << ", by up to " << tally.excess;
    return atlas;
}

TEST(AtlasEdges, HoldOfObjectivesThatHardlyDiffer) {
    const Shape shape{4, 2, 4};
    const Knowledge knowledge = small_knowledge(1, shape);
    Stream random = support::test_stream(1, 971);
    const Reward dense = support::random_reward(random, shape), nothing = Reward::constant(shape, 0),
                 constant = Reward::constant(shape, 0.5), all = Reward::constant(shape, 1);
    std::vector<double> near = dense.values(), less = dense.values();
    for (double& value : near) value = std::min(1.0, value + 1e-12 * sample_uniform(random));
    for (double& value : less) value *= 0.5;
    const Reward nearly(shape, near), dominated(shape, less);
    const AtlasOptions options{.certificates = 60};
    EXPECT_EQ(attacked(knowledge, Objectives({dense, dense}), options, "equal").policies.size(), 1u);
    attacked(knowledge, Objectives({dense, dense, nearly}), options, "differ by 1e-12");
    attacked(knowledge, Objectives({dense, constant, complement(dense)}), options, "one constant");
    EXPECT_EQ(attacked(knowledge, Objectives({dense, dominated}), options, "dominated").policies.size(), 1u);
    for (const Objectives& known : {Objectives({nothing, nothing, nothing}), Objectives({constant, all})}) {
        const Atlas atlas = attacked(knowledge, known, options, "nothing to choose");
        EXPECT_EQ(atlas.cells.size(), 1u);
        EXPECT_LE(atlas.loss_bound, 4e-8);
    }
}

TEST(AtlasEdges, HoldOfTheSmallestModels) {
    for (const Shape& shape : {Shape{4, 2, 1}, Shape{1, 2, 4}, Shape{4, 1, 4}, Shape{1, 1, 1}}) {
        const Knowledge knowledge = small_knowledge(2, shape);
        Stream random = support::test_stream(2, 972);
        const Objectives objectives({support::random_reward(random, shape),
                                     support::random_reward(random, shape),
                                     support::random_sparse_reward(random, shape, 0.5)});
        const Atlas atlas = attacked(knowledge, objectives, {.certificates = 100}, "small");
        // One state, one action or one step: nothing is unknown that matters.
        if (atlas.limit != AtlasLimit::budget) {
            EXPECT_LE(atlas.loss_bound, 1e-7) << shape.states << shape.actions << shape.horizon;
        }
    }
}

TEST(AtlasEdges, HoldOfEightObjectivesAndOfAnyLoss) {
    const Shape shape{4, 2, 3};
    const Knowledge knowledge = small_knowledge(3, shape);
    Stream random = support::test_stream(3, 973);
    std::vector<Reward> eight;
    for (int i = 0; i < 8; ++i) eight.push_back(support::random_sparse_reward(random, shape, 0.3));
    const Objectives objectives(eight);
    attacked(knowledge, objectives, {.loss = 0.5, .certificates = 200}, "eight");
    attacked(knowledge, objectives, {.loss = 0, .certificates = 1}, "a budget of one");
    const Atlas lax = attacked(knowledge, objectives, {.loss = 1e300}, "any loss");
    EXPECT_EQ(lax.cells.size(), 1u);
    EXPECT_EQ(lax.limit, AtlasLimit::target);
    const Atlas blind = attacked(small_knowledge(3, shape, 0), objectives, {.certificates = 50}, "no data");
    EXPECT_LE(blind.loss_bound, 3);
    for (const double wrong : {-1.0, std::numeric_limits<double>::infinity(), std::nan("")})
        EXPECT_THROW(make_atlas(knowledge, objectives, {.loss = wrong}), InvalidArgument);
}

// Bounds of the first weight and of the sum of others that meet, or miss each other by a rounding.
TEST(AtlasEdges, HoldOfRegionsWhoseCornersAreRounded) {
    const Shape shape{3, 2, 3};
    const Knowledge knowledge = small_knowledge(4, shape);
    Stream random = support::test_stream(4, 974);
    const Objectives two({support::random_reward(random, shape), support::random_reward(random, shape)});
    const Objectives three({two[0], two[1], support::random_sparse_reward(random, shape, 0.3)});
    for (int n = 1; n < 100; n += support::runs(3, 1)) {
        const double x = n / 100.0, y = (100 - n) / 100.0;
        const std::string what = "x = " + std::to_string(x);
        for (const double by : {0.0, 1.1e-16, -1.1e-16, 1e-15}) {
            attacked(knowledge, two,
                     {.loss = 0.3, .certificates = 4, .at_least = {x / 2, 0}, .at_most = {x, 1 - x / 2 + by}},
                     what);
            attacked(knowledge, three,
                     {.loss = 0.3,
                      .certificates = 4,
                      .at_least = {x / 2, y / 3, 0},
                      .at_most = {1 - y / 3 + by, 1 - x / 2, 1 - x / 2 - y / 3 + by}},
                     what);
        }
    }
}

TEST(AtlasEdges, HoldOfTinyRegions) {
    const Shape shape{4, 2, 4};
    const Knowledge knowledge = small_knowledge(5, shape);
    Stream random = support::test_stream(5, 975);
    for (int n = 0; n < support::runs(20, 400); ++n) {
        const Index k = 2 + sample_index(random, support::runs(3, 4));
        std::vector<Reward> rewards;
        for (Index i = 0; i < k; ++i) rewards.push_back(support::random_reward(random, shape));
        const auto centre = sample_dirichlet(random, k, 1.0);
        AtlasOptions options{.loss = 0.01, .certificates = 40};
        const double room = std::pow(10.0, -1 - 3 * sample_uniform(random));
        for (const double weight : centre) {
            options.at_least.push_back(std::max(0.0, weight - room));
            options.at_most.push_back(std::min(1.0, weight + room));
        }
        attacked(knowledge, Objectives(rewards), options, "room " + std::to_string(room));
    }
}

// Of a box about the middle the parts are few where weights are: the least weights leave one simplex, whose
// corners the largest ones cut off. Of eight they are too many.
TEST(AtlasEdges, HoldOfBoxesOfFewWeights) {
    const Shape shape{3, 2, 2};
    const Knowledge knowledge = small_knowledge(9, shape);
    Stream random = support::test_stream(9, 978);
    for (const auto& [k, most] : {std::pair{3, 6u}, {4, 20u}, {8, 0u}}) {
        std::vector<Reward> rewards;
        for (int i = 0; i < k; ++i) rewards.push_back(support::random_reward(random, shape));
        const AtlasOptions options{.loss = 2,
                                   .certificates = 1,
                                   .at_least = std::vector<double>(at(k), 0.9 / k),
                                   .at_most = std::vector<double>(at(k), 1.1 / k)};
        if (most > 0) {
            EXPECT_LE(attacked(knowledge, Objectives(rewards), options, "box").cells.size(), most);
        } else {
            EXPECT_THROW(make_atlas(knowledge, Objectives(rewards), options), InvalidArgument);
        }
    }
}

TEST(AtlasEdges, RefuseRegionsWithoutRoom) {
    const Shape shape{3, 2, 3};
    const Knowledge knowledge = small_knowledge(6, shape);
    Stream random = support::test_stream(6, 976);
    const Objectives objectives(
        {support::random_reward(random, shape), support::random_reward(random, shape)});
    const double nan = std::nan("");
    const auto refused = [&](std::vector<double> least, std::vector<double> most) {
        EXPECT_THROW(
            make_atlas(knowledge, objectives, {.at_least = std::move(least), .at_most = std::move(most)}),
            InvalidArgument);
    };
    refused({1, 0}, {});
    refused({0.5, 0.5}, {});
    refused({0.6, 0.6}, {});
    refused({}, {0.5, 0.5});
    refused({}, {0, 1});
    refused({0.3, 0}, {0.3, 1});
    refused({0.4, 0}, {0.3, 1});
    refused({nan, 0}, {});
    refused({}, {nan, 1});
    refused({-0.1, 0}, {});
    refused({}, {1, 1.5});
    refused({0.1}, {});
    refused({}, {1, 1, 1});
}

// Weights that the region has up to a rounding, or in a scale at the ends of the numbers.
TEST(AtlasEdges, AnswerAtTheEdgeOfTheRegion) {
    const Shape shape{3, 2, 3};
    const Knowledge knowledge = small_knowledge(8, shape);
    Stream random = support::test_stream(8, 977);
    const Objectives objectives(
        {support::random_reward(random, shape), support::random_reward(random, shape)});
    const Atlas atlas = make_atlas(knowledge, objectives, {.loss = 0.1, .at_least = {0.3, 0}});
    const double there = atlas.at(std::vector{0.3, 0.7}).loss_bound;
    for (const double off : {1e-16, 1e-13, 5e-13, 9e-13})
        EXPECT_NEAR(atlas.at(std::vector{0.3 - off, 0.7 + off}).loss_bound, there, 1e-10) << off;
    EXPECT_THROW(atlas.at(std::vector{0.3 - 1e-11, 0.7 + 1e-11}), InvalidArgument);
    for (const double scale : {1e-300, 1e-9, 1e9, 1e300})
        EXPECT_NEAR(atlas.at(std::vector{0.3 * scale, 0.7 * scale}).loss_bound / scale, there, 1e-10);
    // Here a bound would be rounded to 0.
    EXPECT_THROW(atlas.at(std::vector{0.3 * 1e-322, 0.7 * 1e-322}), InvalidArgument);
    EXPECT_THROW(atlas.at(std::vector{1.7e308, 1.7e308}), InvalidArgument);
    EXPECT_THROW(atlas.at(std::vector{0.0, 0.0}), InvalidArgument);
    EXPECT_THROW(atlas.at(std::vector{std::nan(""), 1.0}), InvalidArgument);
    EXPECT_THROW(atlas.at(std::vector{1.0, -1e-9}), InvalidArgument);
    EXPECT_THROW(atlas.at(std::vector{1.0}), InvalidArgument);
}

// A corner that is a tenth short of a sum of 1: what the weights are off the corners costs H times as much,
// and in between in proportion. By hand: (0.55, 0.45) is nearest to the corner (0.5, 0.4) on the edge, and
// 0.1 off it; (0.775, 0.225) lies in the middle of that and the unit vector.
TEST(AtlasEdges, MeasureWhatWeightsAreOffTheirCorners) {
    Atlas atlas;
    atlas.objectives = 2;
    atlas.horizon = 3;
    atlas.at_least = {0, 0};
    atlas.at_most = {1, 1};
    atlas.corners = {{1, 0}, {0, 1}, {0.5, 0.4}};
    atlas.tree = {{{0, 1, 2}, {1, 2}}, {.cell = 0}, {.cell = 1}};
    atlas.cells = {{{2, 1}, 0, {0.2, 0}, 0.2}, {{0, 2}, 1, {0.4, 0.1}, 0.4}};
    EXPECT_NEAR(atlas.at(std::vector{0.55, 0.45}).loss_bound, 0.1 + 3 * 0.1, 1e-12);
    EXPECT_NEAR(atlas.at(std::vector{0.775, 0.225}).loss_bound, 0.25 + 3 * 0.05, 1e-12);
    EXPECT_NEAR(atlas.at(std::vector{0.275, 0.725}).loss_bound, 0.1 + 3 * 0.05, 1e-12);
    EXPECT_NEAR(atlas.at(std::vector{5.5, 4.5}).loss_bound, 1 + 3 * 1, 1e-11);
}

}  // namespace
}  // namespace alidade::atlas_edges_test
