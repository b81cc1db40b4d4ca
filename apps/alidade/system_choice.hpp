#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "alidade/environment/simulated.hpp"
#include "alidade/environment/system_deployer.hpp"
#include "alidade/process/command_system.hpp"
#include "alidade/process/systems.hpp"
#include "alidade/run/run.hpp"

namespace alidade::app {

/// What the command line says about who runs experiments.
struct SystemFlags {
    std::string system;  ///< as parse_system takes it; empty: the problem's
    std::optional<std::int64_t> workers;
    std::optional<double> timeout;
};

/// Registers --system and its kin.
void add_system_flags(CLI::App& command, SystemFlags& flags);
/// The systems, for the end of the help.
std::string system_help();

/// Who runs the experiments: as the flags say, or the problem, or its truth.
class SystemChoice {
public:
    /// Throws UserError if nobody can.
    SystemChoice(const SystemFlags& flags, const Problem& problem, const std::string& source);

    /// What the run is to remember of it.
    const std::string& canonical() const noexcept { return request_->canonical; }
    /// Whether it is another program.
    bool external() const noexcept { return request_->name == "cmd"; }
    /// Whether somebody else runs the experiments, who asks and tells; and if so, whether there are seeds.
    bool asks() const noexcept { return request_->name == "ask"; }
    bool asks_seeded() const { return request_->arguments.flag("seeded"); }

    /// Starts it for a run. Throws UserError or Failure.
    System& start(const Run& run);
    /// Counts of simulated episodes, for runs that keep no others.
    Deployer& start_counting(const Run& run);
    /// Processes that were started in place of one that failed.
    std::int64_t restarts() const noexcept { return command_ ? command_->restarts() : 0; }
    /// What is said when it cannot go on.
    [[noreturn]] void refuse(const SystemFailed& error, const std::string& folder) const;

private:
    std::optional<SystemRequest> request_;
    CommandSystemOptions options_;
    std::string named_by_;  // where the user named it
    std::unique_ptr<CommandSystem> command_;
    std::unique_ptr<SimulatedEnvironment> simulated_;
    std::unique_ptr<StepwiseSystem> stepwise_;
    std::unique_ptr<Deployer> deployer_;
};

}  // namespace alidade::app
