#include "alidade/files/episode_file.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "alidade/error.hpp"
#include "json_file.hpp"
#include "npz.hpp"
#include "text_file.hpp"

namespace alidade {
namespace {

using nlohmann::json;

/// Counts are added up as doubles later on; beyond this they would not be whole.
constexpr std::int64_t most_episodes = std::int64_t{1} << 53;

struct LoggedEpisode {
    std::vector<State> states;
    std::vector<Action> actions;
    std::int64_t count = 1;
};

/// Counts one episode; what is wrong with it is said with its place.
void take(const LoggedEpisode& episode, const StartLaw& start, const std::string& place, Counts& counts) {
    try {
        expects(episode.count <= most_episodes - counts.episodes(), "more than {} episodes in all",
                most_episodes);
        if (!episode.states.empty() && episode.states[0] >= 0 && episode.states[0] < counts.shape().states) {
            const auto atoms = start.atoms();
            expects(std::ranges::any_of(
                        atoms,
                        [&](const auto& atom) { return atom.first == episode.states[0] && atom.second > 0; }),
                    "the episode starts in state {}, where the problem's start law never starts",
                    episode.states[0]);
        }
        counts.add(episode.states, episode.actions, episode.count);
    } catch (const InvalidArgument& error) {
        throw InvalidArgument(fmt::format("{}: {}", place, error.what()));
    } catch (const ModelContradiction& error) {
        throw ModelContradiction(fmt::format("{}: {}", place, error.what()));
    }
}

void read_list(const json& value, std::int64_t last, std::string_view key, const std::string& place,
               std::vector<Index>& result) {
    result.clear();
    for (const json& element : detail::list(value, fmt::format("{}: \"{}\"", place, key))) {
        // The place is put into words only where it is needed: there are many elements.
        const bool plain =
            element.is_number_unsigned() && element.get<std::uint64_t>() <= static_cast<std::uint64_t>(last);
        result.push_back(
            plain ? element.get<std::int64_t>()
                  : detail::position(element, last,
                                     fmt::format("{}: \"{}\", step {}", place, key, result.size())));
    }
}

json parse_line(const std::string& line, const std::string& place) {
    detail::check_nesting(line, place);
    try {
        return json::parse(line);
    } catch (const json::exception& problem) {
        // "[json.exception.parse_error.101] parse error at line 1, column 5: ...": the line is not the
        // file's.
        std::string_view why = problem.what();
        if (const auto column = why.find("column"); column != std::string_view::npos)
            why.remove_prefix(column);
        throw InvalidArgument(fmt::format(
            "{}: not valid JSON, {}; must be one object a line, {{\"states\": [...], \"actions\": [...]}}",
            place, why));
    }
}

void read_lines(std::istream& file, const std::string& name, const StartLaw& start, Counts& counts) {
    const Shape& shape = counts.shape();
    LoggedEpisode episode;
    std::string line;
    for (std::int64_t number = 1; detail::read_line(file, line, name); ++number) {
        if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
        const std::string place = fmt::format("{}:{}", name, number);
        const json object = parse_line(line, place);
        detail::check_object(object, {"states", "actions", "count", "id", "rewards"}, place);
        read_list(detail::member(object, "states", place), shape.states - 1, "states", place, episode.states);
        read_list(detail::member(object, "actions", place), shape.actions - 1, "actions", place,
                  episode.actions);
        episode.count = 1;
        if (const auto count = object.find("count"); count != object.end()) {
            episode.count = detail::position(*count, most_episodes, place + ": \"count\"");
            expects(episode.count >= 1, "{}: \"count\" is 0; must be at least 1", place);
        }
        take(episode, start, place, counts);
    }
    expects(!file.bad(), "{}: cannot be read to its end", name);
}

const detail::NpyArray& integers(const detail::NpzArrays& arrays, std::string_view name,
                                 std::size_t dimensions, const std::string& file) {
    const detail::NpyArray& array = detail::find_array(arrays, name, file);
    expects(array.kind() == detail::NpyKind::integer && array.shape.size() == dimensions,
            "{}: array '{}' has type '{}' and shape ({}); must be integers of shape {}", file, name,
            array.dtype, fmt::join(array.shape, ", "), dimensions == 2 ? "(episodes, steps)" : "(episodes)");
    return array;
}

/// The elements of a row before its first -1; behind it there must be nothing else.
void read_row(std::span<const std::int64_t> row, std::string_view name, const std::string& place,
              std::vector<Index>& result) {
    const auto end = std::ranges::find(row, -1);
    const auto rest = std::find_if(end, row.end(), [](std::int64_t value) { return value != -1; });
    expects(rest == row.end(), "{}: '{}' has {} at step {}, behind a -1, which ends an episode", place, name,
            rest == row.end() ? 0 : *rest, rest - row.begin());
    result.assign(row.begin(), end);
}

void take_arrays(const detail::NpzArrays& arrays, const std::string& file, const StartLaw& start,
                 Counts& counts) {
    for (const auto& item : arrays)
        expects(item.first == "states" || item.first == "actions" || item.first == "count" ||
                    item.first == "id" || item.first == "rewards",
                "{}: unknown array '{}' (known: states, actions, count, id, rewards); leave it out or "
                "rename it",
                file, item.first);
    const detail::NpyArray& states = integers(arrays, "states", 2, file);
    const detail::NpyArray& actions = integers(arrays, "actions", 2, file);
    expects(states.shape == actions.shape,
            "{}: 'states' has shape ({}) and 'actions' ({}); must be one shape (episodes, steps)", file,
            fmt::join(states.shape, ", "), fmt::join(actions.shape, ", "));
    const detail::NpyArray* const count =
        arrays.contains("count") ? &integers(arrays, "count", 1, file) : nullptr;
    expects(count == nullptr || count->shape[0] == states.shape[0],
            "{}: 'count' has {} elements; must be {}, one for each episode", file,
            count != nullptr ? count->shape[0] : 0, states.shape[0]);
    const auto width = static_cast<std::size_t>(states.shape[1]);
    LoggedEpisode episode;
    for (std::size_t k = 0; k < static_cast<std::size_t>(states.shape[0]); ++k) {
        const std::string place = fmt::format("{}: episode {}", file, k);
        read_row(std::span(states.integers).subspan(k * width, width), "states", place, episode.states);
        read_row(std::span(actions.integers).subspan(k * width, width), "actions", place, episode.actions);
        episode.count = count != nullptr ? count->integers[k] : 1;
        take(episode, start, place, counts);
    }
}

void check_episode_extension(const std::filesystem::path& path) {
    const auto kind = path.extension();
    expects(kind == ".jsonl" || kind == ".ndjson" || kind == ".npz",
            "{}: a file of episodes must end in .jsonl, .ndjson or .npz; rename it or convert it",
            path.string());
}

std::int64_t episodes_since(std::int64_t before, const std::filesystem::path& path, const Counts& counts) {
    expects(counts.episodes() > before, "{}: holds no episodes", path.string());
    return counts.episodes() - before;
}

}  // namespace

std::int64_t read_episodes(const std::filesystem::path& path, const StartLaw& start, Counts& counts) {
    check_episode_extension(path);
    const std::int64_t before = counts.episodes();
    if (path.extension() == ".npz") {
        take_arrays(detail::read_npz(path), path.string(), start, counts);
    } else {
        detail::check_readable(path);
        std::ifstream file(path, std::ios::binary);
        read_lines(file, path.string(), start, counts);
    }
    return episodes_since(before, path, counts);
}

std::int64_t parse_episodes(std::string_view bytes, const std::filesystem::path& path, const StartLaw& start,
                            Counts& counts) {
    check_episode_extension(path);
    const std::int64_t before = counts.episodes();
    if (path.extension() == ".npz") {
        take_arrays(detail::parse_npz(bytes, path.string()), path.string(), start, counts);
    } else {
        std::istringstream file{std::string(bytes)};
        read_lines(file, path.string(), start, counts);
    }
    return episodes_since(before, path, counts);
}

}  // namespace alidade
