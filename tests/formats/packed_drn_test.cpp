#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "alidade/files/archive_file.hpp"
#include "alidade/formats/drn_file.hpp"
#include "alidade/formats/model_formats.hpp"
#include "support/explicit_models.hpp"
#include "support/files.hpp"

namespace alidade::testing::packed_drn_test {
namespace {

using support::random_explicit_model;
using support::test_stream;

enum class Filter { gzip, xz };

/// Packs pieces of text as gzip and xz themselves do, without a tar archive around them.
void pack(const std::filesystem::path& path, Filter filter, std::string_view piece, int repeats = 1) {
    archive* const a = archive_write_new();
    archive_write_set_format_raw(a);
    filter == Filter::gzip ? archive_write_add_filter_gzip(a) : archive_write_add_filter_xz(a);
    archive_write_set_bytes_in_last_block(a, 1);
    ASSERT_EQ(archive_write_open_filename(a, path.c_str()), ARCHIVE_OK);
    archive_entry* const entry = archive_entry_new();
    archive_entry_set_pathname(entry, "data");
    archive_entry_set_filetype(entry, AE_IFREG);
    ASSERT_EQ(archive_write_header(a, entry), ARCHIVE_OK);
    for (int i = 0; i < repeats; ++i)
        ASSERT_EQ(archive_write_data(a, piece.data(), piece.size()), static_cast<la_ssize_t>(piece.size()));
    archive_entry_free(entry);
    ASSERT_EQ(archive_write_close(a), ARCHIVE_OK);
    archive_write_free(a);
}

void pack_tar(const std::filesystem::path& path, detail::Packing packing,
              const std::vector<std::pair<std::string, std::string>>& members) {
    detail::ArchiveWriter out(path, packing);
    for (const auto& [name, bytes] : members) out.add(name, bytes);
    out.close();
}

TEST(PackedDrn, EveryPackingReadsAsThePlainFile) {
    const TemporaryFolder folder;
    Stream random = test_stream(21);
    for (const BranchKind kind : {BranchKind::point, BranchKind::interval, BranchKind::parametric})
        for (int i = 0; i < 5; ++i) {
            const auto plain = folder / fmt::format("{}-{}.drn", static_cast<int>(kind), i);
            detail::write_drn(plain, RowsOfModel(random_explicit_model(random, {.kind = kind})));
            const ExplicitModel model = detail::read_drn(plain);
            const std::string text = bytes_of(plain);
            const std::string name = plain.string();
            pack(name + ".gz", Filter::gzip, text);
            pack(name + ".xz", Filter::xz, text);
            EXPECT_EQ(detail::read_drn(name + ".gz"), model);
            EXPECT_EQ(detail::read_drn(name + ".xz"), model);
            // What Storm calls .drn.gz is a tar archive; other members do not matter.
            pack_tar(name + "2.gz", detail::Packing::tar_gzip,
                     {{"notes.txt", "x"}, {"model.drn", text}, {"z", ""}});
            pack_tar(name + "2.xz", detail::Packing::tar_xz, {{"model.drn", text}});
            EXPECT_EQ(detail::read_drn(name + "2.gz"), model);
            EXPECT_EQ(detail::read_drn(name + "2.xz"), model);
        }
}

TEST(PackedDrn, IsReadWhereverDrnIs) {
    const TemporaryFolder folder;
    const std::string text = bytes_of(data("storm_two_dice.drn"));
    const ExplicitModel model = detail::read_drn(data("storm_two_dice.drn"));
    EXPECT_EQ(model_format_of("a/b.drn.gz"), &find_model_format("drn"));
    EXPECT_EQ(model_format_of("a/b.drn.xz"), &find_model_format("drn"));
    EXPECT_EQ(model_format_of("a/b.gz"), nullptr);
    EXPECT_EQ(model_format_of("a/.drn.gz"), nullptr);
    EXPECT_TRUE(says(refusal([] { read_model("b.txt"); }), {".drn", ".drn.gz"}));
    pack(folder / "m.drn.gz", Filter::gzip, text);
    EXPECT_EQ(read_model(folder / "m.drn.gz"), model);
    // Told by its first bytes: stormpy 2.0.0 writes plain text under such a name.
    EXPECT_EQ(read_model(folder.write("plain.drn.gz", text)), model);
    EXPECT_TRUE(says(refusal([&] { detail::write_drn(folder / "n.drn.gz", RowsOfModel(model)); }),
                     {"n.drn.gz", "plain text", ".gz"}));
    EXPECT_FALSE(std::filesystem::exists(folder / "n.drn.gz"));
}

TEST(PackedDrn, MessagesNameTheLine) {
    const TemporaryFolder folder;
    pack(folder / "m.drn.gz", Filter::gzip, "@type: MDP\n@nr_states\n1\n@model\nstate 7\n");
    EXPECT_TRUE(says(refusal([&] { detail::read_drn(folder / "m.drn.gz"); }), {"m.drn.gz:5: ", "state 7"}));
    pack(folder / "empty.drn.gz", Filter::gzip, "");
    EXPECT_TRUE(says(refusal([&] { detail::read_drn(folder / "empty.drn.gz"); }), {"empty.drn.gz"}));
    pack_tar(folder / "none.drn.gz", detail::Packing::tar_gzip, {{"model.txt", "x"}});
    EXPECT_TRUE(
        says(refusal([&] { detail::read_drn(folder / "none.drn.gz"); }), {"none.drn.gz", "no file", ".drn"}));
    const std::string text = bytes_of(data("storm_imdp.drn"));
    pack_tar(folder / "two.drn.gz", detail::Packing::tar_gzip, {{"a.drn", text}, {"b.drn", text}});
    EXPECT_TRUE(
        says(refusal([&] { detail::read_drn(folder / "two.drn.gz"); }), {"two.drn.gz", "more than one"}));
}

TEST(PackedDrn, ATruncatedFileIsRefusedAtEveryLength) {
    const TemporaryFolder folder;
    const std::string text = bytes_of(data("storm_imdp.drn"));
    pack(folder / "a", Filter::gzip, text);
    pack(folder / "b", Filter::xz, text);
    pack_tar(folder / "c", detail::Packing::tar_gzip, {{"model.drn", text}});
    for (const char* const name : {"a", "b", "c"}) {
        const std::string bytes = bytes_of(folder / name);
        for (std::size_t length = 0; length < bytes.size(); ++length)
            EXPECT_THROW(detail::read_drn(folder.write("m.drn.gz", bytes.substr(0, length))), InvalidArgument)
                << name << " cut to " << length << " of " << bytes.size();
    }
}

TEST(PackedDrn, ADamagedFileIsRefusedOrAModel) {
    const TemporaryFolder folder;
    std::mt19937_64 random(3);
    for (const Filter filter : {Filter::gzip, Filter::xz}) {
        pack(folder / "m", filter, bytes_of(data("storm_slipgrid.drn")));
        const std::string bytes = bytes_of(folder / "m");
        for (int i = 0; i < 300; ++i) {
            std::string damaged = bytes;
            damaged[random() % damaged.size()] ^= static_cast<char>(1 + random() % 255);
            try {
                validate(detail::read_drn(folder.write("m.drn.gz", damaged)), "again");
            } catch (const InvalidArgument&) {
            }
        }
    }
}

TEST(PackedDrn, WhatUnpacksWithoutEndIsRefused) {
    const TemporaryFolder folder;
    const std::string comment = "//" + std::string((1U << 20U) - 3, 'x') + "\n";
    pack(folder / "many.drn.gz", Filter::gzip, comment, 96);
    ASSERT_LT(std::filesystem::file_size(folder / "many.drn.gz"), 150'000u);
    EXPECT_TRUE(
        says(refusal([&] { detail::read_drn(folder / "many.drn.gz"); }), {"many.drn.gz", "unpacks to"}));
    pack(folder / "long.drn.gz", Filter::gzip, std::string(1U << 20U, 'x'), 66);
    EXPECT_TRUE(says(refusal([&] { detail::read_drn(folder / "long.drn.gz"); }), {"long.drn.gz", "a line"}));
}

}  // namespace
}  // namespace alidade::testing::packed_drn_test
