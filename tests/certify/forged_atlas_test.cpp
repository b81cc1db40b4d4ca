#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "alidade/certify/atlas.hpp"
#include "alidade/error.hpp"
#include "support/effort.hpp"
#include "support/learned_models.hpp"
#include "support/plain_losses.hpp"

// Atlases that somebody changed, as a file may be: what the checks let pass must be true, and nothing that
// they are given may end the program.
namespace alidade::forged_atlas_test {
namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();

struct Original {
    Knowledge knowledge;
    Objectives objectives;
    Atlas atlas;
};

Original original(std::uint64_t seed, Index count, const AtlasOptions& options) {
    Stream random = support::test_stream(seed, 950);
    const support::RandomSizes sizes{.shape = {3, 2, 3}, .features = 2, .successors = 3};
    Knowledge knowledge = support::knowledge_about(support::random_model(seed, sizes), seed, 20);
    std::vector<Reward> rewards;
    for (Index i = 0; i < count; ++i) rewards.push_back(support::random_reward(random, sizes.shape));
    Objectives objectives(std::move(rewards));
    Atlas atlas = make_atlas(knowledge, objectives, options);
    return {std::move(knowledge), std::move(objectives), std::move(atlas)};
}

/// Whether both checks let it pass.
bool accepted(const Original& of, const Atlas& atlas) {
    try {
        check_cover(atlas);
        return recheck(atlas, of.knowledge, of.objectives) <= 0;
    } catch (const BrokenInvariant&) {
        return false;
    } catch (const InvalidArgument&) {
        return false;
    }
}

class ForgedAtlas : public ::testing::Test {
protected:
    Original of_ = original(3, 3, {.loss = 0.05, .certificates = 80});
    Atlas atlas_ = of_.atlas;

    void refused(const std::string& what, const std::function<void(Atlas&)>& forge) {
        Atlas forged = of_.atlas;
        forge(forged);
        EXPECT_FALSE(accepted(of_, forged)) << what;
    }
    /// A node that is split, not the root.
    static AtlasNode& split_of(Atlas& atlas) {
        return *std::ranges::find(atlas.tree.begin() + 1, atlas.tree.end(), AtlasNode::split_further,
                                  &AtlasNode::cell);
    }
    static std::size_t largest(const Atlas& atlas) {
        return at(std::ranges::max_element(atlas.cells, {}, &AtlasCell::loss_bound) - atlas.cells.begin());
    }
};

TEST_F(ForgedAtlas, IsAcceptedAsItWasMade) {
    ASSERT_GT(of_.atlas.cells.size(), 4u);
    ASSERT_GT(of_.atlas.policies.size(), 1u);
    EXPECT_TRUE(accepted(of_, of_.atlas));
}

TEST_F(ForgedAtlas, IsRefusedWhereABoundIsLowered) {
    for (std::size_t c = 0; c < of_.atlas.cells.size(); ++c)
        for (std::size_t j = 0; j < 3; ++j) {
            if (of_.atlas.cells[c].bounds[j] == 0) continue;
            refused("bound at a corner", [&](Atlas& atlas) { atlas.cells[c].bounds[j] *= 0.999999; });
        }
    refused("of a cell", [](Atlas& atlas) { atlas.cells[largest(atlas)].loss_bound *= 0.9999; });
    refused("of a policy", [](Atlas& atlas) {
        atlas.policies[at(atlas.cells[largest(atlas)].policy)].loss_bound *= 0.9999;
    });
    refused("of the atlas", [](Atlas& atlas) { atlas.loss_bound *= 0.9999; });
    refused("what is rounded",
            [](Atlas& atlas) { atlas.loss_bound = atlas.cells[largest(atlas)].loss_bound; });
    refused("what no policy reaches", [](Atlas& atlas) { atlas.outer.back().optimal_upper -= 1e-6; });
    refused("upper value", [](Atlas& atlas) { atlas.policies[0].values[1].upper -= 1e-6; });
    refused("lower value", [](Atlas& atlas) { atlas.policies[0].values[1].lower += 1e-6; });
    refused("swapped", [](Atlas& atlas) {
        std::swap(atlas.policies[0].values[1].lower, atlas.policies[0].values[1].upper);
    });
    // Bounds are cut at the horizon, and what weights are off is counted with it.
    refused("horizon", [](Atlas& atlas) { atlas.horizon = 1; });
    refused("no horizon", [](Atlas& atlas) { atlas.horizon = 0; });
    refused("probability", [](Atlas& atlas) { atlas.failure_probability /= 2; });
}

TEST_F(ForgedAtlas, IsRefusedWhereACellIsNotItsLeaf) {
    // By the cover alone: bounds that follow do not make up for it.
    std::swap(atlas_.cells[0].corners[0], atlas_.cells[0].corners[1]);
    EXPECT_THROW(check_cover(atlas_), BrokenInvariant);
    refused("enlarged", [](Atlas& atlas) { atlas.cells[largest(atlas)].corners = {0, 1, 2}; });
    refused("two corners exchanged", [](Atlas& atlas) {
        std::swap(atlas.cells[largest(atlas)].corners[0], atlas.cells[largest(atlas)].corners[1]);
    });
    refused("a corner twice", [](Atlas& atlas) { atlas.cells[0].corners[0] = atlas.cells[0].corners[1]; });
    refused("a hole", [](Atlas& atlas) { atlas.tree.back().cell = AtlasNode::outside; });
    refused("a leaf twice", [](Atlas& atlas) { atlas.tree.back().cell = 0; });
    refused("children exchanged",
            [](Atlas& atlas) { std::swap(split_of(atlas).children[0], split_of(atlas).children[1]); });
    refused("ends exchanged",
            [](Atlas& atlas) { std::swap(split_of(atlas).split[0], split_of(atlas).split[1]); });
    refused("another policy", [](Atlas& atlas) {
        AtlasCell& cell = atlas.cells[largest(atlas)];
        cell.policy = cell.policy == 0 ? 1 : 0;
        for (AtlasPolicy& policy : atlas.policies) policy.loss_bound = cell.loss_bound;
    });
    refused("a cell that is in no leaf", [](Atlas& atlas) { atlas.cells.push_back(atlas.cells[0]); });
    refused("a cell less", [](Atlas& atlas) { atlas.cells.pop_back(); });
    refused("all of it outside", [](Atlas& atlas) {
        atlas.tree = {AtlasNode{.cell = AtlasNode::outside}};
        atlas.cells.clear();
    });
    refused("one vertex is all that was asked for", [](Atlas& atlas) {
        atlas.at_least = {1, 0, 0};
        atlas.tree = {AtlasNode{.cell = AtlasNode::outside}};
        atlas.cells.clear();
    });
    refused("nothing", [](Atlas& atlas) { atlas = Atlas{}; });
}

TEST_F(ForgedAtlas, IsRefusedWhereCornersAreMoved) {
    const Index moved = split_of(atlas_).split[2];
    // By the cover alone, off the edge of the first split: a third of the way to the last corner.
    const auto [a, c, m] = atlas_.tree[0].split;
    atlas_.corners[at(m)] = {1.0 / 3, 1.0 / 3, 1.0 / 3};
    EXPECT_THROW(check_cover(atlas_), BrokenInvariant) << a << c;
    refused("beside the edge", [&](Atlas& atlas) {
        auto& weights = atlas.corners[at(moved)];
        // Away from the edge, and still of sum 1.
        weights = {weights[0] + 1e-6, weights[1] + 1e-6, weights[2] - 2e-6};
        if (weights[2] < 0) weights = {weights[0] - 2e-6, weights[1] - 2e-6, weights[2] + 4e-6};
    });
    refused("sum", [&](Atlas& atlas) { atlas.corners[at(moved)][0] += 1e-9; });
    refused("unit", [&](Atlas& atlas) { atlas.corners[1] = {1e-13, 1 - 1e-13, 0}; });
    refused("negative", [&](Atlas& atlas) {
        atlas.corners.push_back({-0.5, 1.5, 0});
        atlas.tree[0].split[2] = static_cast<Index>(atlas.corners.size()) - 1;
    });
    refused("beyond the edge", [&](Atlas& atlas) { atlas.tree[0].split[2] = atlas.tree[0].split[0]; });
    refused("dimension", [&](Atlas& atlas) { atlas.corners[at(moved)].pop_back(); });
}

// A thousand splits, each to one side, off its edge by less than is tolerated, add up.
TEST_F(ForgedAtlas, IsRefusedWhereManySplitsAreOffALittle) {
    Atlas atlas = of_.atlas;
    atlas.cells.clear();
    atlas.tree.assign(1, {});
    Index a = 0;
    for (int n = 0; n < 1000; ++n) {
        // From the first corner towards the second, and away from their edge by and by.
        const double on = 1 - 1e-4 * (n + 1), off = 4e-13 * (n + 1);
        atlas.corners.push_back({on - off, 1 - on, off});
        const auto m = static_cast<Index>(atlas.corners.size()) - 1;
        const auto first = static_cast<Index>(atlas.tree.size());
        atlas.tree.back().split = {a, 1, m};
        atlas.tree.back().children = {first + 1, first};
        atlas.tree.push_back({.cell = static_cast<Index>(atlas.cells.size())});
        atlas.cells.push_back({{a, m, 2}, 0, {3, 3, 3}, 3});
        atlas.tree.push_back({});
        a = m;
    }
    atlas.tree.back().cell = static_cast<Index>(atlas.cells.size());
    atlas.cells.push_back({{a, 1, 2}, 0, {3, 3, 3}, 3});
    for (AtlasPolicy& policy : atlas.policies) policy.loss_bound = 3;
    atlas.loss_bound = 3;
    EXPECT_THROW(check_cover(atlas), BrokenInvariant);
}

TEST_F(ForgedAtlas, IsRefusedWithoutHarmWhateverItsNumbers) {
    constexpr Index huge = std::numeric_limits<Index>::max(), least = std::numeric_limits<Index>::min();
    for (const Index wrong : {Index{-1}, Index{-2}, Index{-3}, huge, least, Index{1} << 32, Index{100000}}) {
        refused("objectives", [&](Atlas& atlas) { atlas.objectives = wrong; });
        refused("policy", [&](Atlas& atlas) { atlas.cells[0].policy = wrong; });
        refused("corner", [&](Atlas& atlas) { atlas.cells[0].corners[1] = wrong; });
        refused("horizon", [&](Atlas& atlas) { atlas.horizon = wrong; });
        for (const std::size_t node : {0u, 1u, 2u}) {
            for (const std::size_t i : {0u, 1u, 2u})
                refused("split", [&](Atlas& atlas) { split_of(atlas).split[i] = wrong; });
            refused("child", [&](Atlas& atlas) { split_of(atlas).children[node % 2] = wrong; });
            if (wrong != of_.atlas.tree[node].cell)
                refused("leaf", [&](Atlas& atlas) { atlas.tree[node].cell = wrong; });
        }
    }
    for (const double wrong : {not_a_number, infinite, -infinite, -1.0}) {
        refused("bound", [&](Atlas& atlas) { atlas.cells[0].bounds[0] = wrong; });
        refused("corner", [&](Atlas& atlas) { atlas.corners.back()[0] = wrong; });
        refused("at least", [&](Atlas& atlas) { atlas.at_least[0] = wrong; });
        refused("at most", [&](Atlas& atlas) { atlas.at_most[0] = wrong; });
        if (wrong == infinite) continue;  // says nothing
        refused("cell", [&](Atlas& atlas) { atlas.cells[0].loss_bound = wrong; });
        refused("policy", [&](Atlas& atlas) { atlas.policies[0].loss_bound = wrong; });
        refused("atlas", [&](Atlas& atlas) { atlas.loss_bound = wrong; });
        refused("outer", [&](Atlas& atlas) { atlas.outer[0].optimal_upper = wrong; });
        refused("upper value", [&](Atlas& atlas) { atlas.policies[0].values[0].upper = wrong; });
        if (wrong == not_a_number || std::isnan(wrong)) {
            refused("lower value", [&](Atlas& atlas) { atlas.policies[0].values[0].lower = wrong; });
            refused("weights of outer", [&](Atlas& atlas) { atlas.outer[0].weights[0] = wrong; });
        }
    }
    refused("its own part", [](Atlas& atlas) { atlas.tree[0].children[0] = 0; });
    refused("parts in a circle", [](Atlas& atlas) { split_of(atlas).children[1] = 0; });
    refused("one part twice", [](Atlas& atlas) { atlas.tree[0].children[1] = atlas.tree[0].children[0]; });
    refused("no tree", [](Atlas& atlas) { atlas.tree.clear(); });
    refused("no corners", [](Atlas& atlas) { atlas.corners.clear(); });
    refused("no policies", [](Atlas& atlas) { atlas.policies.clear(); });
    refused("more values than corners",
            [](Atlas& atlas) { atlas.policies[0].values.resize(atlas.corners.size() + 100); });
    refused("a value less", [](Atlas& atlas) { atlas.policies[0].values.pop_back(); });
    refused("a bound less", [](Atlas& atlas) { atlas.cells[0].bounds.pop_back(); });
    refused("no bounds of weights", [](Atlas& atlas) { atlas.at_least.clear(); });
    refused("policy of another shape", [](Atlas& atlas) {
        atlas.policies[0].policy = Policy::uniform({7, 2, 3});
    });
}

/// Any one number or index changed a little or much.
void forge(Atlas& atlas, Stream& random) {
    const auto any = [&](auto& list) -> auto& {
        return list[at(sample_index(random, static_cast<Index>(list.size())))];
    };
    const auto bend = [&](double& x) {
        const double by = std::pow(10.0, -13 * sample_uniform(random));
        switch (sample_index(random, 4)) {
            case 0:
                x += by;
                break;
            case 1:
                x -= by;
                break;
            case 2:
                x *= 1 - by;
                break;
            default:
                x = std::vector{0.0, 1.0, not_a_number, infinite, -1e300}[at(sample_index(random, 5))];
        }
    };
    const auto turn = [&](Index& i) {
        i = sample_index(random, 3) == 0 ? i + 1 - 2 * sample_index(random, 2) : sample_index(random, 30) - 2;
    };
    switch (sample_index(random, 11)) {
        case 0:
            return bend(any(any(atlas.corners)));
        case 1:
            return bend(any(any(atlas.cells).bounds));
        case 2:
            return bend(any(atlas.outer).optimal_upper);
        case 3:
            return bend(sample_index(random, 2) == 0 ? any(any(atlas.policies).values).upper
                                                     : any(any(atlas.policies).values).lower);
        case 4:
            return turn(any(any(atlas.cells).corners));
        case 5:
            return turn(any(atlas.cells).policy);
        case 6:
            return turn(any(any(atlas.tree).split));
        case 7:
            return turn(any(any(atlas.tree).children));
        case 8:
            return turn(any(atlas.tree).cell);
        case 9:
            return bend(any(sample_index(random, 2) == 0 ? atlas.at_least : atlas.at_most));
        default:
            return bend(any(any(atlas.outer).weights));
    }
}

// What passes is compared with the ends of the confidence sets, in all their combinations.
TEST_F(ForgedAtlas, IsTrueWhereItIsAccepted) {
    support::Comparisons tally;
    int passed = 0;
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        AtlasOptions options{.loss = 0.1, .certificates = 40};
        if (seed % 2 == 1) options.at_least = {0.1, 0.2, 0};
        const Original of = original(seed, 3, options);
        const LearnedMixture& learned = of.knowledge.mixture();
        std::vector<support::PlainTruth> truths;
        for (std::uint64_t n = 0; n < 8; ++n)
            truths.emplace_back(support::adversarial_truth(of.knowledge, 100 * seed + n));
        truths.emplace_back(learned.model());
        Stream random = support::test_stream(seed, 951);
        for (int n = 0; n < support::runs(150, 5000); ++n) {
            Atlas atlas = of.atlas;
            for (Index changes = 1 + sample_index(random, 2); changes > 0; --changes) forge(atlas, random);
            if (!accepted(of, atlas)) continue;
            ++passed;
            try {
                const support::AtlasPromises promises(atlas, of.objectives, random, 1);
                for (const support::PlainTruth& truth : truths) promises.compare(truth, tally);
            } catch (const InvalidArgument&) {
                // Of a region made smaller, in which not all cells lie.
                EXPECT_TRUE(atlas.at_least != of.atlas.at_least || atlas.at_most != of.atlas.at_most);
            }
        }
    }
    RecordProperty("accepted", std::to_string(passed));
    RecordProperty("comparisons", std::to_string(tally.made));
    EXPECT_GT(passed, 10);
    EXPECT_EQ(tally.broken, 0) << "of " << tally.made << ", by up to " << tally.excess;
}

}  // namespace
}  // namespace alidade::forged_atlas_test
