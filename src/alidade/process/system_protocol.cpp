#include "system_protocol.hpp"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "../files/json_file.hpp"
#include "alidade/error.hpp"
#include "alidade/random/stream.hpp"
#include "alidade/spec/printable_text.hpp"

namespace alidade::detail {
namespace {

using nlohmann::json;
using Keys = std::initializer_list<std::string_view>;

constexpr std::int64_t largest_index = std::numeric_limits<std::int32_t>::max();
constexpr std::string_view answer = "the answer";

/// One line for messages: shortened, and harmless on a terminal.
std::string quoted(std::string_view line) {
    constexpr std::size_t most = 120;
    return printable(line.size() <= most ? std::string(line) : std::string(line.substr(0, most)) + "...");
}

/// The object of a line, if it has no other keys than these; its complaint, if it has one.
json object_of(std::string_view line, Keys keys) {
    check_nesting(line, answer);
    json object = json::parse(line, nullptr, false);
    expects(
        !object.is_discarded(),
        "the answer is no JSON: '{}'; it must be one object on one line (what is for people goes to stderr)",
        quoted(line));
    expects(object.is_object(), "the answer is '{}'; it must be an object {{...}}", quoted(line));
    if (const auto error = object.find("error"); error != object.end())
        throw SystemDeclined(error->is_string() ? printable(error->get<std::string>()) : shown(*error));
    for (const auto& item : object.items())
        expects(item.key() == "note" || std::ranges::find(keys, item.key()) != keys.end(),
                "the answer has an unknown key \"{}\": '{}'; known here are {}, note and error",
                printable(item.key()), quoted(line), fmt::join(keys, ", "));
    return object;
}

/// What the answer must repeat of the request.
void expect_echo(const json& object, std::string_view key, std::int64_t value, std::string_view line) {
    const auto found = object.find(key);
    const bool whole = found != object.end() && found->is_number_integer();
    expects(
        whole && *found == value,
        "the answer is '{}'; it must repeat \"{}\": {} of the request, or it is an answer to something else "
        "(was a request answered twice?)",
        quoted(line), key, value);
}

State state_of(const json& object, const Shape& shape) {
    return position(member(object, "state", answer), shape.states - 1, "\"state\" of the answer");
}

EpisodeEnd end_of(const json& object, std::string_view where) {
    const auto end = object.find("end");
    if (end == object.end() || end->is_null()) return EpisodeEnd::none;
    if (*end == "terminated") return EpisodeEnd::terminated;
    if (*end == "truncated") return EpisodeEnd::truncated;
    throw InvalidArgument(
        fmt::format("\"end\" of {} is {}; must be \"terminated\" (the system stays in that state for good), "
                    "\"truncated\" "
                    "(it cannot go on), null, or left out",
                    where, shown(*end)));
}

bool flag_of(const json& object, std::string_view key) {
    const auto found = object.find(key);
    if (found == object.end()) return false;
    expects(found->is_boolean(), "\"{}\" of the answer is {}; must be true or false", key, shown(*found));
    return found->get<bool>();
}

std::vector<std::string> names_of(const json& object, std::string_view key, Index count) {
    const auto found = object.find(key);
    if (found == object.end() || found->is_null()) return {};
    std::vector<std::string> names;
    for (const json& name : list(*found, fmt::format("\"{}\" of the answer", key))) {
        expects(name.is_string(), "\"{}\" of the answer has {} at place {}; must be texts", key, shown(name),
                names.size());
        names.push_back(name.get<std::string>());
    }
    expects(std::ssize(names) == count, "\"{}\" of the answer has {} names; must have {}", key, names.size(),
            count);
    return names;
}

void read_states(const json& value, const Shape& shape, std::int64_t episode, std::vector<State>& states) {
    const json& given = list(value, "\"states\" of an episode");
    expects(!given.empty() && std::ssize(given) <= shape.horizon,
            "\"states\" of episode {} has {} states; must have 1 to {}", episode, given.size(),
            shape.horizon);
    states.reserve(given.size());
    for (const json& state : given) {
        const bool plain = state.is_number_unsigned() &&
                           state.get<std::uint64_t>() < static_cast<std::uint64_t>(shape.states);
        states.push_back(plain ? state.get<std::int64_t>()
                               : position(state, shape.states - 1,
                                          fmt::format("state {} of episode {}", states.size(), episode)));
    }
}

/// The actions that were taken must be the policy's: it was told so.
void check_actions(const json& value, const Policy& policy, std::int64_t episode,
                   const std::vector<State>& states) {
    const json& given = list(value, "\"actions\" of an episode");
    expects(given.size() == states.size() || given.size() + 1 == states.size(),
            "\"actions\" of episode {} has {} actions for {} states; must have as many, or one fewer",
            episode, given.size(), states.size());
    for (std::size_t h = 0; h < given.size(); ++h) {
        const Action wanted = policy.action(static_cast<Step>(h), states[h]);
        expects(given[h].is_number_integer() && given[h] == wanted,
                "action {} of episode {} is {}; the policy says {} in state {} at that step", h, episode,
                shown(given[h]), wanted, states[h]);
    }
}

BatchEpisode episode_of(const json& value, const Policy& policy, std::int64_t number) {
    const Shape& shape = policy.shape();
    check_object(value, {"states", "actions", "end", "note"},
                 fmt::format("episode {} of the answer", number));
    BatchEpisode episode;
    read_states(member(value, "states", "an episode of the answer"), shape, number, episode.states);
    if (const auto actions = value.find("actions"); actions != value.end())
        check_actions(*actions, policy, number, episode.states);
    episode.end = end_of(value, fmt::format("episode {}", number));
    expects(std::ssize(episode.states) == shape.horizon || episode.end != EpisodeEnd::none,
            "episode {} of the answer has {} states and no \"end\"; it must have {}, or \"end\": "
            "\"terminated\" or "
            "\"truncated\"",
            number, episode.states.size(), shape.horizon);
    return episode;
}

}  // namespace

std::uint64_t episode_seed(std::uint64_t seed, std::int64_t episode) {
    return Stream(seed, Purpose::system, static_cast<std::uint64_t>(episode)).next() >> (64 - seed_bits);
}

std::string info_request(const Shape& shape) {
    return fmt::format(R"({{"op":"info","protocol":{},"states":{},"actions":{},"horizon":{}}})",
                       system_protocol, shape.states, shape.actions, shape.horizon);
}

std::string reset_request(std::int64_t episode, std::uint64_t seed) {
    return fmt::format(R"({{"op":"reset","episode":{},"seed":{}}})", episode, seed);
}

std::string step_request(Step h, Action action) {
    return fmt::format(R"({{"op":"step","step":{},"action":{}}})", h, action);
}

std::string run_request(const Policy& policy, std::int64_t first, std::span<const std::uint64_t> seeds) {
    const Shape& shape = policy.shape();
    std::string text = fmt::format(R"({{"op":"run","first_episode":{},"episodes":{},"seeds":[{}],"policy":[)",
                                   first, seeds.size(), fmt::join(seeds, ","));
    const auto width = static_cast<std::size_t>(shape.states);
    for (Step h = 0; h < shape.horizon; ++h) {
        const auto row = std::span(policy.actions()).subspan(static_cast<std::size_t>(h) * width, width);
        fmt::format_to(std::back_inserter(text), "{}[{}]", h == 0 ? "" : ",", fmt::join(row, ","));
    }
    return text + "]}";
}

SystemInfo parse_info(std::string_view line) {
    const json object = object_of(line, {"protocol", "states", "actions", "horizon", "state_names",
                                         "action_names", "batches", "seeded"});
    const auto size = [&](const char* key) {
        const std::string where = fmt::format("\"{}\" of the answer", key);
        const std::int64_t value = position(member(object, key, answer), largest_index, where);
        expects(value >= 1, "{} is 0; must be at least 1", where);
        return value;
    };
    const std::int64_t protocol =
        position(member(object, "protocol", answer), largest_index, "\"protocol\" of the answer");
    expects(protocol == system_protocol, "the system speaks protocol {}; this program speaks {}", protocol,
            system_protocol);
    SystemInfo info;
    info.states = size("states");
    info.actions = size("actions");
    if (const auto horizon = object.find("horizon"); horizon != object.end() && !horizon->is_null())
        info.horizon = size("horizon");
    info.state_names = names_of(object, "state_names", info.states);
    info.action_names = names_of(object, "action_names", info.actions);
    info.batches = flag_of(object, "batches");
    info.seeded = flag_of(object, "seeded");
    return info;
}

State parse_reset(std::string_view line, const Shape& shape, std::int64_t episode) {
    const json object = object_of(line, {"episode", "state"});
    expect_echo(object, "episode", episode, line);
    return state_of(object, shape);
}

StepAnswer parse_step(std::string_view line, const Shape& shape, Step h) {
    const json object = object_of(line, {"step", "state", "end"});
    expect_echo(object, "step", h, line);
    return {state_of(object, shape), end_of(object, answer)};
}

std::vector<BatchEpisode> parse_run(std::string_view line, const Policy& policy, std::int64_t first,
                                    std::int64_t count) {
    const json object = object_of(line, {"first_episode", "episodes", "counts"});
    expects(
        !object.contains("counts"),
        "the answer to run has \"counts\"; every episode is kept here, so that it must have \"episodes\"");
    expect_echo(object, "first_episode", first, line);
    const json& given = list(member(object, "episodes", answer), "\"episodes\" of the answer");
    expects(std::ssize(given) == count, "the answer has {} episodes; it was asked for {}", given.size(),
            count);
    std::vector<BatchEpisode> episodes;
    episodes.reserve(given.size());
    for (const json& value : given)
        episodes.push_back(episode_of(value, policy, first + std::ssize(episodes)));
    return episodes;
}

}  // namespace alidade::detail
