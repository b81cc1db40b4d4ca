#include "desk_turn.hpp"

#include <algorithm>
#include <utility>

#include "alidade/error.hpp"
#include "run_result.hpp"

namespace alidade::detail {

namespace {

/// Somebody else took the turn meanwhile.
struct TurnTaken {};

std::vector<ledger::UntakenPart> parts_of_deployment(const std::vector<ledger::UntakenPart>& parts,
                                                     std::int64_t deployment) {
    std::vector<ledger::UntakenPart> own;
    std::ranges::copy_if(parts, std::back_inserter(own),
                         [&](const ledger::UntakenPart& part) { return part.deployment == deployment; });
    return own;
}

}  // namespace

Beginning begin_exploration(const Problem& problem, const RunOptions& options, Threads threads,
                            const std::optional<RunCheckpoint>& checkpoint) {
    const Task task = task_of(problem, options);
    Beginning beginning{Exploration(task, explorer_options(options, threads)),
                        Counts(problem.shared_successors(), problem.shape().horizon, task.elsewhere())};
    if (!checkpoint) return beginning;
    if (checkpoint->memory == Snapshot{})
        beginning.unasked = checkpoint->counts;
    else
        beginning.exploration.restore(checkpoint->memory, checkpoint->counts);
    return beginning;
}

void count_part(const sqlite::Database& database, const ledger::UntakenPart& part, Counts& counts,
                std::int64_t before, std::optional<RunContradiction>& found) {
    ledger::visit_part(database, part.experiment, part.part, [&](const LoggedEpisode& episode) {
        try {
            counts.add(episode.states, episode.actions, episode.times);
        } catch (const ImpossibleTransition& error) {
            // As one without transitions, as where it is seen at once.
            counts.add_episodes(episode.times);
            if (!found) found = impossible_transition(error, before + counts.episodes());
        }
    });
}

ExperimentDesk::Intake ExperimentDesk::take_in() const {
    const Counts none(problem().shared_successors(), problem().shape().horizon,
                      task_of(problem(), store_->options()).elsewhere());
    Intake intake{{}, {}, {}, {}, {}, none, none, {}};
    store_->inspect([&](const sqlite::Database& database) {
        intake.settings = ledger::read_settings(database);
        intake.row = ledger::deployment(database, intake.settings.deployment);
        intake.parts = ledger::untaken(database);
        if (!exploration_ || exploration_at_ != intake.settings.deployment) {
            intake.checkpoint = store_->checkpoint_in(database);
            if (const auto result = store_->result_in(database)) intake.spent = result->timings;
        }
        const std::int64_t before = intake.checkpoint ? intake.checkpoint->counts.episodes()
                                    : exploration_    ? exploration_->explorer().episodes()
                                                      : 0;
        for (const ledger::UntakenPart& part : intake.parts) {
            const bool own = intake.row && part.deployment == intake.row->number;
            count_part(database, part, own ? intake.asked : intake.unasked, before, intake.found);
        }
    });
    return intake;
}

Exploration& ExperimentDesk::exploration(Threads threads) {
    if (!exploration_) {
        const Intake intake = take_in();
        exploration_ =
            begin_exploration(problem(), store_->options(), threads, intake.checkpoint).exploration;
        exploration_at_ = intake.settings.deployment;
    }
    return *exploration_;
}

void ExperimentDesk::advance(const AskOptions& options) {
    Intake intake = take_in();
    const bool despite = options.despite_contradiction;
    const auto known = intake.checkpoint ? intake.checkpoint->contradiction : std::nullopt;
    if (known && !despite && known->kind != ContradictionKind::impossible_transition)
        throw ModelContradiction(known->what);
    // Taken away: what fails on the way leaves it half told.
    std::optional<Exploration> kept;
    if (exploration_ && exploration_at_ == intake.settings.deployment) kept = std::move(exploration_);
    exploration_.reset();
    if (!kept) {
        Beginning begun = begin_exploration(problem(), store_->options(), options.threads, intake.checkpoint);
        kept = std::move(begun.exploration);
        intake.unasked += begun.unasked;
    }
    Exploration& exploration = *kept;
    if (intake.row && intake.row->episodes > 0 && !intake.row->taken)
        exploration.tell(intake.asked, intake.found);
    if (intake.unasked.episodes() > 0) exploration.tell_unasked(intake.unasked, intake.found);
    try {
        if ((known || intake.found) && !despite)
            throw ModelContradiction(known ? known->what : intake.found->what);
        const std::optional<Deployment> next = exploration.ask({.episodes = intake.settings.goal.episodes,
                                                                .target = intake.settings.goal.target,
                                                                .despite_contradiction = despite});
        settle(intake, exploration, next, options);
        exploration_ = std::move(kept);
        exploration_at_ = intake.settings.deployment + 1;
    } catch (const ModelContradiction&) {
        // What was seen is taken up all the same.
        const RunCheckpoint checkpoint{exploration.memory(), exploration.counts(),
                                       known ? known : exploration.contradiction()};
        try {
            store_->save(checkpoint, nullptr, [&](sqlite::Database& database) {
                require_turn(database, intake);
                ledger::take(database, intake.parts, intake.settings.deployment);
            });
        } catch (const TurnTaken&) {
        }
        throw;
    } catch (const TurnTaken&) {
        // Whoever it was has planned the same.
    }
}

/// Throws TurnTaken unless what was taken in is still all that there is to this deployment. An answer that
/// came while the next one was planned belongs to it still: all of it is taken up at once.
void ExperimentDesk::require_turn(const sqlite::Database& database, const Intake& intake) const {
    const ledger::Settings now = ledger::read_settings(database);
    const auto present = ledger::deployment(database, now.deployment);
    if (now.deployment != intake.settings.deployment || !(now.goal == intake.settings.goal) ||
        (present && present->taken != intake.row->taken) ||
        (present && parts_of_deployment(ledger::untaken(database), present->number) !=
                        parts_of_deployment(intake.parts, present->number)))
        throw TurnTaken{};
}

void ExperimentDesk::settle(const Intake& intake, Exploration& exploration,
                            const std::optional<Deployment>& next, const AskOptions& options) {
    ledger::Settings settings = intake.settings;
    ledger::DeploymentRow row;
    row.number = settings.deployment + 1;
    row.first_episode = settings.next_episode;
    row.goal = settings.goal;
    row.despite = options.despite_contradiction;
    row.asked = clock();
    std::optional<RunResult> result;
    settings.deployment = row.number;
    settings.ended.clear();
    if (next) {
        row.episodes = next->episodes;
        row.policy = policy_bytes(*next->policy);
        settings.next_episode += next->episodes;
        if (const Knowledge* knowledge = exploration.certified())
            row.aim = aim_of(knowledge->certificate, *next->policy);
        else if (intake.row)
            row.aim = intake.row->aim;
    } else {
        const Stopped stopped = exploration.conclude({.episodes = settings.goal.episodes,
                                                      .target = settings.goal.target,
                                                      .despite_contradiction = row.despite});
        result = result_of(exploration, stopped, intake.spent);
        settings.ended = result->stopped;
    }
    const RunCheckpoint checkpoint{exploration.memory(), exploration.counts(), exploration.contradiction()};
    store_->save(checkpoint, result ? &*result : nullptr, [&](sqlite::Database& database) {
        require_turn(database, intake);
        const ledger::Settings now = ledger::read_settings(database);
        const auto present = ledger::deployment(database, now.deployment);
        settings.next_episode += now.next_episode - intake.settings.next_episode;
        row.first_episode = now.next_episode;
        if (row.policy && present && row.episodes > 0 && present->number > 0 && present->episodes > 0 &&
            policy_bytes(ledger::policy(database, present->number, problem().shape())) == *row.policy)
            row.policy.reset();
        ledger::take(database, intake.parts, intake.settings.deployment);
        ledger::add_deployment(database, row);
        add_chunks(database, row, options);
        ledger::write_settings(database, settings);
    });
}

}  // namespace alidade::detail
