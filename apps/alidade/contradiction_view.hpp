#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "alidade/explore/run_contradiction.hpp"
#include "alidade/run/run.hpp"
#include "console.hpp"
#include "fit_view.hpp"
#include "user_error.hpp"

namespace alidade::app {

/// What the command line says about data that contradict the model.
struct FitFlags {
    double level = default_fit_level;        ///< of the model check; 0: none is made
    bool despite = false;                    ///< go on, and exit as if nothing contradicted the model
    std::vector<std::string> suspects = {};  ///< files of kernels that the check is to try as well
};

/// Registers --fit-level, --suspect and --despite-contradiction.
void add_fit_flags(CLI::App& command, FitFlags& flags);

/// Throws UserError unless the kernels of --suspect can be read and fit the problem: before anything is
/// tried.
void require_suspects(const FitFlags& flags, const Problem& problem);

/// How a run stands with its model: the same question for every command that states a bound.
struct Standing {
    std::optional<CheckedFit> fit;                  ///< the check of this call; none where it is not made
    std::optional<RunContradiction> contradiction;  ///< what the run has stored, else what the check found
    bool despite = false;                           ///< whether the user wants to go on all the same

    /// How far off the truth is at least; 0 where nothing was found.
    double off_by() const { return fit && fit->bound ? fit->bound->lower : 0; }
    /// 4 if the model is contradicted and nobody said to go on; else what the command would return.
    int exit_code(int otherwise) const { return contradiction && !despite ? 4 : otherwise; }
};

/// Of a run: what it has stored, and the check of all its transitions, not of those behind its best iterate
/// alone: more data see more. `assumed`: how far the truth may be off the mixture, where not as the run has
/// it. Throws UserError for a bad level.
Standing standing_of(const Run& store, const FitFlags& flags, const AssumedError& assumed = {});
/// Of counts: the same with what is known of them already, and what the task assumes of the truth.
Standing standing_of(const Task& task, const Counts& counts, const std::optional<RunContradiction>& known,
                     const FitFlags& flags);

/// {kind, what, episodes, step, state, action, successor, level, log_evidence, threshold}, each of the last
/// seven where it is known.
nlohmann::ordered_json to_json(const RunContradiction& found);
/// Puts `model_check` into the object if it was made, `misspecification` {lower, level, varying, refuted} if
/// it found something, and `contradiction` if there is one.
void add_standing(nlohmann::ordered_json& object, const Standing& standing, const Problem& problem);
/// The check and the contradiction in words.
std::string describe(const Standing& standing, const Problem& problem, const Console& console);
/// The same for commands that say nothing of a check which finds nothing: empty unless contradicted.
std::string describe_contradiction(const Standing& standing, const Problem& problem, const Console& console);
/// A line on stderr if the model is contradicted, even for those who asked for quiet.
void insist(const Standing& standing, const Console& console);

/// The error of a command that does not go on: `refused` says what was not done.
Contradiction refusal(const RunContradiction& found, const std::string& folder, const std::string& refused);
/// The four parts, and the contradiction under its key, as a JSON object on one line.
std::string to_json_text(const Contradiction& error);

}  // namespace alidade::app
