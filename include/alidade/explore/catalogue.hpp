#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "alidade/explore/explorer.hpp"
#include "alidade/model/task.hpp"

namespace alidade {

/// One algorithm of the catalogue.
struct ExplorerEntry {
    std::string name;                    ///< as typed: "hoeffding"
    std::string summary;                 ///< one sentence
    std::vector<std::string> constants;  ///< names of the constants it can use, the default first
    ConfidenceChoice own;                ///< the sets its own certificate rests on: regression or likelihood
    /// Why it cannot explore a task; empty if it can.
    std::function<std::string(const Task&)> refusal;
    std::function<std::unique_ptr<Explorer>(const Task&, const ExplorerOptions&)> make;
    /// Recomputes the knowledge that an explorer's `evidence` supports.
    std::function<Knowledge(const Task&, const Snapshot& evidence, const ExplorerOptions&)> recompute;
};

/// All algorithms; of those that do not refuse a task, the first is its default. Each honours
/// ExplorerOptions::constants.confidence.
const std::vector<ExplorerEntry>& explorers();

/// The first algorithm that does not refuse the task.
const ExplorerEntry& default_explorer(const Task& task);

/// The algorithm of that name. Throws InvalidArgument with the names that exist.
const ExplorerEntry& find_explorer(std::string_view name);

}  // namespace alidade
