#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sqlite.hpp"

// The tables of run.sqlite. Arrays are blobs of little-endian elements: IEEE doubles, 64-bit two's
// complement integers, or bytes, in parts of 256 KiB; see run_arrays.hpp. The tables are
//
//   meta(key, value)                    when the run was created and last saved, seconds spent
//   run(key, value)                     what was asked for: source, problem hash, options
//   problem(name, kind, part, data)     the problem, see problem_record.hpp
//   progress(key, value)                episodes counted
//   counts(step, part, data)            one integer for each entry of the feature map
//   memory(name, kind, part, data)      the exploration's memory
//   result(key, value)                  episodes, replans, reward_free, method, stopped
//   knowledge(name, kind, part, data)   the evidence of the best iterate
//   certificate(position, candidate, value)
//   contradiction(key, value)           what contradicts the model; the table is there if something does
//   kept(key, value)                    plans that are kept, see kept_plans.hpp; there if some are
//   kept_arrays(name, kind, part, data) their rewards and policies
//   digests(section, rows, digest)      of every table above but meta
//
// Times are in meta only: the same run writes the same rows to all other tables.
namespace alidade::detail::run_tables {

constexpr std::int64_t application_id = 0x414C4944;  ///< "ALID", in SQLite's header
constexpr std::int64_t format = 2;                   ///< SQLite's user_version; raised when tables change
constexpr std::int64_t ledger_format = 3;            ///< the same with the tables of ledger.hpp
constexpr std::int64_t first_format = 1;             ///< the earliest that is read; see earlier_format.hpp

using Value = std::variant<std::int64_t, double, std::string>;
using Values = std::map<std::string, Value>;
using Candidates = std::vector<std::pair<std::string, double>>;

/// Makes the tables in an empty database.
void create(sqlite::Database& database);
/// The number of a pragma: application_id, user_version.
std::int64_t pragma(const sqlite::Database& database, const std::string& name);
/// Says that the tables are of the present format, or of another one.
void mark_format(sqlite::Database& database, std::int64_t number = format);
/// Whether the table was ever written.
bool written(const sqlite::Database& database, const std::string& table);
/// Whether a table is there that not every run has. It is made only when it is written first, so that a run
/// without it is the same bytes as before there were any.
bool has_table(const sqlite::Database& database, const std::string& table);
/// Makes such a table, of values or of arrays, to be written.
void add_values_table(sqlite::Database& database, const std::string& table);
void add_array_table(sqlite::Database& database, const std::string& table);

// Writing replaces the table's rows and must happen inside a transaction. Reading throws sqlite::Error
// (SQLITE_CORRUPT) if the rows are not those written.

void write_values(sqlite::Database& database, const std::string& table, const Values& values);
Values read_values(const sqlite::Database& database, const std::string& table);

void write_candidates(sqlite::Database& database, const Candidates& candidates);
Candidates read_candidates(const sqlite::Database& database);

/// Sets keys of `meta`, which has no digest; other keys stay.
void write_meta(sqlite::Database& database, const Values& values);
/// A number of `meta`; zero if it is not there.
double read_meta(const sqlite::Database& database, const std::string& key);

}  // namespace alidade::detail::run_tables
