#include "contradiction_view.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "numbers.hpp"
#include "table.hpp"

namespace alidade::app {

using nlohmann::ordered_json;

void add_fit_flags(CLI::App& command, FitFlags& flags) {
    command
        .add_option("--fit-level", flags.level,
                    "Probability of calling a right model contradicted; 0: no check")
        ->capture_default_str();
    command.add_option(
        "--suspect", flags.suspects,
        "A kernel that may be mixed into the truth, for the model check to try: a file, as of a "
        "base model, or .npy; repeatable");
    command.add_flag("--despite-contradiction", flags.despite,
                     "Go on, and do not exit with 4, though the data contradict the model; it is said all "
                     "the same");
}

void require_suspects(const FitFlags& flags, const Problem& problem) {
    for (const BaseKernel& kernel : read_suspects(flags.suspects))
        if (kernel.rows != problem.shape().pairs() || kernel.columns != problem.shape().states)
            throw UserError(
                fmt::format("the suspected kernel '{}' has {} rows and {} columns; must have {} and {}",
                            kernel.name, kernel.rows, kernel.columns, problem.shape().pairs(),
                            problem.shape().states),
                {"--suspect", "a suspected kernel has a row for each state and action, as a base model has",
                 "--suspect KERNEL.npz of the same states and actions"});
}

Standing standing_of(const Task& task, const Counts& counts, const std::optional<RunContradiction>& known,
                     const FitFlags& flags) {
    Standing standing{fit_of(task, counts, flags.level, read_suspects(flags.suspects)), known, flags.despite};
    if (known || !standing.fit || !standing.fit->contradicted()) return standing;
    standing.contradiction =
        task.misspecification > 0
            ? contradiction_of(*standing.fit->bound, task.misspecification, counts.episodes())
            : contradiction_of(standing.fit->fit, counts.episodes());
    return standing;
}

Standing standing_of(const Run& store, const FitFlags& flags, const AssumedError& assumed) {
    require_fit_level(flags.level);
    const auto checkpoint = store.checkpoint();
    if (!checkpoint) return {.despite = flags.despite};
    const Task task = task_of(store.problem(), store.options()), asked = assuming(task, assumed);
    std::optional<RunContradiction> known = checkpoint->contradiction;
    // What a check found of truths that are nearer contradicts nothing of those that may be farther off: they
    // are asked about anew.
    if (known && known->kind == ContradictionKind::model_check && flags.level > 0 &&
        asked.misspecification > task.misspecification)
        known.reset();
    return standing_of(asked, checkpoint->counts, known, flags);
}

ordered_json to_json(const RunContradiction& found) {
    ordered_json object;
    object["kind"] = to_string(found.kind);
    object["what"] = found.what;
    object["episodes"] = found.episodes;
    const auto put = [&](const char* key, const auto& value) {
        if (value) object[key] = *value;
    };
    put("step", found.step);
    put("state", found.state);
    put("action", found.action);
    put("successor", found.successor);
    put("level", found.level);
    put("log_evidence", found.log_evidence);
    put("threshold", found.threshold);
    return object;
}

void add_standing(ordered_json& object, const Standing& standing, const Problem& problem) {
    if (standing.fit) object["model_check"] = to_json(*standing.fit, problem);
    if (standing.fit && standing.fit->bound) {
        ordered_json& off = object["misspecification"];
        off["lower"] = standing.fit->bound->lower;
        off["level"] = standing.fit->bound->level;
        off["varying"] = standing.fit->bound->varying;
        off["refuted"] = standing.fit->bound->lower > standing.fit->assumed;
    }
    if (standing.contradiction) object["contradiction"] = to_json(*standing.contradiction);
}

std::string describe_contradiction(const Standing& standing, const Problem& problem, const Console& console) {
    if (!standing.contradiction) return {};
    const RunContradiction& found = *standing.contradiction;
    std::string text;
    if (standing.fit && standing.fit->contradicted()) {
        text = describe(*standing.fit, problem, console);
        if (found.kind == ContradictionKind::model_check) return text;
    }
    return text + paragraph(fmt::format("The data CONTRADICT the model, as was found after {} episodes: {}. "
                                        "Every bound assumes that the model holds, and more data do not undo "
                                        "this: do not rely on them.",
                                        with_commas(found.episodes), found.what),
                            console.width());
}

std::string describe(const Standing& standing, const Problem& problem, const Console& console) {
    const std::string text = describe_contradiction(standing, problem, console);
    if (!standing.fit || standing.fit->contradicted()) return text;
    if (text.empty()) return describe(*standing.fit, problem, console);
    return text + fmt::format("{} log evidence {:.1f} by now (alarm at {:.1f}); what was found stands\n",
                              console.bold("Model check:"), standing.fit->fit.log_evidence,
                              standing.fit->fit.threshold);
}

void insist(const Standing& standing, const Console& console) {
    if (!standing.contradiction) return;
    console.insist(
        fmt::format("{}: the data contradict the mixture, on which all bounds rest; do not rely on them{}.",
                    standing.despite ? "warning" : "error",
                    standing.despite ? "" : " (exit code 4; --despite-contradiction accepts this)"));
}

Contradiction refusal(const RunContradiction& found, const std::string& folder, const std::string& refused) {
    return {
        fmt::format("the data contradict the model: {}", found.what),
        {fmt::format("run folder '{}', found after {} episodes", folder, with_commas(found.episodes)),
         fmt::format("every bound assumes that the model holds, and more data do not undo this; {}", refused),
         "add a base model that explains the data, or look into it with --despite-contradiction, which "
         "goes on and says so"},
        found};
}

std::string to_json_text(const Contradiction& error) {
    ordered_json object = ordered_json::parse(to_json_text(static_cast<const UserError&>(error)));
    if (error.found()) object["contradiction"] = to_json(*error.found());
    return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace alidade::app
