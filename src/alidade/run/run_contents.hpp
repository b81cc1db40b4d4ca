#pragma once

#include <optional>
#include <string>

#include "run_arrays.hpp"
#include "run_store.hpp"
#include "sqlite.hpp"

// What a run store holds, as rows of its tables. Writing must happen inside a transaction; reading throws
// sqlite::Error (SQLITE_CORRUPT) if the rows are not those written. Runs of earlier formats are read as if
// they were of the present one.
namespace alidade::detail {

/// What a run is about: fixed when it is created.
struct Identity {
    Problem problem;
    std::string hash;
    std::string source;
    RunOptions options;
};

void write_identity(sqlite::Database& database, const Identity& identity, run_tables::Written& written);
/// When the run was created: now.
void write_creation(sqlite::Database& database);
/// `at_hand`: features that are in memory, which serve if they are those of a run that does not hold its own.
Identity read_identity(const sqlite::Database& database, const SharedFeatures& at_hand = nullptr);

void write_checkpoint(sqlite::Database& database, const RunCheckpoint& checkpoint,
                      run_tables::Written& written);
/// Unless one is written already.
void write_contradiction(sqlite::Database& database, const RunContradiction& found);
std::optional<RunCheckpoint> read_checkpoint(const sqlite::Database& database, const Identity& identity);

/// `checkpoint` is the one of the same save.
void write_result(sqlite::Database& database, const RunResult& result, const RunCheckpoint& checkpoint,
                  run_tables::Written& written);
std::optional<RunResult> read_result(const sqlite::Database& database, const Identity& identity);

/// The evidence of the result, if some of it is stored as a copy of what the next checkpoint will change.
std::optional<Snapshot> evidence_by_reference(const sqlite::Database& database, const Identity& identity);
/// Writes it anew beside a checkpoint without a result.
void keep_evidence(sqlite::Database& database, const Snapshot& evidence, const RunCheckpoint& checkpoint,
                   run_tables::Written& written);

/// Rewrites a run of an earlier format as one of the present one.
void bring_up_to_date(sqlite::Database& database);

}  // namespace alidade::detail
