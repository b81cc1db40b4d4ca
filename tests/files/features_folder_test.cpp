#include "alidade/files/features_folder.hpp"

#include <fstream>

#include "alidade/files/mapped_file.hpp"
#include "alidade/files/npy.hpp"
#include "alidade/problem/catalogue.hpp"
#include "support/effort.hpp"
#include "support/files.hpp"
#include "support/random_models.hpp"

namespace alidade::testing::features_folder_test {
namespace {

using detail::NpyArray;

SharedFeatures sample() {
    Stream random = support::test_stream(3, 12);
    return support::random_features(random, {.shape = {12, 2, 3}, .features = 3, .successors = 4});
}

FeatureMap map_of(const std::filesystem::path& folder, const FeatureMap& like) {
    FeatureTable table = detail::map_features(folder);
    table.kind = like.kind();
    table.norm_bound = like.norm_bound();
    if (like.kind() == FeatureKind::base_models) table.names = like.names();
    return FeatureMap::from_table(table);
}

/// The sample in a folder, with one file replaced.
std::string refused(const std::string& name, const std::string& bytes) {
    const TemporaryFolder folder;
    detail::write_features_folder(folder.path(), *sample());
    folder.write(name, bytes);
    return refusal([&] { map_of(folder.path(), *sample()); });
}
std::string refused(const std::string& name, const NpyArray& array) {
    return refused(name, detail::format_npy(array));
}

/// Kilobytes of memory that belong to this process alone.
std::int64_t own_memory() {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
        if (word == "RssAnon:") {
            std::int64_t kilobytes = 0;
            status >> kilobytes;
            return kilobytes;
        }
    return -1;
}

TEST(FeaturesFolder, WritingThenMappingIsTheIdentity) {
    const TemporaryFolder folder;
    const SharedFeatures map = sample();
    detail::write_features_folder(folder.path(), *map);
    EXPECT_EQ(map_of(folder.path(), *map), *map);
    const FeatureMap general = FeatureMap::from_features({.states = 2,
                                                          .actions = 1,
                                                          .features = 2,
                                                          .offsets = {0, 2, 3},
                                                          .targets = {0, 1, 1},
                                                          .values = {0.75, -0.25, 0.25, 0.25, 1, 0.1},
                                                          .norm_bound = 1.5});
    detail::write_features_folder(folder.path(), general);
    EXPECT_EQ(map_of(folder.path(), general), general);
}

TEST(FeaturesFolder, AMapStaysAsItWasWhenItsFilesAreReplaced) {
    const TemporaryFolder folder;
    const SharedFeatures map = sample();
    detail::write_features_folder(folder.path(), *map);
    const FeatureMap mapped = map_of(folder.path(), *map);
    // As saving a problem over itself does.
    detail::write_features_folder(folder.path(), mapped);
    std::filesystem::remove_all(folder / "values.npy");
    EXPECT_EQ(mapped, *map);
    EXPECT_NO_THROW(mapped.check_unchanged());
    // A copy keeps the file mapped.
    const FeatureMap copy = [&] {
        const FeatureMap inner = mapped;
        return inner;
    }();
    EXPECT_EQ(copy.values().data(), mapped.values().data());
}

TEST(FeaturesFolder, WritingToAMappedFileIsNoticed) {
    for (const char* name : {"offsets.npy", "targets.npy", "values.npy"}) {
        const TemporaryFolder folder;
        detail::write_features_folder(folder.path(), *sample());
        const FeatureMap mapped = map_of(folder.path(), *sample());
        mapped.check_unchanged();
        {
            std::fstream file(folder / name, std::ios::in | std::ios::out | std::ios::binary);
            file.seekp(-1, std::ios::end);
            file.put('\0');
        }
        // Whatever the grain of its clock, a file system has another time by then.
        std::filesystem::last_write_time(
            folder / name, std::filesystem::file_time_type::clock::now() + std::chrono::seconds(1));
        EXPECT_TRUE(says(refusal([&] { mapped.check_unchanged(); }), {name, "was written to"}));
    }
}

TEST(FeaturesFolderDeathTest, TouchingWhatWasCutOffEndsTheProcess) {
    const TemporaryFolder folder;
    const std::string many(1 << 16, 'x');
    const detail::MappedFile file(folder.write("x", many));
    EXPECT_EQ(file.bytes(), many);
    std::filesystem::resize_file(folder / "x", 10);
    EXPECT_THROW(file.check_unchanged(), InvalidArgument);
    EXPECT_DEATH(
        {
            const volatile char last = file.bytes().back();
            static_cast<void>(last);
        },
        "");
}

TEST(FeaturesFolder, TakesNoMemoryOfItsOwn) {
    // 10,000 pairs, ten successors and base models each: 8 MB.
    const TemporaryFolder folder;
    std::size_t bytes = 0;
    {
        const Problem problem =
            make_builtin("builtin:garnet?states=1000&actions=10&successors=10&features=10&horizon=2&seed=1");
        detail::write_features_folder(folder.path(), problem.features());
        bytes = problem.features().values().size_bytes();
    }
    const std::int64_t before = own_memory();
    const FeatureMap map = FeatureMap::from_table(detail::map_features(folder.path()));
    const std::int64_t grown = (own_memory() - before) * 1024;
    ASSERT_GT(before, 0);
    EXPECT_EQ(map.values().size_bytes(), bytes);
    EXPECT_LT(grown, static_cast<std::int64_t>(bytes) / 8);
}

TEST(FeaturesFolder, FilesThatCannotBeUsedAsTheyLieAreRefused) {
    const SharedFeatures map = sample();
    const std::vector<double> values(map->values().begin(), map->values().end());
    const std::vector<std::int64_t> targets(map->targets().begin(), map->targets().end());
    const std::int64_t entries = map->entries();
    NpyArray narrow = NpyArray::of_reals({entries, 3}, values);
    narrow.dtype = "<f4";
    EXPECT_TRUE(says(refused("values.npy", narrow), {"values.npy", "'<f4'", "astype('<f8')"}));
    EXPECT_TRUE(says(refused("targets.npy", NpyArray::of_integers({entries}, targets)),
                     {"targets.npy", "'<i8'", "astype('<i4')"}));
    std::string fortran = detail::format_npy(NpyArray::of_reals({entries, 3}, values));
    fortran.replace(fortran.find("False"), 5, "True ");
    EXPECT_TRUE(says(refused("values.npy", fortran), {"values.npy", "Fortran order", "ascontiguousarray"}));
    std::string big = detail::format_npy(NpyArray::of_reals({entries, 3}, values));
    big.replace(big.find("<f8"), 3, ">f8");
    EXPECT_TRUE(says(refused("values.npy", big), {"values.npy", "big-endian"}));
    // A header of another length, as no version of NumPy writes it.
    const std::string plain = detail::format_npy(NpyArray::of_reals({entries, 3}, values));
    std::string shifted = plain;
    shifted[8] = static_cast<char>(shifted[8] + 1);
    shifted.insert(20, " ");
    EXPECT_TRUE(says(refused("values.npy", shifted), {"values.npy", "multiple of 8 bytes"}));
    EXPECT_TRUE(says(refused("values.npy", plain.substr(0, plain.size() - 1)),
                     {"values.npy", "does not match", "bytes of data"}));
    EXPECT_TRUE(says(refused("values.npy", std::string()), {"values.npy", "not a .npy array"}));
    EXPECT_TRUE(says(refused("values.npy", NpyArray::of_reals({3 * entries}, values)),
                     {"values.npy", "(entries, features)"}));
    EXPECT_TRUE(says(refused("values.npy", NpyArray::of_reals({3 * entries, 1}, values)),
                     {"values.npy", "targets.npy has"}));
    EXPECT_TRUE(says(refused("states.npy", NpyArray::of_integers({}, {0})), {"states.npy", "is 0"}));
    EXPECT_TRUE(says(refused("states.npy", NpyArray::of_integers({}, {11})), {"offsets of successors"}));
    EXPECT_TRUE(says(refused("actions.npy", NpyArray::of_reals({}, {2})), {"actions.npy", "one integer"}));
    const TemporaryFolder folder;
    EXPECT_TRUE(says(refusal([&] { detail::map_features(folder / "none"); }), {"none", "no such folder"}));
    EXPECT_TRUE(says(refusal([&] { detail::map_features(folder.path()); }), {"offsets.npy", "no such file"}));
}

TEST(FeaturesFolder, RowsThatAreNoDistributionsAreRefused) {
    const SharedFeatures map = sample();
    const auto with = [&](std::size_t place, double value) {
        std::vector<double> values(map->values().begin(), map->values().end());
        values[place] = value;
        return refused("values.npy", NpyArray::of_reals({map->entries(), 3}, values));
    };
    EXPECT_TRUE(says(with(1, -0.1), {"state 0, action 0", "-0.1", "not negative"}));
    EXPECT_TRUE(says(with(1, std::nan("")), {"state 0, action 0", "nan", "finite"}));
    // Within 1e-9, which others forgive and scale: these cannot be scaled.
    EXPECT_TRUE(says(with(1, map->values()[1] + 1e-12),
                     {"row of state 0, action 0 sums to 1.000000000001", "scale them"}));
    std::vector<double> values(map->values().begin(), map->values().end());
    const std::size_t last = at(map->first_entry(1) - 1) * 3;
    ASSERT_GT(map->successors(0), 1);
    for (std::size_t i = 0; i < 3; ++i) {
        values[i] += values[last + i];
        values[last + i] = 0;
    }
    EXPECT_TRUE(says(refused("values.npy", NpyArray::of_reals({map->entries(), 3}, values)),
                     {"no base model leads from state 0, action 0", "leave that successor out"}));
    std::vector<std::int64_t> targets(map->targets().begin(), map->targets().end());
    std::swap(targets[0], targets[1]);
    EXPECT_TRUE(says(refused("targets.npy", NpyArray::of_integers({map->entries()}, targets, "<i4")),
                     {"state 0, action 0", "must ascend"}));
}

}  // namespace
}  // namespace alidade::testing::features_folder_test
