#include "misspecification_view.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "user_error.hpp"

namespace alidade::app {

using nlohmann::ordered_json;

void add_misspecification_flags(CLI::App& command, MisspecificationFlags& flags) {
    command.add_option("--misspecification", flags.zeta,
                       "How far, in total variation, any true law may be from the mixture, like 0.05; to be "
                       "chosen before\nthe data are seen [the problem's, or 0]");
    command.add_option("--reach", flags.reach,
                       "Where a truth may lead that is off the mixture: anywhere, or support, where some base "
                       "model does [anywhere]");
}

AssumedError assumed_of(const MisspecificationFlags& flags) {
    AssumedError assumed;
    if (flags.zeta && !(*flags.zeta >= 0 && *flags.zeta < 1))
        throw UserError(
            fmt::format("--misspecification is {}; must be at least 0 and less than 1", *flags.zeta),
            {"the command line",
             "it is a total variation, the largest difference of two laws' probabilities of anything",
             "--misspecification 0.05"});
    assumed.misspecification = flags.zeta;
    if (!flags.reach.empty())
        explaining({"the command line", "it decides what the bounds allow for", "--reach anywhere"},
                   [&] { assumed.reach = parse_reach(flags.reach); });
    return assumed;
}

void add_assumed(ordered_json& object, const Task& task) {
    if (!(task.misspecification > 0)) return;
    object["misspecification"]["assumed"] = task.misspecification;
    object["misspecification"]["reach"] = to_string(task.reach);
}

std::string describe_assumed(const Task& task) {
    if (!(task.misspecification > 0)) return {};
    return fmt::format("  Every law may be off its mixture by {:.4g} in total variation, and lead {}.\n",
                       task.misspecification,
                       task.reach == Reach::support ? "only where some base model does" : "anywhere");
}

}  // namespace alidade::app
