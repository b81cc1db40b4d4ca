#include <algorithm>
#include <chrono>
#include <utility>

#include "alidade/environment/system.hpp"
#include "alidade/error.hpp"
#include "alidade/run/ask_tell.hpp"
#include "experiment_desk.hpp"
#include "run_result.hpp"
#include "run_store.hpp"

namespace alidade {

namespace {

constexpr const char* loop_worker = "explore";
/// Episodes of a system with seeds can be had again, so that they need not be stored one by one: at most
/// this, or this part of an experiment's time, is to be run again.
constexpr double store_seconds = 0.2, store_share = 0.02;
constexpr std::int64_t held_episodes = 10'000;

using Clock = std::chrono::steady_clock;

/// Runs one experiment and tells it in parts.
class Bench {
public:
    Bench(detail::ExperimentDesk& desk, const Experiment& experiment, bool seeded)
        : desk_(desk), experiment_(experiment), seeded_(seeded), part_(experiment.parts) {}

    void accept(std::span<const SystemEpisode> episodes) {
        held_.insert(held_.end(), episodes.begin(), episodes.end());
        const auto now = Clock::now();
        const auto seconds = [&](Clock::time_point from) {
            return std::chrono::duration<double>(now - from).count();
        };
        if (!seeded_ || std::ssize(held_) >= held_episodes ||
            seconds(stored_) >= std::max(store_seconds, store_share * seconds(begun_)))
            store();
    }

    void store() {
        if (held_.empty()) return;
        const Told told =
            desk_.tell(experiment_.id,
                       [&](const std::function<void(const LoggedEpisode&)>& each) {
                           for (const SystemEpisode& episode : held_)
                               each({episode.states, episode.actions, 1, episode.complete});
                       },
                       {.part = part_, .whole = false, .worker = loop_worker, .source = "system"});
        contradicted_ = contradicted_ || told.contradiction;
        ++part_;
        held_.clear();
        stored_ = Clock::now();
    }

    /// Whether a transition was seen that no base model can produce.
    bool contradicted() const noexcept { return contradicted_; }

private:
    detail::ExperimentDesk& desk_;
    const Experiment& experiment_;
    bool seeded_;
    std::int64_t part_;
    std::vector<SystemEpisode> held_;
    bool contradicted_ = false;
    Clock::time_point begun_ = Clock::now(), stored_ = begun_;
};

/// Ends it early if it shows something that no base model can produce, unless one goes on `despite` that.
void run_experiment(System& system, detail::ExperimentDesk& desk, const Experiment& experiment, bool despite,
                    const std::function<bool()>& stop) {
    Bench bench(desk, experiment, system.seeded());
    const auto accept = [&](std::span<const SystemEpisode> episodes) { bench.accept(episodes); };
    try {
        system.run(*experiment.policy, experiment.first_episode + experiment.told,
                   experiment.episodes - experiment.told, accept,
                   [&] { return stop() || (bench.contradicted() && !despite); });
    } catch (const SystemFailed&) {
        bench.store();  // they happened
        throw;
    }
    bench.store();
    // The rest is not run: what was seen is taken up, and the run ends.
    if (bench.contradicted() && !despite && desk.experiment(experiment.id).told < experiment.episodes)
        desk.tell(experiment.id, {}, {.failed = "the data contradict the model", .worker = loop_worker});
}

/// Those that were taken up, and those that wait for the rest of their experiment.
std::int64_t episodes_known(const detail::RunStore& store, const LedgerStatus& status) {
    const auto checkpoint = store.checkpoint();
    return (checkpoint ? checkpoint->counts.episodes() : 0) + status.told - status.taken - status.aside;
}

ExploreOptions options_of(const RunGoal& goal) {
    return {.episodes = goal.episodes,
            .target = goal.target,
            .despite_contradiction = goal.despite_contradiction,
            .enough = goal.enough};
}

/// The last certificate, and all that is known, stored.
ExploredRun end_of(detail::RunStore& store, Exploration& exploration, const RunGoal& goal,
                   const Timings& spent) {
    const auto before = store.result();
    const Stopped stopped = exploration.conclude(options_of(goal));
    RunResult result = detail::result_of(exploration, stopped, before ? before->timings : Timings{});
    result.timings.simulate += spent.simulate;
    result.timings.total += spent.total;
    const auto known = store.checkpoint();
    auto contradiction = known ? known->contradiction : exploration.contradiction();
    store.save({exploration.memory(), exploration.counts(), contradiction}, result);
    return detail::explored_run(exploration, stopped, std::move(result), std::move(contradiction));
}

/// Makes the run one that keeps its episodes, or goes on with one that does.
void prepare(detail::ExperimentDesk& desk, const Run& run, const System& system, const RunGoal& goal) {
    bool seeded = system.seeded();
    if (run.keeps_episodes()) {
        // Others, too, have run experiments of it: the weaker promise holds for all.
        seeded = desk.goal().seeded;
        expects(!seeded || system.seeded(),
                "{}: the run's episodes are fixed by seeds, and this system has none", run.folder().string());
    }
    desk.prepare({.episodes = goal.episodes, .target = goal.target, .seeded = seeded});
}

void require_own_system(const Shape& system, const Shape& problem) {
    expects(system == problem,
            "the system has {} states, {} actions and horizon {}, the problem {}, {} and {}", system.states,
            system.actions, system.horizon, problem.states, problem.actions, problem.horizon);
}

/// Where it stands after an experiment of so many episodes.
Progress progress_of(const Exploration& exploration, std::int64_t episodes, double seconds) {
    const auto horizon = static_cast<double>(exploration.counts().shape().horizon);
    return {exploration.explorer().episodes() + episodes, exploration.explorer().replans(),
            exploration.trace().empty() ? horizon : std::min(exploration.trace().back().bound, horizon),
            seconds};
}

}  // namespace

ExploredRun Run::explore(System& system, const RunGoal& goal, const RunWatch& watch) {
    require_own_system(system.shape(), problem().shape());
    const auto begin = std::chrono::steady_clock::now();
    const auto seconds = [&] {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    };
    if (const auto before = store_->checkpoint();
        before && before->contradiction && !goal.despite_contradiction)
        throw ModelContradiction(before->contradiction->what);
    detail::ExperimentDesk desk(store_);
    prepare(desk, *this, system, goal);
    if (const std::int64_t known = episodes_known(*store_, desk.status()); watch.resumed && known > 0)
        watch.resumed(known);
    const AskOptions options{.experiments = 1,
                             .chunk = most_episodes,  // who runs them shares them out
                             .worker = loop_worker,
                             .own_again = true,
                             .threads = goal.threads,
                             .despite_contradiction = goal.despite_contradiction};
    bool interrupted = false;
    const auto stop = [&] {
        interrupted = interrupted || (watch.interrupted && watch.interrupted());
        return interrupted;
    };
    const auto stored = [&](bool all) {
        if (watch.stored) watch.stored(all);
    };
    double system_seconds = 0;
    while (true) {
        stored(true);
        if (goal.enough && desk.exploration(goal.threads).is_enough(options_of(goal))) break;
        const Asked asked = desk.ask(options);
        if (!asked.ended.empty() || stop()) break;
        expects(!asked.experiments.empty(),
                "{}: {} experiments of this run are with others; tell them, or wait until their time is over",
                folder().string(), asked.with_others);
        stored(false);
        const double from = seconds();
        run_experiment(system, desk, asked.experiments.front(), goal.despite_contradiction, stop);
        system_seconds += seconds() - from;
        if (watch.observe && !interrupted)
            watch.observe(
                progress_of(desk.exploration(goal.threads), asked.experiments.front().episodes, seconds()));
    }
    stored(true);
    return end_of(*store_, desk.exploration(goal.threads), goal,
                  {.total = seconds(), .simulate = system_seconds});
}

}  // namespace alidade
