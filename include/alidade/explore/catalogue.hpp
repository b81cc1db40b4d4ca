#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "alidade/explore/explorer.hpp"
#include "alidade/explore/task.hpp"

namespace alidade {

/// One algorithm of the catalogue.
struct ExplorerEntry {
    std::string name;                    ///< as typed: "hoeffding"
    std::string summary;                 ///< one sentence
    std::vector<std::string> constants;  ///< names of the constants it can use, the default first
    /// Why it cannot explore a task; empty if it can.
    std::function<std::string(const Task&)> refusal;
    std::function<std::unique_ptr<Explorer>(const Task&, const ExplorerOptions&)> make;
    /// Recomputes the knowledge that an explorer's `evidence` supports.
    std::function<Knowledge(const Task&, const Record& evidence, const ExplorerOptions&)> recompute;
};

/// All algorithms, the default first.
const std::vector<ExplorerEntry>& explorers();

/// The algorithm of that name. Throws InvalidArgument with the names that exist.
const ExplorerEntry& find_explorer(std::string_view name);

}  // namespace alidade
