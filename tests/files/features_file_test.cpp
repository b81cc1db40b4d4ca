#include "alidade/files/features_file.hpp"

#include "support/files.hpp"

namespace alidade::testing::features_file_test {
namespace {

SignedFeatures sample() {
    return {.states = 2,
            .actions = 1,
            .features = 2,
            .offsets = {0, 2, 3},
            .targets = {0, 1, 1},
            .values = {0.75, -0.25, 0.25, 0.25, 1, 0.1},
            .norm_bound = 1.5};
}

detail::NpzArrays arrays() {
    return detail::features_to_arrays(FeatureMap::from_features(sample()));
}

std::string refused(const std::string& name, detail::NpyArray array) {
    detail::NpzArrays changed = arrays();
    changed[name] = std::move(array);
    return refusal([&] { detail::features_from_arrays(changed, 1.5, "features.npz"); });
}

TEST(FeaturesFile, WritingThenReadingIsTheIdentity) {
    const TemporaryFolder folder;
    const FeatureMap map = FeatureMap::from_features(sample());
    detail::write_features(folder / "f.npz", map);
    EXPECT_EQ(FeatureMap::from_features(detail::read_features(folder / "f.npz", 1.5)), map);
}

TEST(FeaturesFile, ArraysThatDoNotFitAreRefused) {
    for (const char* name : {"states", "actions", "offsets", "targets", "values"}) {
        detail::NpzArrays changed = arrays();
        changed.erase(name);
        EXPECT_TRUE(says(refusal([&] { detail::features_from_arrays(changed, 1, "features.npz"); }),
                         {"features.npz", name, "missing"}));
    }
    EXPECT_TRUE(says(refused("states", detail::NpyArray::of_integers({}, {0})), {"'states' is 0"}));
    EXPECT_TRUE(
        says(refused("states", detail::NpyArray::of_integers({}, {INT64_MAX})), {"from 1 to 2147483647"}));
    EXPECT_TRUE(says(refused("states", detail::NpyArray::of_integers({2}, {1, 2})), {"one integer"}));
    EXPECT_TRUE(
        says(refused("actions", detail::NpyArray::of_integers({}, {7})), {"'offsets' has 3", "need 15"}));
    EXPECT_TRUE(
        says(refused("targets", detail::NpyArray::of_reals({3}, {0, 1, 1})), {"'targets'", "integers"}));
    EXPECT_TRUE(
        says(refused("targets", detail::NpyArray::of_integers({2}, {0, 1})), {"3 rows", "2 elements"}));
    EXPECT_TRUE(says(refused("values", detail::NpyArray::of_reals({6}, {1, 1, 1, 1, 1, 1})),
                     {"(entries, features)"}));
    EXPECT_TRUE(says(refused("values", detail::NpyArray::of_reals({3, 0}, {})), {"(3, 0)"}));
}

}  // namespace
}  // namespace alidade::testing::features_file_test
