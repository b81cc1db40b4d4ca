#include "alidade/process/systems.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "../spec/nearest_name.hpp"
#include "alidade/error.hpp"
#include "shell_word.hpp"

namespace alidade {
namespace {

constexpr std::string_view command_prefix = "cmd:";

}  // namespace

const std::vector<SystemEntry>& systems() {
    static const std::vector<SystemEntry> entries{
        {"simulated",
         "Drawn from the true weights that the problem states; seconds for millions of episodes.",
         {word_parameter(
             "method", {"splitting", "stepwise"},
             "draw the counts of all episodes at once, or one episode after the other; the same law")}},
        {"cmd",
         "cmd:COMMAND: any program that answers one JSON object a line, in --workers processes; "
         "docs/own-system.md.",
         {}},
        {"ask",
         "Somebody else runs them: alidade ask says what to try, alidade tell takes what happened.",
         {flag_parameter(
             "seeded", "its episodes are fixed by the seeds that ask names: a second answer must be equal")}},
    };
    return entries;
}

SystemRequest parse_system(std::string_view text) {
    if (text.starts_with(command_prefix)) {
        const std::string command(text.substr(command_prefix.size()));
        expects(command.find_first_not_of(" \t\n") != std::string::npos,
                "system '{}' has no command; must be cmd:COMMAND, as in 'cmd:python3 plant.py'", text);
        return {"cmd", command, "cmd", RequestArguments("system cmd", {}, {})};
    }
    const Request request = parse_request(text, text);
    std::vector<std::string> names;
    for (const SystemEntry& entry : systems()) {
        names.push_back(entry.name == "cmd" ? "cmd:COMMAND" : entry.name);
        if (entry.name != request.name || entry.name == "cmd") continue;
        const std::string where = fmt::format("system {}", entry.name);
        return {entry.name,
                {},
                to_string(canonical(request, where, entry.parameters)),
                RequestArguments(where, entry.parameters, request.given)};
    }
    throw InvalidArgument(fmt::format("no system is called '{}'{}; there are {}", request.name,
                                      detail::suggestion(request.name, names), fmt::join(names, ", ")));
}

std::string shell_command(const std::vector<std::string>& words) {
    std::vector<std::string> quoted(words.size());
    std::ranges::transform(words, quoted.begin(), detail::shell_word);
    return fmt::format("{}", fmt::join(quoted, " "));
}

}  // namespace alidade
