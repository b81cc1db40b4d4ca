#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string_view>

namespace alidade::detail {

/// What the children of a system have to say, and what became of them: one file, lines behind what is there.
class SystemLog {
public:
    /// No path: nothing is kept. Throws InvalidArgument if the file cannot be written.
    explicit SystemLog(const std::filesystem::path& path);
    /// One line, or several; each begins with the worker's number.
    void add(int worker, std::string_view text);

private:
    std::ofstream file_;
    std::int64_t
        left_;  // bytes that may still be written: a child that talks at every step must not fill the disk
};

}  // namespace alidade::detail
