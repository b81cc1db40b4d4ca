#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "alidade/explore/exploration.hpp"
#include "alidade/explore/explorer.hpp"
#include "alidade/explore/run_contradiction.hpp"
#include "alidade/explore/schedule.hpp"
#include "alidade/model/counts.hpp"
#include "alidade/problem/problem.hpp"
#include "alidade/run/run_refused.hpp"

namespace alidade {

/// What a run was asked to do. Two runs of one problem with equal options are the same run.
struct RunOptions {
    std::string algorithm = "hoeffding";    ///< canonical, as ExplorerOptions has it
    std::string confidence = "regression";  ///< likewise
    double delta = 0.1;
    std::uint64_t seed = 0;
    Schedule schedule;

    bool operator==(const RunOptions&) const = default;
};

/// Where a run stands: enough to go on as if it had never stopped.
struct RunCheckpoint {
    Snapshot memory;  ///< of the exploration: loop and explorer
    Counts counts;    ///< all transitions counted
    /// That the data contradict the model. Once saved it stays: saving none, or another, keeps the first.
    std::optional<RunContradiction> contradiction = {};
};

/// What the last call left behind: the knowledge that is handed over and how it came about.
struct RunResult {
    Snapshot evidence;          ///< of the best iterate; its knowledge is recomputed from this
    std::int64_t episodes = 0;  ///< run in all
    std::int64_t replans = 0;
    double reward_free = 0;                                  ///< the certificate that was reported
    std::string method;                                      ///< the candidate that gave it
    std::vector<std::pair<std::string, double>> candidates;  ///< not clipped at H
    std::string stopped;  ///< "target", "budget" or "interrupted"; "logs": not explored
    Timings timings;
};

/// How a run is opened.
enum class Access {
    /// Takes no lock, makes and changes no file, never waits for the writer; sees what it has saved so far.
    /// Needs
    /// permission to read and nothing else; each call takes a copy of the run in memory.
    read,
    /// The one writer, for as long as the store lives.
    write,
};

/// A run on disk: a folder with `run.sqlite` (WAL mode, one writer). The features travel inside, so a
/// run can be certified when the problem's folder has moved. Every call that writes is one transaction:
/// killed anywhere, nothing acknowledged is lost. Digests tell damage from data: what was not written is
/// not read, but refused with RunRefused, an InvalidArgument that says what kind of fault it is. A run that
/// cannot be written, or a machine that fails (a full disk, an error of the disk), throws std::runtime_error;
/// what was saved before stays.
class RunStore {
public:
    /// Starts a run in a folder, which is made if it does not exist; other files in it are left alone.
    /// `source` is how the user named the problem. Throws RunRefused if the folder holds a run
    /// already or another process is making one there. A run that was cut short here does not exist.
    static RunStore create(const std::filesystem::path& folder, const Problem& problem,
                           const std::string& source, const RunOptions& options);
    /// Opens an existing run. Throws RunRefused naming what is wrong with the folder: no run in it,
    /// damaged, of another program, of a newer version, or (to write) in use by another process.
    static RunStore open(const std::filesystem::path& folder, Access access = Access::write);
    /// Whether the place of a run is taken: something called run.sqlite, a run or not.
    static bool exists(const std::filesystem::path& folder);
    /// Whether run.sqlite is a run by its first bytes, sound or not; remove() deletes nothing else. Throws
    /// RunRefused if they may not be read.
    static bool is_run(const std::filesystem::path& folder);
    /// Deletes the run in the folder, and nothing else in it; nothing if there is none. Throws RunRefused if
    /// another process is writing the run, or if run.sqlite is not a run. Readers do not stand in the way:
    /// what they are reading they read to the end, and notice before the next call.
    static void remove(const std::filesystem::path& folder);

    RunStore(RunStore&&) noexcept;
    RunStore& operator=(RunStore&&) noexcept;
    ~RunStore();

    const std::filesystem::path& folder() const noexcept;
    /// The problem as it was when the run was created, truth and rewards included.
    const Problem& problem() const noexcept;
    /// problem_hash() of it.
    const std::string& problem_hash() const noexcept;
    const std::string& source() const noexcept;
    const RunOptions& options() const noexcept;

    /// Replaces the checkpoint, and the result if there is one to replace it with. Both or neither: a
    /// process killed meanwhile leaves what was saved before. Throws InvalidArgument if the counts are not
    /// of this problem, or the store was opened to read.
    void save(const RunCheckpoint& checkpoint);
    void save(const RunCheckpoint& checkpoint, const RunResult& result);
    /// Saves that the data contradict the model, unless a contradiction was saved before.
    void note(const RunContradiction& found);
    /// What was saved last, also by a writer in another process; nothing if nothing was. A reader's throw
    /// RunRefused if another run has taken this one's place.
    std::optional<RunCheckpoint> checkpoint() const;
    std::optional<RunResult> result() const;

private:
    struct Connection;
    explicit RunStore(std::unique_ptr<Connection> connection);
    std::unique_ptr<Connection> connection_;
};

}  // namespace alidade
