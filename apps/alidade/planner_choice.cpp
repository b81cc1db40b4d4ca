#include "planner_choice.hpp"

#include <fmt/format.h>

#include <utility>

#include "alidade/certify/linear_plan.hpp"
#include "alidade/certify/robust_plan.hpp"
#include "alidade/process/external_planner.hpp"
#include "alidade/process/planning_model.hpp"
#include "request_help.hpp"
#include "user_error.hpp"

namespace alidade::app {
namespace {

std::string planner_names() {
    std::string names;
    for (const PlannerEntry& entry : planners()) names += (names.empty() ? "" : ", ") + entry.name;
    return names;
}

std::string format_names() {
    std::string names;
    for (const PlanningFormat& format : planning_formats())
        names += (names.empty() ? "" : ", ") + format.name;
    return names;
}

/// The planners and their parameters, for the end of the help.
std::string planner_help() {
    const std::string text =
        request_help("Planners (parameters as in --planner 'uct?simulations=2000&seed=3'):", planners());
    return text +
           fmt::format("  {:<19} {}\n", "robust",
                       "Largest value that is guaranteed on the real system; says what that costs.") +
           fmt::format(
               "  {:<19} {}\n", "lsvi",
               "Optimistic least-squares value iteration, for linear MDPs: the paper's Algorithm 4.") +
           "  cmd:COMMAND         Any program: COMMAND reads {model} and writes {policy}; see "
           "docs/planners.md.";
}

}  // namespace

void add_planner_flags(CLI::App& command, PlannerFlags& flags) {
    command
        .add_option("--planner", flags.planner,
                    "One of " + planner_names() + ", robust, lsvi, or cmd:COMMAND")
        ->capture_default_str();
    command
        .add_option("--planner-format", flags.format,
                    "How a command gets the model: one of " + format_names())
        ->capture_default_str();
    command.add_option("--planner-timeout", flags.timeout, "Seconds after which a command is killed")
        ->capture_default_str();
    command.add_option("--planner-folder", flags.folder, "Keep the files of a command in this folder");
    command.footer(planner_help());
}

PlannerChoice::PlannerChoice(PlannerFlags flags, const SharedLearned& learned, Threads threads)
    : flags_(std::move(flags)) {
    if (flags_.robust()) {
        planner_ = std::make_unique<RobustPlanner>(learned, threads);
        return;
    }
    if (flags_.planner == "lsvi") {
        planner_ =
            explaining({"--planner", "it plans by the regressions of a linear MDP, and by nothing else",
                        "another planner: alidade plan --help names them"},
                       [&] { return std::make_unique<LinearPlanner>(learned); });
        return;
    }
    if (!flags_.external()) {
        planner_ = explaining({"--planner", "only a planner that is known can be run",
                               "alidade plan --help names the planners and their parameters"},
                              [&] { return make_planner(flags_.planner); });
        return;
    }
    explaining(
        {"--planner", "another program can only plan if it is told where its files are, and for how long",
         "--planner 'cmd:python3 my_planner.py {model} {policy}'"},
        [&] {
            planner_ = std::make_unique<ExternalPlanner>(ExternalPlannerOptions{
                .command = flags_.planner.substr(4),
                .format = flags_.format,
                .time_limit = flags_.timeout,
                .folder = flags_.folder,
                .stop = [this] { return interruption_ && interruption_->requested(); }});
        });
}

std::optional<Plan> PlannerChoice::plan(const TransitionModel& model, const Reward& reward) {
    if (!flags_.external()) return planner_->plan(model, reward);
    try {
        interruption_.emplace();
        Plan found = planner_->plan(model, reward);
        interruption_.reset();
        return found;
    } catch (const CommandStopped&) {
        return std::nullopt;
    } catch (const CommandFailed& error) {
        throw Failure(error.what(), {"--planner", "there is no policy to certify",
                                     "see to the command; --planner-folder DIR keeps the files it was given, "
                                     "--planner-timeout gives it more time"});
    } catch (const InvalidArgument& error) {
        throw UserError(error.what(),
                        {"the policy that the planner's command wrote",
                         "a policy must say what to do at every step and state",
                         "{\"policy\": [[action for each state] for each step]}, counted from 0; "
                         "--planner-folder DIR keeps the file"});
    }
}

}  // namespace alidade::app
