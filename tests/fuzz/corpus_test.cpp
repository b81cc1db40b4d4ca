#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "fuzz/readers.hpp"

namespace alidade::fuzz {
namespace {

/// Seeds, and inputs on which a reader once failed.
TEST(FuzzCorpus, EveryReaderSurvivesItsCorpus) {
    for (const Reader& reader : readers()) {
        int files = 0;
        for (const auto& entry :
             std::filesystem::directory_iterator(std::filesystem::path(ALIDADE_FUZZ_CORPUS) / reader.name)) {
            std::ifstream file(entry.path(), std::ios::binary);
            const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
            EXPECT_NO_THROW(run(reader, bytes)) << entry.path();
            ++files;
        }
        EXPECT_GE(files, 2) << reader.name << " needs seeds";
    }
}

/// Each reader accepts at least one of its seeds, so that fuzzing starts beyond the first check.
TEST(FuzzCorpus, EveryReaderAcceptsASeed) {
    for (const Reader& reader : readers()) {
        bool accepted = false;
        for (const auto& entry :
             std::filesystem::directory_iterator(std::filesystem::path(ALIDADE_FUZZ_CORPUS) / reader.name)) {
            std::ifstream file(entry.path(), std::ios::binary);
            const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
            try {
                reader.read(bytes);
                accepted = true;
            } catch (const std::exception&) {
            }
        }
        EXPECT_TRUE(accepted) << reader.name;
    }
}

/// Deeper than the stack would bear if a reader went down level by level; longer than what is fuzzed.
TEST(FuzzCorpus, EveryReaderSurvivesDeepNesting) {
    const std::string lists(1'000'000, '['), objects = [] {
        std::string text;
        for (int i = 0; i < 200'000; ++i) text += "{\"P\":";
        return text;
    }();
    const std::string closed = lists + std::string(lists.size(), ']');
    for (const Reader& reader : readers())
        for (const std::string& text :
             {lists, closed, objects, "{\"default\": " + closed + "}", "{\"policy\": " + closed + "}",
              "{\"states\": " + closed + "}", "x = " + closed, "%%index.json\n" + closed, "%%tra\n" + closed})
            EXPECT_NO_THROW(run(reader, text)) << reader.name;
}

}  // namespace
}  // namespace alidade::fuzz
