#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "alidade/run/run_record.hpp"
#include "sqlite.hpp"

namespace alidade::detail {

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
    /// `at_hand` as Run::open has it. One of those who share it waits so long for whoever has it alone, and
    /// for the transactions of others.
    static RunStore open(const std::filesystem::path& folder, Access access = Access::write,
                         std::chrono::milliseconds patience = default_patience,
                         const SharedFeatures& at_hand = nullptr);
    static constexpr std::chrono::milliseconds default_patience{30'000};
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
    /// The same with more in the same transaction: `more` comes first, and if it throws nothing is saved.
    void save(const RunCheckpoint& checkpoint, const RunResult* result,
              const std::function<void(sqlite::Database&)>& more);
    /// All that `work` writes, on disk when this returns, or nothing. Throws InvalidArgument if the store was
    /// opened to read.
    void transact(const std::function<void(sqlite::Database&)>& work);
    /// Reads one state of the run.
    void inspect(const std::function<void(const sqlite::Database&)>& work) const;
    /// The same of a state that is being inspected.
    std::optional<RunCheckpoint> checkpoint_in(const sqlite::Database& database) const;
    std::optional<RunResult> result_in(const sqlite::Database& database) const;
    /// From now on what is saved outlives a failure of power, too, not only that of the process: for episodes
    /// that cannot be had again.
    void synchronise();
    /// Whether it may be changed.
    bool writable() const noexcept;
    /// Saves that the data contradict the model, unless a contradiction was saved before.
    void note(const RunContradiction& found);
    /// Keeps plans, all or none, in place of those that have their names. Throws InvalidArgument if one is
    /// not of this problem.
    void keep(std::span<const KeptPlan> plans);
    std::vector<KeptPlan> kept_plans() const;
    /// What was saved last, also by a writer in another process; nothing if nothing was. A reader's throw
    /// RunRefused if another run has taken this one's place.
    std::optional<RunCheckpoint> checkpoint() const;
    std::optional<RunResult> result() const;

private:
    struct Connection;
    explicit RunStore(std::unique_ptr<Connection> connection);
    std::unique_ptr<Connection> connection_;
};

}  // namespace alidade::detail
