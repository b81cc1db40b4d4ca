#include "earlier_format.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

#include "alidade/error.hpp"
#include "alidade/explore/catalogue.hpp"
#include "alidade/spec/request.hpp"

namespace alidade::detail::format_1 {
namespace {

std::vector<std::string> split(std::string_view text, std::string_view separator) {
    std::vector<std::string> parts;
    while (true) {
        const std::size_t end = text.find(separator);
        parts.emplace_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + separator.size());
    }
}

/// The rest of a text after a prefix; empty where it does not begin so.
std::string after(const std::string& text, std::string_view prefix) {
    return text.starts_with(prefix) ? text.substr(prefix.size()) : std::string();
}

/// The words of the old language as parameters, by what they are now parameters of.
struct Parameters {
    std::map<std::string, std::string> behaviour, regression, likelihood;
    std::string confidence;
};

Parameters parameters_of(const std::string& constants) {
    Parameters found;
    found.likelihood["radius"] = "plain";
    std::vector<std::string> parts = split(constants, ", ");
    if (const std::string names = after(parts[0], "sharp without "); !names.empty()) {
        found.regression["without"] = names;
        std::ranges::replace(found.regression["without"], ',', '+');
    } else if (const std::string episodes = after(parts[0], "paper of "); !episodes.empty()) {
        found.regression["constants"] = "paper";
        found.regression["episodes"] = split(episodes, " ")[0];
    } else {
        expects(parts[0] == "sharp", "constants are '{}'", constants);
    }
    for (std::size_t i = 1; i < parts.size(); ++i) {
        const std::string &part = parts[i], width = after(part, "width "), ties = after(part, "ties "),
                          bonus = after(part, "bonus "), confidence = after(part, "confidence ");
        if (!width.empty())
            found.regression["width"] = found.likelihood["width"] = width;
        else if (!ties.empty())
            found.behaviour["ties"] = ties;
        else if (!bonus.empty())
            found.behaviour["bonus"] = bonus;
        else if (part == "prequential")
            found.likelihood["prequential"] = "true";
        else if (!confidence.empty())
            found.confidence = confidence;
        else
            throw InvalidArgument(fmt::format("constants have '{}'", part));
    }
    return found;
}

const BehaviourEntry& behaviour_of(const RunOptions& options) {
    return find_behaviour(parse_request(options.algorithm, options.algorithm).name);
}

template <class T>
const std::vector<T>& stored(const std::map<std::string, std::vector<T>>& fields, const std::string& name,
                             std::size_t least) {
    const auto place = fields.find(name);
    expects(place != fields.end() && place->second.size() >= least, "the stored exploration has no '{}'",
            name);
    return place->second;
}

template <class T>
void move_field(const std::map<std::string, std::vector<T>>& from, const std::string& name,
                std::map<std::string, std::vector<T>>& to) {
    if (const auto place = from.find(name); place != from.end()) to[name] = place->second;
}

bool was_regression(const Snapshot& explorer) {
    return explorer.numbers.contains("gram");
}

/// The source's part of an explorer's memory. Its progress was (policies, thorough pass, due, policy) or
/// (policies, due, policy).
Snapshot source_part(const Snapshot& explorer) {
    Snapshot part;
    for (const char* name : {"gram", "moment", "rounding", "log_det", "predicted", "smoothed"})
        move_field(explorer.numbers, name, part.numbers);
    for (const char* name : {"observations", "episodes", "counts"})
        move_field(explorer.integers, name, part.integers);
    move_field(explorer.bytes, "witness", part.bytes);
    const auto& progress = stored(explorer.integers, "progress", 3);
    part.integers["refreshed"] = was_regression(explorer)
                                     ? std::vector{progress[1], stored(explorer.integers, "progress", 4)[2]}
                                     : std::vector{progress[2], progress[1]};
    return part;
}

/// How many batches were cut short: written down, or said by the number of episodes; of a run that was
/// extended before they were counted, the least number that explains its policies.
std::int64_t cut_batches(const Snapshot& explorer, const Schedule& schedule, std::int64_t episodes,
                         std::int64_t replans) {
    if (explorer.integers.contains("cut")) return stored(explorer.integers, "cut", 1)[0];
    const std::int64_t said = schedule.lies_within_batch(episodes) ? 1 : 0;
    return std::max(said, replans - 1 - schedule.whole_batches(episodes));
}

Snapshot behaviour_part(const Snapshot& explorer, const Schedule& schedule) {
    Snapshot part;
    const std::int64_t episodes = stored(explorer.integers, "episodes", 1)[0];
    const auto& progress = stored(explorer.integers, "progress", 3);
    part.integers["progress"] = {episodes, progress[0],
                                 cut_batches(explorer, schedule, episodes, progress[0]), progress.back()};
    move_field(explorer.integers, "actions", part.integers);
    return part;
}

constexpr std::string_view best_prefix = "best.";

}  // namespace

void read_method(const std::string& algorithm, const std::string& constants, RunOptions& options) {
    Parameters found = parameters_of(constants);
    const BehaviourEntry& entry = find_behaviour(algorithm);
    options.algorithm = to_string(Request{algorithm, std::move(found.behaviour)});
    std::vector<Request> sources;
    for (const std::string& name : split(found.confidence.empty() ? entry.source : found.confidence, ","))
        sources.push_back({name, name == "regression" ? found.regression : found.likelihood});
    options.confidence = to_string(canonical_sources(to_string(sources)));
}

Snapshot evidence(const Snapshot& stored, const RunOptions& options) {
    // One source's evidence had its prefix where it was not the behaviour's own.
    if (options.confidence.find(',') != std::string::npos) return stored;
    const Snapshot part = stored.part(parse_request(options.confidence, options.confidence).name + ".");
    return part == Snapshot{} ? stored : part;
}

Snapshot memory(const Snapshot& stored, const RunOptions& options) {
    if (stored == Snapshot{}) return stored;  // of a log
    const Snapshot actor = stored.part("actor.");
    const bool combined = actor != Snapshot{};
    const Snapshot& explorer = combined ? actor : stored;
    Snapshot result;
    const std::string& own = behaviour_of(options).source;
    result.add("behaviour.", behaviour_part(explorer, options.schedule));
    result.add(own + ".", source_part(explorer));
    if (const Snapshot other = stored.part("witness."); other != Snapshot{})
        result.add(own == "regression" ? "likelihood." : "regression.", source_part(other));
    result.add(best_prefix, evidence(stored.part(best_prefix), options));
    for (const char* name : {"best_bound", "trace.bound"}) move_field(stored.numbers, name, result.numbers);
    for (const char* name : {"certified_at", "trace.episodes", "trace.replans"})
        move_field(stored.integers, name, result.integers);
    return result;
}

}  // namespace alidade::detail::format_1
