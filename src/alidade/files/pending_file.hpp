#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace alidade::detail {

/// A file that appears under its name only when it is complete: until then it lies beside it under another
/// name, and is removed if the work fails.
class PendingFile {
public:
    explicit PendingFile(std::filesystem::path target);
    ~PendingFile();
    PendingFile(const PendingFile&) = delete;
    PendingFile& operator=(const PendingFile&) = delete;

    /// Where to write meanwhile.
    const std::filesystem::path& path() const noexcept { return path_; }
    const std::filesystem::path& target() const noexcept { return target_; }
    /// Renames it. Throws InvalidArgument with the path.
    void commit();

private:
    std::filesystem::path target_;
    std::filesystem::path path_;
    bool committed_ = false;
};

/// A pending file that text is appended to, in large pieces.
class PendingText {
public:
    /// Throws InvalidArgument with the path if it cannot be opened.
    explicit PendingText(const std::filesystem::path& target);

    /// What is written next; flushed by `relieve`.
    std::string& buffer() noexcept { return buffer_; }
    /// Writes the buffer out if it is large. Throws InvalidArgument with the path if that fails.
    void relieve() {
        if (buffer_.size() >= large) flush();
    }
    /// Writes everything and gives the file its name.
    void commit();

private:
    static constexpr std::size_t large = 1U << 18U;
    void flush();

    PendingFile file_;
    std::ofstream stream_;
    std::string buffer_;
};

}  // namespace alidade::detail
