#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "alidade/certify/atlas_goal.hpp"
#include "alidade/explore/catalogue.hpp"
#include "alidade/explore/explorer.hpp"
#include "alidade/formats/problem_folder.hpp"
#include "alidade/run/ask_tell.hpp"
#include "alidade/run/run.hpp"
#include "alidade/run/run_record.hpp"
#include "alidade/spec/printable_text.hpp"
#include "alidade/theory/bounds.hpp"
#include "atlas_stop.hpp"
#include "atlas_view.hpp"
#include "commands.hpp"
#include "exploration_run.hpp"
#include "load_run.hpp"
#include "misspecification_view.hpp"
#include "numbers.hpp"
#include "request_help.hpp"
#include "run_advice.hpp"
#include "system_choice.hpp"
#include "user_error.hpp"

namespace alidade::app {
namespace {

constexpr std::int64_t default_episodes = 100'000;

struct ExploreArguments {
    std::string source, folder, algorithm, confidence, constants, episodes, replan = to_string(Schedule{});
    std::optional<double> target, delta;
    FitFlags fit;
    MisspecificationFlags off;
    SystemFlags system;
    std::string seed = "0";
    int threads = 0;
    bool overwrite = false, normalise = false, same_system = false;
    AtlasStopFlags atlas;
};

const Context flag_context{"the command line", "it decides what the run does and what its bounds claim",
                           "alidade explore --help lists the flags and what they take"};

/// The constants that a source was asked for; "sharp" where nothing is said.
std::string source_constants(const Request& source) {
    const auto constants = source.given.find("constants");
    return constants == source.given.end() ? "sharp" : constants->second;
}

/// Whether a source's constants are a theorem's, and so are told the number of episodes beforehand.
bool is_planned(const Request& source) {
    return source.name != "linear" && source_constants(source) != "sharp";
}

/// The source of that kind; none if there is no such.
const Request* planned_source(const std::vector<Request>& sources) {
    const auto place = std::ranges::find_if(sources, is_planned);
    return place == sources.end() ? nullptr : &*place;
}

/// What the theorem behind such a source asks for: Theorem 1 for the regression of Algorithm 1, Theorem 2 as
/// repaired for those of Algorithm 2.
double theorem_episodes(const Request& source, const BoundSetting& setting, double target) {
    if (source.name == "regression") return hoeffding_episodes(setting, target);
    return bernstein_episodes(
        setting, target,
        source_constants(source) == "paper" ? BernsteinRadii::printed : BernsteinRadii::safe);
}

/// The budget: the flag, the problem's, or the default; for a theorem's constants with a target alone, what
/// the theorem asks for [design decision 4].
std::int64_t budget_of(const ExploreArguments& given, const Problem& problem, double delta,
                       const std::vector<Request>& sources) {
    if (!given.episodes.empty()) return parse_count(given.episodes, "--episodes", 1, most_episodes);
    if (problem.target().episodes) return *problem.target().episodes;
    const auto target = given.target ? given.target : problem.target().epsilon;
    const Request* planned = planned_source(sources);
    if (!planned || !target) return default_episodes;
    const bool base_models = problem.features().kind() == FeatureKind::base_models;
    const Index d = problem.features().features();
    const double norm = base_models ? base_model_norm_bound(d) : problem.features().norm_bound();
    const double episodes = theorem_episodes(*planned, {d, problem.shape().horizon, norm, delta}, *target);
    if (episodes <= static_cast<double>(most_episodes)) return static_cast<std::int64_t>(std::ceil(episodes));
    throw UserError(
        fmt::format("Theorem {} asks for {:.3g} episodes; a run can count {}",
                    planned->name == "regression" ? 1 : 2, episodes, most_episodes),
        {fmt::format("--constants {} with a target and no budget", source_constants(*planned)),
         "such a run would never end",
         "--episodes 1e9, to see what the printed constants give after so many; or a larger --target"});
}

/// The confidence sets asked for, --constants among their parameters.
std::vector<Request> sources_of(const ExploreArguments& given, const Problem& problem) {
    const std::string& constants = given.constants;
    expects(constants.empty() || constants == "sharp" || constants == "paper" || constants == "safe",
            "--constants is '{}'; must be sharp, paper or safe", constants);
    if (constants.empty() || constants == "sharp")
        return given.confidence.empty() ? std::vector<Request>{} : canonical_sources(given.confidence);
    // Algorithm 1 has no others than the printed ones.
    const bool second =
        constants == "safe" || parse_request(given.algorithm, given.algorithm).name == "bernstein";
    expects(!problem.is_linear() || constants == "paper",
            "--constants is {}; a linear MDP has sharp ones, or the paper's, with which nothing is proved",
            constants);
    const std::string source = problem.is_linear() ? "linear" : second ? "bernstein" : "regression";
    expects(given.confidence.empty(),
            "--constants {} is short for --confidence '{}?constants={}'; --confidence is '{}'", constants,
            source, constants, given.confidence);
    return {{source, {{"constants", constants}}}};
}

RunOptions options_of(const ExploreArguments& given, const Problem& problem, const SystemChoice& system) {
    RunOptions options;
    options.system = system.canonical();
    options.seed = parse_seed(given.seed, "--seed");
    options.delta = delta_of(given.delta, problem);
    options.assumed = assumed_of(given.off);
    explaining(flag_context, [&] {
        options.schedule = parse_schedule(given.replan);
        ExplorerOptions wanted{.algorithm = given.algorithm};
        std::vector<Request> sources = sources_of(given, problem);
        for (Request& source : sources) {
            if (!is_planned(source)) continue;
            // The paper's radii are told the number of episodes beforehand.
            source.given.emplace("episodes",
                                 std::to_string(budget_of(given, problem, options.delta, sources)));
            if (wanted.algorithm.empty())
                wanted.algorithm = source.name == "regression" ? "hoeffding" : "bernstein";
        }
        if (!sources.empty()) wanted.confidence = to_string(sources);
        wanted = canonical(wanted, task_of(problem, options));
        options.algorithm = wanted.algorithm;
        options.confidence = wanted.confidence;
    });
    return options;
}

Goal goal_of(const ExploreArguments& given, const Problem& problem, const RunOptions& options) {
    Goal goal;
    goal.threads = thread_count(given.threads);
    require_fit_level(given.fit.level);
    require_suspects(given.fit, problem);
    goal.fit = given.fit;
    goal.target = given.target ? given.target : problem.target().epsilon;
    goal.episodes = budget_of(given, problem, options.delta, parse_requests(options.confidence));
    if (goal.target && !(*goal.target > 0 && std::isfinite(*goal.target)))
        throw UserError(fmt::format("--target is {}; must be greater than 0", *goal.target),
                        {"the command line", "no finite number of episodes gives a certificate of 0 or less",
                         "--target 0.5, in units of reward over a whole episode"});
    return goal;
}

bool same_truth(const Problem& one, const Problem& other) {
    if (one.description().measures != other.description().measures) return false;
    if (one.foreign() != other.foreign()) return false;
    if (one.truth().has_value() != other.truth().has_value()) return false;
    if (!one.truth()) return true;
    return one.truth()->rows() == other.truth()->rows() && one.truth()->cols() == other.truth()->cols() &&
           *one.truth() == *other.truth();
}

std::string difference(const RunOptions& stored, const RunOptions& wanted) {
    std::vector<std::string> parts;
    const auto compare = [&](std::string_view flag, const auto& is, const auto& asked) {
        if (!(is == asked)) parts.push_back(fmt::format("{} {} (not {})", flag, is, asked));
    };
    compare("--algorithm", stored.algorithm, wanted.algorithm);
    compare("--confidence", stored.confidence, wanted.confidence);
    compare("--delta", stored.delta, wanted.delta);
    compare("--seed", stored.seed, wanted.seed);
    compare("--replan", to_string(stored.schedule), to_string(wanted.schedule));
    compare("--system", stored.system, wanted.system);
    const auto zeta = [](const RunOptions& options) { return options.assumed.misspecification.value_or(0); };
    const auto reach = [](const RunOptions& options) {
        return to_string(options.assumed.reach.value_or(Reach::anywhere));
    };
    compare("--misspecification", zeta(stored), zeta(wanted));
    compare("--reach", reach(stored), reach(wanted));
    return fmt::format("{}", fmt::join(parts, ", "));
}

/// The run that is there, if it is the one asked for; throws UserError otherwise.
Run resume(const ExploreArguments& given, const Problem& problem, const RunOptions& options) {
    const Context context{fmt::format("run folder '{}'", given.folder),
                          "data of two different runs must not be mixed: the bounds would not hold",
                          "choose another folder with -o, or replace the run there with --overwrite"};
    Run store = explaining_run(given.folder, writing_use(false), [&] {
        return Run::open(given.folder, Access::write,
                         problem.is_linear() ? nullptr : problem.shared_features());
    });
    if (const auto result = store.result();
        result && result->stopped == stopped_at_logs && !given.same_system)
        throw UserError("the folder holds what alidade learn made of logs",
                        {context.where,
                         "the logs may be of another system than the one simulated here; data of two systems "
                         "must not be mixed",
                         context.fix + "; or, if it is one system, say so with --same-system"});
    if (store.problem_hash() != problem_hash(problem) || !same_truth(store.problem(), problem))
        throw UserError(fmt::format("the folder holds a run of another problem: {}", store.source()),
                        context);
    RunOptions wanted = options;
    if (given.same_system) wanted.system = store.options().system;
    // A run goes on as it was begun where nothing else is said.
    const Request algorithm = parse_request(wanted.algorithm, wanted.algorithm);
    if (given.constants.empty())
        wanted.confidence = to_string(continued_sources(
            given.confidence.empty() ? find_behaviour(algorithm.name).source : given.confidence,
            store.options().confidence));
    if (store.options() == wanted) return store;
    RunOptions other = wanted;
    other.system = store.options().system;
    throw UserError(
        fmt::format("the folder holds a run with other options: it has {}",
                    difference(store.options(), wanted)),
        {context.where, context.why,
         other == store.options() ? context.fix + "; or, if it is one system, say so with --same-system"
                                  : context.fix});
}

Run open_or_create(const ExploreArguments& given, const Problem& problem, const RunOptions& options) {
    if (Run::exists(given.folder)) {
        if (!given.overwrite) return resume(given, problem, options);
        explaining_run(given.folder, writing_use(true), [&] { Run::remove(given.folder); });
    }
    return explaining_run(given.folder, writing_use(given.overwrite),
                          [&] { return Run::create(given.folder, problem, given.source, options); });
}

/// Makes the run one that others ask and tell.
int prepare_asking(const ExploreArguments& given, const Run& store, const Goal& goal,
                   const SystemChoice& system, const Console& console) {
    // Without a budget somebody else decides when it is enough.
    const bool budget = !given.episodes.empty() || store.problem().target().episodes;
    const AskGoal wanted{.episodes = budget ? goal.episodes : most_episodes,
                         .target = goal.target,
                         .seeded = system.asks_seeded()};
    explaining(flag_context, [&] { AskTell(store).prepare(wanted); });
    const std::string folder = store.folder().string();
    if (console.json()) {
        nlohmann::ordered_json object;
        object["problem"] = store.source();
        object["algorithm"] = store.options().algorithm;
        object["system"] = store.options().system;
        if (budget) object["budget"] = wanted.episodes;
        if (wanted.target) object["target"] = *wanted.target;
        object["seeded"] = wanted.seeded;
        object["run"] = folder;
        console.object(object);
        return 0;
    }
    console.result(fmt::format("{} {}: it waits for experiments that you run.\n{}  alidade ask {}\n",
                               console.bold("Run"), printable(folder), console.bold("Next"),
                               shell_path(folder)));
    return 0;
}

int explore(const ExploreArguments& given, const Console& console) {
    const Problem problem = load_problem_argument(given.source, given.normalise);
    SystemChoice system(given.system, problem, given.source);
    const RunOptions options = options_of(given, problem, system);
    Goal goal = goal_of(given, problem, options);
    std::optional<AtlasWanted> wanted = atlas_wanted(given.atlas, problem, console);
    if (wanted) require_atlas_alone(given.target.has_value(), system.asks());
    std::optional<AtlasGoal> until;
    if (wanted) {
        wanted->options.threads = goal.threads;
        until.emplace(rewards_of(wanted->objectives), wanted->options);
        goal.target.reset();
        goal.enough = [&](const Knowledge& knowledge) { return until->met(knowledge); };
    }
    Run store = open_or_create(given, problem, options);
    if (system.asks()) return prepare_asking(given, store, goal, system, console);
    const Explored explored = explore_into(store, goal, console, system);
    insist(explored.standing, console);
    std::optional<AtlasRecord> atlas;
    if (wanted && explored.stopped != Stopped::interrupted && !explored.standing.contradiction)
        atlas = keep_atlas(store, explored, std::move(*wanted), console);
    if (explored.stopped == Stopped::interrupted)
        console.say(interrupted_after(explored.result.episodes));
    else if (explored.stopped == Stopped::budget && goal.target)
        console.say(fmt::format("The target of {} is not met yet: a larger --episodes {}.", *goal.target,
                                planned_episodes(options).has_value()
                                    ? "is another run, as the paper's constants are of that number"
                                    : "goes on from here"));
    else if (atlas && explored.stopped == Stopped::budget)
        console.say(fmt::format("The loss of {} is not met yet ({}): a larger --episodes goes on from here.",
                                *given.atlas.until_loss, obstacle(*atlas)));
    if (console.json()) {
        nlohmann::ordered_json object = to_json(explored, store, goal);
        if (atlas) object["atlas"] = to_json(*atlas, false);
        console.object(object);
    } else {
        std::string text = describe(explored, store, console);
        if (atlas) text += "\n" + describe_briefly(*atlas, (store.folder() / "atlas").string(), console);
        console.result(text);
    }
    return exit_code(explored, goal);
}

template <class Entries>
std::string entry_names(const Entries& entries) {
    std::string names;
    for (const auto& entry : entries) names += (names.empty() ? "" : ", ") + entry.name;
    return names;
}

}  // namespace

void add_explore(CLI::App& app, Chosen& chosen) {
    CLI::App* command =
        app.add_subcommand("explore", "Learn a problem's model without a reward, and certify it");
    const auto given = std::make_shared<ExploreArguments>();
    command
        ->add_option("PROBLEM", given->source,
                     "A folder, a problem.toml, or builtin:NAME?parameter=value&...")
        ->required();
    command->add_option("-o,--output", given->folder, "Folder of the run; one that exists is resumed")
        ->required();
    command->add_option("--algorithm", given->algorithm,
                        "How experiments are chosen, one of " + entry_names(behaviours()) +
                            " [the first that serves the problem]");
    command->add_option("--confidence", given->confidence,
                        "Sets that the certificate rests on, of " + entry_names(set_sources()) +
                            ", with commas between, sharing delta [the algorithm's own]");
    command->add_option(
        "--constants", given->constants,
        "sharp; paper: as printed, errata mended; safe: as Algorithm 2's proof needs; short for "
        "--confidence 'regression?constants=paper', or 'bernstein?constants=...', 'linear?constants=paper' "
        "[sharp]");
    command->add_option("--episodes", given->episodes, "Budget, like 100000, 100_000 or 1e5 [100000]");
    command->add_option("--target", given->target, "Stop at the first certificate of at most this");
    add_atlas_stop_flags(*command, given->atlas);
    command->add_option("--delta", given->delta, "Probability that the bounds may fail [0.1]");
    add_system_flags(*command, given->system);
    add_fit_flags(*command, given->fit);
    add_misspecification_flags(*command, given->off);
    command->add_option("--seed", given->seed, "Of the simulation, of a system's episodes, and of ties")
        ->capture_default_str();
    command->add_option("--replan", given->replan, "every, doubling or growth=RATIO")->capture_default_str();
    command->add_option("--threads", given->threads, "0: all cores; results do not depend on it")
        ->capture_default_str();
    command->add_flag("--overwrite", given->overwrite, "Replace a run that is in the folder");
    command->add_flag("--same-system", given->same_system,
                      "The run's data, from logs or run by others, are of the system that is explored now: "
                      "docs/ask-and-tell.md says what that claims");
    command->add_flag("--normalise", given->normalise, "Divide rows that do not sum to 1 by their sum");
    add_output_flags(*command, chosen);
    command->footer(
        request_help("Algorithms (parameters as in --algorithm 'likelihood?bonus=gain'):", behaviours()) +
        "\n" +
        request_help("Confidence sets (as in --confidence 'regression?without=span+hull,likelihood'):",
                     set_sources()) +
        "\n" + system_help() +
        "\nFlags beat the problem's [target] and [environment]. Exit code: 0 done, 3 budget spent before the "
        "target,\n"
        "4 the data contradict the model, 130 interrupted (Ctrl-C, SIGTERM, SIGHUP); the run is stored in\n"
        "every case. A contradiction is stored with it: the run is not explored further without\n"
        "--despite-contradiction, and every command that states a bound of it says so.");
    command->callback(
        [=, &chosen] { chosen.work = [given](const Console& console) { return explore(*given, console); }; });
}

}  // namespace alidade::app
