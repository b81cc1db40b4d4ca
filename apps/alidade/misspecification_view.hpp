#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "alidade/model/task.hpp"

namespace alidade::app {

/// What the command line says about how far the truth may be off its mixture.
struct MisspecificationFlags {
    std::optional<double> zeta;
    std::string reach;  ///< empty: as the run or the problem has it

    bool given() const noexcept { return zeta.has_value() || !reach.empty(); }
};

/// Registers --misspecification and --reach.
void add_misspecification_flags(CLI::App& command, MisspecificationFlags& flags);

/// What they claim. Throws UserError for a misspecification out of range or an unknown reach.
AssumedError assumed_of(const MisspecificationFlags& flags);

/// {assumed, reach}: what the bounds of an answer allow for; nothing where the mixture is taken to be exact.
void add_assumed(nlohmann::ordered_json& object, const Task& task);
/// The same in words; empty where the mixture is taken to be exact.
std::string describe_assumed(const Task& task);

}  // namespace alidade::app
