#include "alidade/formats/model_formats.hpp"

#include <gtest/gtest.h>
#include <algorithm>

#include "alidade/random/stream.hpp"
#include "support/explicit_models.hpp"
#include "support/files.hpp"

namespace alidade::testing::model_formats_test {
namespace {

constexpr BranchKind every_kind[] = {BranchKind::point, BranchKind::interval, BranchKind::parametric};

bool has(const std::vector<BranchKind>& kinds, BranchKind kind) {
    return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

/// What every format can keep: one initial state, one reward of choices that is not negative, no names.
ExplicitModel plain_model(BranchKind kind, std::uint64_t seed) {
    Stream random(seed, Purpose::test);
    support::ExplicitFeatures with;
    with.kind = kind;
    with.action_names = with.labels = with.rewards = false;
    with.one_initial_state = with.same_choices = true;
    return support::random_explicit_model(random, with);
}

TEST(ModelFormats, AreFoundByNameAndByTheFirstOfTheirExtension) {
    for (const ModelFormat& format : model_formats()) {
        EXPECT_EQ(&find_model_format(format.name), &format);
        ASSERT_FALSE(format.extensions.empty()) << format.name;
        EXPECT_TRUE(format.summary.size() > 10 && format.usage && format.write) << format.name;
        EXPECT_EQ(format.reads.empty(), !format.read) << format.name;
        if (format.reads.empty()) continue;
        for (const std::string& extension : format.extensions)
            EXPECT_EQ(model_format_of("m" + extension), &format);
    }
    EXPECT_TRUE(says(refusal([] { find_model_format("pickle"); }), {"pickle", "drn", "umb", "prism", "npz"}));
}

TEST(ModelFormats, KeepTheKindsThatTheySayAndRefuseTheOthers) {
    const TemporaryFolder folder;
    for (const ModelFormat& format : model_formats())
        for (const BranchKind kind : every_kind) {
            const ExplicitModel model = plain_model(kind, 3);
            const auto path =
                folder / fmt::format("{}-{}-{}", format.name, name_of(kind), format.extensions[0]);
            const RowsOfModel rows(model);
            if (!has(format.writes, kind)) {
                EXPECT_TRUE(says(refusal([&] { write_model(format, path, rows); }), {format.name}));
                continue;
            }
            const auto files = write_model(format, path, rows);
            ASSERT_FALSE(files.empty());
            EXPECT_EQ(files[0], path);
            for (const auto& file : files) EXPECT_TRUE(std::filesystem::exists(file)) << file;
            if (has(format.reads, kind)) {
                EXPECT_EQ(read_model(path), model) << path;
            }
            EXPECT_TRUE(says(format.usage({path, model.header}), {path.stem().string()})) << format.name;
        }
}

}  // namespace
}  // namespace alidade::testing::model_formats_test
