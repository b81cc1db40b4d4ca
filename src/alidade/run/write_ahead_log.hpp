#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace alidade::detail::sqlite {

/// Length of the header of SQLite's write-ahead log. A new header is written, with other numbers in it,
/// before the log is used again from its beginning; so equal headers mean that nothing was overwritten in
/// between.
constexpr std::size_t log_header_size = 32;

/// Brings a database up to the last transaction that its log holds whole, as SQLite itself would after a
/// crash [SQLite, Database File Format, 4]. A log that does not begin properly holds nothing; what follows a
/// frame that is torn, or left over from an earlier use of the log, does not count. Throws Error
/// (SQLITE_CORRUPT) if the log is of a database with other pages.
void apply_log(std::span<const std::byte> log, std::vector<std::byte>& database);

}  // namespace alidade::detail::sqlite
