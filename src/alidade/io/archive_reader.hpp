#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

struct archive;

namespace alidade {

struct ArchiveReadCloser {
    void operator()(archive* a) const;
};
/// What archive_read_new() gives.
using ArchiveReader = std::unique_ptr<archive, ArchiveReadCloser>;

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

}  // namespace alidade
