#include <fmt/format.h>

#include <bit>

#include "alidade/error.hpp"
#include "ledger.hpp"
#include "run_arrays.hpp"
#include "run_tables.hpp"
#include "table_digest.hpp"

namespace alidade::detail::ledger {

namespace {

using sqlite::Database;
using sqlite::Statement;
using sqlite::ValueType;

[[noreturn]] void broken_ledger(std::string_view why) {
    run_tables::damaged("experiments", why);
}

template <class T>
T setting(const run_tables::Values& values, const std::string& key) {
    const auto place = values.find(key);
    if (place == values.end() || !std::holds_alternative<T>(place->second))
        run_tables::damaged("asking", fmt::format("\"{}\" is missing", key));
    return std::get<T>(place->second);
}

std::optional<double> real_or_none(const Statement& statement, int column) {
    if (statement.type(column) == ValueType::null) return std::nullopt;
    return statement.real(column);
}

constexpr std::string_view record_columns =
    "id, kind, deployment, attempt, first_episode, wanted, told, state, reason, asked, due, worker, chunk";

ExperimentKind kind_from(std::string_view text) {
    for (const ExperimentKind kind : {ExperimentKind::asked, ExperimentKind::unasked, ExperimentKind::log})
        if (to_string(kind) == text) return kind;
    broken_ledger("a kind that is not known");
}

ExperimentState state_from(std::string_view text) {
    for (const ExperimentState state :
         {ExperimentState::waiting, ExperimentState::open, ExperimentState::told, ExperimentState::failed})
        if (to_string(state) == text) return state;
    broken_ledger("a state that is not known");
}

ExperimentRecord record_from(const Statement& row) {
    ExperimentRecord record;
    record.id = row.integer(0);
    record.kind = kind_from(row.text(1));
    record.deployment = row.integer(2);
    record.attempt = row.integer(3);
    record.first_episode = row.integer(4);
    record.episodes = row.integer(5);
    record.told = row.integer(6);
    record.state = state_from(row.text(7));
    record.reason = row.text(8);
    record.asked = row.integer(9);
    record.due = row.integer(10);
    record.worker = row.text(11);
    return record;
}

constexpr std::string_view part_columns =
    "part, episodes, broken_off, digest, source, worker, told, taken, aside";

ToldPart part_from(const Statement& row) {
    ToldPart part;
    part.part = row.integer(0);
    part.episodes = row.integer(1);
    part.broken_off = row.integer(2);
    part.digest = row.text(3);
    part.source = row.text(4);
    part.worker = row.text(5);
    part.at = row.integer(6);
    if (row.type(7) != ValueType::null) part.taken = row.integer(7);
    part.aside = row.integer(8) != 0;
    return part;
}

std::vector<ToldPart> parts_of(const Database& database, std::int64_t experiment) {
    Statement select(database,
                     fmt::format("SELECT {} FROM parts WHERE experiment = ? ORDER BY part", part_columns));
    select.bind(1, experiment);
    std::vector<ToldPart> parts;
    while (select.step()) parts.push_back(part_from(select));
    return parts;
}

std::vector<UntakenPart> parts_where(const Database& database, const std::string& condition,
                                     std::optional<std::int64_t> value) {
    Statement select(database,
                     "SELECT p.experiment, p.part, e.deployment FROM parts p JOIN experiments e ON e.id = "
                     "p.experiment WHERE " +
                         condition + " ORDER BY p.experiment, p.part");
    if (value) select.bind(1, *value);
    std::vector<UntakenPart> parts;
    while (select.step()) parts.push_back({select.integer(0), select.integer(1), select.integer(2)});
    return parts;
}

bool next_or_damaged(EpisodeBytes& bytes, LoggedEpisode& episode) {
    try {
        return bytes.next(episode);
    } catch (const InvalidArgument& error) {
        run_tables::damaged("episodes", error.what());
    }
}

}  // namespace

bool exists(const Database& database) {
    return run_tables::pragma(database, "user_version") >= run_tables::ledger_format;
}

Settings read_settings(const Database& database) {
    const run_tables::Values values = run_tables::read_values(database, "asking");
    Settings settings;
    settings.goal.episodes = setting<std::int64_t>(values, "budget");
    settings.goal.seeded = setting<std::int64_t>(values, "seeded") != 0;
    if (values.contains("target")) settings.goal.target = setting<double>(values, "target");
    settings.deployment = setting<std::int64_t>(values, "deployment");
    settings.next_episode = setting<std::int64_t>(values, "next_episode");
    settings.ended = setting<std::string>(values, "ended");
    return settings;
}

Snapshot read_carried(const Database& database) {
    return run_tables::read_record(database, "carried", false);
}

std::optional<DeploymentRow> deployment(const Database& database, std::int64_t number) {
    Statement select(database,
                     "SELECT first_episode, episodes, policy, target, budget, despite, step, state, action, "
                     "share, asked, taken FROM deployments WHERE number = ?");
    select.bind(1, number);
    if (!select.step()) return std::nullopt;
    DeploymentRow row;
    row.number = number;
    row.first_episode = select.integer(0);
    row.episodes = select.integer(1);
    if (select.type(2) != ValueType::null) row.policy = std::string(select.text(2));
    row.goal.target = real_or_none(select, 3);
    row.goal.episodes = select.integer(4);
    row.despite = select.integer(5) != 0;
    if (select.type(6) != ValueType::null)
        row.aim = ExperimentAim{select.integer(6), select.integer(7), select.integer(8), select.real(9)};
    row.asked = select.integer(10);
    row.taken = select.integer(11) != 0;
    return row;
}

DeploymentRow known_deployment(const Database& database, std::int64_t number) {
    auto row = deployment(database, number);
    if (!row) run_tables::damaged("deployments", fmt::format("number {} is missing", number));
    return std::move(*row);
}

Policy policy(const Database& database, std::int64_t deployment, const Shape& shape) {
    Statement select(
        database,
        "SELECT policy FROM deployments WHERE number <= ? AND policy IS NOT NULL ORDER BY number "
        "DESC LIMIT 1");
    select.bind(1, deployment);
    if (!select.step()) run_tables::damaged("deployments", "a policy is missing");
    try {
        return policy_from(select.blob(0), shape);
    } catch (const InvalidArgument& error) {
        run_tables::damaged("deployments", error.what());
    }
}

std::optional<ExperimentRecord> experiment(const Database& database, std::int64_t id) {
    Statement select(database, fmt::format("SELECT {} FROM experiments WHERE id = ?", record_columns));
    select.bind(1, id);
    if (!select.step()) return std::nullopt;
    ExperimentRecord record = record_from(select);
    record.parts = parts_of(database, id);
    return record;
}

std::vector<Attempt> attempts(const Database& database, std::int64_t deployment) {
    Statement select(database, fmt::format("SELECT {} FROM experiments WHERE deployment = ? AND kind = "
                                           "'asked' ORDER BY chunk, attempt, id",
                                           record_columns));
    select.bind(1, deployment);
    std::vector<Attempt> found;
    while (select.step()) found.push_back({record_from(select), select.integer(12)});
    return found;
}

std::vector<ExperimentRecord> experiments(const Database& database) {
    Statement select(database, fmt::format("SELECT {} FROM experiments ORDER BY id", record_columns));
    std::vector<ExperimentRecord> found;
    while (select.step()) {
        found.push_back(record_from(select));
        found.back().parts = parts_of(database, found.back().id);
    }
    return found;
}

std::optional<ToldPart> part(const Database& database, std::int64_t experiment, std::int64_t part) {
    Statement select(database,
                     fmt::format("SELECT {} FROM parts WHERE experiment = ? AND part = ?", part_columns));
    select.bind(1, experiment);
    select.bind(2, part);
    if (!select.step()) return std::nullopt;
    return part_from(select);
}

std::optional<std::int64_t> log_of_digest(const Database& database, const std::string& digest) {
    Statement select(database,
                     "SELECT e.id FROM experiments e JOIN parts p ON p.experiment = e.id WHERE p.digest = ? "
                     "AND e.kind <> 'asked' LIMIT 1");
    select.bind(1, std::string_view(digest));
    if (!select.step()) return std::nullopt;
    return select.integer(0);
}

std::vector<UntakenPart> untaken(const Database& database) {
    return parts_where(database, "p.taken IS NULL AND p.aside = 0", std::nullopt);
}

std::vector<UntakenPart> taken(const Database& database, std::int64_t deployment) {
    return parts_where(database, "p.taken = ?", deployment);
}

void visit_part(const Database& database, std::int64_t experiment, std::int64_t part,
                const std::function<void(const LoggedEpisode&)>& each) {
    Statement select(database,
                     "SELECT piece, records, digest, data FROM episodes WHERE experiment = ? AND part = ? "
                     "ORDER BY piece");
    select.bind(1, experiment);
    select.bind(2, part);
    LoggedEpisode episode;
    while (select.step()) {
        const std::int64_t piece = select.integer(0), records = select.integer(1);
        Digest digest;
        for (const std::int64_t word : {experiment, part, piece, records}) digest.add(word);
        digest.add(select.blob(3));
        if (std::bit_cast<std::int64_t>(digest.value()) != select.integer(2))
            run_tables::damaged("episodes", "its rows are not those that were written");
        EpisodeBytes bytes(select.blob(3));
        while (next_or_damaged(bytes, episode)) each(episode);
    }
}

void check_episodes(const Database& database) {
    Statement stored(database, "SELECT rows, digest FROM digests WHERE section = 'episodes'");
    if (!stored.step()) run_tables::damaged("episodes", "its digest is missing");
    Statement select(database, "SELECT digest FROM episodes");
    std::int64_t rows = 0;
    std::uint64_t sum = 0;
    for (; select.step(); ++rows) sum += std::bit_cast<std::uint64_t>(select.integer(0));
    if (rows != stored.integer(0))
        run_tables::damaged("episodes", fmt::format("{} rows instead of {}", rows, stored.integer(0)));
    if (sum != std::bit_cast<std::uint64_t>(stored.integer(1)))
        run_tables::damaged("episodes", "its rows are not those that were written");
}

std::vector<RepeatedAnswer> repeated(const Database& database) {
    Statement select(database, "SELECT experiment, part, same, worker, told FROM late ORDER BY rowid");
    std::vector<RepeatedAnswer> found;
    while (select.step())
        found.push_back({select.integer(0), select.integer(1), select.integer(2) != 0,
                         std::string(select.text(3)), select.integer(4)});
    return found;
}

}  // namespace alidade::detail::ledger
