#include <fmt/format.h>

#include <algorithm>

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

/// Whether a memory says of all its certificates what the experiments after them were for.
bool knows_aims(const Snapshot& memory) {
    const auto aims = memory.integers.find("trace.aim");
    return aims != memory.integers.end() && std::ranges::find(aims->second, -1) == aims->second.end();
}

/// What a run knew before it had a ledger.
std::optional<RunCheckpoint> carried_checkpoint(const Snapshot& carried, const Problem& problem,
                                                const RunOptions& options) {
    if (carried == Snapshot{}) return std::nullopt;
    RunCheckpoint checkpoint{
        carried.part("memory."),
        Counts(problem.shared_successors(), problem.shape().horizon, task_of(problem, options).elsewhere())};
    read_counts(carried.part("counts."), checkpoint.counts);
    return checkpoint;
}

/// Goes through a run's deployments once more.
class SecondTime {
public:
    SecondTime(const sqlite::Database& database, Beginning begun, std::int64_t last)
        : database_(database),
          exploration_(std::move(begun.exploration)),
          unasked_(std::move(begun.unasked)),
          last_(last) {}

    /// Asks for a deployment as it was asked for; false if the data contradict the model now.
    bool ask(const ledger::DeploymentRow& row) {
        std::optional<Deployment> next;
        try {
            next = exploration_.ask({.episodes = row.goal.episodes,
                                     .target = row.goal.target,
                                     .despite_contradiction = row.despite});
        } catch (const ModelContradiction&) {
            found_.differences.push_back(fmt::format("deployment {}", row.number));
            return false;
        }
        ++found_.deployments;
        const Shape& shape = unasked_.shape();
        if ((next ? next->episodes : 0) != row.episodes)
            found_.differences.push_back(fmt::format("episodes of deployment {}", row.number));
        else if (next && !(*next->policy == ledger::policy(database_, row.number, shape)))
            found_.differences.push_back(fmt::format("policy of deployment {}", row.number));
        return true;
    }

    /// Tells what was taken up after a deployment; `row` is none before the first.
    void tell(const std::optional<ledger::DeploymentRow>& row) {
        const Counts none(unasked_.shared_successors(), unasked_.shape().horizon);
        const std::int64_t number = row ? row->number : 0;
        Counts asked = none;
        std::optional<RunContradiction> impossible;
        for (const ledger::UntakenPart& part : ledger::taken(database_, number))
            count_part(database_, part, row && part.deployment == number ? asked : unasked_,
                       exploration_.explorer().episodes(), impossible);
        if (row && row->episodes > 0) exploration_.tell(asked, impossible);
        // Of a run of logs alone there is no exploration.
        if (unasked_.episodes() == 0 || last_ == 0) return;
        exploration_.tell_unasked(unasked_, impossible);
        unasked_ = none;
    }

    Replay compare(const std::optional<RunCheckpoint>& stored, const std::optional<RunResult>& result) {
        const Counts& counts = last_ > 0 ? exploration_.counts() : unasked_;
        std::vector<std::string>& differences = found_.differences;
        found_.episodes = counts.episodes();
        if (!stored) {
            if (counts.episodes() > 0) differences.emplace_back("checkpoint");
            return found_;
        }
        if (!(counts == stored->counts)) differences.emplace_back("counts");
        if (last_ == 0) {
            if (result && !(result->evidence == likelihood_evidence(counts)))
                differences.emplace_back("evidence");
            return found_;
        }
        Snapshot memory = exploration_.memory(), known = stored->memory;
        // What experiments were for was not always written down, and nothing rests on it.
        if (!knows_aims(known))
            for (Snapshot* each : {&memory, &known}) {
                each->integers.erase("trace.aim");
                each->numbers.erase("trace.aim_share");
            }
        compare_arrays(known.numbers, memory.numbers, differences);
        compare_arrays(known.integers, memory.integers, differences);
        compare_arrays(known.bytes, memory.bytes, differences);
        return found_;
    }

private:
    const sqlite::Database& database_;
    Exploration exploration_;
    Counts unasked_;     // not told yet
    std::int64_t last_;  // deployment; 0: none was made
    Replay found_;
};

}  // namespace

Replay ExperimentDesk::replay(Threads threads) const {
    Replay found;
    store_->inspect([&](const sqlite::Database& database) {
        require_ledger(database);
        ledger::check_episodes(database);
        const std::int64_t last = ledger::read_settings(database).deployment;
        SecondTime again(database,
                         begin_exploration(problem(), store_->options(), threads,
                                           carried_checkpoint(ledger::read_carried(database), problem(),
                                                              store_->options())),
                         last);
        again.tell(std::nullopt);
        for (std::int64_t number = 1; number <= last; ++number) {
            const ledger::DeploymentRow row = ledger::known_deployment(database, number);
            if (!again.ask(row)) break;
            if (row.taken) again.tell(row);
        }
        found = again.compare(store_->checkpoint_in(database), store_->result_in(database));
    });
    return found;
}

}  // namespace alidade::detail
