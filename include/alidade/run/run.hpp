#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alidade/certify/knowledge.hpp"
#include "alidade/environment/deployment.hpp"
#include "alidade/explore/exploration.hpp"
#include "alidade/files/episode_file.hpp"
#include "alidade/model/threads.hpp"
#include "alidade/run/run_record.hpp"

namespace alidade {

class AskTell;
class System;

namespace detail {
class RunStore;
}

/// RunResult::stopped of a run that was learned from logs instead of explored.
inline constexpr std::string_view stopped_at_logs = "logs";

/// How far a run is to go.
struct RunGoal {
    std::int64_t episodes = 100'000;     ///< budget, 1 to most_episodes
    std::optional<double> target;        ///< stop at the first reward-free certificate of at most this
    Threads threads;                     ///< results do not depend on them
    bool despite_contradiction = false;  ///< go on when the data contradict the model
    std::function<bool(const Knowledge&)> enough = {};  ///< ExploreOptions::enough
};

/// Who watches a run; everything may be left empty.
struct RunWatch {
    std::function<bool()> interrupted;             ///< asked before every batch; true stops the run
    std::function<void(std::int64_t)> resumed;     ///< told how many episodes the run has already, if any
    std::function<void(const Progress&)> observe;  ///< told after every batch; must be quick
    /// Told false before anything is made that is not on disk yet, true when everything is: then the process
    /// may be killed, and nothing is lost.
    std::function<void(bool)> stored;
};

/// What an exploration left behind.
struct ExploredRun {
    Stopped stopped = Stopped::budget;
    Knowledge knowledge;
    RunResult result;  ///< as it was stored
    std::vector<TracePoint> trace;
    std::int64_t replan_bound = 0;  ///< policies that the schedule could have computed at most
    Counts counts;                  ///< all transitions counted
    std::optional<RunContradiction> contradiction;  ///< the first that the run has stored
};

/// What a run knows, and the result that it was computed again from.
struct LoadedRun {
    Knowledge knowledge;
    std::optional<RunResult> result;  ///< none of a run that has not ended
};

struct LearnOptions {
    Threads threads;            ///< results do not depend on them
    bool replace = false;       ///< a run that is in the folder
    std::string worker = {};    ///< who learns; kept with the episodes
    AssumedError assumed = {};  ///< of a new run: how far the truth may be off, where not as the problem says
};

/// Calls its argument with every episode there is to tell, in order.
using EpisodeSource = std::function<void(const std::function<void(const LoggedEpisode&)>&)>;

/// A log of episodes.
struct EpisodeLog {
    std::string name;  ///< its file
    EpisodeSource episodes;
};

struct LearnedRun;

/// A run: what was asked for, what was counted and what is known, in a folder. Nothing that was counted is
/// lost, and a run that was stopped goes on as if it had not been.
class Run {
public:
    /// Starts a run in a folder, which is made if it does not exist; other files in it are left alone.
    /// `source` is how the user named the problem. Algorithm and confidence sets are spelled out in one way
    /// first. Throws InvalidArgument if they are unknown or refuse the problem, RunRefused if the folder
    /// holds a run already or another process is making one there.
    static Run create(const std::filesystem::path& folder, const Problem& problem, const std::string& source,
                      RunOptions options);
    /// Opens a run: to go on with it, or to read it, beside a writer too. Throws RunRefused naming what is
    /// wrong with the folder. `at_hand` are features that are in memory already: a run that does not hold its
    /// own takes them if they are the same, instead of loading them a second time.
    static Run open(const std::filesystem::path& folder, Access access = Access::write,
                    const SharedFeatures& at_hand = nullptr);
    /// Whether the place of a run is taken: something called run.sqlite, a run or not.
    static bool exists(const std::filesystem::path& folder);
    /// Whether run.sqlite is a run by its first bytes, sound or not; remove() deletes nothing else. Throws
    /// RunRefused if they may not be read.
    static bool is_run(const std::filesystem::path& folder);
    /// Deletes the run in the folder, and nothing else in it; nothing if there is none. Throws RunRefused if
    /// another process is writing the run, or if run.sqlite is not a run.
    static void remove(const std::filesystem::path& folder);

    /// A run of data that somebody else collected, and what they teach. Nothing is touched before that is
    /// computed; then `replace` removes a run that is in the folder. Throws InvalidArgument if the likelihood
    /// gives no bound, and as `create` does.
    static LearnedRun learn(const std::filesystem::path& folder, const Problem& problem,
                            const std::string& source, double delta, const Counts& counts,
                            const LearnOptions& options = {});

    /// The same with every episode kept. A run that is in the folder, of logs too, is added to, if it is not
    /// replaced: logs whose episodes it has already are left out, and named in LearnedRun::known. Throws
    /// InvalidArgument if it was explored: AskTell::tell_unasked is for that.
    static LearnedRun learn(const std::filesystem::path& folder, const Problem& problem,
                            const std::string& source, double delta, std::span<const EpisodeLog> logs,
                            const LearnOptions& options = {});

    Run(Run&&) noexcept;
    Run& operator=(Run&&) noexcept;
    ~Run();

    const std::filesystem::path& folder() const noexcept;
    /// The problem as it was when the run was created, truth and rewards included.
    const Problem& problem() const noexcept;
    const RunOptions& options() const noexcept;
    /// How the user named the problem.
    const std::string& source() const noexcept;
    /// problem_hash() of the problem.
    const std::string& problem_hash() const noexcept;
    /// What was saved last, also by a writer in another process; nothing if nothing was.
    std::optional<RunCheckpoint> checkpoint() const;
    std::optional<RunResult> result() const;

    /// Whether every episode is kept, and who ran it: AskTell.
    bool keeps_episodes() const;

    /// Explores until the goal, an interruption, or a contradiction, which is stored and thrown as
    /// ModelContradiction; so is one that the run has stored already, unless the goal is to go on despite it.
    /// Stores on the way, at least a second apart and before work that takes long, and at the end; also what
    /// a system has reported that then cannot go on, which is thrown as SystemFailed.
    ExploredRun explore(Deployer& system, const RunGoal& goal, const RunWatch& watch = {});
    /// The same with a system that reports every episode, each of which is kept: AskTell, asked and told by
    /// this loop. What was told stays told: killed anywhere, a system with seeds leads to the same bytes.
    /// Throws InvalidArgument if somebody else has an experiment of this run and its time is not over, and
    /// what the system throws.
    ExploredRun explore(System& system, const RunGoal& goal, const RunWatch& watch = {});
    /// The same with the problem's own system, simulated. Throws InvalidArgument if it is not known.
    ExploredRun explore(const RunGoal& goal, const RunWatch& watch = {});

    /// What the run knows, computed again from the stored evidence; of a run that was killed, from its last
    /// checkpoint. Nothing if nothing was stored yet. `assumed`: under other assumptions than the run's, of
    /// sets that hold for any of them; throws InvalidArgument of others, and ModelContradiction where the
    /// data refute them.
    std::optional<LoadedRun> load(Threads threads = {}, const AssumedError& assumed = {}) const;

    /// Stores that the data contradict the model, unless a contradiction is stored already.
    void note(const RunContradiction& found);

    /// Keeps plans with the run, all or none, in place of those that have their names. Throws InvalidArgument
    /// if a reward or policy has another shape than the problem, or a name is none.
    void keep(std::span<const KeptPlan> plans);
    /// The plans that are kept, by their names.
    std::vector<KeptPlan> kept_plans() const;

private:
    friend class AskTell;
    explicit Run(detail::RunStore store);

    std::shared_ptr<detail::RunStore> store_;
};

/// A run that was learned from data.
struct LearnedRun {
    Run run;
    Knowledge knowledge;
    RunResult result;                     ///< as it was stored
    std::vector<std::string> known = {};  ///< logs that it had already
};

/// The explorer's options of a run.
ExplorerOptions explorer_options(const RunOptions& options, Threads threads);

}  // namespace alidade
