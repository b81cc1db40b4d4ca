#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "alidade/spec/request.hpp"

namespace alidade {

/// One line of the catalogue of what can run experiments.
struct SystemEntry {
    std::string name;     ///< as typed: "simulated"; "cmd" is followed by a colon and a command
    std::string summary;  ///< one sentence
    std::vector<RequestParameter> parameters;
};

/// All that can run experiments.
const std::vector<SystemEntry>& systems();

/// What is asked to run experiments.
struct SystemRequest {
    std::string name;       ///< of an entry
    std::string command;    ///< of "cmd"; otherwise empty
    std::string canonical;  ///< equal for equal requests, the command left out: it may have moved
    RequestArguments arguments;
};

/// Takes "NAME", "NAME?parameter=value&..." or "cmd:COMMAND" apart. Throws InvalidArgument with the names
/// that exist if there is none of that name, as RequestArguments does, and for a command that is empty.
SystemRequest parse_system(std::string_view text);

/// Words as a command for /bin/sh, quoted where they have to be.
std::string shell_command(const std::vector<std::string>& words);

}  // namespace alidade
