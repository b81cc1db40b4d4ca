#include "alidade/explore/catalogue.hpp"

#include <algorithm>

#include "alidade/error.hpp"
#include "alidade/explore/combined.hpp"
#include "alidade/explore/hoeffding.hpp"
#include "alidade/explore/likelihood.hpp"

namespace alidade {

namespace {

using Make = std::function<std::unique_ptr<Explorer>(const Task&, const ExplorerOptions&)>;

/// The algorithm, with other confidence sets than its own where they are asked for.
ExplorerEntry with_choice(ExplorerEntry entry) {
    entry.make = [make = Make(entry.make), own = entry.own](
                     const Task& task, const ExplorerOptions& options) -> std::unique_ptr<Explorer> {
        const ConfidenceChoice choice = options.constants.confidence;
        if (choice == ConfidenceChoice::own) return make(task, options);
        return std::make_unique<CombinedExplorer>(task, options, own, make);
    };
    entry.recompute = [recompute = entry.recompute](const Task& task, const Snapshot& evidence,
                                                    const ExplorerOptions& options) {
        if (options.constants.confidence == ConfidenceChoice::own) return recompute(task, evidence, options);
        return recompute_combined(task, evidence, options);
    };
    return entry;
}

template <ActionRule rule>
std::unique_ptr<Explorer> make_regression(const Task& task, const ExplorerOptions& options) {
    return std::make_unique<HoeffdingExplorer>(task, options, rule);
}

std::string no_refusal(const Task&) {
    return {};
}

}  // namespace

const std::vector<ExplorerEntry>& explorers() {
    static const std::vector<ExplorerEntry> entries = {
        with_choice(
            {.name = "likelihood",
             .summary = "Fisher-information bonuses with likelihood confidence sets; base models only",
             .constants = {"sharp"},
             .own = ConfidenceChoice::likelihood,
             .refusal = likelihood_refusal,
             .make =
                 [](const Task& task, const ExplorerOptions& options) {
                     return std::make_unique<LikelihoodExplorer>(task, options);
                 },
             .recompute = recompute_likelihood}),
        with_choice({.name = "hoeffding",
                     .summary = "value-targeted regression with Hoeffding bonuses: the paper's Algorithm 1",
                     .constants = {"sharp", "paper"},
                     .own = ConfidenceChoice::regression,
                     .refusal = no_refusal,
                     .make = make_regression<ActionRule::optimistic>,
                     .recompute = recompute_hoeffding}),
        with_choice({.name = "uniform",
                     .summary = "uniform random actions, the baseline; the same regression and certificate",
                     .constants = {"sharp", "paper"},
                     .own = ConfidenceChoice::regression,
                     .refusal = no_refusal,
                     .make = make_regression<ActionRule::uniform>,
                     .recompute = recompute_hoeffding}),
    };
    return entries;
}

const ExplorerEntry& default_explorer(const Task& task) {
    return *std::ranges::find_if(explorers(),
                                 [&](const ExplorerEntry& entry) { return entry.refusal(task).empty(); });
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
