#include "ledger.hpp"

#include <fmt/format.h>

#include <bit>

#include "alidade/error.hpp"
#include "run_arrays.hpp"
#include "run_tables.hpp"
#include "table_digest.hpp"

namespace alidade::detail::ledger {

namespace {

using sqlite::Database;
using sqlite::Statement;

/// Rows are only ever added to `episodes`, so that the digest of the table is a sum that each adds to.
void add_to_digest(Database& database, std::int64_t rows, std::uint64_t digest) {
    Statement select(database, "SELECT rows, digest FROM digests WHERE section = 'episodes'");
    if (!select.step()) run_tables::damaged("episodes", "its digest is missing");
    const std::int64_t all = select.integer(0) + rows;
    const std::uint64_t sum = std::bit_cast<std::uint64_t>(select.integer(1)) + digest;
    Statement update(database, "UPDATE digests SET rows = ?, digest = ? WHERE section = 'episodes'");
    update.bind(1, all);
    update.bind(2, std::bit_cast<std::int64_t>(sum));
    update.run();
}

void bind_aim(Statement& statement, int first, const std::optional<ExperimentAim>& aim) {
    if (!aim) {
        for (int i = 0; i < 4; ++i) statement.bind_null(first + i);
        return;
    }
    statement.bind(first, static_cast<std::int64_t>(aim->step));
    statement.bind(first + 1, static_cast<std::int64_t>(aim->state));
    statement.bind(first + 2, static_cast<std::int64_t>(aim->action));
    statement.bind(first + 3, aim->share);
}

}  // namespace

void create(Database& database, const Settings& settings, const std::optional<Snapshot>& carried) {
    run_tables::mark_format(database, run_tables::ledger_format);
    run_tables::add_values_table(database, "asking");
    database.execute(
        "CREATE TABLE deployments (number INTEGER PRIMARY KEY, first_episode INTEGER, episodes INTEGER, "
        "policy BLOB, target REAL, budget INTEGER, despite INTEGER, step INTEGER, state INTEGER, action "
        "INTEGER, share REAL, asked INTEGER, taken INTEGER);"
        "CREATE TABLE experiments (id INTEGER PRIMARY KEY, kind TEXT, deployment INTEGER, chunk INTEGER, "
        "attempt INTEGER, first_episode INTEGER, wanted INTEGER, told INTEGER, state TEXT, reason TEXT, "
        "asked INTEGER, due INTEGER, worker TEXT);"
        "CREATE INDEX experiments_of ON experiments (deployment);"
        "CREATE TABLE parts (experiment INTEGER, part INTEGER, episodes INTEGER, broken_off INTEGER, digest "
        "TEXT, source TEXT, "
        "worker TEXT, told INTEGER, taken INTEGER, aside INTEGER, PRIMARY KEY (experiment, part));"
        "CREATE INDEX parts_taken ON parts (taken);"
        "CREATE TABLE episodes (experiment INTEGER, part INTEGER, piece INTEGER, records INTEGER, digest "
        "INTEGER, data BLOB, PRIMARY KEY (experiment, part, piece));"
        "CREATE TABLE late (experiment INTEGER, part INTEGER, digest TEXT, same INTEGER, worker TEXT, told "
        "INTEGER);"
        "INSERT INTO digests VALUES ('episodes', 0, 0)");
    run_tables::add_array_table(database, "carried");
    run_tables::Written written;
    run_tables::write_record(database, "carried", carried.value_or(Snapshot{}), written);
    write_settings(database, settings);
}

void write_settings(Database& database, const Settings& settings) {
    run_tables::Values values{{"budget", settings.goal.episodes},
                              {"seeded", std::int64_t{settings.goal.seeded ? 1 : 0}},
                              {"deployment", settings.deployment},
                              {"next_episode", settings.next_episode},
                              {"ended", settings.ended}};
    if (settings.goal.target) values["target"] = *settings.goal.target;
    run_tables::write_values(database, "asking", values);
}

void add_deployment(Database& database, const DeploymentRow& row) {
    Statement insert(database, "INSERT INTO deployments VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 0)");
    insert.bind(1, row.number);
    insert.bind(2, row.first_episode);
    insert.bind(3, row.episodes);
    if (row.policy) insert.bind(4, std::as_bytes(std::span(*row.policy)));
    if (row.goal.target) insert.bind(5, *row.goal.target);
    insert.bind(6, row.goal.episodes);
    insert.bind(7, std::int64_t{row.despite ? 1 : 0});
    bind_aim(insert, 8, row.aim);
    insert.bind(12, row.asked);
    insert.run();
}

std::int64_t add_experiment(Database& database, const ExperimentRecord& row, std::int64_t chunk) {
    Statement insert(
        database,
        "INSERT INTO experiments (kind, deployment, chunk, attempt, first_episode, wanted, told, "
        "state, reason, asked, due, worker) VALUES (?, ?, ?, ?, ?, ?, 0, ?, '', ?, ?, ?) "
        "RETURNING id");
    const std::string kind = to_string(row.kind), state = to_string(row.state);
    insert.bind(1, std::string_view(kind));
    insert.bind(2, row.deployment);
    insert.bind(3, chunk);
    insert.bind(4, row.attempt);
    insert.bind(5, row.first_episode);
    insert.bind(6, row.episodes);
    insert.bind(7, std::string_view(state));
    insert.bind(8, row.asked);
    insert.bind(9, row.due);
    insert.bind(10, std::string_view(row.worker));
    ensures(insert.step(), "an experiment was added without a number");
    const std::int64_t id = insert.integer(0);
    insert.step();
    return id;
}

void lend(Database& database, std::int64_t id, const std::string& worker, std::int64_t now,
          std::int64_t due) {
    Statement update(database,
                     "UPDATE experiments SET state = 'open', worker = ?, asked = ?, due = ? WHERE id = ?");
    update.bind(1, std::string_view(worker));
    update.bind(2, now);
    update.bind(3, due);
    update.bind(4, id);
    update.run();
}

bool add_part(Database& database, std::int64_t experiment, const ToldPart& part, EpisodeSpool& episodes) {
    Statement insert(database,
                     "INSERT INTO parts VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING");
    insert.bind(1, experiment);
    insert.bind(2, part.part);
    insert.bind(3, part.episodes);
    insert.bind(4, part.broken_off);
    insert.bind(5, std::string_view(part.digest));
    insert.bind(6, std::string_view(part.source));
    insert.bind(7, std::string_view(part.worker));
    insert.bind(8, part.at);
    if (part.taken) insert.bind(9, *part.taken);
    insert.bind(10, std::int64_t{part.aside ? 1 : 0});
    insert.run();
    if (database.changes() == 0) return false;
    Statement put(database, "INSERT INTO episodes VALUES (?, ?, ?, ?, ?, ?)");
    std::int64_t piece = 0;
    std::uint64_t sum = 0;
    episodes.pieces([&](std::int64_t records, std::span<const std::byte> bytes) {
        Digest digest;
        for (const std::int64_t word : {experiment, part.part, piece, records}) digest.add(word);
        digest.add(bytes);
        put.bind(1, experiment);
        put.bind(2, part.part);
        put.bind(3, piece++);
        put.bind(4, records);
        put.bind(5, std::bit_cast<std::int64_t>(digest.value()));
        put.bind(6, bytes);
        put.run();
        sum += digest.value();
    });
    add_to_digest(database, piece, sum);
    return true;
}

bool count_told(Database& database, std::int64_t id, std::int64_t episodes, bool close,
                const std::string& failed) {
    Statement update(
        database,
        "UPDATE experiments SET told = told + ?1, reason = CASE WHEN ?4 = '' THEN reason ELSE ?4 "
        "END, state = CASE WHEN told + ?1 = wanted THEN 'told' WHEN ?4 <> '' THEN 'failed' WHEN "
        "?3 THEN 'told' ELSE state END WHERE id = ?2 AND told + ?1 <= wanted");
    update.bind(1, episodes);
    update.bind(2, id);
    update.bind(3, std::int64_t{close ? 1 : 0});
    update.bind(4, std::string_view(failed));
    update.run();
    return database.changes() == 1;
}

void add_late(Database& database, std::int64_t id, const ToldPart& part, bool same) {
    Statement insert(database, "INSERT INTO late VALUES (?, ?, ?, ?, ?, ?)");
    insert.bind(1, id);
    insert.bind(2, part.part);
    insert.bind(3, std::string_view(part.digest));
    insert.bind(4, std::int64_t{same ? 1 : 0});
    insert.bind(5, std::string_view(part.worker));
    insert.bind(6, part.at);
    insert.run();
}

void take(Database& database, std::span<const UntakenPart> parts, std::int64_t deployment) {
    Statement update(database, "UPDATE parts SET taken = ? WHERE experiment = ? AND part = ?");
    for (const UntakenPart& part : parts) {
        update.bind(1, deployment);
        update.bind(2, part.experiment);
        update.bind(3, part.part);
        update.run();
    }
    Statement close(database, "UPDATE deployments SET taken = 1 WHERE number = ?");
    close.bind(1, deployment);
    close.run();
}

void set_aside(Database& database, std::span<const UntakenPart> parts) {
    Statement update(database, "UPDATE parts SET aside = 1 WHERE experiment = ? AND part = ?");
    for (const UntakenPart& part : parts) {
        update.bind(1, part.experiment);
        update.bind(2, part.part);
        update.run();
    }
}

}  // namespace alidade::detail::ledger
