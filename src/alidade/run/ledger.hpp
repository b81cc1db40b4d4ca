#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "alidade/explore/snapshot.hpp"
#include "alidade/run/ask_tell.hpp"
#include "alidade/run/experiment.hpp"
#include "episode_record.hpp"
#include "sqlite.hpp"

// The ledger: who was given which experiment, and every episode that was told. Runs that only simulate have
// none; with it a run is of format 3. Its tables are, beside those of run_tables.hpp,
//
//   asking(key, value)          goal, whether the system has seeds, the present deployment, the next
//   episode's number deployments(number, first_episode, episodes, policy, target, budget, despite, step,
//   state, action, share, asked, taken)
//                               policy: bytes, or none if it is the one of the deployment before; a
//                               deployment of no episodes is an end: the goal was reached
//   experiments(id, kind, deployment, chunk, attempt, first_episode, wanted, told, state, reason, asked, due,
//   worker) parts(experiment, part, episodes, broken_off, digest, source, worker, told, taken, aside)
//   episodes(experiment, part, piece, records, digest, data)    see episode_record.hpp
//   late(experiment, part, digest, same, worker, told)          answers that came again
//   carried(name, kind, part, data)                             what the run knew before it had a ledger
//
// Times are Unix seconds. Nothing that is counted depends on them, nor on workers: leases may be given out
// too early or too late, and no more.
namespace alidade::detail::ledger {

struct Settings {
    AskGoal goal;
    std::int64_t deployment = 0;  ///< the present one; 0: none yet
    std::int64_t next_episode =
        0;              ///< number of the next episode that will be asked for; none is given twice
    std::string ended;  ///< why the present deployment is an end; else empty
};

/// A row of `deployments`.
struct DeploymentRow {
    std::int64_t number = 0, first_episode = 0, episodes = 0;
    std::optional<std::string> policy;  ///< as bytes; none: that of the deployment before
    AskGoal goal;
    bool despite = false;
    std::optional<ExperimentAim> aim;
    std::int64_t asked = 0;
    bool taken = false;
};

/// A part that was told and that the explorer has not taken up yet.
struct UntakenPart {
    std::int64_t experiment = 0, part = 0;
    std::int64_t deployment = 0;  ///< 0: nobody asked for it

    bool operator==(const UntakenPart&) const = default;
};

// --- Writing, inside a transaction.

/// Makes the tables. `carried`: memory and counts of a run that has some.
void create(sqlite::Database& database, const Settings& settings, const std::optional<Snapshot>& carried);
void write_settings(sqlite::Database& database, const Settings& settings);
void add_deployment(sqlite::Database& database, const DeploymentRow& row);
/// Adds an experiment and returns its number.
std::int64_t add_experiment(sqlite::Database& database, const ExperimentRecord& row, std::int64_t chunk);
/// Gives an experiment to a worker.
void lend(sqlite::Database& database, std::int64_t id, const std::string& worker, std::int64_t now,
          std::int64_t due);
/// Adds a part with its episodes unless it is there: whether it was not. `aside`: not to be counted.
bool add_part(sqlite::Database& database, std::int64_t experiment, const ToldPart& part,
              EpisodeSpool& episodes);
/// Counts the episodes of a part with its experiment and closes that if it is to be: one conditional update.
/// Whether there was room for them.
bool count_told(sqlite::Database& database, std::int64_t id, std::int64_t episodes, bool close,
                const std::string& failed);
void add_late(sqlite::Database& database, std::int64_t id, const ToldPart& part, bool same);
/// The explorer has taken up parts after that deployment.
void take(sqlite::Database& database, std::span<const UntakenPart> parts, std::int64_t deployment);
/// These came too late for the run's sets.
void set_aside(sqlite::Database& database, std::span<const UntakenPart> parts);

// --- Reading. Throws sqlite::Error (SQLITE_CORRUPT) for rows that were never written.

bool exists(const sqlite::Database& database);
Settings read_settings(const sqlite::Database& database);
Snapshot read_carried(const sqlite::Database& database);
std::optional<DeploymentRow> deployment(const sqlite::Database& database, std::int64_t number);
/// The same of one that must be there.
DeploymentRow known_deployment(const sqlite::Database& database, std::int64_t number);
/// The policy of a deployment of some episodes.
Policy policy(const sqlite::Database& database, std::int64_t deployment, const Shape& shape);
std::optional<ExperimentRecord> experiment(const sqlite::Database& database, std::int64_t id);
/// With the chunk that each is an attempt at; parts are left out.
struct Attempt {
    ExperimentRecord record;
    std::int64_t chunk = 0;
};
std::vector<Attempt> attempts(const sqlite::Database& database, std::int64_t deployment);
std::vector<ExperimentRecord> experiments(const sqlite::Database& database);
std::optional<ToldPart> part(const sqlite::Database& database, std::int64_t experiment, std::int64_t part);
/// The experiment that told these episodes without being asked, if one did.
std::optional<std::int64_t> log_of_digest(const sqlite::Database& database, const std::string& digest);
std::vector<UntakenPart> untaken(const sqlite::Database& database);
/// Parts that were taken up after a deployment, whoever asked for them.
std::vector<UntakenPart> taken(const sqlite::Database& database, std::int64_t deployment);
/// Calls `each` with the episodes of a part.
void visit_part(const sqlite::Database& database, std::int64_t experiment, std::int64_t part,
                const std::function<void(const LoggedEpisode&)>& each);
/// Throws unless every episode that was told is there, as it was written.
void check_episodes(const sqlite::Database& database);
std::vector<RepeatedAnswer> repeated(const sqlite::Database& database);

}  // namespace alidade::detail::ledger
