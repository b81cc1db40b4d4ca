#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "alidade/files/policy_file.hpp"
#include "alidade/random/samplers.hpp"
#include "alidade/random/stream.hpp"
#include "alidade/run/ask_tell.hpp"
#include "alidade/spec/printable_text.hpp"
#include "certificate_view.hpp"
#include "commands.hpp"
#include "contradiction_view.hpp"
#include "experiment_view.hpp"
#include "load_run.hpp"
#include "numbers.hpp"
#include "table.hpp"
#include "user_error.hpp"

namespace alidade::app {
namespace {

using nlohmann::ordered_json;

struct AskArguments {
    std::string folder, worker = this_worker(), policies;
    std::int64_t experiments = 4, episodes = 0;
    double lease_hours = 24;
    int threads = 0;
    FitFlags fit;
    bool same_system = false, again = false;
};

struct ActArguments {
    std::string folder, state;
    std::int64_t id = 0, step = 0;
    std::int64_t episode = 0;
};

/// Where the policy of an experiment is written.
std::filesystem::path policy_path(const AskArguments& given, std::int64_t id) {
    return std::filesystem::path(given.policies) / fmt::format("experiment-{}.json", id);
}

ordered_json object_of(const Experiment& experiment, const AskArguments& given, const Problem& problem) {
    ordered_json object;
    object["id"] = experiment.id;
    object["episodes"] = experiment.episodes - experiment.told;
    object["first_episode"] = experiment.first_episode + experiment.told;
    object["horizon"] = problem.shape().horizon;
    object["deployment"] = experiment.deployment;
    object["attempt"] = experiment.attempt;
    if (experiment.told > 0) object["next_part"] = experiment.parts;
    if (experiment.seed) {
        object["seeds"] = ordered_json::array();
        for (std::int64_t k = experiment.told; k < experiment.episodes; ++k)
            object["seeds"].push_back(seed_of_episode(*experiment.seed, experiment.first_episode + k));
    }
    if (experiment.aim) object["why"] = to_json(*experiment.aim, problem);
    object["due"] = time_json(experiment.due);
    if (given.policies.empty())
        object["policy"] = to_json(*experiment.policy);
    else
        object["policy_file"] = policy_path(given, experiment.id).string();
    return object;
}

void write_policies(const AskArguments& given, const Asked& asked) {
    if (given.policies.empty()) return;
    writing([&] {
        std::filesystem::create_directories(given.policies);
        for (const Experiment& experiment : asked.experiments)
            write_policy(policy_path(given, experiment.id), *experiment.policy);
    });
}

std::string ended_in_words(const std::string& ended) {
    return ended == "target" ? "The target is met: there is nothing left to ask for."
                             : "The budget is spent: there is nothing left to ask for.";
}

std::string text_of(const Asked& asked, const AskArguments& given, const Problem& problem,
                    const Console& console) {
    if (!asked.ended.empty()) return ended_in_words(asked.ended) + "\n";
    const std::string run = shell_path(given.folder);
    if (asked.experiments.empty())
        return fmt::format(
            "Nothing to do now: {} experiments of this deployment are with others, the first until {} UTC.\n"
            "What comes next depends on what they show. Ask again when they are told.\n",
            asked.with_others, utc_time(asked.next_due));
    std::string text = fmt::format("{}\n", console.bold("Experiments"));
    for (const Experiment& experiment : asked.experiments) {
        text += fmt::format("  {}  {} {} of its policy", experiment.id,
                            with_commas(experiment.episodes - experiment.told),
                            experiment.episodes - experiment.told == 1 ? "episode" : "episodes");
        if (experiment.aim) text += fmt::format(", for {}", printable(in_words(*experiment.aim, problem)));
        text += "\n";
    }
    const std::int64_t first = asked.experiments.front().id;
    return text + fmt::format(
                      "{}  alidade act {} {} --step 0 --state S says the action to take\n"
                      "      alidade tell {} {} --episodes FILE\n",
                      console.bold("Next"), run, first, run, first);
}

void require_sound(const Run& run, const FitFlags& flags) {
    const auto checkpoint = run.checkpoint();
    if (checkpoint && checkpoint->contradiction && !flags.despite)
        throw refusal(*checkpoint->contradiction, run.folder().string(), "nothing was asked for");
}

int ask(const AskArguments& given, const Console& console) {
    const Run run = open_run_to_share(given.folder);
    require_same_system(run, given.same_system);
    AskTell experiments(run);
    if (!run.keeps_episodes()) experiments.prepare({});
    const AskOptions options{.experiments = given.experiments,
                             .chunk = given.episodes,
                             .lease_seconds = static_cast<std::int64_t>(given.lease_hours * 3600),
                             .worker = given.worker,
                             .own_again = given.again,
                             .threads = thread_count(given.threads),
                             .despite_contradiction = given.fit.despite};
    Asked asked;
    try {
        asked = explaining({"the command line", "nothing was asked for", "alidade ask --help"},
                           [&] { return experiments.ask(options); });
    } catch (const ModelContradiction&) {
        require_sound(run, given.fit);
        throw;
    }
    write_policies(given, asked);
    if (!console.json()) {
        console.result(text_of(asked, given, run.problem(), console));
        return 0;
    }
    ordered_json object;
    object["experiments"] = ordered_json::array();
    for (const Experiment& experiment : asked.experiments)
        object["experiments"].push_back(object_of(experiment, given, run.problem()));
    object["with_others"] = asked.with_others;
    if (asked.next_due > 0) object["next_due"] = time_json(asked.next_due);
    if (!asked.ended.empty()) object["ended"] = asked.ended;
    object["run"] = given.folder;
    console.object(object);
    return 0;
}

int act(const ActArguments& given, const Console& console) {
    const Run run = open_run(given.folder);
    require_episodes(run);
    const Problem& problem = run.problem();
    const State state = state_argument(given.state, problem, "--state");
    if (given.step < 0 || given.step >= problem.shape().horizon)
        throw UserError(
            fmt::format("--step is {}; must be 0 to {}", given.step, problem.shape().horizon - 1),
            {"the command line", "a policy says what to do at the steps of an episode", "--step 0"});
    const Experiment experiment = explaining(
        {fmt::format("run folder '{}'", given.folder), "only an experiment that was asked for has a policy",
         fmt::format("alidade log {} lists them", shell_path(given.folder))},
        [&] { return AskTell(run).experiment(given.id); });
    const Policy& policy = *experiment.policy;
    Action action = 0;
    if (policy.is_deterministic()) {
        action = policy.action(given.step, state);
    } else {
        // Drawn for this episode and step: asked twice, it is the same.
        Stream random(run.options().seed, Purpose::simulation,
                      static_cast<std::uint64_t>(experiment.first_episode + given.episode),
                      static_cast<std::uint64_t>(given.step));
        std::vector<double> law;
        for (Action a = 0; a < problem.shape().actions; ++a)
            law.push_back(policy.probability(given.step, state, a));
        action = sample_categorical(random, law);
    }
    if (console.json())
        console.object({{"action", action}, {"action_name", problem.action_name(action)}});
    else
        console.result(problem.description().action_names.empty()
                           ? fmt::format("{}\n", action)
                           : fmt::format("{}\n", printable(problem.action_name(action))));
    return 0;
}

}  // namespace

void add_ask(CLI::App& app, Chosen& chosen) {
    CLI::App* command =
        app.add_subcommand("ask", "What to try next, where somebody else runs the experiments");
    const auto given = std::make_shared<AskArguments>();
    command->add_option("RUN", given->folder, "Folder of a run that explore --system ask made")->required();
    command->add_option("-n,--experiments", given->experiments, "How many at most")->capture_default_str();
    command->add_option(
        "--chunk", given->episodes,
        "Episodes of one experiment at most, where a new policy is cut up [a sixteenth of it]");
    command
        ->add_option(
            "--lease", given->lease_hours,
            "Hours until an experiment may be given to somebody else; answers are welcome later, too")
        ->capture_default_str();
    command->add_option("--worker", given->worker, "Who asks")->capture_default_str();
    command->add_flag("--again", given->again, "Also what this worker has already and has not told");
    command->add_option("--policies", given->policies,
                        "A folder to write policies to, as files, instead of the JSON");
    command->add_flag("--same-system", given->same_system,
                      "What the run has, from logs or from explore, is of the system that you run");
    command->add_option("--threads", given->threads, "0: all cores; results do not depend on it")
        ->capture_default_str();
    command->add_flag("--despite-contradiction", given->fit.despite,
                      "Go on when the data contradict the model");
    add_output_flags(*command, chosen);
    command->footer(
        "Takes up what was told when the last experiment of a policy is told, plans, and certifies where "
        "that is\n"
        "due; so it may take as long as a step of explore. Any number of processes may ask and tell at "
        "once.\n"
        "JSON: experiments [{id, episodes, first_episode, why {step, state, action}, due, policy, seeds}], "
        "with_others,\n"
        "ended (\"target\" or \"budget\"). Exit code: 0, 4 the data contradict the model. "
        "docs/ask-and-tell.md");
    command->callback(
        [=, &chosen] { chosen.work = [given](const Console& console) { return ask(*given, console); }; });
}

void add_act(CLI::App& app, Chosen& chosen) {
    CLI::App* command = app.add_subcommand("act", "The one action to take now, for an experiment by hand");
    const auto given = std::make_shared<ActArguments>();
    command->add_option("RUN", given->folder, "Folder of a run")->required();
    command->add_option("ID", given->id, "The experiment, as ask numbered it")->required();
    command->add_option("--state", given->state, "The state now: its number or its name")->required();
    command->add_option("--step", given->step, "The step now, from 0")->required();
    command->add_option("--episode", given->episode,
                        "Which of the experiment's episodes, from 0; matters for random policies only");
    add_output_flags(*command, chosen);
    command->callback(
        [=, &chosen] { chosen.work = [given](const Console& console) { return act(*given, console); }; });
}

}  // namespace alidade::app
