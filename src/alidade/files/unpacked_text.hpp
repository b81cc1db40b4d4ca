#pragma once

#include <cstdint>
#include <filesystem>
#include <istream>
#include <memory>
#include <streambuf>
#include <string>

#include "archive_reader.hpp"

namespace alidade::detail {

/// Whether a file begins as gzip or xz does. False if it cannot be read.
bool is_packed(const std::filesystem::path& path);

/// The text in a file packed by gzip or xz, unpacked while it is read: the file's contents, or, if those are
/// a tar archive, its only member whose name ends in `extension`. The stream throws InvalidArgument with the
/// path for damage, and for more than 64 MiB + 200 times the bytes of the file, or a line of more than
/// 64 MiB, so that a small file cannot fill the memory.
class UnpackedText final : private std::streambuf {
public:
    UnpackedText(const std::filesystem::path& path, std::string_view extension);
    UnpackedText(const UnpackedText&) = delete;
    UnpackedText& operator=(const UnpackedText&) = delete;

    std::istream& stream() noexcept { return stream_; }

private:
    int_type underflow() override;
    void check(bool ok) const;
    /// Goes to the next member that is wanted; false at the end.
    bool next_member();

    std::string file_;
    std::string extension_;
    std::int64_t most_ = 0;
    ArchiveReader reader_;
    std::istream stream_;
    std::int64_t done_ = 0;  // of the member
    std::int64_t line_ = 0;  // bytes since the last end of a line
    bool over_ = false;
};

}  // namespace alidade::detail
