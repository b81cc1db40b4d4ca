#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <vector>

#include "alidade/certify/atlas.hpp"
#include "alidade/files/atlas_file.hpp"
#include "exploration_run.hpp"
#include "objective_choice.hpp"

namespace alidade::app {

/// What the command line says of an atlas that ends a run when it is good enough.
struct AtlasStopFlags {
    ObjectiveFlags objectives;
    std::optional<double> until_loss;
};

/// Registers --until-loss and the flags of objectives.
void add_atlas_stop_flags(CLI::App& command, AtlasStopFlags& flags);

/// The atlas that is wanted; its threads are to be set.
struct AtlasWanted {
    std::vector<AtlasObjective> objectives;
    AtlasOptions options;
};

/// Nothing if none is asked for. Throws UserError for flags that do not go together.
std::optional<AtlasWanted> atlas_wanted(const AtlasStopFlags& flags, const Problem& problem,
                                        const Console& console);

/// Throws UserError where something else is to end the run.
void require_atlas_alone(bool target, bool asked_by_others);

/// The atlas of what was explored, written into the run's folder.
AtlasRecord keep_atlas(const Run& store, const Explored& explored, AtlasWanted wanted,
                       const Console& console);

/// What it promises, in three lines.
std::string describe_briefly(const AtlasRecord& record, const std::string& folder, const Console& console);

}  // namespace alidade::app
