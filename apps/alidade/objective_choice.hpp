#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "alidade/certify/atlas.hpp"
#include "alidade/files/atlas_file.hpp"
#include "alidade/problem/problem.hpp"
#include "console.hpp"

namespace alidade::app {

/// What the command line says about objectives and their weights.
struct ObjectiveFlags {
    std::vector<std::string> maximise, minimise;  ///< names or files as for --reward
    std::vector<std::string> at_least, at_most;   ///< NAME=NUMBER
    bool rescale = false;

    bool given() const { return !maximise.empty() || !minimise.empty(); }
};

/// Registers --objective, --minimise, --at-least, --at-most and --rescale.
void add_objective_flags(CLI::App& command, ObjectiveFlags& flags);

/// The objectives, those to be maximised first. Throws UserError for fewer than two, more than eight, or one
/// that is named twice.
std::vector<AtlasObjective> choose_objectives(const ObjectiveFlags& flags, const Problem& problem,
                                              const Console& console);

/// Puts the bounds of weights into the options. Throws UserError for a name that is no objective, or no
/// number.
void add_region(const ObjectiveFlags& flags, const std::vector<AtlasObjective>& objectives,
                AtlasOptions& options);

/// One number an objective from "0.5,0.25,0.25" or "NAME=0.5,NAME=0.25"; of objectives that are not named,
/// nothing. Throws UserError naming the flag.
std::vector<std::optional<double>> numbers_by_objective(const std::string& text, const std::string& flag,
                                                        const std::vector<AtlasObjective>& objectives);

/// "service-level, holding-cost and balanced".
std::string objective_names(const std::vector<AtlasObjective>& objectives, const std::string& last = ", ");

}  // namespace alidade::app
