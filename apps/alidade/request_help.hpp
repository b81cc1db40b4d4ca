#pragma once

#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "alidade/spec/request.hpp"

namespace alidade::app {

/// What a parameter may be, or is by default, and what it means.
inline std::string parameter_help(const RequestParameter& parameter) {
    std::string values = parameter.default_value, meaning = parameter.meaning;
    if (parameter.kind == ParameterKind::text_list) {
        values = "NAME+NAME";
        meaning += fmt::format(" ({})", fmt::join(parameter.choices, ", "));
    } else if (!parameter.choices.empty()) {
        values = fmt::format("{}", fmt::join(parameter.choices, "|"));
    }
    return fmt::format("  {:<19}   {}={}: {}\n", "", parameter.name, values, meaning);
}

/// Entries of a catalogue and their parameters, for the end of a command's help.
template <class Entry>
std::string request_help(const std::string& title, const std::vector<Entry>& entries) {
    std::string text = title + "\n";
    for (const Entry& entry : entries) {
        text += fmt::format("  {:<19} {}\n", entry.name, entry.summary);
        for (const RequestParameter& parameter : entry.parameters) text += parameter_help(parameter);
    }
    return text;
}

}  // namespace alidade::app
