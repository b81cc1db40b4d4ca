#pragma once

#include <cstddef>
#include <filesystem>
#include <vector>

namespace alidade::detail {

/// One state of an SQLite database in WAL mode, as a reader sees it that may do nothing: the bytes of the
/// file with the transactions of its log applied. Takes no lock and makes no file, so that it works for any
/// number of readers, beside a writer, after one that was killed, and where nothing can be written: SQLite
/// itself would need a -shm file beside the log, and would write to it. The state is whole and not older than
/// the call: what a writer changes meanwhile is noticed, and the reading is done again.
///
/// Throws sqlite::Error: with the system's error code if the files cannot be read, with SQLITE_BUSY if they
/// never held still.
std::vector<std::byte> run_image(const std::filesystem::path& file);

}  // namespace alidade::detail
