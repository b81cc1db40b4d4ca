#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct archive;
struct archive_entry;

namespace alidade::detail {

struct ArchiveReadCloser {
    void operator()(archive* a) const;
};
/// What archive_read_new() gives.
using ArchiveReader = std::unique_ptr<archive, ArchiveReadCloser>;

struct ArchiveEntryCloser {
    void operator()(archive_entry* e) const;
};
/// What archive_entry_new() gives.
using ArchiveEntry = std::unique_ptr<archive_entry, ArchiveEntryCloser>;

/// How much is read from a file at a time.
inline constexpr std::size_t archive_block_bytes = std::size_t{1} << 16U;

/// Why the last call failed, in libarchive's words.
std::string archive_reason(archive* a);

/// The next bytes of the member whose header was read last, until the next call; empty at its end. `done` is
/// how many came before. Throws InvalidArgument, starting with `where`, for damage and for sparse files.
std::string_view next_block(archive* a, std::int64_t done, std::string_view where);

/// How much may be unpacked, and what is said of more.
struct UnpackLimit {
    std::size_t bytes;
    std::string_view beyond;
};

/// All of that member. Throws InvalidArgument, starting with `where`, for damage and beyond the limit.
std::string read_member(archive* a, const UnpackLimit& limit, std::string_view where);

}  // namespace alidade::detail
