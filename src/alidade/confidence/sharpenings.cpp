#include "sharpenings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "alidade/error.hpp"

namespace alidade::detail {

const std::vector<SharpeningEntry>& sharpenings() {
    static const std::vector<SharpeningEntry> entries = {
        {"projection", "the radius about the projected estimate loses what the projection moved",
         &Sharpenings::projection},
        {"log-det", "the radius uses the determinant itself, not its bound by the number of observations",
         &Sharpenings::log_det},
        {"ranges", "the value at the next step lies in [0, H-1-h], not [0, H]", &Sharpenings::ranges},
        {"bias", "the bias of the prior centre vanishes with data", &Sharpenings::bias},
        {"hull", "rows sum to one, so the regression has a dimension less and bonuses are centred",
         &Sharpenings::hull},
        {"delta", "all of delta goes to the confidence event", &Sharpenings::delta},
        {"best-iterate", "the model with the best certificate is handed over, not the last",
         &Sharpenings::best_iterate},
        {"coupling", "the certificate by a coupling of truth and model", &Sharpenings::coupling},
        {"span", "the certificate by the span of the model's values", &Sharpenings::span},
        {"divergences", "the certificates by divergences: trajectory-kl, hybrid and ltv",
         &Sharpenings::divergences},
        {"chains", "the certificates of plans that are greedy in every state: optimal-span and two-chain",
         &Sharpenings::chains},
    };
    return entries;
}

Sharpenings sharpenings_without(std::string_view names) {
    Sharpenings chosen;
    while (!names.empty()) {
        const std::size_t comma = names.find(',');
        const std::string_view name = names.substr(0, comma);
        names.remove_prefix(comma == std::string_view::npos ? names.size() : comma + 1);
        const auto entry = std::ranges::find(sharpenings(), name, &SharpeningEntry::name);
        if (entry == sharpenings().end()) {
            std::string known;
            for (const SharpeningEntry& each : sharpenings())
                known += (known.empty() ? "" : ", ") + each.name;
            throw InvalidArgument(fmt::format("unknown sharpening '{}'; must be of {}", name, known));
        }
        chosen.*entry->element = false;
    }
    return chosen;
}

std::string names_left_out(const Sharpenings& chosen) {
    std::string names;
    for (const SharpeningEntry& entry : sharpenings())
        if (!(chosen.*entry.element)) names += (names.empty() ? "" : ",") + entry.name;
    return names;
}

}  // namespace alidade::detail
