#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "alidade/environment/system.hpp"
#include "alidade/explore/exploration.hpp"
#include "alidade/files/episode_file.hpp"
#include "alidade/run/experiment.hpp"
#include "alidade/run/run.hpp"

namespace alidade {

namespace detail {
class ExperimentDesk;
}

/// What a run's experiments are to lead to. May be changed between experiments.
struct AskGoal {
    std::int64_t episodes = most_episodes;  ///< budget, 1 to most_episodes
    std::optional<double> target;  ///< no more experiments from the first certificate of at most this
    bool seeded = false;           ///< the system's episodes are fixed by seed and number

    bool operator==(const AskGoal&) const = default;
};

/// How experiments are given out.
struct AskOptions {
    std::int64_t experiments = 1;  ///< how many at most; 0: takes up what was told, and gives out nothing
    std::int64_t chunk =
        0;  ///< episodes of one experiment at most, where a deployment is new; 0: a sixteenth of it
    std::int64_t lease_seconds = 86'400;  ///< until it may be given to somebody else
    std::string worker;                   ///< who asks
    bool own_again = false;  ///< gives out what this worker has already: it was stopped and goes on
    Threads threads;         ///< results do not depend on them
    bool despite_contradiction = false;  ///< go on when the data contradict the model
};

/// What asking gave.
struct Asked {
    std::vector<Experiment> experiments;
    /// "target" or "budget" if nothing is left to be asked; empty where others are at it: ask later.
    std::string ended;
    std::int64_t with_others = 0;  ///< experiments of the present deployment that others have
    std::int64_t next_due = 0;     ///< Unix time at which the first of them may be given out again; 0: none
};

/// How an answer is told.
struct TellOptions {
    std::int64_t part = 0;                          ///< which part of the answer, from 0; each is told once
    bool whole = true;                              ///< no further parts follow, though episodes be missing
    std::string failed;                             ///< why the rest will never come; empty: it did not fail
    std::string worker;                             ///< who ran it
    std::string source;                             ///< where the episodes come from: a file's name
    ExperimentKind kind = ExperimentKind::unasked;  ///< of episodes that nobody asked for: unasked, or log
};

/// What became of an answer.
struct Told {
    std::int64_t id = 0;        ///< of the experiment; a new one for data that nobody asked for
    bool repeated = false;      ///< told before, and equal: nothing has changed
    std::int64_t episodes = 0;  ///< in this answer
    std::int64_t transitions = 0;
    std::int64_t off_policy = 0;  ///< actions that were not the policy's; the bounds hold for any
    bool aside = false;           ///< kept, but too late to be counted by these sets
    std::optional<RunContradiction>
        contradiction;  ///< a transition that no base model can produce, now stored
};

/// Whether the knowledge of a run follows from its stored episodes.
struct Replay {
    std::int64_t deployments = 0, episodes = 0;
    /// What is not as stored: "policy of deployment 3", "counts", "memory best.counts"...; none: every byte
    /// is.
    std::vector<std::string> differences;
};

/// One stored episode.
struct StoredEpisode {
    std::int64_t experiment = 0, part = 0;
    std::int64_t number = 0;  ///< in the run where it was asked for, else within its experiment
    ExperimentKind kind = ExperimentKind::asked;
    std::optional<std::uint64_t> seed;
    std::string source, worker;
    std::int64_t at = 0;  ///< Unix time when it was told
    LoggedEpisode episode;
};

/// A run whose experiments somebody else runs: ask for some, run them, tell what was seen. Every episode is
/// kept. Many processes may do so on one run at once, each with a Run of its own, opened with Access::share;
/// every change is one transaction, on disk when the call returns. docs/ask-and-tell.md says why the bounds
/// hold.
class AskTell {
public:
    /// `run` need not outlive this. One that was opened to read can be looked at, and no more.
    explicit AskTell(const Run& run);
    ~AskTell();
    AskTell(AskTell&&) noexcept;
    AskTell& operator=(AskTell&&) noexcept;

    /// Makes the run one whose episodes are kept, or changes its goal. What it knows already, it keeps.
    /// Throws InvalidArgument if `seeded` is not what it was.
    void prepare(const AskGoal& goal);
    AskGoal goal() const;

    /// The next experiments. Takes up what was told, plans and certifies where that is due. Throws
    /// ModelContradiction as Exploration::ask does, after it is stored.
    Asked ask(const AskOptions& options = {});
    /// An experiment that was given out. Throws InvalidArgument if there is none of that number.
    Experiment experiment(std::int64_t id) const;
    /// What an experiment showed. Equal to what was told before: nothing happens. Throws InvalidArgument if
    /// it is not, if there are more episodes than were wanted, or an episode does not fit the problem; then
    /// nothing is stored.
    Told tell(std::int64_t id, const EpisodeSource& episodes, const TellOptions& options = {});
    /// Episodes that nobody asked for. Throws InvalidArgument where the run's sets do not hold for them.
    Told tell_unasked(const EpisodeSource& episodes, const TellOptions& options = {});

    /// Why the run's sets cannot count what nobody asked for, nor an answer that comes when its deployment is
    /// over, which is then set aside; empty: they can.
    std::string late_refusal() const;

    LedgerStatus status() const;
    std::vector<ExperimentRecord> log() const;
    /// Every stored episode, by experiment and part.
    void visit(const std::function<void(const StoredEpisode&)>& each) const;
    /// Computes all knowledge again from the stored episodes and compares it with what is stored.
    Replay replay(Threads threads = {}) const;

    /// Instead of the system's clock, in seconds; for tests.
    void set_clock(std::function<std::int64_t()> clock);

private:
    std::unique_ptr<detail::ExperimentDesk> desk_;
};

}  // namespace alidade
