#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>

#include "alidade/confidence/learned_model.hpp"
#include "alidade/plan/planner.hpp"
#include "interruption.hpp"

namespace alidade::app {

/// What the command line says about the planner.
struct PlannerFlags {
    std::string planner = planners().front().name;  ///< NAME, NAME?parameter=value, robust, or cmd:COMMAND
    std::string format = "json";                    ///< of the model for a command
    double timeout = 600;                           ///< seconds, for a command
    std::string folder;                             ///< keeps a command's files; empty: they are removed

    /// Whether it plans against the confidence sets. The catalogue of planners, which see a model only,
    /// cannot make this one.
    bool robust() const { return planner == "robust"; }
    /// Whether the planner is another program.
    bool external() const { return planner.starts_with("cmd:"); }
};

/// Registers --planner and its kin.
void add_planner_flags(CLI::App& command, PlannerFlags& flags);

/// The planner that the flags ask for.
class PlannerChoice {
public:
    /// `learned` is what a robust planner plans against. Throws UserError for a planner that cannot be.
    PlannerChoice(PlannerFlags flags, const SharedLearned& learned, Threads threads = {});
    PlannerChoice(const PlannerChoice&) = delete;
    PlannerChoice& operator=(const PlannerChoice&) = delete;

    /// Plans; nothing if Ctrl-C ended a command. A command that fails throws a Failure, one that writes no
    /// policy a UserError.
    std::optional<Plan> plan(const TransitionModel& model, const Reward& reward);

private:
    PlannerFlags flags_;
    std::optional<Interruption> interruption_;  // only while a command runs
    std::unique_ptr<const Planner> planner_;
};

}  // namespace alidade::app
