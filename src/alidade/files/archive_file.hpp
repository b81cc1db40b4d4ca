#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "spool.hpp"

struct archive;

namespace alidade::detail {

/// How an archive is packed.
enum class Packing { tar, tar_gzip, tar_xz, zip_stored, zip_deflated };

/// Writes an archive member by member, in bounded memory. No time stamps: the same members give the same
/// bytes. Throws InvalidArgument with the path if it cannot be written.
class ArchiveWriter {
public:
    ArchiveWriter(const std::filesystem::path& path, Packing packing);

    /// Starts a member of exactly `size` bytes, which write() is then given piece by piece.
    void begin(const std::string& name, std::int64_t size);
    void write(const void* bytes, std::size_t size);
    void end();

    void add(const std::string& name, std::string_view bytes);
    /// What was spooled, from its start.
    void copy(Spool& spool);
    /// Writes the end of the archive.
    void close();

private:
    struct Closer {
        void operator()(archive* a) const;
    };
    void check(bool ok) const;
    void flush();

    std::string path_;
    std::unique_ptr<archive, Closer> archive_;
    std::string member_;
    std::string buffer_;
    std::int64_t left_ = 0;  // bytes of the member that were promised and not given
};

/// The members of an archive by name, without a leading "./" or "/".
using ArchiveMembers = std::map<std::string, std::string, std::less<>>;

/// Reads those members of a tar archive (plain, gzip or xz) whose names `wanted` accepts. Throws
/// InvalidArgument, starting with `file`, for damage, members of one name, and more than 64 MiB + 2000 times
/// the bytes given, which no honest archive unpacks to.
ArchiveMembers parse_tar(std::string_view bytes, std::string_view file,
                         const std::function<bool(std::string_view)>& wanted);

}  // namespace alidade::detail
