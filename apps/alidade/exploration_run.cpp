#include "exploration_run.hpp"

#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "alidade/environment/deployment.hpp"
#include "certificate_view.hpp"
#include "interruption.hpp"
#include "numbers.hpp"
#include "progress.hpp"
#include "recall.hpp"
#include "user_error.hpp"

namespace alidade::app {

using nlohmann::ordered_json;

namespace {

constexpr double checkpoint_seconds = 1;

RunResult result_of(Exploration& exploration, Stopped stopped, const Spent& before) {
    const RewardFreeCertificate& certificate = exploration.best().certificate;
    const Spent& now = exploration.spent();
    RunResult result;
    result.evidence = exploration.best_evidence();
    result.episodes = exploration.explorer().episodes();
    result.replans = exploration.explorer().replans();
    result.reward_free = certificate.bound;
    result.method = certificate.method;
    result.candidates = certificate.candidates;
    result.stopped = to_string(stopped);
    result.spent = {before.total + now.total, before.simulate + now.simulate, before.plan + now.plan,
                    before.certify + now.certify};
    return result;
}

/// Stores a checkpoint when the last one is old enough.
class Checkpoints {
public:
    Checkpoints(RunStore& store, Exploration& exploration) : store_(store), exploration_(exploration) {}

    void save_if_due() {
        const auto now = std::chrono::steady_clock::now();
        if (std::chrono::duration<double>(now - last_).count() < checkpoint_seconds) return;
        save();
        last_ = std::chrono::steady_clock::now();
    }
    void save() { store_.save(now()); }
    RunCheckpoint now() {
        return {exploration_.memory(), exploration_.counts(), exploration_.contradiction()};
    }

private:
    RunStore& store_;
    Exploration& exploration_;
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

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

Explored explore_into(RunStore& store, const Aim& aim, const Voice& voice) {
    const Problem& problem = store.problem();
    const RunOptions& options = store.options();
    Exploration exploration(task_of(problem), find_explorer(options.algorithm),
                            explorer_options(options, aim.threads));
    std::optional<RunContradiction> known;
    if (auto checkpoint = store.checkpoint()) {
        known = std::move(checkpoint->contradiction);
        if (known && !aim.fit.despite)
            throw refusal(*known, store.folder().string(), "the run was not explored further");
        exploration.restore(checkpoint->memory, std::move(checkpoint->counts));
    }
    const auto previous = store.result();
    const Spent before = previous ? previous->spent : Spent{};
    const std::int64_t resumed = exploration.explorer().episodes();
    if (resumed > 0) voice.say(fmt::format("Resuming after {} episodes.", with_commas(resumed)));

    CountSplittingDeployer system(problem.true_model(), options.seed);
    Checkpoints checkpoints(store, exploration);
    const Interruption interruption;
    Stopped stopped = Stopped::budget;
    try {
        ExploreOptions run;
        run.episodes = aim.episodes;
        run.target = aim.target;
        run.despite_contradiction = aim.fit.despite;
        ProgressLine line(voice.progress(), run, options.schedule, problem.shape().horizon);
        run.interrupted = [&] { return interruption.requested(); };
        run.observe = [&](const Progress& progress) {
            line.update(progress);
            checkpoints.save_if_due();
        };
        stopped = exploration.run(system, run);
    } catch (const ModelContradiction&) {
        checkpoints.save();
        throw refusal(*exploration.contradiction(), store.folder().string(),
                      "the run was ended there, and what was seen is stored");
    }
    RunResult result = result_of(exploration, stopped, before);
    RunCheckpoint checkpoint = checkpoints.now();
    store.save(checkpoint, result);
    // The check may take a while: the episodes are safe by now.
    if (!known) known = checkpoint.contradiction;
    Standing standing = standing_of(problem, exploration.counts(), known, aim.fit);
    if (standing.contradiction != known) {
        checkpoint.contradiction = standing.contradiction;
        store.save(checkpoint, result);
    }
    return {stopped,
            exploration.best(),
            std::move(result),
            exploration.trace(),
            exploration.explorer().replan_bound(),
            std::move(standing)};
}

namespace {

void describe_constants(const Constants& constants, ordered_json& object) {
    object["constants"] = constants.regression.paper ? "paper" : "sharp";
    if (constants.regression.paper) object["planned_episodes"] = constants.regression.episodes;
    const std::string names = names_left_out(constants.regression.sharpenings);
    if (!names.empty()) object["without"] = names;
    if (constants.width != WidthMethod::exact)
        object["width"] = constants.width == WidthMethod::l1 ? "l1" : "sdp";
    if (constants.ties == Ties::first) object["ties"] = "first";
    if (constants.bonus != FisherBonus::sqrt) object["bonus"] = to_string(constants.bonus);
    if (constants.prequential) object["prequential"] = true;
    if (constants.confidence != ConfidenceChoice::own) object["confidence"] = to_string(constants.confidence);
}

}  // namespace

ordered_json to_json(const Explored& explored, const RunStore& store, const Aim& aim) {
    const RunOptions& options = store.options();
    const RunResult& result = explored.result;
    ordered_json object;
    object["algorithm"] = options.algorithm;
    describe_constants(parse_constants(options.constants), object);
    object["problem"] = store.source();
    object["episodes"] = result.episodes;
    object["replans"] = result.replans;
    object["replan_bound"] = explored.replan_bound;
    object["replan"] = to_string(options.schedule);
    object["seed"] = options.seed;
    object["delta"] = options.delta;
    if (aim.target) object["target"] = *aim.target;
    object["horizon"] = store.problem().shape().horizon;
    object["certificate"] = to_json(explored.knowledge.certificate);
    object["contributions"] = to_json(explored.knowledge.certificate.contributions, store.problem());
    object["weights"] = weights_json(explored.knowledge.learned.model());
    add_standing(object, explored.standing, store.problem());
    object["trace"] = ordered_json::array();
    for (const TracePoint& point : explored.trace)
        object["trace"].push_back(
            {{"episodes", point.episodes}, {"certificate", point.bound}, {"replans", point.replans}});
    object["seconds"] = {{"total", result.spent.total},
                         {"explore", result.spent.simulate},
                         {"plan", result.spent.plan},
                         {"certify", result.spent.certify}};
    object["stopped"] = result.stopped;
    object["threads"] = aim.threads;
    object["run"] = store.folder().string();
    return object;
}

std::string describe(const Explored& explored, const RunStore& store, const Voice& voice) {
    const Problem& problem = store.problem();
    const RunResult& result = explored.result;
    const std::string folder = store.folder().string();
    std::string text =
        fmt::format("{} {}\n  {} episodes with {} policies (at most {}) by {} (constants: {}); {}.\n\n",
                    voice.bold("Explored"), store.source(), with_commas(result.episodes),
                    with_commas(result.replans), with_commas(explored.replan_bound),
                    store.options().algorithm, store.options().constants, stop_in_words(explored.stopped));
    text += describe(explored.knowledge.certificate, problem.shape(), voice) + "\n";
    if (const std::string standing = describe(explored.standing, problem, voice); !standing.empty())
        text += standing + "\n";
    if (problem.shape().learned_steps() > 0)
        text += describe_weights(explored.knowledge.learned.model(), voice) + "\n";
    if (const std::string parts = describe(explored.knowledge.certificate.contributions, problem, voice);
        !parts.empty())
        text += parts + "\n";
    text += fmt::format("{}  {} in all: simulating {}, planning {}, certifying {}\n", voice.bold("Time"),
                        duration(result.spent.total), duration(result.spent.simulate),
                        duration(result.spent.plan), duration(result.spent.certify));
    const std::string reward = problem.rewards().empty() ? "FILE" : problem.rewards().front().name;
    text += fmt::format("{}   {}\n{}  alidade plan {} --reward {}\n", voice.bold("Run"), folder,
                        voice.bold("Next"), folder, reward);
    return text;
}

int exit_code(const Explored& explored, const Aim& aim) {
    if (explored.stopped == Stopped::interrupted) return explored.standing.exit_code(130);
    return explored.standing.exit_code(explored.stopped == Stopped::budget && aim.target ? 3 : 0);
}

}  // namespace alidade::app
