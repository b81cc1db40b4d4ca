#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include "alidade/error.hpp"

namespace alidade::testing {

/// A fresh folder that is removed with its contents.
class TemporaryFolder {
public:
    TemporaryFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "alidade-io-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no temporary folder");
        path_ = name;
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
    const std::filesystem::path& path() const { return path_; }

    /// Writes a file and returns its path.
    std::filesystem::path write(std::string_view name, std::string_view bytes) const {
        std::filesystem::create_directories((path_ / name).parent_path());
        // Replacing a file in place waits for the disk on some file systems.
        std::filesystem::remove(path_ / name);
        std::ofstream(path_ / name, std::ios::binary) << bytes;
        return path_ / name;
    }

private:
    std::filesystem::path path_;
};

inline std::string bytes_of(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline std::filesystem::path data(std::string_view name) {
    return std::filesystem::path(ALIDADE_TEST_DATA) / name;
}

/// What `action` refuses with; a failure of the test if it does not throw InvalidArgument.
template <class Action>
std::string refusal(const Action& action) {
    try {
        action();
    } catch (const InvalidArgument& problem) {
        return problem.what();
    }
    ADD_FAILURE() << "nothing was refused";
    return {};
}

/// Whether `text` contains every one of `parts`.
inline ::testing::AssertionResult says(const std::string& text,
                                       std::initializer_list<std::string_view> parts) {
    for (const std::string_view part : parts)
        if (text.find(part) == std::string::npos)
            return ::testing::AssertionFailure() << "\"" << text << "\" does not say \"" << part << "\"";
    return ::testing::AssertionSuccess();
}

}  // namespace alidade::testing
