#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "support/effort.hpp"

namespace alidade::testing {

using nlohmann::json;
using Words = std::vector<std::string>;

inline std::string text_of(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    std::ostringstream text;
    text << stream.rdbuf();
    return text.str();
}

inline void write_text(const std::filesystem::path& file, const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
}

/// What a run of the tool left behind.
struct Outcome {
    int code = -1;  ///< exit code; 128 + signal if it was killed
    std::string out, err;

    json object() const { return json::parse(out); }
};

/// A folder of its own for each test, removed afterwards, in which the real tool is run.
class Tool : public ::testing::Test {
protected:
    void SetUp() override {
        std::string name = (std::filesystem::temp_directory_path() / "alidade-app-XXXXXX").string();
        ASSERT_NE(mkdtemp(name.data()), nullptr);
        folder_ = name;
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::filesystem::path path(const std::string& name) const { return folder_ / name; }

    /// The tool of the same build, or the one that the environment names: under sanitizers it is another.
    static std::string tool() {
        const char* named = std::getenv("ALIDADE_TOOL");
        return named != nullptr ? named : ALIDADE_TOOL;
    }

    /// Starts the tool in the test's folder; its output goes to files.
    pid_t start(const Words& words) const {
        const pid_t child = fork();
        if (child != 0) return child;
        Words all{tool()};
        all.insert(all.end(), words.begin(), words.end());
        std::vector<char*> arguments;
        for (std::string& word : all) arguments.push_back(word.data());
        arguments.push_back(nullptr);
        if (chdir(folder_.c_str()) != 0) _exit(126);
        redirect("out.txt", 1);
        redirect("err.txt", 2);
        execv(all.front().c_str(), arguments.data());
        _exit(127);
    }

    Outcome wait_for(pid_t child) const {
        int status = 0;
        EXPECT_EQ(waitpid(child, &status, 0), child);
        return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), text_of(path("out.txt")),
                text_of(path("err.txt"))};
    }

    Outcome run(const Words& words) const { return wait_for(start(words)); }

    /// Runs a small garnet exploration into `name`.
    Outcome explore(const std::string& name, const Words& more = {}) const {
        Words words{"explore", small_problem, "-o", name, "--episodes", "2000", "--json"};
        words.insert(words.end(), more.begin(), more.end());
        return run(words);
    }

    /// The warehouse, smaller under sanitizers, where certifying it takes half a minute.
    static const char* inventory() {
        return support::effort_is("sanitized") ? "builtin:inventory?capacity=8" : "builtin:inventory";
    }
    static constexpr const char* small_problem =
        "builtin:garnet?states=6&actions=2&features=3&horizon=4&successors=3&seed=5";

private:
    static void redirect(const char* file, int descriptor) {
        const int opened = open(file, O_CREAT | O_WRONLY | O_TRUNC, 0600);
        if (opened < 0 || dup2(opened, descriptor) < 0) _exit(125);
    }

    std::filesystem::path folder_;
};

inline void expect_keys(const json& object, const std::vector<std::string>& keys) {
    for (const std::string& key : keys) EXPECT_TRUE(object.contains(key)) << key;
}

/// The object without what may differ between equal runs.
inline json comparable(json object) {
    for (const char* key : {"seconds", "run", "threads"}) object.erase(key);
    return object;
}

}  // namespace alidade::testing
