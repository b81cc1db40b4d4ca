#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "alidade/files/atlas_file.hpp"
#include "alidade/run/run.hpp"
#include "console.hpp"
#include "interruption.hpp"

namespace alidade::app {

/// Makes the atlas of a run's knowledge, with a line of progress on a terminal; Ctrl-C ends the round and
/// hands over a valid atlas.
AtlasRecord atlas_of_run(const Run& run, const Knowledge& knowledge, std::vector<AtlasObjective> objectives,
                         AtlasOptions options, const Console& console, const Interruption& interruption);

/// Writes it with its pictures. Throws UserError where the folder is something else.
void write_atlas_folder(const std::string& folder, const AtlasRecord& record, const Problem& problem);

/// Reads it. Throws UserError.
AtlasRecord read_atlas_argument(const std::string& folder);
/// Throws UserError unless atlas and run are of one problem.
void require_run_of(const AtlasRecord& record, const Run& run);

/// The object of atlas.json; corners, cells and tree only where all of it is wanted.
nlohmann::ordered_json to_json(const AtlasRecord& record, bool whole);

/// The atlas in words, with a table of its plans.
std::string describe(const AtlasRecord& record, double seconds, const Console& console);
/// Its headline alone: what it loses at most.
std::string headline(const AtlasRecord& record);

/// What stands in the way of a smaller loss, and what to do; empty if nothing does.
std::string obstacle(const AtlasRecord& record);

/// 0 if the loss is met, or, where as little as possible was asked for, the data are the limit; 130
/// interrupted; else 3.
int exit_code(const Atlas& atlas);

}  // namespace alidade::app
