#include "exploration_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>

#include "alidade/environment/deployment.hpp"
#include "alidade/explore/catalogue.hpp"
#include "alidade/run/ask_tell.hpp"
#include "alidade/spec/printable_text.hpp"
#include "alidade/spec/request.hpp"
#include "certificate_view.hpp"
#include "class_view.hpp"
#include "interruption.hpp"
#include "load_run.hpp"
#include "misspecification_view.hpp"
#include "numbers.hpp"
#include "progress.hpp"
#include "sensitivity_view.hpp"
#include "user_error.hpp"

namespace alidade::app {

using nlohmann::ordered_json;

namespace {

/// What is said of a run that a signal ended in the middle of planning or certifying.
void say_interrupted(const Run& store, std::int64_t episodes, const Console& console) {
    if (console.progress()) fmt::print(stderr, "\r\x1b[K");
    console.say(interrupted_after(episodes));
    if (!console.json()) return;
    ordered_json object;
    object["algorithm"] = store.options().algorithm;
    object["problem"] = store.source();
    object["episodes"] = episodes;
    object["stopped"] = to_string(Stopped::interrupted);
    object["run"] = store.folder().string();
    console.object(object);
}

std::string stop_in_words(Stopped stopped) {
    switch (stopped) {
        case Stopped::target:
            return "the target is met";
        case Stopped::budget:
            return "the budget is spent";
        case Stopped::interrupted:
            break;
    }
    return "interrupted";
}

}  // namespace

std::string interrupted_after(std::int64_t episodes) {
    return fmt::format("Interrupted after {} episodes; nothing is lost: the same command goes on.",
                       with_commas(episodes));
}

Explored explore_into(Run& run, const Goal& goal, const Console& console, SystemChoice& system) {
    const Interruption interruption;
    std::atomic<std::int64_t> episodes = 0, stored = 0;
    PromptStop stop(interruption, [&] { say_interrupted(run, stored, console); });
    const std::string folder = run.folder().string();
    if (const auto checkpoint = run.checkpoint();
        checkpoint && checkpoint->contradiction && !goal.fit.despite)
        throw refusal(*checkpoint->contradiction, folder, "the run was not explored further");
    const RunGoal wanted{goal.episodes, goal.target, goal.threads, goal.fit.despite, goal.enough};
    ProgressLine line(console.progress(), wanted, run.options().schedule, run.problem().shape().horizon);
    RunWatch watch;
    watch.interrupted = [&] { return interruption.requested(); };
    watch.resumed = [&](std::int64_t done) {
        episodes = stored = done;
        console.say(fmt::format("Resuming after {} episodes.", with_commas(done)));
    };
    watch.observe = [&](const Progress& progress) {
        episodes = progress.episodes;
        line.update(progress);
    };
    watch.stored = [&](bool all) {
        if (all) stored = episodes.load();
        all ? stop.all_is_stored() : stop.not_all_is_stored();
    };
    try {
        // Only simulated episodes can be had again at no cost: all others are kept.
        const auto before = run.result();
        const bool kept =
            system.external() || run.keeps_episodes() || (before && before->stopped == stopped_at_logs);
        if (!kept) stop.all_can_be_repeated();
        ExploredRun explored = kept ? run.explore(system.start(run), wanted, watch)
                                    : run.explore(system.start_counting(run), wanted, watch);
        line.wipe();
        // The check may take a while: the episodes are safe by now.
        Standing standing = standing_of(task_of(run.problem(), run.options()), explored.counts,
                                        explored.contradiction, goal.fit);
        if (standing.contradiction && standing.contradiction != explored.contradiction)
            run.note(*standing.contradiction);
        Explored result{explored.stopped,          std::move(explored.knowledge), std::move(explored.result),
                        std::move(explored.trace), explored.replan_bound,         std::move(standing)};
        if (kept) {
            result.broken_off = AskTell(run).status().broken_off;
            result.restarts = system.restarts();
        }
        return result;
    } catch (const SystemFailed& error) {
        line.wipe();
        system.refuse(error, folder);
    } catch (const ModelContradiction&) {
        line.wipe();
        const auto checkpoint = run.checkpoint();
        if (!checkpoint || !checkpoint->contradiction) throw;
        throw refusal(*checkpoint->contradiction, folder,
                      "the run was ended there, and what was seen is stored");
    }
}

namespace {

void describe_method(const RunOptions& options, ordered_json& object) {
    object["algorithm"] = options.algorithm;
    const auto planned = planned_episodes(options);
    object["constants"] = constants_of(options);
    if (planned) object["planned_episodes"] = *planned;
    // Only where they are not the algorithm's own, or not as by default.
    const Request algorithm = parse_request(options.algorithm, options.algorithm);
    if (options.confidence != to_string(canonical_sources(find_behaviour(algorithm.name).source)))
        object["confidence"] = options.confidence;
}

}  // namespace

ordered_json to_json(const Explored& explored, const Run& store, const Goal& goal) {
    const RunOptions& options = store.options();
    const RunResult& result = explored.result;
    ordered_json object;
    describe_method(options, object);
    object["problem"] = store.source();
    object["episodes"] = result.episodes;
    object["replans"] = result.replans;
    object["replan_bound"] = explored.replan_bound;
    object["replan"] = to_string(options.schedule);
    object["seed"] = options.seed;
    object["delta"] = options.delta;
    if (goal.target) object["target"] = *goal.target;
    object["horizon"] = store.problem().shape().horizon;
    if (!(options.assumed == AssumedError{})) add_assumed(object, task_of(store.problem(), options));
    object["certificate"] = to_json(explored.knowledge.certificate);
    if (explored.stopped != Stopped::interrupted)
        add_classes(object["certificate"], explored.knowledge, store.options(), goal.threads);
    object["contributions"] = to_json(explored.knowledge.certificate.contributions, store.problem());
    add_weights(object, *explored.knowledge.learned);
    add_standing(object, explored.standing, store.problem());
    object["trace"] = ordered_json::array();
    for (const TracePoint& point : explored.trace)
        object["trace"].push_back(
            {{"episodes", point.episodes}, {"certificate", point.bound}, {"replans", point.replans}});
    object["seconds"] = {{"total", result.timings.total},
                         {"explore", result.timings.simulate},
                         {"plan", result.timings.plan},
                         {"certify", result.timings.certify}};
    if (explored.broken_off) {
        object["system"] = options.system;
        object["broken_off"] = *explored.broken_off;
        object["restarts"] = *explored.restarts;
    }
    object["stopped"] = result.stopped;
    object["threads"] = goal.threads.count();
    object["run"] = store.folder().string();
    return object;
}

std::string describe(const Explored& explored, const Run& store, const Console& console) {
    const Problem& problem = store.problem();
    const RunResult& result = explored.result;
    const std::string folder = store.folder().string();
    std::string text =
        fmt::format("{} {}\n  {} episodes with {} policies (at most {}) by {} (confidence sets: {}); {}.\n\n",
                    console.bold("Explored"), printable(store.source()), with_commas(result.episodes),
                    with_commas(result.replans), with_commas(explored.replan_bound),
                    store.options().algorithm, store.options().confidence, stop_in_words(explored.stopped));
    if (explored.broken_off.value_or(0) > 0 || explored.restarts.value_or(0) > 0)
        text += fmt::format(
            "{}  {} episodes broke off and count up to the last transition seen; {} processes were\n"
            "  started again by this call. Bounds hold if what broke them off did not look at what would "
            "have come next.\n\n",
            console.bold("System"), with_commas(*explored.broken_off), with_commas(*explored.restarts));
    text += describe(explored.knowledge.certificate, problem.shape(), console) +
            describe_assumed(task_of(problem, store.options()));
    if (const auto off =
            sensitivity_of(store, explored.knowledge, {}, nullptr, {}, explored.standing.off_by());
        off && !explored.standing.contradiction)
        text += describe_briefly(*off, problem.shape(), {});
    text += "\n";
    if (const std::string standing = describe(explored.standing, problem, console); !standing.empty())
        text += standing + "\n";
    if (problem.shape().learned_steps() > 0)
        text += describe_learned(*explored.knowledge.learned, console) + "\n";
    if (const std::string parts = describe(explored.knowledge.certificate.contributions, problem, console);
        !parts.empty())
        text += parts + "\n";
    text += fmt::format("{}  {} in all: simulating {}, planning {}, certifying {}\n", console.bold("Time"),
                        duration(result.timings.total), duration(result.timings.simulate),
                        duration(result.timings.plan), duration(result.timings.certify));
    const std::string reward = problem.rewards().empty() ? "FILE" : problem.rewards().front().name;
    text += fmt::format("{}   {}\n{}  alidade plan {} {}\n", console.bold("Run"), printable(folder),
                        console.bold("Next"), shell_path(folder), shell_flag("--reward", reward));
    return text;
}

int exit_code(const Explored& explored, const Goal& goal) {
    if (explored.stopped == Stopped::interrupted) return explored.standing.exit_code(130);
    return explored.standing.exit_code(
        explored.stopped == Stopped::budget && (goal.target || goal.enough) ? 3 : 0);
}

}  // namespace alidade::app
