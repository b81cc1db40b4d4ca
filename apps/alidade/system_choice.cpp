#include "system_choice.hpp"

#include <fmt/format.h>

#include "alidade/environment/simulated.hpp"
#include "alidade/formats/problem_folder.hpp"
#include "request_help.hpp"
#include "user_error.hpp"

namespace alidade::app {
namespace {

constexpr const char* log_name = "system.log";

/// What the flags or the problem ask for; empty if neither does.
std::string wanted_system(const SystemFlags& flags, const Problem& problem, const ProblemSystem& said) {
    if (!flags.system.empty()) return flags.system;
    if (!said.system.empty()) return said.system;
    if (!said.command.empty()) return "cmd:" + shell_command(said.command);
    return problem.truth_known() ? "simulated" : "";
}

[[noreturn]] void refuse_nobody(const Problem& problem, const std::string& source) {
    throw UserError(
        "the problem does not say how to run its system",
        {fmt::format("problem '{}'", source), "exploring needs a system to try policies on",
         fmt::format("--system 'cmd:COMMAND' for a program of yours (docs/own-system.md); alidade ask and "
                     "alidade tell if "
                     "somebody else runs the experiments; alidade learn for logs; or, to simulate it, add "
                     "[environment] "
                     "{} to its problem.toml",
                     problem.is_linear() ? "measures = \"truth.npz\"" : "weights = \"truth.json\"")});
}

}  // namespace

void add_system_flags(CLI::App& command, SystemFlags& flags) {
    command.add_option("--system", flags.system,
                       "What runs the experiments: simulated, cmd:COMMAND, or ask, where somebody else does "
                       "[the problem's; simulated where the truth "
                       "is known]");
    command.add_option("--workers", flags.workers,
                       "Processes of a command at once; results do not depend on it [1]");
    command.add_option("--timeout", flags.timeout, "Seconds that one answer of a command may take [60]");
}

std::string system_help() {
    return request_help("Systems (as in --system 'cmd:python3 plant.py' --workers 8):", systems());
}

SystemChoice::SystemChoice(const SystemFlags& flags, const Problem& problem, const std::string& source) {
    const ProblemSystem said = problem_system(source);
    const std::string wanted = wanted_system(flags, problem, said);
    if (wanted.empty()) refuse_nobody(problem, source);
    named_by_ = flags.system.empty() ? fmt::format("problem '{}', [environment]", source) : "--system";
    const Context context{named_by_, "exploring needs a system to try policies on",
                          "alidade explore --help names the systems"};
    explaining(context, [&] { request_.emplace(parse_system(wanted)); });
    if (request_->name == "simulated" && !problem.truth_known())
        throw UserError(
            "the problem does not say what its system is really like",
            {fmt::format("{}: simulated", named_by_),
             "only a system whose true weights are known can be simulated",
             problem.is_linear()
                 ? "add [environment] measures = \"truth.npz\" to its problem.toml, or --system cmd:COMMAND"
                 : "add [environment] weights = \"truth.json\" to its problem.toml, or --system "
                   "cmd:COMMAND"});
    if (!external() && (flags.workers || flags.timeout))
        throw UserError(
            fmt::format("{} is for systems that are other programs",
                        flags.workers ? "--workers" : "--timeout"),
            {"the command line", "this system is simulated here", "leave it out; --threads is for planning"});
    options_.command = request_->command;
    options_.folder = flags.system.empty() ? said.folder : std::filesystem::path{};
    options_.workers = flags.workers ? *flags.workers : said.workers.value_or(1);
    options_.timeout = flags.timeout ? *flags.timeout : said.timeout.value_or(options_.timeout);
    explaining({"the command line", "a system is run by some processes that are given some time",
                "--workers 8 --timeout 60"},
               [&] {
                   expects(options_.workers >= 1 && options_.workers <= 1024,
                           "--workers is {}; must be 1 to 1024", options_.workers);
                   expects(options_.timeout > 0 && options_.timeout < 1e9,
                           "--timeout is {}; must be greater than 0 and below 1e9 seconds", options_.timeout);
               });
    options_.state_names = problem.description().state_names;
    options_.action_names = problem.description().action_names;
}

Deployer& SystemChoice::start_counting(const Run& run) {
    const std::uint64_t seed = run.options().seed;
    if (request_->arguments.text("method") == "splitting") {
        deployer_ = std::make_unique<CountSplittingDeployer>(run.problem().true_system(), seed);
    } else {
        simulated_ = std::make_unique<SimulatedEnvironment>(run.problem().true_system());
        deployer_ = std::make_unique<StepwiseDeployer>(*simulated_, seed);
    }
    return *deployer_;
}

System& SystemChoice::start(const Run& run) {
    const std::uint64_t seed = run.options().seed;
    if (!external()) {
        simulated_ = std::make_unique<SimulatedEnvironment>(run.problem().true_system());
        stepwise_ = std::make_unique<StepwiseSystem>(*simulated_, seed);
        return *stepwise_;
    }
    options_.seed = seed;
    options_.log = run.folder() / log_name;
    try {
        command_ = std::make_unique<CommandSystem>(task_of(run.problem()), options_);
    } catch (const SystemFailed& error) {
        refuse(error, run.folder().string());
    }
    return *command_;
}

void SystemChoice::refuse(const SystemFailed& error, const std::string& folder) const {
    throw Failure(
        error.what(),
        {named_by_, "no further episodes can be run; those that were reported are stored and counted",
         fmt::format(
             "see to the command ({}/{} has all that it wrote to stderr; docs/own-system.md has what is "
             "said to it); the same command line then goes on",
             folder, log_name)});
}

}  // namespace alidade::app
