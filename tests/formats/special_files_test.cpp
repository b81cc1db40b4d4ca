#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "alidade/files/episode_file.hpp"
#include "alidade/files/npz.hpp"
#include "alidade/files/policy_file.hpp"
#include "alidade/files/reward_file.hpp"
#include "alidade/files/text_file.hpp"
#include "alidade/formats/drn_file.hpp"
#include "alidade/formats/model_formats.hpp"
#include "alidade/formats/problem_folder.hpp"
#include "alidade/problem/catalogue.hpp"
#include "support/files.hpp"

namespace alidade::testing::special_files_test {
namespace {

/// What every reader says of the file `name` + extension in the folder.
std::vector<std::string> refusals(const TemporaryFolder& folder, const std::string& name) {
    const Problem problem = make_builtin("builtin:garnet?states=3&actions=2&features=2&horizon=2");
    Counts counts(problem.shared_features(), 2);
    std::vector<std::string> said;
    for (const char* extension : {".drn", ".drn.gz", ".drn.xz", ".tra", ".umb", ".json", ".npz"})
        said.push_back(refusal([&] { read_model(folder / (name + extension)); }));
    for (const char* extension : {".json", ".npz"})
        said.push_back(refusal([&] { read_reward(folder / (name + extension), problem.shape()); }));
    for (const char* extension : {".jsonl", ".npz"})
        said.push_back(refusal([&] { read_episodes(folder / (name + extension), problem.start(), counts); }));
    said.push_back(refusal([&] { read_policy(folder / (name + ".json"), problem.shape()); }));
    said.push_back(refusal([&] { load_problem((folder / (name + ".toml")).string()); }));
    return said;
}

constexpr const char* extensions[] = {".drn",  ".drn.gz", ".drn.xz", ".tra", ".umb",
                                      ".json", ".npz",    ".jsonl",  ".toml"};

// A pipe that nobody writes to would be waited for; this test would never end.
TEST(SpecialFiles, PipesAreRefusedWithoutOpeningThem) {
    const TemporaryFolder folder;
    for (const char* extension : extensions)
        ASSERT_EQ(mkfifo((folder / (std::string("pipe") + extension)).c_str(), 0600), 0);
    for (const std::string& said : refusals(folder, "pipe")) EXPECT_TRUE(says(said, {"pipe", "not a file"}));
}

// A device that never ends would fill the memory.
TEST(SpecialFiles, DevicesAreRefusedAndLinksAreFollowed) {
    const TemporaryFolder folder;
    for (const char* extension : extensions)
        std::filesystem::create_symlink("/dev/zero", folder / (std::string("zero") + extension));
    for (const std::string& said : refusals(folder, "zero")) EXPECT_TRUE(says(said, {"zero", "not a file"}));
    std::filesystem::create_symlink(folder.write("text", "words"), folder / "link");
    EXPECT_EQ(detail::read_text(folder / "link"), "words");
}

// A hole in a file takes no room on the disk, but would in memory.
TEST(SpecialFiles, LinesWithoutEndAreRefused) {
    const TemporaryFolder folder;
    const Problem problem = make_builtin("builtin:garnet?states=3&actions=2&features=2&horizon=2");
    Counts counts(problem.shared_features(), 2);
    for (const char* name : {"long.drn", "long.jsonl"}) {
        folder.write(name, "");
        std::filesystem::resize_file(folder / name, std::uintmax_t{1} << 36);
    }
    EXPECT_TRUE(
        says(refusal([&] { detail::read_drn(folder / "long.drn"); }), {"long.drn", "67108864 bytes"}));
    EXPECT_TRUE(says(refusal([&] { read_episodes(folder / "long.jsonl", problem.start(), counts); }),
                     {"long.jsonl", "67108864 bytes"}));
}

TEST(SpecialFiles, LinesAreReadAsTheyAre) {
    const std::string long_line(100'000, 'x');
    for (const bool ended : {true, false}) {
        std::istringstream stream("one\n\n" + long_line + "\n" + std::string(16383, 'y') + "\n" +
                                  std::string(16384, 'z') + "\nlast" + (ended ? "\n" : ""));
        std::vector<std::string> lines;
        for (std::string line; detail::read_line(stream, line, "f");) lines.push_back(line);
        EXPECT_EQ(lines, (std::vector<std::string>{"one", "", long_line, std::string(16383, 'y'),
                                                   std::string(16384, 'z'), "last"}));
    }
}

}  // namespace
}  // namespace alidade::testing::special_files_test
