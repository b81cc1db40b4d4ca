#include "alidade/files/pair_features_file.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "alidade/error.hpp"
#include "alidade/problem/problem.hpp"
#include "support/files.hpp"
#include "support/small_problem.hpp"

namespace alidade::pair_features_file_test {
namespace {

using detail::NpyArray;
using detail::NpzArrays;

NpzArrays dense() {
    NpzArrays arrays;
    arrays.emplace("features", NpyArray::of_reals({2, 2, 2}, {1, 0, 0, 1, 0.6, 0.8, 1, 0}));
    return arrays;
}

std::string refused(const NpzArrays& arrays) {
    try {
        detail::pair_features_from_arrays(arrays, std::nullopt, "phi.npz");
    } catch (const InvalidArgument& problem) {
        return problem.what();
    }
    return {};
}

TEST(PairFeaturesFile, GivesBackWhatWasWritten) {
    const testing::TemporaryFolder folder;
    const ProblemDescription parts = testing::linear_description();
    detail::write_pair_features(folder / "phi.npz", *parts.linear);
    EXPECT_EQ(detail::read_pair_features(folder / "phi.npz", 1.5), *parts.linear);
    detail::write_measures(folder / "mu.npz", parts.measures);
    EXPECT_EQ(detail::read_measures(folder / "mu.npz"), parts.measures);
}

TEST(PairFeaturesFile, ReadsRowsOfPairsAndSuccessors) {
    const PairFeatures whole = detail::pair_features_from_arrays(dense(), std::nullopt, "phi.npz");
    EXPECT_EQ(whole.states(), 2);
    EXPECT_EQ(whole.actions(), 2);
    EXPECT_EQ(whole.entries(), 8);
    EXPECT_DOUBLE_EQ(whole.norm_bound(), std::sqrt(2.0));
    NpzArrays flat;
    flat.emplace("features", NpyArray::of_reals({4, 2}, {1, 0, 0, 1, 0.6, 0.8, 1, 0}));
    flat.emplace("states", NpyArray::of_integers({}, {2}));
    EXPECT_EQ(detail::pair_features_from_arrays(flat, std::nullopt, "phi.npz"), whole);
    flat.emplace("offsets", NpyArray::of_integers({5}, {0, 1, 2, 3, 5}));
    flat.emplace("targets", NpyArray::of_integers({5}, {1, 0, 1, 0, 1}));
    EXPECT_EQ(detail::pair_features_from_arrays(flat, 3.0, "phi.npz").entries(), 5);
}

TEST(PairFeaturesFile, SaysWhatDoesNotFit) {
    NpzArrays arrays;
    EXPECT_TRUE(testing::says(refused(arrays), {"phi.npz", "features"}));
    arrays.emplace("features", NpyArray::of_reals({4, 2}, std::vector<double>(8, 0.5)));
    EXPECT_TRUE(testing::says(refused(arrays), {"phi.npz", "states"}));
    arrays.emplace("states", NpyArray::of_integers({}, {3}));
    EXPECT_TRUE(testing::says(refused(arrays), {"divides the 4 rows"}));
    NpzArrays long_rows = dense();
    long_rows.at("features").reals[1] = 0.5;
    EXPECT_TRUE(testing::says(refused(long_rows), {"phi.npz", "state 0, action 0", "must be at most 1"}));
    NpzArrays lost = dense();
    lost.emplace("targets", NpyArray::of_integers({1}, {7}));
    EXPECT_TRUE(testing::says(refused(lost), {"phi.npz", "state 7"}));
    NpzArrays huge;
    huge.emplace("features", NpyArray::of_reals({1000, 1, 1}, std::vector<double>(1000, 1.0)));
    EXPECT_EQ(refused(huge), "");
    huge.clear();
    huge.emplace("features", NpyArray::of_reals({20'000, 1, 1}, std::vector<double>(20'000, 1.0)));
    EXPECT_TRUE(testing::says(refused(huge), {"list the successors"}));
    NpzArrays measures;
    measures.emplace("measures", NpyArray::of_reals({4}, {1, 2, 3, 4}));
    EXPECT_THROW(detail::measures_from_arrays(measures, "mu.npz"), InvalidArgument);
}

}  // namespace
}  // namespace alidade::pair_features_file_test
