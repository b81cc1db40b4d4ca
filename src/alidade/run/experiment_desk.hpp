#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "alidade/run/ask_tell.hpp"
#include "ledger.hpp"
#include "run_store.hpp"

namespace alidade::detail {

/// Gives out experiments and takes in what they showed; what AskTell does.
///
/// A deployment is one policy for a number of episodes, cut into chunks, each of which is an experiment, or
/// several where one is late. It ends when every chunk is told, or has failed; only then the explorer takes
/// up its episodes, all at once, so that nothing depends on which of them was quick. Then the next one is
/// planned.
class ExperimentDesk {
public:
    explicit ExperimentDesk(std::shared_ptr<RunStore> store);

    void prepare(const AskGoal& goal);
    AskGoal goal() const;
    Asked ask(const AskOptions& options);
    Experiment experiment(std::int64_t id) const;
    Told tell(std::int64_t id, const EpisodeSource& episodes, const TellOptions& options);
    Told tell_unasked(const EpisodeSource& episodes, const TellOptions& options);
    std::string unasked_refusal() const;
    LedgerStatus status() const;
    std::vector<ExperimentRecord> log() const;
    void visit(const std::function<void(const StoredEpisode&)>& each) const;
    Replay replay(Threads threads) const;
    /// The exploration as it was when the present deployment was asked for.
    Exploration& exploration(Threads threads);

    std::function<std::int64_t()> clock;  ///< Unix seconds

private:
    struct Intake;
    struct Answer;

    const Problem& problem() const { return store_->problem(); }
    /// From a chunk that nobody has, or that has been away for too long, to an experiment; none if all is
    /// closed.
    std::optional<Asked> hand_out(sqlite::Database& database, const AskOptions& options) const;
    std::optional<Experiment> lend(sqlite::Database& database, const ledger::Attempt& last, bool seeded,
                                   const AskOptions& options) const;
    Experiment complete(const sqlite::Database& database, const ExperimentRecord& record, bool seeded) const;
    /// Takes up what was told and plans the next deployment. Others may be as quick: then nothing is changed.
    void advance(const AskOptions& options);
    Intake take_in() const;
    void settle(const Intake& intake, Exploration& exploration, const std::optional<Deployment>& next,
                const AskOptions& options);
    void add_chunks(sqlite::Database& database, const ledger::DeploymentRow& row,
                    const AskOptions& options) const;
    Answer read_answer(const EpisodeSource& episodes, const Policy* policy) const;
    void require_turn(const sqlite::Database& database, const Intake& intake) const;
    void require_ledger(const sqlite::Database& database) const;

    std::shared_ptr<RunStore> store_;
    /// As the present deployment began; kept so that who asks again and again need not read it back.
    std::optional<Exploration> exploration_;
    std::int64_t exploration_at_ = -1;  // that deployment
};

/// Counts the episodes of a part. One with a transition that no base model can produce counts as one without
/// transitions, and the first such transition is `found`; `before`: episodes counted elsewhere.
void count_part(const sqlite::Database& database, const ledger::UntakenPart& part, Counts& counts,
                std::int64_t before, std::optional<RunContradiction>& found);

/// What a run knew before it had a ledger, for a replay.
std::optional<Snapshot> carried_from(const std::optional<RunCheckpoint>& checkpoint);

/// Episodes that nobody asked for.
struct ForeignEpisodes {
    ExperimentKind kind = ExperimentKind::unasked;
    std::string source, worker;
    std::int64_t at = 0;
    std::optional<std::int64_t> taken;  ///< if they are taken up already
};
/// Adds them unless the same episodes were added before: the experiment, and whether they were.
std::pair<std::int64_t, bool> add_foreign(sqlite::Database& database, const ForeignEpisodes& entry,
                                          EpisodeSpool& episodes);

/// An exploration as it was before the run's first deployment, or as a checkpoint has it. Of a run that was
/// only learned from logs there is no memory: what was counted is then in `unasked`, to be told.
struct Beginning {
    Exploration exploration;
    Counts unasked;
};
Beginning begin_exploration(const Problem& problem, const RunOptions& options, Threads threads,
                            const std::optional<RunCheckpoint>& checkpoint);

}  // namespace alidade::detail
