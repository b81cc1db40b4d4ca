#include "alidade/files/atlas_file.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "alidade/error.hpp"
#include "support/files.hpp"
#include "support/learned_models.hpp"

namespace alidade::atlas_file_test {
namespace {

namespace fs = std::filesystem;

const support::RandomSizes sizes{.shape = {6, 3, 5}, .features = 3, .successors = 4};

AtlasRecord record_of(std::uint64_t seed, const AtlasOptions& options = {.loss = 0.3}) {
    const Knowledge knowledge = support::knowledge_about(support::random_model(seed, sizes), seed, 300);
    Stream random = support::test_stream(seed, 11);
    const Reward first = support::random_reward(random, sizes.shape),
                 second = support::random_reward(random, sizes.shape);
    AtlasRecord record{make_atlas(knowledge, Objectives({first, complement(second)}), options),
                       {{"service, \"quick\"", Sense::maximise, {}, first},
                        {"cost", Sense::minimise, {.scale = 20, .offset = -5}, complement(second)}},
                       "abc"};
    return record;
}

using testing::bytes_of;

TEST(AtlasFile, IsReadAsItWasWritten) {
    const testing::TemporaryFolder folder;
    const fs::path one = folder.path() / "one", other = folder.path() / "other";
    for (const AtlasOptions& options :
         {AtlasOptions{.loss = 0.3}, AtlasOptions{.loss = 0.3, .at_least = {0.2, 0.1}}}) {
        const AtlasRecord record = record_of(1, options);
        write_atlas(one, record, {{"front.svg", "<svg/>"}});
        const AtlasRecord read = read_atlas(one);
        write_atlas(other, read);
        EXPECT_EQ(bytes_of(one / "atlas.json"), bytes_of(other / "atlas.json"));
        EXPECT_EQ(bytes_of(one / "front.svg"), "<svg/>");
        EXPECT_FALSE(fs::exists(other / "front.svg"));
        ASSERT_EQ(read.atlas.policies.size(), record.atlas.policies.size());
        for (std::size_t i = 0; i < read.atlas.policies.size(); ++i)
            EXPECT_EQ(read.atlas.policies[i].policy, record.atlas.policies[i].policy);
        for (std::size_t i = 0; i < 2; ++i) {
            EXPECT_EQ(read.objectives[i].reward, record.objectives[i].reward);
            EXPECT_EQ(read.objectives[i].name, record.objectives[i].name);
            EXPECT_EQ(read.objectives[i].sense, record.objectives[i].sense);
            EXPECT_EQ(read.objectives[i].scale, record.objectives[i].scale);
        }
        const std::vector<double> weights{0.4, 0.6};
        EXPECT_EQ(read.atlas.at(weights).loss_bound, record.atlas.at(weights).loss_bound);
    }
    // A name with a comma and quotes is one field.
    EXPECT_NE(bytes_of(one / "front.csv").find("\"lower: service, \"\"quick\"\"\""), std::string::npos);
}

TEST(AtlasFile, SpeaksInTheUnitsOfItsObjectives) {
    const AtlasRecord record = record_of(1);
    // 5 steps; a cost of -5 + 20 r a step, to be minimised: rewards are 1 - r.
    const AtlasObjective& cost = record.objectives[1];
    const Interval all = cost.in_unit({0, 5}), best = cost.in_unit({5, 5});
    EXPECT_NEAR(all.lower, -25, 1e-12);
    EXPECT_NEAR(all.upper, 75, 1e-12);
    EXPECT_NEAR(best.lower, -25, 1e-12);
    EXPECT_NEAR(best.upper, -25, 1e-12);
    EXPECT_NEAR(cost.in_rewards(-25), 5, 1e-12);
    EXPECT_NEAR(cost.in_rewards(75), 0, 1e-12);
    const std::vector<double> in_units{1, 1};
    EXPECT_EQ(record.weights_of(in_units), (std::vector<double>{1, 20}));
}

TEST(AtlasFile, ReplacesAnAtlasAndNothingElse) {
    const testing::TemporaryFolder folder;
    const fs::path place = folder.path() / "atlas";
    write_atlas(place, record_of(1));
    write_atlas(place, record_of(2));
    EXPECT_EQ(read_atlas(place).atlas.loss_bound, record_of(2).atlas.loss_bound);
    const fs::path taken = folder.path() / "taken";
    fs::create_directories(taken);
    std::ofstream(taken / "mine.txt") << "mine";
    EXPECT_THROW(write_atlas(taken, record_of(1)), InvalidArgument);
    EXPECT_EQ(bytes_of(taken / "mine.txt"), "mine");
    // Nothing half-written is left behind.
    EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 2);
}

TEST(AtlasFile, RefusesWhatDoesNotCoverOrIsNoAtlas) {
    const testing::TemporaryFolder folder;
    const fs::path place = folder.path() / "atlas";
    write_atlas(place, record_of(1));
    const std::string sound = bytes_of(place / "atlas.json");
    EXPECT_NO_THROW(parse_atlas(sound, "atlas.json"));
    const auto changed = [&](const std::string& from, const std::string& to) {
        std::string text = sound;
        const auto found = text.find(from);
        EXPECT_NE(found, std::string::npos) << from;
        return text.replace(found, from.size(), to);
    };
    for (const std::string& wrong :
         {std::string("{}"), std::string("[]"), std::string("{\"format\": 3}"),
          changed("alidade-atlas", "atlas"), changed("\"version\":1", "\"version\":2"),
          changed("\"children\":[1,2]", "\"children\":[0,2]"),
          changed("\"children\":[1,2]", "\"children\":[1,1]"),
          changed("\"children\":[1,2]", "\"children\":[1,99999]"),
          changed("\"split\":[0,1,2]", "\"split\":[0,1,1]"),
          changed("\"split\":[0,1,2]", "\"split\":[0,7,2]"),
          changed("\"corners\":[[1.0,0.0]", "\"corners\":[[0.9,0.1]"),
          changed("\"policies/000.json\"", "\"/etc/passwd\""), changed("\"maximise\"", "\"ignore\""),
          changed("\"limited_by\":\"", "\"limited_by\":\"x"),
          changed("\"loss_bound\":", "\"loss_bound\":0,\"was\":"),
          changed("{\"cell\":0}", "{\"outside\":true}"), changed("{\"cell\":0}", "{\"cell\":1}")})
        EXPECT_THROW(parse_atlas(wrong, "atlas.json"), InvalidArgument) << wrong.substr(0, 200);
    EXPECT_THROW(read_atlas(folder.path() / "nowhere"), InvalidArgument);
    fs::remove(place / "policies" / "000.json");
    EXPECT_THROW(read_atlas(place), InvalidArgument);
}

}  // namespace
}  // namespace alidade::atlas_file_test
