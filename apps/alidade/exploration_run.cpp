#include "exploration_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <nlohmann/json.hpp>

#include "alidade/environment/deployment.hpp"
#include "alidade/explore/behaviour.hpp"
#include "alidade/spec/printable_text.hpp"
#include "alidade/spec/request.hpp"
#include "alidade/spec/shell_word.hpp"
#include "certificate_view.hpp"
#include "interruption.hpp"
#include "load_run.hpp"
#include "numbers.hpp"
#include "progress.hpp"
#include "user_error.hpp"

namespace alidade::app {

using nlohmann::ordered_json;

namespace {

constexpr double checkpoint_seconds = 1;

RunResult result_of(Exploration& exploration, Stopped stopped, const Timings& before) {
    const RewardFreeCertificate& certificate = exploration.best().certificate;
    const Timings& now = exploration.timings();
    RunResult result;
    result.evidence = exploration.best_evidence();
    result.episodes = exploration.explorer().episodes();
    result.replans = exploration.explorer().replans();
    result.reward_free = certificate.bound;
    result.method = certificate.method;
    result.candidates = certificate.candidates;
    result.stopped = to_string(stopped);
    result.timings = {before.total + now.total, before.simulate + now.simulate, before.plan + now.plan,
                      before.certify + now.certify};
    return result;
}

double seconds_from(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// Stores a checkpoint when the last one is old enough, or before work that a signal could not wait for: as
/// long as no such work begins with anything unstored, PromptStop may end it at any moment.
class Checkpoints {
public:
    Checkpoints(RunStore& store, Exploration& exploration, PromptStop& stop)
        : store_(store), exploration_(exploration), stop_(stop) {}

    /// A batch has been told; planning and certifying follow.
    void batch_told() {
        thinking_since_ = Clock::now();
        if (seconds_from(last_) < checkpoint_seconds && longest_thought_ < long_thought_seconds) return;
        save();
    }
    /// A batch is about to be run.
    void before_batch() {
        if (thinking_since_) longest_thought_ = std::max(longest_thought_, seconds_from(*thinking_since_));
        stop_.not_all_is_stored();
        current_ = false;
    }
    /// No batch will follow, but a last certificate.
    void ending() {
        if (!current_) save();
    }
    void save() {
        write([&] { store_.save(now(exploration_.contradiction())); });
    }
    void save(const RunResult& result, const std::optional<RunContradiction>& contradiction) {
        write([&] { store_.save(now(contradiction), result); });
    }

private:
    using Clock = std::chrono::steady_clock;
    /// Waiting for less than this is no waiting.
    static constexpr double long_thought_seconds = 0.25;

    RunCheckpoint now(const std::optional<RunContradiction>& contradiction) {
        return {exploration_.memory(), exploration_.counts(), contradiction};
    }

    template <class Write>
    void write(const Write& write) {
        stop_.not_all_is_stored();
        write();
        stop_.all_is_stored();
        current_ = true;
        last_ = Clock::now();
    }

    RunStore& store_;
    Exploration& exploration_;
    PromptStop& stop_;
    Clock::time_point last_ = Clock::now();
    std::optional<Clock::time_point> thinking_since_;
    double longest_thought_ = 0;
    bool current_ = true;  // the store has all that was told
};

/// What is said of a run that a signal ended in the middle of planning or certifying.
void say_interrupted(const RunStore& store, std::int64_t episodes, const Console& console) {
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

Explored explore_into(RunStore& store, const Goal& goal, const Console& console) {
    const Problem& problem = store.problem();
    const RunOptions& options = store.options();
    const Interruption interruption;
    std::atomic<std::int64_t> episodes = 0;
    PromptStop stop(interruption, [&] { say_interrupted(store, episodes, console); });
    Exploration exploration(task_of(problem), explorer_options(options, goal.threads));
    std::optional<RunContradiction> known;
    if (auto checkpoint = store.checkpoint()) {
        known = std::move(checkpoint->contradiction);
        if (known && !goal.fit.despite)
            throw refusal(*known, store.folder().string(), "the run was not explored further");
        episodes = checkpoint->counts.episodes();
        exploration.restore(checkpoint->memory, std::move(checkpoint->counts));
    }
    const auto previous = store.result();
    const Timings before = previous ? previous->timings : Timings{};
    if (episodes > 0) console.say(fmt::format("Resuming after {} episodes.", with_commas(episodes)));

    CountSplittingDeployer system(problem.true_model(), options.seed);
    Checkpoints checkpoints(store, exploration, stop);
    Stopped stopped = Stopped::budget;
    try {
        ExploreOptions run;
        run.episodes = goal.episodes;
        run.target = goal.target;
        run.despite_contradiction = goal.fit.despite;
        ProgressLine line(console.progress(), run, options.schedule, problem.shape().horizon);
        run.interrupted = [&] {
            if (interruption.requested()) return true;
            checkpoints.before_batch();
            return false;
        };
        run.ending = [&] { checkpoints.ending(); };
        run.observe = [&](const Progress& progress) {
            episodes = progress.episodes;
            line.update(progress);
            checkpoints.batch_told();
        };
        stopped = exploration.run(system, run);
    } catch (const ModelContradiction&) {
        checkpoints.save();
        throw refusal(*exploration.contradiction(), store.folder().string(),
                      "the run was ended there, and what was seen is stored");
    }
    RunResult result = result_of(exploration, stopped, before);
    if (!known) known = exploration.contradiction();
    checkpoints.save(result, known);
    // The check may take a while: the episodes are safe by now.
    Standing standing = standing_of(problem, exploration.counts(), known, goal.fit);
    if (standing.contradiction != known) checkpoints.save(result, standing.contradiction);
    return {stopped,
            exploration.best(),
            std::move(result),
            exploration.trace(),
            exploration.explorer().replan_bound(),
            std::move(standing)};
}

namespace {

void describe_method(const RunOptions& options, ordered_json& object) {
    object["algorithm"] = options.algorithm;
    object["constants"] = by_paper(options) ? "paper" : "sharp";
    if (by_paper(options))
        object["planned_episodes"] = parse_count(
            parse_requests(options.confidence).front().given.at("episodes"), "episodes", 1, most_episodes);
    // Only where they are not the algorithm's own, or not as by default.
    const Request algorithm = parse_request(options.algorithm, options.algorithm);
    if (options.confidence != find_behaviour(algorithm.name).source)
        object["confidence"] = options.confidence;
}

}  // namespace

ordered_json to_json(const Explored& explored, const RunStore& store, const Goal& goal) {
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
    object["certificate"] = to_json(explored.knowledge.certificate);
    object["contributions"] = to_json(explored.knowledge.certificate.contributions, store.problem());
    object["weights"] = weights_json(explored.knowledge.mixture("a table of weights").model());
    add_standing(object, explored.standing, store.problem());
    object["trace"] = ordered_json::array();
    for (const TracePoint& point : explored.trace)
        object["trace"].push_back(
            {{"episodes", point.episodes}, {"certificate", point.bound}, {"replans", point.replans}});
    object["seconds"] = {{"total", result.timings.total},
                         {"explore", result.timings.simulate},
                         {"plan", result.timings.plan},
                         {"certify", result.timings.certify}};
    object["stopped"] = result.stopped;
    object["threads"] = goal.threads;
    object["run"] = store.folder().string();
    return object;
}

std::string describe(const Explored& explored, const RunStore& store, const Console& console) {
    const Problem& problem = store.problem();
    const RunResult& result = explored.result;
    const std::string folder = store.folder().string();
    std::string text =
        fmt::format("{} {}\n  {} episodes with {} policies (at most {}) by {} (confidence sets: {}); {}.\n\n",
                    console.bold("Explored"), printable(store.source()), with_commas(result.episodes),
                    with_commas(result.replans), with_commas(explored.replan_bound),
                    store.options().algorithm, store.options().confidence, stop_in_words(explored.stopped));
    text += describe(explored.knowledge.certificate, problem.shape(), console) + "\n";
    if (const std::string standing = describe(explored.standing, problem, console); !standing.empty())
        text += standing + "\n";
    if (problem.shape().learned_steps() > 0)
        text += describe_weights(explored.knowledge.mixture("a table of weights").model(), console) + "\n";
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
    return explored.standing.exit_code(explored.stopped == Stopped::budget && goal.target ? 3 : 0);
}

}  // namespace alidade::app
