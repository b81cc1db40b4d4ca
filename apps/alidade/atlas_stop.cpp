#include "atlas_stop.hpp"

#include <fmt/format.h>

#include <cmath>

#include "alidade/spec/printable_text.hpp"
#include "atlas_view.hpp"
#include "interruption.hpp"
#include "load_run.hpp"
#include "numbers.hpp"
#include "user_error.hpp"

namespace alidade::app {

namespace {

[[noreturn]] void refuse_flags(const std::string& what, const std::string& why, const std::string& fix) {
    throw UserError(what, {"the command line", why, fix});
}

}  // namespace

void add_atlas_stop_flags(CLI::App& command, AtlasStopFlags& flags) {
    command.add_option(
        "--until-loss", flags.until_loss,
        "With objectives: stop when plans for every weighting of them lose at most this; the atlas of\n"
        "them is written into the run. The explorer is not told the objectives");
    add_objective_flags(command, flags.objectives);
}

std::optional<AtlasWanted> atlas_wanted(const AtlasStopFlags& flags, const Problem& problem,
                                        const Console& console) {
    if (!flags.until_loss && !flags.objectives.given()) return std::nullopt;
    if (!flags.until_loss)
        refuse_flags("objectives are given, and no loss to stop at", "exploring itself needs no objectives",
                     "--until-loss X, or, when the run is over, alidade atlas RUN --objective ...");
    if (!(*flags.until_loss > 0 && std::isfinite(*flags.until_loss)))
        refuse_flags(fmt::format("--until-loss is {}; must be greater than 0", *flags.until_loss),
                     "no finite number of episodes leaves nothing open",
                     "--until-loss 0.35, in units of reward over a whole episode");
    AtlasWanted wanted{choose_objectives(flags.objectives, problem, console), {}};
    wanted.options.loss = *flags.until_loss;
    add_region(flags.objectives, wanted.objectives, wanted.options);
    return wanted;
}

void require_atlas_alone(bool target, bool asked_by_others) {
    if (target)
        refuse_flags("--target and --until-loss are given at once",
                     "one is a bound for any reward, the other for weightings of the objectives",
                     "one of them");
    if (asked_by_others)
        refuse_flags("a run that others ask and tell does not end by itself",
                     "whoever tells decides when it is enough",
                     "alidade atlas RUN --objective ... says how good an atlas its data give");
}

AtlasRecord keep_atlas(const Run& store, const Explored& explored, AtlasWanted wanted,
                       const Console& console) {
    const Interruption interruption;
    const AtlasRecord record = atlas_of_run(store, explored.knowledge, std::move(wanted.objectives),
                                            wanted.options, console, interruption);
    write_atlas_folder((store.folder() / "atlas").string(), record, store.problem());
    return record;
}

std::string describe_briefly(const AtlasRecord& record, const std::string& folder, const Console& console) {
    return fmt::format("{} of {}\n  loss       {}\n  plans      {}, in {}\n", console.bold("Atlas"),
                       printable(objective_names(record.objectives)), headline(record),
                       with_commas(std::ssize(record.atlas.policies)), printable(folder));
}

}  // namespace alidade::app
