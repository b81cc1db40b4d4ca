#include "alidade/io/run_faults.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "alidade/io/printable_text.hpp"
#include "alidade/io/run_refused.hpp"
#include "alidade/io/run_tables.hpp"

namespace alidade {
namespace {

namespace fs = std::filesystem;

/// What lies behind an error of SQLite.
enum class Cause { full, limit, forbidden, missing, busy, memory, disk, contents };

/// SQLite has one code for every failure of a write but the plainest. The system's reason tells them apart;
/// where it is another call's, which happens, the space that is left does.
bool out_of_space(const fs::path& file, const sqlite::Error& error) {
    if (error.code() == SQLITE_FULL || error.system() == ENOSPC) return true;
    for (const int other : {EDQUOT, EFBIG, EACCES, EPERM, EROFS, ENOENT, EIO})
        if (error.system() == other) return false;
    std::error_code unknown;
    const fs::space_info space = fs::space(file.parent_path(), unknown);
    constexpr std::uintmax_t smallest_need = 32768;  // of the file that SQLite keeps beside the log
    return !unknown && space.available < smallest_need;
}

Cause cause_of(const fs::path& file, const sqlite::Error& error) {
    switch (error.code()) {
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
        case SQLITE_FULL:
        case SQLITE_IOERR:
        case SQLITE_CANTOPEN:
            break;
        default:
            return Cause::contents;
    }
    if (out_of_space(file, error)) return Cause::full;
    const int reason = error.system();
    if (reason == EDQUOT || reason == EFBIG) return Cause::limit;
    if (reason == EACCES || reason == EPERM || reason == EROFS) return Cause::forbidden;
    if (reason == ENOENT) return Cause::missing;
    return error.code() == SQLITE_CANTOPEN && reason == 0 ? Cause::forbidden : Cause::disk;
}

/// SQLite's words and the system's.
std::string words_of(const sqlite::Error& error) {
    const std::string message = error.what();
    if (error.system() == 0) return message;
    const std::string reason = std::generic_category().message(error.system());
    return message == reason ? message : fmt::format("{}: {}", message, reason);
}

}  // namespace

std::string no_run_reason(std::span<const std::byte> bytes) {
    constexpr std::string_view magic("SQLite format 3", 16);
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

void refuse_reading(const fs::path& file, const sqlite::Error& error) {
    const std::string name = printable(file), why = words_of(error);
    switch (cause_of(file, error)) {
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
            fmt::format("{}: {} ({}); {}: {}", printable(file), what, why, kept, advice));
    };
    switch (cause_of(file, error)) {
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
        printable(file), why));
}

}  // namespace alidade
