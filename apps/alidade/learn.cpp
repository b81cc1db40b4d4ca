#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "alidade/explore/catalogue.hpp"
#include "alidade/explore/explorer.hpp"
#include "alidade/files/episode_file.hpp"
#include "alidade/run/ask_tell.hpp"
#include "alidade/run/run.hpp"
#include "alidade/spec/printable_text.hpp"
#include "certificate_view.hpp"
#include "class_view.hpp"
#include "commands.hpp"
#include "contradiction_view.hpp"
#include "experiment_view.hpp"
#include "load_run.hpp"
#include "misspecification_view.hpp"
#include "numbers.hpp"
#include "run_advice.hpp"
#include "sensitivity_view.hpp"
#include "user_error.hpp"

namespace alidade::app {
namespace {

using nlohmann::ordered_json;

struct LearnArguments {
    std::string source, folder, algorithm;
    std::vector<std::string> files;
    std::optional<double> delta;
    FitFlags fit;
    MisspecificationFlags off;
    int threads = 0;
    std::string columns;
    bool overwrite = false, normalise = false, same_system = false;
};

/// What the logs taught.
struct Learned {
    LearnedRun learned;
    Standing standing;
    std::int64_t transitions = 0;
    double read_seconds = 0;
};

double seconds_since(std::chrono::steady_clock::time_point begin) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

void require_offline_algorithm(const std::string& name, const Task& task) {
    if (name.empty()) return;
    const std::string serves = offline_algorithm(task);
    explaining({"the command line", "nothing was done", fmt::format("--algorithm {}", serves)},
               [&] { find_behaviour(name); });
    if (name == serves) return;
    throw UserError(
        fmt::format("--algorithm is {}; logs of this problem can only be learned from by {}", name, serves),
        {"the command line",
         "regression predicts values that must have been fixed before the data were seen; nobody "
         "fixed any before these logs",
         fmt::format("--algorithm {}, or leave it out", serves)});
}

void require_usable(const Task& task, const std::string& source) {
    const std::string refusal = find_behaviour(offline_algorithm(task)).refusal(task);
    if (refusal.empty()) return;
    throw UserError(refusal, {fmt::format("problem '{}'", source),
                              "logs are certified by the likelihood of convex weights, and by nothing else",
                              "describe the system by base models that contain it exactly"});
}

/// Whether there is a run to be added to. Throws UserError where there is something else.
bool adds_to_run(const LearnArguments& given, const Problem& problem, double delta) {
    if (!Run::exists(given.folder)) return false;
    // Before the logs are read, and without advice to overwrite what is then not overwritten.
    if (!explaining_run(given.folder, writing_use(given.overwrite),
                        [&] { return Run::is_run(given.folder); }))
        throw UserError("the folder holds a file run.sqlite that is not a run",
                        run_context(given.folder, RunFault::foreign, writing_use(given.overwrite)));
    if (given.overwrite) return false;
    const Run run = open_run(given.folder);
    const Context context{fmt::format("run folder '{}'", given.folder),
                          "episodes of two systems in one run void every bound",
                          "choose another folder with -o, or replace the run with --overwrite"};
    if (run.problem_hash() != problem_hash(problem))
        throw UserError(fmt::format("the folder holds a run of another problem: {}", run.source()), context);
    if (given.off.given() && !(run.options().assumed == assumed_of(given.off)))
        throw UserError(
            fmt::format("the folder holds a run that assumes another --misspecification or --reach"),
            {context.where,
             "what may be off is to be said before the data are seen; a run does not change it on the way",
             "choose another folder with -o, replace the run with --overwrite, or leave the flags out and "
             "ask "
             "alidade certify with other assumptions"});
    if (run.options().delta != delta && given.delta)
        throw UserError(
            fmt::format("the folder holds a run with --delta {} (not {})", run.options().delta, delta),
            context);
    const auto result = run.result();
    const auto checkpoint = run.checkpoint();
    // One that was killed before it had stored anything is like one that learn has just made.
    const bool of_logs = (result && result->stopped == stopped_at_logs) ||
                         (!checkpoint && !run.keeps_episodes() &&
                          run.options().algorithm == offline_algorithm(task_of(problem)));
    if (!of_logs && !given.same_system)
        throw UserError("the folder holds a run that is explored",
                        {context.where, context.why,
                         context.fix + "; or, if the logs are of the system that was explored, say so with "
                                       "--same-system"});
    return true;
}

/// Whether two files hold the same bytes; empty ones, and those that cannot be read, do not count.
bool same_bytes(const std::string& one, const std::string& other) {
    std::error_code failed;
    const std::uintmax_t size = std::filesystem::file_size(one, failed);
    if (failed || size == 0 || std::filesystem::file_size(other, failed) != size || failed) return false;
    std::ifstream first(one, std::ios::binary), second(other, std::ios::binary);
    std::vector<char> left(1 << 16), right(left.size());
    while (first && second) {
        first.read(left.data(), std::ssize(left));
        second.read(right.data(), std::ssize(right));
        if (first.gcount() != second.gcount() ||
            !std::equal(left.begin(), left.begin() + first.gcount(), right.begin()))
            return false;
    }
    return first.eof() && second.eof();
}

void require_different_files(const std::vector<std::string>& files) {
    std::error_code ignored;
    for (std::size_t i = 0; i < files.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) {
            if (files[i] == files[j] || std::filesystem::equivalent(files[i], files[j], ignored))
                throw UserError(fmt::format("--episodes names '{}' twice", files[i]),
                                {"the command line", "episodes that are counted twice void every bound",
                                 "name every file once"});
            if (same_bytes(files[j], files[i]))
                throw UserError(
                    fmt::format("--episodes names '{}' and '{}', which hold the same bytes", files[j],
                                files[i]),
                    {"the command line", "episodes that are counted twice void every bound",
                     "name the log once; episodes that really happened twice belong in one file, with "
                     "\"count\""});
        }
}

/// Whether what the run knows is from logs, and logs are all that it is for so far.
bool holds_logs_alone(const std::string& folder) {
    const Run run = open_run(folder);
    const auto checkpoint = run.checkpoint();
    if (!checkpoint) return !run.keeps_episodes();
    return checkpoint->memory == Snapshot{};
}

/// Makes words of what is wrong with a log.
template <class Action>
auto explaining_log(const std::string& file, const Action& action) {
    const Context context{fmt::format("episodes '{}'", file),
                          "an episode that is guessed at or left out would bias what is learned",
                          "correct the file; docs/offline.md says what it holds"};
    try {
        return explaining_file(file, context, action);
    } catch (const ModelContradiction& error) {
        throw Contradiction(
            error.what(),
            {context.where,
             "the data contradict the model: the true system is no mixture of the base "
             "models, so no bound would hold; no run was stored, as nothing can count such a transition",
             "add a base model that can make the transition, or look for an error in the log; "
             "leaving the episode out would hide it"});
    }
}

std::vector<EpisodeLog> logs_of(const LearnArguments& given, const Problem& problem) {
    std::vector<EpisodeLog> logs;
    for (const std::string& file : given.files)
        logs.push_back(
            {file, [&given, &problem, file](const std::function<void(const LoggedEpisode&)>& each) {
                 std::int64_t episodes = 0;
                 explaining_log(file, [&] {
                     visit_episodes(file, episode_options(problem, given.columns),
                                    [&](const LoggedEpisode& episode) {
                                        each(episode);
                                        ++episodes;
                                    });
                     expects(episodes > 0, "{}: holds no episodes", file);
                 });
             }});
    return logs;
}

/// Computes what the logs teach before anything is stored or replaced.
LearnedRun learn_from(const LearnArguments& given, const Problem& problem, double delta) {
    const std::vector<EpisodeLog> logs = logs_of(given, problem);
    return explaining_run(given.folder, writing_use(given.overwrite), [&] {
        return Run::learn(given.folder, problem, given.source, delta, logs,
                          {.threads = thread_count(given.threads),
                           .replace = given.overwrite,
                           .worker = this_worker(),
                           .assumed = assumed_of(given.off)});
    });
}

/// Tells the logs to a run that was explored, as episodes that nobody asked for.
LearnedRun tell_logs(const LearnArguments& given, const Problem& problem, const Console& console) {
    Run run = open_run_to_share(given.folder);
    AskTell experiments(run);
    if (!run.keeps_episodes()) experiments.prepare({});
    std::vector<std::string> known;
    for (const EpisodeLog& log : logs_of(given, problem)) {
        const Told told = explaining_log(log.name, [&] {
            return experiments.tell_unasked(
                log.episodes, {.worker = this_worker(), .source = log.name, .kind = ExperimentKind::log});
        });
        if (told.repeated) known.push_back(log.name);
    }
    const Asked asked = experiments.ask({.experiments = 0, .threads = thread_count(given.threads)});
    if (const LedgerStatus status = experiments.status(); status.told - status.taken - status.aside > 0)
        console.say(fmt::format("{} episodes will be taken up when the open experiments are told.",
                                with_commas(status.told - status.taken - status.aside)));
    LoadedRun loaded = load_run(run, thread_count(given.threads));
    RunResult result = loaded.result.value_or(RunResult{});
    result.episodes = loaded.knowledge.episodes;
    if (result.stopped.empty()) result.stopped = std::string(stopped_at_logs);
    return {std::move(run), std::move(loaded.knowledge), std::move(result), std::move(known)};
}

ordered_json object_of(const Learned& all, const LearnArguments& given) {
    const auto& [store, knowledge, result, known] = all.learned;
    ordered_json object;
    object["algorithm"] = store.options().algorithm;
    object["problem"] = store.source();
    object["files"] = given.files;
    if (!all.learned.known.empty()) object["known"] = all.learned.known;
    object["episodes"] = result.episodes;
    object["transitions"] = all.transitions;
    object["delta"] = store.options().delta;
    object["horizon"] = store.problem().shape().horizon;
    if (!(store.options().assumed == AssumedError{}))
        add_assumed(object, task_of(store.problem(), store.options()));
    object["certificate"] = to_json(knowledge.certificate);
    add_classes(object["certificate"], knowledge, store.options(), thread_count(given.threads));
    object["contributions"] = to_json(knowledge.certificate.contributions, store.problem());
    add_weights(object, *knowledge.learned);
    add_standing(object, all.standing, store.problem());
    object["seconds"] = {
        {"total", result.timings.total}, {"read", all.read_seconds}, {"certify", result.timings.certify}};
    object["stopped"] = result.stopped;
    object["threads"] = thread_count(given.threads).count();
    object["run"] = store.folder().string();
    return object;
}

std::string text_of(const Learned& all, const Console& console) {
    const auto& [store, knowledge, result, known] = all.learned;
    const Problem& problem = store.problem();
    const std::string folder = store.folder().string();
    std::string text =
        fmt::format("{} {}\n  {} logged episodes, {} transitions.\n\n", console.bold("Learned"),
                    printable(store.source()), with_commas(result.episodes), with_commas(all.transitions));
    for (const std::string& file : known)
        text +=
            fmt::format("  The run had all of {} already: nothing is counted twice.\n\n", printable(file));
    text += describe(knowledge.certificate, problem.shape(), console) +
            describe_assumed(task_of(problem, store.options()));
    if (const auto off = sensitivity_of(store, knowledge, {}, nullptr, {}, all.standing.off_by());
        off && !all.standing.contradiction)
        text += describe_briefly(*off, problem.shape(), {});
    text += "\n";
    if (const std::string standing = describe(all.standing, problem, console); !standing.empty())
        text += standing + "\n";
    if (problem.shape().learned_steps() > 0) text += describe_learned(*knowledge.learned, console) + "\n";
    if (const std::string parts = describe(knowledge.certificate.contributions, problem, console);
        !parts.empty())
        text += parts + "\n";
    const std::string reward = problem.rewards().empty() ? "FILE" : problem.rewards().front().name;
    return text + fmt::format("{}  {} in all: reading {}, certifying {}\n{}   {}\n{}  alidade plan {} {}\n",
                              console.bold("Time"), duration(result.timings.total),
                              duration(all.read_seconds), duration(result.timings.certify),
                              console.bold("Run"), printable(folder), console.bold("Next"),
                              shell_path(folder), shell_flag("--reward", reward));
}

int learn(const LearnArguments& given, const Console& console) {
    const auto begin = std::chrono::steady_clock::now();
    require_fit_level(given.fit.level);
    const Problem problem = load_problem_argument(given.source, given.normalise);
    require_suspects(given.fit, problem);
    require_offline_algorithm(given.algorithm, task_of(problem));
    require_usable(assuming(task_of(problem), assumed_of(given.off)), given.source);
    const double delta = delta_of(given.delta, problem);
    const bool goes_on = adds_to_run(given, problem, delta);
    require_different_files(given.files);
    const bool told = goes_on && !holds_logs_alone(given.folder);
    Learned learned{told ? tell_logs(given, problem, console) : learn_from(given, problem, delta)};
    Run& run = learned.learned.run;
    const auto checkpoint = run.checkpoint();
    learned.standing = standing_of(task_of(problem, run.options()), checkpoint->counts,
                                   checkpoint->contradiction, given.fit);
    if (learned.standing.contradiction) run.note(*learned.standing.contradiction);
    learned.transitions = checkpoint->counts.transitions();
    learned.learned.result.timings.total = seconds_since(begin);
    learned.read_seconds = learned.learned.result.timings.total - learned.learned.result.timings.certify;
    insist(learned.standing, console);
    if (console.json())
        console.object(object_of(learned, given));
    else
        console.result(text_of(learned, console));
    return learned.standing.exit_code(0);
}

}  // namespace

void add_learn(CLI::App& app, Chosen& chosen) {
    CLI::App* command = app.add_subcommand("learn", "Certify what logged episodes say of a problem");
    const auto given = std::make_shared<LearnArguments>();
    command
        ->add_option("PROBLEM", given->source,
                     "A folder, a problem.toml, or builtin:NAME?parameter=value&...")
        ->required();
    command
        ->add_option("--episodes", given->files,
                     "A file of episodes: .jsonl, one {\"states\": [...], \"actions\": [...]} a line, or "
                     ".npz, or .csv, one row a transition; for more files, the flag again")
        ->required()
        ->allow_extra_args(false);
    command->add_option("-o,--output", given->folder, "Folder of the run; one that learn made is added to")
        ->required();
    command->add_option("--columns", given->columns,
                        "Of a .csv: where what is, as episode=run,step=t,state=s,action=a,next_state=s2");
    command->add_flag(
        "--same-system", given->same_system,
        "The folder's run was explored, and the logs are of its system: docs/ask-and-tell.md says what "
        "that claims");
    command->add_option(
        "--algorithm", given->algorithm,
        "Only likelihood can learn from logs, and for linear MDPs lsvi [the one that serves]");
    command->add_option("--delta", given->delta, "Probability that the bounds may fail [0.1]");
    add_fit_flags(*command, given->fit);
    add_misspecification_flags(*command, given->off);
    command->add_option("--threads", given->threads, "0: all cores; results do not depend on it")
        ->capture_default_str();
    command->add_flag("--overwrite", given->overwrite, "Replace a run that is in the folder");
    command->add_flag("--normalise", given->normalise, "Divide rows that do not sum to 1 by their sum");
    add_output_flags(*command, chosen);
    command->footer(
        "The bounds hold for logs of any policy, if every next state was drawn given the logged state and\n"
        "action alone and no episode was left out because of what happened in it: docs/offline.md.\n"
        "Exit code: 0 done, 4 the data contradict the model. That is stored with the run, and every command\n"
        "that states a bound of it says so. Only a log with a transition that no base model can produce is\n"
        "stored nowhere: there is no place to count it.");
    command->callback(
        [=, &chosen] { chosen.work = [given](const Console& console) { return learn(*given, console); }; });
}

}  // namespace alidade::app
