#pragma once

#include <optional>
#include <string>

#include "alidade/run/run_store.hpp"
#include "alidade/run/sqlite.hpp"

// What a run store holds, as rows of its tables. Writing must happen inside a transaction; reading throws
// sqlite::Error (SQLITE_CORRUPT) if the rows are not those written. Runs of earlier formats are read as if
// they were of the present one.
namespace alidade {

/// What a run is about: fixed when it is created.
struct Identity {
    Problem problem;
    std::string hash;
    std::string source;
    RunOptions options;
};

void write_identity(sqlite::Database& database, const Identity& identity);
Identity read_identity(const sqlite::Database& database);

void write_checkpoint(sqlite::Database& database, const RunCheckpoint& checkpoint);
std::optional<RunCheckpoint> read_checkpoint(const sqlite::Database& database, const Identity& identity);

void write_result(sqlite::Database& database, const RunResult& result);
std::optional<RunResult> read_result(const sqlite::Database& database, const Identity& identity);

/// Rewrites a run of an earlier format as one of the present one.
void bring_up_to_date(sqlite::Database& database);

}  // namespace alidade
