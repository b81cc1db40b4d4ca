#include "set_source.hpp"

#include <fmt/ranges.h>

#include <algorithm>

#include "../spec/nearest_name.hpp"
#include "alidade/error.hpp"
#include "alidade/explore/catalogue.hpp"
#include "bernstein_source.hpp"
#include "likelihood_source.hpp"
#include "linear_source.hpp"
#include "regression_source.hpp"
#include "weighted_source.hpp"

namespace alidade {

namespace {

std::string source_place(const SourceEntry& entry) {
    return fmt::format("confidence {}", entry.name);
}

/// The entry of a source that needs features of transitions: before its own refusals, that of linear MDPs.
SourceEntry of_mixtures(SourceEntry entry) {
    entry.refusal = [own = std::move(entry.refusal)](const Task& task) {
        const std::string refusal = detail::pair_features_refusal(task);
        return refusal.empty() ? own(task) : refusal;
    };
    return entry;
}

}  // namespace

const std::vector<SourceEntry>& set_sources() {
    static const std::vector<SourceEntry> entries = {
        of_mixtures(detail::regression_entry()), of_mixtures(detail::weighted_entry()),
        of_mixtures(detail::bernstein_entry()), of_mixtures(detail::likelihood_entry()),
        detail::linear_entry()};
    return entries;
}

std::string SourceEntry::unasked_refusal(const Task& task, const Request& request) const {
    if (unasked) return unasked(task, RequestArguments(source_place(*this), parameters, request.given));
    return fmt::format(
        "the run's confidence sets are by {}: the values that it predicts must be fixed before the data are "
        "asked for, and nobody fixed any before these",
        name);
}

const SourceEntry& find_source(std::string_view name) {
    std::vector<std::string> names;
    for (const SourceEntry& entry : set_sources()) {
        if (entry.name == name) return entry;
        names.push_back(entry.name);
    }
    throw InvalidArgument(fmt::format("unknown confidence sets '{}'{}; must be of {}", name,
                                      detail::suggestion(std::string(name), names), fmt::join(names, ", ")));
}

std::unique_ptr<detail::SetSource> detail::make_source(const Request& request, const SourceSetting& setting) {
    const SourceEntry& entry = find_source(request.name);
    const RequestArguments arguments(source_place(entry), entry.parameters, request.given);
    const std::string refusal = entry.refusal(setting.task);
    expects(refusal.empty(), "{}", refusal);
    return entry.make(setting, arguments);
}

std::vector<Request> canonical_sources(std::string_view text) {
    const std::vector<Request> asked = parse_requests(text);
    std::vector<Request> result;
    for (const Request& request : asked) find_source(request.name);
    // In the order of the table, whatever the order of the request: the same sets have one name.
    for (const SourceEntry& entry : set_sources())
        for (const Request& request : asked) {
            if (request.name != entry.name) continue;
            result.push_back(canonical(request, source_place(entry), entry.parameters));
            const std::string alone =
                entry.alone(RequestArguments(source_place(entry), entry.parameters, request.given));
            expects(alone.empty() || asked.size() == 1, "confidence is '{}'; {}", text, alone);
        }
    return result;
}

std::vector<Request> continued_sources(std::string_view text, std::string_view stored) {
    std::vector<Request> asked = parse_requests(text);
    const std::vector<Request> before = parse_requests(stored);
    for (Request& request : asked)
        for (const RequestParameter& parameter : find_source(request.name).parameters) {
            const auto same = std::ranges::find(before, request.name, &Request::name);
            if (!parameter.spelled_out || same == before.end()) continue;
            if (const auto value = same->given.find(parameter.name); value != same->given.end())
                request.given.emplace(*value);
        }
    return canonical_sources(to_string(asked));
}

}  // namespace alidade
