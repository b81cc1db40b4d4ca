#include "run_arrays.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "alidade/error.hpp"
#include "run_tables.hpp"
#include "table_digest.hpp"

namespace alidade::detail::run_tables {

namespace {

using sqlite::Database;
using sqlite::Statement;
using Bytes = std::span<const std::byte>;

static_assert(std::endian::native == std::endian::little,
              "blobs are little endian and are copied as they are");

/// Large enough that rows cost nothing, small enough that a part is often unchanged.
constexpr std::size_t part_bytes = std::size_t{1} << 18;

constexpr std::string_view counts_kind = "counts", best_kind = "best", best_prefix = "best.";

std::uint64_t digest_of(Bytes bytes) {
    Digest digest;
    digest.add(bytes);
    return digest.value();
}

/// Calls `each` with the number and the bytes of every part; an empty array has one empty part.
template <class Each>
void for_parts(Bytes bytes, const Each& each) {
    std::int64_t part = 0;
    do {
        const Bytes piece = bytes.first(std::min(bytes.size(), part_bytes));
        each(part++, piece);
        bytes = bytes.subspan(piece.size());
    } while (!bytes.empty());
}

template <class T>
void append(std::vector<T>& values, Bytes bytes, const std::string& table) {
    if (bytes.size() % sizeof(T) != 0) damaged(table, "an array is cut short");
    const std::size_t before = values.size();
    values.resize(before + bytes.size() / sizeof(T));
    if (!bytes.empty()) std::memcpy(values.data() + before, bytes.data(), bytes.size());
}

}  // namespace

/// The rows of a table as they shall be; `finish` writes those that are not there yet.
class ArraySection {
public:
    using Key = std::variant<std::int64_t, std::string>;

    ArraySection(Database& database, std::string table, Written& written)
        : database_(database), table_(std::move(table)), written_(written.tables_) {}

    void add(std::vector<Key> keys, Bytes piece) {
        Row row{std::move(keys), piece, digest_of(piece), {}};
        for (const Key& key : row.keys)
            row.name += std::holds_alternative<std::string>(key)
                            ? std::get<std::string>(key) + '\0'
                            : std::to_string(std::get<std::int64_t>(key)) + '\0';
        rows_.push_back(std::move(row));
    }

    void finish() {
        std::ranges::sort(rows_, {}, &Row::keys);  // the order is part of the digest
        std::map<std::string, std::uint64_t> now;
        for (const Row& row : rows_) now.emplace(row.name, row.digest);
        auto known = written_.find(table_);
        // Other arrays than before, or more parts: all of them, so that the same rows lie in the same order.
        const bool anew =
            known == written_.end() ||
            !std::ranges::equal(known->second, now, {}, &std::pair<const std::string, std::uint64_t>::first,
                                &std::pair<const std::string, std::uint64_t>::first);
        if (anew) database_.execute("DELETE FROM " + table_);
        TableDigest digest;
        std::optional<Statement> insert;
        for (const Row& row : rows_) {
            for (const Key& key : row.keys)
                std::visit([&](const auto& value) { digest.add(word(value)); }, key);
            digest.add(row.digest);
            digest.end_row();
            if (anew || !is_written(known->second, row)) put(row, insert);
        }
        digest.write(database_, table_);
        written_[table_] = std::move(now);
    }

private:
    struct Row {
        std::vector<Key> keys;
        Bytes piece;
        std::uint64_t digest;
        std::string name;
    };

    static std::int64_t word(std::int64_t value) { return value; }
    static std::string_view word(const std::string& value) { return value; }

    static bool is_written(const std::map<std::string, std::uint64_t>& before, const Row& row) {
        const auto place = before.find(row.name);
        return place != before.end() && place->second == row.digest;
    }

    void put(const Row& row, std::optional<Statement>& insert) {
        if (!insert) {
            std::string marks = "?";
            for (std::size_t i = 0; i < row.keys.size(); ++i) marks += ", ?";
            insert.emplace(database_, "INSERT INTO " + table_ + " VALUES (" + marks +
                                          ") ON CONFLICT DO UPDATE SET data = excluded.data");
        }
        int parameter = 0;
        for (const Key& key : row.keys)
            std::visit([&](const auto& value) { insert->bind(++parameter, word(value)); }, key);
        insert->bind(++parameter, row.piece);
        insert->run();
    }

    Database& database_;
    std::string table_;
    std::map<std::string, std::map<std::string, std::uint64_t>>& written_;
    std::vector<Row> rows_;
};

namespace {

template <class T>
void add_arrays(ArraySection& section, const std::string& kind,
                const std::map<std::string, std::vector<T>>& arrays) {
    for (const auto& [name, values] : arrays)
        for_parts(std::as_bytes(std::span(values)), [&, &name = name](std::int64_t part, Bytes piece) {
            section.add({name, kind, part}, piece);
        });
}

/// The integers of a record that are no copies, and rows for those that are.
std::map<std::string, std::vector<std::int64_t>> add_copies(ArraySection& section, const Snapshot& record,
                                                            const Originals& originals) {
    std::map<std::string, std::vector<std::int64_t>> rest;
    const std::vector<std::int64_t> counts =
        originals.counts == nullptr ? std::vector<std::int64_t>{} : originals.counts->record();
    for (const auto& [name, values] : record.integers) {
        const auto* best = originals.best;
        const auto place = best == nullptr
                               ? std::map<std::string, std::vector<std::int64_t>>::const_iterator{}
                               : best->integers.find(std::string(best_prefix) + name);
        // Short arrays are not worth it.
        const bool large = values.size() > 64;
        if (large && originals.counts != nullptr && values == counts)
            section.add({name, std::string(counts_kind), std::int64_t{0}}, {});
        else if (large && best != nullptr && place != best->integers.end() && place->second == values)
            section.add({name, std::string(best_kind), std::int64_t{0}}, {});
        else
            rest[name] = values;
    }
    return rest;
}

}  // namespace

void write_record(Database& database, const std::string& table, const Snapshot& record, Written& written,
                  const Originals& originals) {
    ArraySection section(database, table, written);
    const auto integers = add_copies(section, record, originals);
    add_arrays(section, "bytes", record.bytes);
    add_arrays(section, "integers", integers);
    add_arrays(section, "numbers", record.numbers);
    section.finish();
}

namespace {

/// The array that a row without data stands for.
const std::vector<std::int64_t>& original_of(std::string_view kind, const std::string& name,
                                             const std::string& table, const Originals& originals,
                                             std::vector<std::int64_t>& scratch) {
    if (kind == counts_kind && originals.counts != nullptr) {
        scratch = originals.counts->record();
        return scratch;
    }
    if (kind == best_kind && originals.best != nullptr) {
        const auto place = originals.best->integers.find(std::string(best_prefix) + name);
        if (place != originals.best->integers.end()) return place->second;
    }
    damaged(table, "an array is a copy of one that is not there");
}

}  // namespace

Snapshot read_record(const Database& database, const std::string& table, bool earlier,
                     const Originals& originals) {
    Statement select(database, "SELECT kind, name, part, data FROM " + table + " ORDER BY " +
                                   (earlier ? "kind, name, part" : "name, kind, part"));
    TableDigest digest;
    Snapshot record;
    std::vector<std::int64_t> scratch;
    while (select.step()) {
        const std::string_view kind = select.text(0);
        const std::string name(select.text(1));
        const Bytes data = select.blob(3);
        if (earlier)
            digest.add_row(kind, std::string_view(name), select.integer(2), data);
        else
            digest.add_row(std::string_view(name), kind, select.integer(2), digest_of(data));
        if (kind == "numbers")
            append(record.numbers[name], data, table);
        else if (kind == "integers")
            append(record.integers[name], data, table);
        else if (kind == "bytes" || earlier)
            append(record.bytes[name], data, table);
        else
            record.integers[name] = original_of(kind, name, table, originals, scratch);
    }
    digest.check(database, table);
    return record;
}

bool has_copies(const Database& database, const std::string& table) {
    return Statement(database, "SELECT 1 FROM " + table + " WHERE kind IN ('counts', 'best')").step();
}

void write_counts(Database& database, const Counts& counts, Written& written) {
    write_values(database, "progress", {{"episodes", counts.episodes()}});
    ArraySection section(database, "counts", written);
    const std::vector<std::int64_t> record = counts.record();
    const auto all = static_cast<std::size_t>(counts.shape().learned_steps() * counts.successors().entries());
    // Step by step; where only the entries that were seen are stored, all steps together as the first.
    const std::size_t each = record.size() == all && all > 0
                                 ? static_cast<std::size_t>(counts.successors().entries())
                                 : record.size();
    for (std::size_t begin = 0; begin < record.size(); begin += each)
        for_parts(std::as_bytes(std::span(record).subspan(begin, each)), [&](std::int64_t part, Bytes piece) {
            section.add({static_cast<std::int64_t>(begin / each), part}, piece);
        });
    section.finish();
}

void read_counts(const Database& database, Counts& counts, bool earlier) {
    const Values progress = read_values(database, "progress");
    const auto episodes = progress.find("episodes");
    if (episodes == progress.end() || !std::holds_alternative<std::int64_t>(episodes->second))
        damaged("progress", "the number of episodes is missing");
    TableDigest digest;
    std::vector<std::int64_t> values;
    Statement select(database, "SELECT step, part, data FROM counts ORDER BY step, part");
    while (select.step()) {
        if (earlier)
            digest.add_row(select.integer(0), select.integer(1), select.blob(2));
        else
            digest.add_row(select.integer(0), select.integer(1), digest_of(select.blob(2)));
        append(values, select.blob(2), "counts");
    }
    digest.check(database, "counts");
    counts.clear();
    try {
        counts.take_record(values);
    } catch (const InvalidArgument&) {
        damaged("counts", "it does not fit the problem");
    }
    counts.add_episodes(std::get<std::int64_t>(episodes->second));
}

}  // namespace alidade::detail::run_tables
