#include <fmt/format.h>

#include "../explore/likelihood_source.hpp"
#include "alidade/error.hpp"
#include "experiment_desk.hpp"
#include "run_contents.hpp"

namespace alidade::detail {

namespace {

template <class T>
void compare_arrays(const std::map<std::string, T>& stored, const std::map<std::string, T>& computed,
                    std::vector<std::string>& differences) {
    for (const auto& [name, values] : stored)
        if (const auto place = computed.find(name); place == computed.end() || place->second != values)
            differences.push_back("memory " + name);
    for (const auto& [name, values] : computed)
        if (!stored.contains(name)) differences.push_back("memory " + name);
}

/// What a run knew before it had a ledger.
std::optional<RunCheckpoint> carried_checkpoint(const Snapshot& carried, const Problem& problem) {
    if (carried == Snapshot{}) return std::nullopt;
    RunCheckpoint checkpoint{carried.part("memory."),
                             Counts(problem.shared_successors(), problem.shape().horizon)};
    read_counts(carried.part("counts."), checkpoint.counts);
    return checkpoint;
}

}  // namespace

Replay ExperimentDesk::replay(Threads threads) const {
    Replay replay;
    store_->inspect([&](const sqlite::Database& database) {
        require_ledger(database);
        ledger::check_episodes(database);
        const ledger::Settings settings = ledger::read_settings(database);
        const auto stored = store_->checkpoint_in(database);
        Beginning begun = begin_exploration(problem(), store_->options(), threads,
                                            carried_checkpoint(ledger::read_carried(database), problem()));
        Exploration& exploration = begun.exploration;
        const Counts none(problem().shared_successors(), problem().shape().horizon);
        Counts unasked = begun.unasked;
        for (std::int64_t number = 0; number <= settings.deployment; ++number) {
            std::optional<ledger::DeploymentRow> row;
            if (number > 0) row = ledger::known_deployment(database, number);
            if (row) {
                std::optional<Deployment> next;
                try {
                    next = exploration.ask({.episodes = row->goal.episodes,
                                            .target = row->goal.target,
                                            .despite_contradiction = row->despite});
                } catch (const ModelContradiction&) {
                    replay.differences.push_back(fmt::format("deployment {}", number));
                    return;
                }
                ++replay.deployments;
                if ((next ? next->episodes : 0) != row->episodes)
                    replay.differences.push_back(fmt::format("episodes of deployment {}", number));
                else if (next && !(*next->policy == ledger::policy(database, number, problem().shape())))
                    replay.differences.push_back(fmt::format("policy of deployment {}", number));
            }
            if (row && !row->taken) continue;
            Counts asked = none;
            std::optional<RunContradiction> found;
            for (const ledger::UntakenPart& part : ledger::taken(database, number)) {
                const bool own = row && part.deployment == number;
                count_part(database, part, own ? asked : unasked, exploration.explorer().episodes(), found);
            }
            if (row && row->episodes > 0) exploration.tell(asked, found);
            // Before the first deployment there is nothing but what was learned, and that may stay as it is.
            if (unasked.episodes() > 0 && settings.deployment > 0) {
                exploration.tell_unasked(unasked, found);
                unasked = none;
            }
        }
        const Counts& counts = settings.deployment > 0 ? exploration.counts() : unasked;
        replay.episodes = counts.episodes();
        if (!stored) {
            if (counts.episodes() > 0) replay.differences.emplace_back("checkpoint");
            return;
        }
        if (!(counts == stored->counts)) replay.differences.emplace_back("counts");
        if (settings.deployment == 0) {
            if (const auto result = store_->result_in(database);
                result && !(result->evidence == likelihood_evidence(counts)))
                replay.differences.emplace_back("evidence");
            return;
        }
        const Snapshot memory = exploration.memory();
        compare_arrays(stored->memory.numbers, memory.numbers, replay.differences);
        compare_arrays(stored->memory.integers, memory.integers, replay.differences);
        compare_arrays(stored->memory.bytes, memory.bytes, replay.differences);
    });
    return replay;
}

}  // namespace alidade::detail
