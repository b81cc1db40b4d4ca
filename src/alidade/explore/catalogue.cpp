#include "alidade/explore/catalogue.hpp"

#include "alidade/error.hpp"
#include "alidade/explore/hoeffding.hpp"
#include "alidade/explore/likelihood.hpp"

namespace alidade {

const std::vector<ExplorerEntry>& explorers() {
    static const std::vector<ExplorerEntry> entries = {
        {.name = "hoeffding",
         .summary = "value-targeted regression with Hoeffding bonuses: the paper's Algorithm 1",
         .constants = {"sharp", "paper"},
         .refusal = [](const Task&) { return std::string{}; },
         .make =
             [](const Task& task, const ExplorerOptions& options) {
                 return std::make_unique<HoeffdingExplorer>(task, options, ActionRule::optimistic);
             },
         .recompute = recompute_hoeffding},
        {.name = "likelihood",
         .summary = "Fisher-information bonuses with likelihood confidence sets; base models only",
         .constants = {"sharp"},
         .refusal = likelihood_refusal,
         .make =
             [](const Task& task, const ExplorerOptions& options) {
                 return std::make_unique<LikelihoodExplorer>(task, options);
             },
         .recompute = recompute_likelihood},
        {.name = "uniform",
         .summary = "uniform random actions, the baseline; the same regression and certificate",
         .constants = {"sharp", "paper"},
         .refusal = [](const Task&) { return std::string{}; },
         .make =
             [](const Task& task, const ExplorerOptions& options) {
                 return std::make_unique<HoeffdingExplorer>(task, options, ActionRule::uniform);
             },
         .recompute = recompute_hoeffding},
    };
    return entries;
}

const ExplorerEntry& find_explorer(std::string_view name) {
    std::string names;
    for (const ExplorerEntry& entry : explorers()) {
        if (entry.name == name) return entry;
        names += (names.empty() ? "" : ", ") + entry.name;
    }
    throw InvalidArgument(fmt::format("unknown algorithm '{}'; must be one of {}", name, names));
}

}  // namespace alidade
