#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "alidade/explore/snapshot.hpp"
#include "alidade/model/counts.hpp"
#include "sqlite.hpp"

// The tables of run.sqlite that hold arrays, in parts. What they all have in common: a part is written only
// if it is not there already, so that saving costs what has changed; and the counts, which several arrays are
// copies of, are written once.
namespace alidade::detail::run_tables {

/// What a writer knows to be in the tables: digests of parts by table and key. To be cleared when a
/// transaction was not committed.
class Written {
public:
    void clear() { tables_.clear(); }

private:
    friend class ArraySection;
    std::map<std::string, std::map<std::string, std::uint64_t>> tables_;
};

/// Arrays that those of a table may be copies of; each may be missing. A copy is written as its kind, with no
/// data.
struct Originals {
    const Counts* counts = nullptr;  ///< kind "counts": the counts of the same save
    const Snapshot* best =
        nullptr;  ///< kind "best": the array of the same name of the best iterate in `memory`
};

// Writing must happen inside a transaction. Reading throws sqlite::Error (SQLITE_CORRUPT) if the rows are not
// those written. `earlier`: of format 1, which had other digests.

void write_record(sqlite::Database& database, const std::string& table, const Snapshot& record,
                  Written& written, const Originals& originals = {});
Snapshot read_record(const sqlite::Database& database, const std::string& table, bool earlier,
                     const Originals& originals = {});

/// Whether arrays of the table are stored as copies of others.
bool has_copies(const sqlite::Database& database, const std::string& table);

void write_counts(sqlite::Database& database, const Counts& counts, Written& written);
/// Fills `counts`, which has the right shape.
void read_counts(const sqlite::Database& database, Counts& counts, bool earlier);

}  // namespace alidade::detail::run_tables
