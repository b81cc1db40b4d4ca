#include "run_faults.hpp"

#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <vector>

#include "alidade/run/run_record.hpp"
#include "alidade/spec/printable_text.hpp"
#include "run_tables.hpp"

namespace alidade::detail {
namespace {

namespace fs = std::filesystem;

/// What lies behind an error of SQLite.
enum class Cause { full, limit, forbidden, missing, busy, memory, disk, contents };

Cause cause_of(const sqlite::Error& error) {
    switch (error.code()) {
        case SQLITE_FULL:
            return Cause::full;
        case SQLITE_BUSY:
        case SQLITE_LOCKED:
        case SQLITE_PROTOCOL:
            return Cause::busy;
        case SQLITE_PERM:
        case SQLITE_READONLY:
        case SQLITE_AUTH:
            return Cause::forbidden;
        case SQLITE_NOMEM:
            return Cause::memory;
        case SQLITE_IOERR:
        case SQLITE_CANTOPEN:
            break;
        default:
            return Cause::contents;
    }
    switch (error.system()) {
        case ENOSPC:
            return Cause::full;
        case EDQUOT:
        case EFBIG:
            return Cause::limit;
        case EACCES:
        case EPERM:
        case EROFS:
            return Cause::forbidden;
        case ENOENT:
            return Cause::missing;
        default:
            return Cause::disk;
    }
}

/// What the system says to a file beside this one that would grow beyond it; 0 if nothing is wrong with that.
int reason_against_growth(const fs::path& file) {
    std::error_code none;
    std::uintmax_t size = 0;
    for (const char* suffix : {"", "-wal"})
        if (const std::uintmax_t own = fs::file_size(fs::path(file) += suffix, none); !none)
            size = std::max(size, own);
    std::string name = file.string() + "-probe-XXXXXX";
    const int descriptor = ::mkstemp(name.data());
    if (descriptor < 0) return errno;
    ::unlink(name.c_str());
    const std::vector<char> bytes(65536, 1);
    const ssize_t written = ::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(size));
    int reason = written < 0 ? errno : 0;
    // What does not fit whole fails at the next byte.
    if (written >= 0 && written < static_cast<ssize_t>(bytes.size()) &&
        ::pwrite(descriptor, bytes.data(), 1, static_cast<off_t>(size) + written) < 0)
        reason = errno;
    ::close(descriptor);
    return reason;
}

/// SQLite's words and the system's.
std::string words_of(const sqlite::Error& error) {
    std::string message = error.what();
    if (error.system() == 0) return message;
    const std::string reason = std::generic_category().message(error.system());
    return message == reason ? message : fmt::format("{}: {}", message, reason);
}

}  // namespace

std::string no_run_reason(std::span<const std::byte> bytes) {
    using namespace std::literals;
    constexpr std::string_view magic = "SQLite format 3\0"sv;
    constexpr std::size_t owner_offset = 68;  // four bytes, big endian
    if (bytes.size() < run_header_size || std::memcmp(bytes.data(), magic.data(), magic.size()) != 0)
        return "it is not an SQLite database, or its first bytes are damaged";
    std::int64_t owner = 0;
    for (std::size_t i = owner_offset; i < run_header_size; ++i)
        owner = owner * 256 + static_cast<std::int64_t>(bytes[i]);
    if (owner == run_tables::application_id) return {};
    return fmt::format("it is an SQLite database of another program (application id {}, a run's is {})",
                       owner, run_tables::application_id);
}

sqlite::Error with_reason(const fs::path& file, const sqlite::Error& error) {
    if (error.code() != SQLITE_IOERR && error.code() != SQLITE_CANTOPEN) return error;
    if (const int reason = reason_against_growth(file); reason != 0)
        return {error.code(), error.what(), reason};
    // SQLite looks for files that need not be there.
    return {error.code(), error.what(), error.system() == ENOENT ? 0 : error.system()};
}

void refuse_reading(const fs::path& file, const sqlite::Error& error) {
    const std::string name = printable(file.native()), why = words_of(error);
    switch (cause_of(error)) {
        case Cause::busy:
            throw RunRefused(
                RunFault::busy,
                fmt::format("{}: another process is using this run ({}); wait until it ends or stop it", name,
                            why));
        case Cause::missing:
            throw RunRefused(
                RunFault::missing,
                fmt::format("{}: there is no such file any more; somebody removed the run", name));
        case Cause::forbidden:
            throw RunRefused(
                RunFault::forbidden,
                fmt::format("{}: the run cannot be opened ({}); check that you may read the file, and, "
                            "to go on with the run, write it and its folder",
                            name, why));
        case Cause::memory:
            throw std::runtime_error(fmt::format("{}: there is not enough memory to read the run", name));
        case Cause::full:
            throw std::runtime_error(fmt::format(
                "{}: the disk is full, and a run that is to go on needs some room to be opened ({}); the "
                "run is intact: make room there, and start it again to go on",
                name, why));
        case Cause::limit:
        case Cause::disk:
            throw std::runtime_error(fmt::format(
                "{}: the file system failed ({}), which says nothing about what is in the run; see to the "
                "disk or its limits, then try again",
                name, why));
        case Cause::contents:
            break;
    }
    throw RunRefused(RunFault::damaged,
                     fmt::format("{}: the run is damaged ({}); restore it from a copy or explore again into "
                                 "another folder",
                                 name, why));
}

void refuse_writing(const fs::path& file, const sqlite::Error& error, bool saved_before) {
    const std::string why = words_of(error);
    const char* const kept = saved_before ? "what was saved before is intact" : "nothing had been saved yet";
    const auto say = [&](std::string_view what, std::string_view advice) {
        throw std::runtime_error(
            fmt::format("{}: {} ({}); {}: {}", printable(file.native()), what, why, kept, advice));
    };
    switch (cause_of(error)) {
        case Cause::full:
            say("the disk is full, so the run could not be saved",
                "make room there, and start it again to go on");
            break;
        case Cause::limit:
            say("the run's file may not grow, so the run could not be saved",
                "raise the quota or the limit on the size of files, and start it again to go on");
            break;
        case Cause::forbidden:
        case Cause::missing:
            say("the run could not be saved",
                "check that you may write the file and its folder, and start it again to go on");
            break;
        case Cause::memory:
            say("there is not enough memory to save the run", "free some, and start it again to go on");
            break;
        case Cause::busy:
            say("another program has locked the run, so it could not be saved",
                "close that program, and start the run again to go on");
            break;
        case Cause::disk:
            say("the file system failed, so the run could not be saved",
                "see to the disk, and start it again to go on");
            break;
        case Cause::contents:
            break;
    }
    throw std::runtime_error(fmt::format(
        "{}: the run could not be saved: it is damaged ({}); restore it from a copy or explore again into "
        "another folder",
        printable(file.native()), why));
}

}  // namespace alidade::detail
