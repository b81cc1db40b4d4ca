#pragma once

#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>

#include "alidade/plan/planner.hpp"

namespace alidade {

/// A planner's command that failed or took too long; the message ends with the last lines it wrote.
class CommandFailed : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// A planner's command was killed because ExternalPlannerOptions::stop asked for it.
class CommandStopped : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// How to run a planner that is another program.
struct ExternalPlannerOptions {
    /// For /bin/sh; {model} and {policy}, which it must contain, stand for two files.
    std::string command;
    std::string format = "json";   ///< of the model: a name of planning_formats()
    double time_limit = 600;       ///< seconds, > 0; then the command and all it started are killed
    std::filesystem::path folder;  ///< where the two files go, and stay; empty: one that is removed
    /// Asked several times a second; true kills the command, and CommandStopped is thrown. May be empty.
    std::function<bool()> stop;
};

/// Any program as a planner. It is given the model in a file and must write the policy to another, as
/// read_plan() reads it (docs/planners.md has the protocol). What it writes to stdout and stderr is only
/// shown when it fails. Planning throws CommandFailed if the command does not exit with 0 in time, and
/// InvalidArgument, naming the file, if what it wrote is no policy of the model's shape.
class ExternalPlanner final : public Planner {
public:
    /// Throws InvalidArgument for a command without the two placeholders, an unknown format, or a time limit
    /// that is not positive.
    explicit ExternalPlanner(ExternalPlannerOptions options);

private:
    Plan do_plan(const TransitionModel& model, const Reward& reward) const override;

    ExternalPlannerOptions options_;
};

}  // namespace alidade
