#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>

#include "sqlite.hpp"

// What SQLite and the file system report about a run, in words that say what it is and what to do.
namespace alidade::detail {

/// How many bytes no_run_reason() looks at.
constexpr std::size_t run_header_size = 72;

/// Why these first bytes of a file are no run's, sound or not: they lack SQLite's magic or our application
/// id. Empty if they are a run's. Nothing else is ever replaced or deleted as a run.
std::string no_run_reason(std::span<const std::byte> bytes);

/// The same error with the system's reason, for those who write: SQLite often knows only that a write failed,
/// and what the system said last may be about something else. So the system is asked again, with a file that
/// has no name, as large as the run's, which is gone when closed.
sqlite::Error with_reason(const std::filesystem::path& file, const sqlite::Error& error);

/// Throws for a run that cannot be opened or read: RunRefused if it is the run's fault or its permissions',
/// std::runtime_error if the machine failed (an error of the disk, no memory).
[[noreturn]] void refuse_reading(const std::filesystem::path& file, const sqlite::Error& error);

/// Throws std::runtime_error for a run that could not be saved; `saved_before`: whether there is something
/// that stays.
[[noreturn]] void refuse_writing(const std::filesystem::path& file, const sqlite::Error& error,
                                 bool saved_before);

}  // namespace alidade::detail
