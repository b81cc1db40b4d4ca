#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "alidade/formats/explicit_model.hpp"

namespace alidade::detail {

/// Two tools, two ways to write explicit models under the same extensions.
enum class PrismDialect {
    prism,  ///< sizes first, labels by number, rewards with sizes and the name of their structure
    storm,  ///< `mdp` first, `#DECLARATION`, no sizes, points only: Storm's option --explicit
};

/// Writes a model as `NAME.tra` (transitions), `NAME.sta` (states, numbered), `NAME.lab` (labels, with
/// `init`) and for each reward structure `NAME.srew` and `NAME.trew` (states and transitions), or
/// `NAME1.srew`, `NAME2.srew`, ... where there are several. `path` is that of the `.tra` file. A reward of a
/// choice is repeated on each of its transitions. Points, or intervals `[lo,hi]`; numbers are the shortest
/// that read back as the same doubles. Names become identifiers of PRISM's language. Returns the files; files
/// of these names that an earlier model left behind are removed. One pass over the rows, in bounded memory.
/// Throws InvalidArgument with the path: for parametric models, and intervals in Storm's dialect.
std::vector<std::filesystem::path> write_prism(const std::filesystem::path& path, const ExplicitRows& rows,
                                               PrismDialect dialect = PrismDialect::prism);

/// The texts of a model in that format.
struct PrismTexts {
    std::string transitions;                                ///< .tra
    std::optional<std::string> states;                      ///< .sta
    std::optional<std::string> labels;                      ///< .lab; without it state 0 is the initial one
    std::vector<std::optional<std::string>> state_rewards;  ///< .srew of each structure
    std::vector<std::optional<std::string>> transition_rewards;  ///< .trew; as many as `state_rewards`
};

/// Reads `path`, which ends in `.tra`, and what lies beside it under the names above, in either dialect. A
/// DTMC's states have one choice each. States and choices must come in ascending order; transitions of one
/// choice that lead to the same state are summed, and their rewards must be equal over a choice. The values
/// in `.sta` are not kept. Sizes in the first lines must be right but nothing is allocated by them. Throws
/// InvalidArgument with file and line.
ExplicitModel read_prism(const std::filesystem::path& path, const ModelReadOptions& options = {});
/// The same from texts; messages call them `name` with their extensions.
ExplicitModel parse_prism(const PrismTexts& texts, std::string_view name,
                          const ModelReadOptions& options = {});

}  // namespace alidade::detail
