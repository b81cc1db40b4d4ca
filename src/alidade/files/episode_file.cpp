#include "alidade/files/episode_file.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <fstream>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

#include "alidade/error.hpp"
#include "json_file.hpp"
#include "npz.hpp"
#include "text_file.hpp"
#include "transition_table.hpp"

namespace alidade {
namespace {

using nlohmann::json;

/// Counts are added up as doubles later on; beyond this they would not be whole.
constexpr std::int64_t most_logged_episodes = std::int64_t{1} << 53;

/// Gives out episodes; what is wrong with one is said with its place.
class Placed {
public:
    using Each = std::function<void(const LoggedEpisode&)>;
    explicit Placed(const Each& each) : each_(each) {}

    template <class Place>
    void give(const LoggedEpisode& episode, const Place& place) const {
        try {
            each_(episode);
        } catch (const InvalidArgument& error) {
            throw InvalidArgument(fmt::format("{}: {}", place(), error.what()));
        } catch (const ModelContradiction& error) {
            throw ModelContradiction(fmt::format("{}: {}", place(), error.what()));
        }
    }

private:
    const Each& each_;
};

/// Counts one episode.
void count_episode(const LoggedEpisode& episode, const StartLaw& start, Counts& counts) {
    expects(episode.times <= most_logged_episodes - counts.episodes(), "more than {} episodes in all",
            most_logged_episodes);
    validate(episode, counts.shape(), start);
    counts.add(episode.states, episode.actions, episode.times);
}

void read_list(const json& value, std::int64_t last, std::string_view key, const std::string& place,
               const detail::NameTable& names, std::vector<Index>& result) {
    result.clear();
    for (const json& element : detail::list(value, fmt::format("{}: \"{}\"", place, key))) {
        // The place is put into words only where it is needed: there are many elements.
        const bool plain =
            element.is_number_unsigned() && element.get<std::uint64_t>() <= static_cast<std::uint64_t>(last);
        if (plain) {
            result.push_back(element.get<std::int64_t>());
            continue;
        }
        const std::string where = fmt::format("{}: \"{}\", step {}", place, key, result.size());
        result.push_back(element.is_string() && !names.empty()
                             ? names.number(element.get_ref<const std::string&>(), where)
                             : detail::position(element, last, where));
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

void read_lines(std::istream& file, const std::string& name, const EpisodeFileOptions& options,
                const Placed& each) {
    const Shape& shape = options.shape;
    const detail::NameTable states("state", options.state_names), actions("action", options.action_names);
    LoggedEpisode episode;
    std::string line;
    for (std::int64_t number = 1; detail::read_line(file, line, name); ++number) {
        if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
        const std::string place = fmt::format("{}:{}", name, number);
        const json object = parse_line(line, place);
        detail::check_object(object,
                             {"states", "actions", "count", "complete", "id", "rewards", "experiment",
                              "episode", "seed", "source", "worker", "told"},
                             place);
        read_list(detail::member(object, "states", place), shape.states - 1, "states", place, states,
                  episode.states);
        read_list(detail::member(object, "actions", place), shape.actions - 1, "actions", place, actions,
                  episode.actions);
        episode.times = 1;
        if (const auto count = object.find("count"); count != object.end()) {
            episode.times = detail::position(*count, most_logged_episodes, place + ": \"count\"");
            expects(episode.times >= 1, "{}: \"count\" is 0; must be at least 1", place);
        }
        episode.complete = true;
        if (const auto complete = object.find("complete"); complete != object.end()) {
            expects(complete->is_boolean(), "{}: \"complete\" is {}; must be true or false", place,
                    detail::shown(*complete));
            episode.complete = complete->get<bool>();
        }
        each.give(episode, [&]() -> const std::string& { return place; });
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

void take_arrays(const detail::NpzArrays& arrays, const std::string& file, const Placed& each) {
    for (const auto& item : arrays)
        expects(item.first == "states" || item.first == "actions" || item.first == "count" ||
                    item.first == "id" || item.first == "rewards" || item.first == "experiment",
                "{}: unknown array '{}' (known: states, actions, count, id, rewards, experiment); leave it "
                "out or rename it",
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
        episode.times = count != nullptr ? count->integers[k] : 1;
        each.give(episode, [&]() -> const std::string& { return place; });
    }
}

void check_episode_extension(const std::filesystem::path& path) {
    const auto kind = path.extension();
    expects(kind == ".jsonl" || kind == ".ndjson" || kind == ".npz" || kind == ".csv",
            "{}: a file of episodes must end in .jsonl, .ndjson, .csv or .npz; rename it or convert it",
            path.string());
}

void visit_stream(std::istream& stream, const std::filesystem::path& path, const EpisodeFileOptions& options,
                  const std::function<void(const LoggedEpisode&)>& each) {
    if (path.extension() == ".csv")
        detail::read_transition_table(stream, path.string(), options, each);
    else
        read_lines(stream, path.string(), options, Placed(each));
}

std::int64_t episodes_since(std::int64_t before, const std::filesystem::path& path, const Counts& counts) {
    expects(counts.episodes() > before, "{}: holds no episodes", path.string());
    return counts.episodes() - before;
}

}  // namespace

void validate(const LoggedEpisode& episode, const Shape& shape, const StartLaw& start) {
    expects(episode.times >= 1, "an episode that was seen {} times; must be at least 1", episode.times);
    if (episode.states.empty() || episode.states[0] < 0 || episode.states[0] >= shape.states) return;
    expects(std::ranges::any_of(
                start.atoms(),
                [&](const auto& atom) { return atom.first == episode.states[0] && atom.second > 0; }),
            "the episode starts in state {}, where the problem's start law never starts", episode.states[0]);
}

void visit_episodes(const std::filesystem::path& path, const EpisodeFileOptions& options,
                    const std::function<void(const LoggedEpisode&)>& each) {
    check_episode_extension(path);
    if (path.extension() == ".npz") return take_arrays(detail::read_npz(path), path.string(), Placed(each));
    detail::check_readable(path);
    std::ifstream file(path, std::ios::binary);
    visit_stream(file, path, options, each);
}

void visit_episodes(std::string_view bytes, const std::filesystem::path& path,
                    const EpisodeFileOptions& options,
                    const std::function<void(const LoggedEpisode&)>& each) {
    check_episode_extension(path);
    if (path.extension() == ".npz")
        return take_arrays(detail::parse_npz(bytes, path.string()), path.string(), Placed(each));
    std::istringstream file{std::string(bytes)};
    visit_stream(file, path, options, each);
}

std::int64_t read_episodes(const std::filesystem::path& path, const StartLaw& start, Counts& counts,
                           const EpisodeFileOptions& options) {
    const std::int64_t before = counts.episodes();
    visit_episodes(path, options,
                   [&](const LoggedEpisode& episode) { count_episode(episode, start, counts); });
    return episodes_since(before, path, counts);
}

std::int64_t read_episodes(const std::filesystem::path& path, const StartLaw& start, Counts& counts) {
    return read_episodes(path, start, counts, {.shape = counts.shape()});
}

std::int64_t parse_episodes(std::string_view bytes, const std::filesystem::path& path, const StartLaw& start,
                            Counts& counts) {
    const std::int64_t before = counts.episodes();
    visit_episodes(bytes, path, {.shape = counts.shape()},
                   [&](const LoggedEpisode& episode) { count_episode(episode, start, counts); });
    return episodes_since(before, path, counts);
}

}  // namespace alidade
