#include "run_tables.hpp"

#include <sqlite3.h>

#include <bit>
#include <cmath>

#include "alidade/error.hpp"
#include "table_digest.hpp"

namespace alidade::detail::run_tables {
namespace {

using sqlite::Database;
using sqlite::Error;
using sqlite::Statement;
using sqlite::ValueType;

constexpr std::string_view array_columns =
    "(name TEXT, kind TEXT, part INTEGER, data BLOB, PRIMARY KEY (kind, name, part))";
constexpr std::string_view value_columns = "(key TEXT PRIMARY KEY, value)";

/// SQLite keeps neither NaN nor, always, the sign of zero.
double storable(double value, std::string_view key) {
    expects(!std::isnan(value), "the run's {} is not a number and cannot be stored", key);
    return value + 0.0;
}

/// One word for a value and its type.
std::int64_t word_of(const Value& value) {
    Digest digest;
    digest.add(static_cast<std::uint64_t>(value.index()));
    if (const auto* text = std::get_if<std::string>(&value))
        digest.add(std::string_view(*text));
    else if (const auto* real = std::get_if<double>(&value))
        digest.add(std::bit_cast<std::uint64_t>(*real + 0.0));
    else
        digest.add(std::get<std::int64_t>(value));
    return std::bit_cast<std::int64_t>(digest.value());
}

void bind_value(Statement& statement, int parameter, const std::string& key, const Value& value) {
    if (const auto* text = std::get_if<std::string>(&value))
        statement.bind(parameter, std::string_view(*text));
    else if (const auto* real = std::get_if<double>(&value))
        statement.bind(parameter, storable(*real, key));
    else
        statement.bind(parameter, std::get<std::int64_t>(value));
}

void insert_values(Database& database, const std::string& table, const Values& values) {
    Statement insert(database, "INSERT OR REPLACE INTO " + table + " VALUES (?, ?)");
    for (const auto& [key, value] : values) {
        insert.bind(1, std::string_view(key));
        bind_value(insert, 2, key, value);
        insert.run();
    }
}

}  // namespace

void damaged(const std::string& table, std::string_view why) {
    throw Error(SQLITE_CORRUPT, fmt::format("table {}: {}", table, why));
}

void TableDigest::write(Database& database, const std::string& table) const {
    Statement insert(database, "INSERT OR REPLACE INTO digests VALUES (?, ?, ?)");
    insert.bind(1, std::string_view(table));
    insert.bind(2, rows_);
    insert.bind(3, std::bit_cast<std::int64_t>(digest_.value()));
    insert.run();
}

void TableDigest::check(const Database& database, const std::string& table) const {
    Statement select(database, "SELECT rows, digest FROM digests WHERE section = ?");
    select.bind(1, std::string_view(table));
    if (!select.step()) damaged(table, "its digest is missing");
    if (rows_ != select.integer(0))
        damaged(table, fmt::format("{} rows instead of {}", rows_, select.integer(0)));
    if (digest_.value() != std::bit_cast<std::uint64_t>(select.integer(1)))
        damaged(table, "its rows are not those that were written");
}

void create(Database& database) {
    database.execute(fmt::format("PRAGMA application_id = {}", application_id));
    mark_format(database);
    for (const char* table : {"meta", "run", "progress", "result"})
        database.execute(fmt::format("CREATE TABLE {} {}", table, value_columns));
    for (const char* table : {"problem", "memory", "knowledge"})
        database.execute(fmt::format("CREATE TABLE {} {}", table, array_columns));
    database.execute(
        "CREATE TABLE counts (step INTEGER, part INTEGER, data BLOB, PRIMARY KEY (step, part));"
        "CREATE TABLE certificate (position INTEGER PRIMARY KEY, candidate TEXT, value REAL);"
        "CREATE TABLE digests (section TEXT PRIMARY KEY, rows INTEGER, digest INTEGER)");
}

void mark_format(Database& database, std::int64_t number) {
    database.execute(fmt::format("PRAGMA user_version = {}", number));
}

std::int64_t pragma(const Database& database, const std::string& name) {
    Statement statement(database, "PRAGMA " + name);
    return statement.step() ? statement.integer(0) : 0;
}

bool written(const Database& database, const std::string& table) {
    Statement select(database, "SELECT 1 FROM digests WHERE section = ?");
    select.bind(1, std::string_view(table));
    if (select.step()) return true;
    if (Statement(database, "SELECT 1 FROM " + table).step()) damaged(table, "its digest is missing");
    return false;
}

bool has_table(const Database& database, const std::string& table) {
    Statement select(database, "SELECT 1 FROM sqlite_master WHERE name = ?");
    select.bind(1, std::string_view(table));
    Statement digest(database, "SELECT 1 FROM digests WHERE section = ?");
    digest.bind(1, std::string_view(table));
    const bool made = select.step(), digested = digest.step();
    if (made != digested)
        damaged(table, made ? "its digest is missing" : "it is missing, but not its digest");
    return made;
}

void add_values_table(Database& database, const std::string& table) {
    database.execute(fmt::format("CREATE TABLE {} {}", table, value_columns));
}

void add_array_table(Database& database, const std::string& table) {
    database.execute(fmt::format("CREATE TABLE {} {}", table, array_columns));
}

void write_values(Database& database, const std::string& table, const Values& values) {
    database.execute("DELETE FROM " + table);
    TableDigest digest;
    insert_values(database, table, values);
    for (const auto& [key, value] : values) digest.add_row(std::string_view(key), word_of(value));
    digest.write(database, table);
}

Values read_values(const Database& database, const std::string& table) {
    TableDigest digest;
    Values values;
    Statement select(database, "SELECT key, value FROM " + table + " ORDER BY key");
    while (select.step()) {
        Value value;
        switch (select.type(1)) {
            case ValueType::integer:
                value = select.integer(1);
                break;
            case ValueType::real:
                value = select.real(1);
                break;
            default:
                value = std::string(select.text(1));
        }
        digest.add_row(select.text(0), word_of(value));
        values.emplace(select.text(0), std::move(value));
    }
    digest.check(database, table);
    return values;
}

void write_candidates(Database& database, const Candidates& candidates) {
    database.execute("DELETE FROM certificate");
    TableDigest digest;
    Statement insert(database, "INSERT INTO certificate VALUES (?, ?, ?)");
    for (std::size_t i = 0; i < candidates.size(); ++i) {
        const auto& [name, value] = candidates[i];
        insert.bind(1, static_cast<std::int64_t>(i));
        insert.bind(2, std::string_view(name));
        insert.bind(3, storable(value, name));
        insert.run();
        digest.add_row(static_cast<std::int64_t>(i), std::string_view(name), word_of(value));
    }
    digest.write(database, "certificate");
}

Candidates read_candidates(const Database& database) {
    TableDigest digest;
    Candidates candidates;
    Statement select(database, "SELECT position, candidate, value FROM certificate ORDER BY position");
    while (select.step()) {
        candidates.emplace_back(select.text(1), select.real(2));
        digest.add_row(select.integer(0), select.text(1), word_of(select.real(2)));
    }
    digest.check(database, "certificate");
    return candidates;
}

void write_meta(Database& database, const Values& values) {
    insert_values(database, "meta", values);
}

double read_meta(const Database& database, const std::string& key) {
    Statement select(database, "SELECT value FROM meta WHERE key = ?");
    select.bind(1, std::string_view(key));
    return select.step() ? select.real(0) : 0;
}

}  // namespace alidade::detail::run_tables
