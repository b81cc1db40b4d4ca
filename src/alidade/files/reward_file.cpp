#include "alidade/files/reward_file.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>

#include "alidade/error.hpp"
#include "json_file.hpp"
#include "npz.hpp"
#include "text_file.hpp"

namespace alidade {
namespace {

using nlohmann::json;

/// Values as they are in a file, and how to say where the value at a position came from.
struct RawReward {
    std::vector<double> values;
    std::function<std::string(std::size_t)> place;
};

struct Entry {
    State state = 0;
    std::optional<Action> action;
    std::optional<Step> step;
    double reward = 0;
};

Entry parse_entry(const json& value, const Shape& shape, const std::string& where) {
    detail::check_object(value, {"state", "action", "step", "reward"}, where);
    Entry entry;
    entry.state =
        detail::position(detail::member(value, "state", where), shape.states - 1, where + ", \"state\"");
    if (value.contains("action"))
        entry.action = detail::position(value["action"], shape.actions - 1, where + ", \"action\"");
    if (value.contains("step"))
        entry.step = detail::position(value["step"], shape.horizon - 1, where + ", \"step\"");
    entry.reward = detail::number(detail::member(value, "reward", where), where + ", \"reward\"");
    return entry;
}

std::vector<Entry> parse_entries(const json& list_of_entries, const Shape& shape, const std::string& file) {
    std::vector<Entry> entries;
    for (const json& value : detail::list(list_of_entries, file + ": \"entries\""))
        entries.push_back(parse_entry(value, shape, fmt::format("{}: entry {}", file, entries.size())));
    return entries;
}

RawReward parse_json_reward(std::string_view text, const std::string& file, const Shape& shape) {
    const json document = detail::parse_json(text, file);
    detail::check_object(document, {"default", "entries"}, file);
    const double rest =
        document.contains("default") ? detail::number(document["default"], file + ": \"default\"") : 0;
    const auto entries =
        document.contains("entries") ? parse_entries(document["entries"], shape, file) : std::vector<Entry>{};
    const bool stationary =
        std::none_of(entries.begin(), entries.end(), [](const Entry& e) { return e.step; });
    const Index steps = stationary ? 1 : shape.horizon;
    RawReward raw;
    raw.values.assign(at(steps * shape.pairs()), rest);
    std::vector<std::int64_t> writers(raw.values.size(), -1);
    for (std::size_t i = 0; i < entries.size(); ++i) {
        const Entry& e = entries[i];
        for (Step h = e.step.value_or(0); h <= e.step.value_or(steps - 1); ++h)
            for (Action a = e.action.value_or(0); a <= e.action.value_or(shape.actions - 1); ++a) {
                const std::size_t where = at(h * shape.pairs() + shape.pair(e.state, a));
                raw.values[where] = e.reward;
                writers[where] = static_cast<std::int64_t>(i);
            }
    }
    raw.place = [file, writers = std::move(writers)](std::size_t i) {
        return writers[i] < 0 ? fmt::format("{}: \"default\"", file)
                              : fmt::format("{}: entry {}, \"reward\"", file, writers[i]);
    };
    return raw;
}

RawReward parse_npz_reward(std::string_view bytes, const std::string& file, const Shape& shape) {
    detail::NpzArrays arrays = detail::parse_npz(bytes, file);
    const std::string name = arrays.size() == 1 ? arrays.begin()->first : "reward";
    const detail::NpyArray& array = detail::find_array(arrays, name, file);
    const std::vector<std::int64_t> all_steps{shape.states, shape.actions},
        by_step{shape.horizon, shape.states, shape.actions};
    expects(
        array.shape == all_steps || array.shape == by_step,
        "{}: array '{}' has shape ({}); must be ({}) = (states, actions) or ({}) = (steps, states, actions)",
        file, name, fmt::join(array.shape, ", "), fmt::join(all_steps, ", "), fmt::join(by_step, ", "));
    const bool stationary = array.shape == all_steps;
    const std::string where = fmt::format("{}: array '{}'", file, name);
    RawReward raw;
    raw.values = std::move(arrays.find(name)->second).take_reals(where);
    raw.place = [where, stationary, shape](std::size_t i) {
        const auto pair = static_cast<Index>(i) % shape.pairs();
        const std::string step =
            stationary ? "" : fmt::format("step {}, ", static_cast<Index>(i) / shape.pairs());
        return fmt::format("{}, {}state {}, action {}", where, step, pair / shape.actions,
                           pair % shape.actions);
    };
    for (std::size_t i = 0; i < raw.values.size(); ++i)
        expects(std::isfinite(raw.values[i]), "{}: is {}; must be a finite number", raw.place(i),
                raw.values[i]);
    return raw;
}

RewardScale rescale(std::vector<double>& values, const std::string& file) {
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    const double lower = *low, upper = *high, range = upper - lower;
    if (lower >= 0 && upper <= 1) return {};
    expects(std::isfinite(range), "{}: values run from {} to {}, too far apart to rescale", file, lower,
            upper);
    const double scale = range > 0 ? range : 1;
    for (double& value : values) value = std::clamp((value - lower) / scale, 0.0, 1.0);
    return {scale, lower};
}

/// The value that most pairs have, so that few entries are left to write.
double most_common(const std::vector<double>& values) {
    std::map<double, std::size_t> counts;
    for (const double value : values) ++counts[value];
    return std::max_element(counts.begin(), counts.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
}

std::string format_reward(const Reward& reward) {
    const Shape& shape = reward.shape();
    const double rest = most_common(reward.values());
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < reward.values().size(); ++i) {
        // One entry with a step says that the reward is given step by step, even if all are alike.
        const bool mark = i + 1 == reward.values().size() && lines.empty() && !reward.stationary();
        if (reward.values()[i] == rest && !mark) continue;
        const auto index = static_cast<Index>(i);
        const Index pair = index % shape.pairs();
        const std::string step =
            reward.stationary() ? "" : fmt::format("\"step\": {}, ", index / shape.pairs());
        lines.push_back(fmt::format("    {{\"state\": {}, \"action\": {}, {}\"reward\": {}}}",
                                    pair / shape.actions, pair % shape.actions, step,
                                    json(reward.values()[i]).dump()));
    }
    return fmt::format("{{\n  \"default\": {},\n  \"entries\": [{}{}{}]\n}}\n", json(rest).dump(),
                       lines.empty() ? "" : "\n", fmt::join(lines, ",\n"), lines.empty() ? "" : "\n  ");
}

void check_reward_extension(const std::filesystem::path& path) {
    expects(path.extension() == ".json" || path.extension() == ".npz",
            "{}: a reward file must end in .json or .npz; rename it or convert it", path.string());
}

}  // namespace

ScaledReward read_reward(const std::filesystem::path& path, const Shape& shape,
                         const RewardOptions& options) {
    check_reward_extension(path);
    return parse_reward(detail::read_text(path), path, shape, options);
}

ScaledReward parse_reward(std::string_view bytes, const std::filesystem::path& path, const Shape& shape,
                          const RewardOptions& options) {
    validate(shape);
    check_reward_extension(path);
    RawReward raw = path.extension() == ".json" ? parse_json_reward(bytes, path.string(), shape)
                                                : parse_npz_reward(bytes, path.string(), shape);
    RewardScale scale;
    if (options.rescale) scale = rescale(raw.values, path.string());
    for (std::size_t i = 0; i < raw.values.size(); ++i)
        expects(raw.values[i] >= 0 && raw.values[i] <= 1,
                "{}: is {}; must be from 0 to 1, as every bound assumes it: fix the file or pass --rescale",
                raw.place(i), raw.values[i]);
    return {Reward(shape, std::move(raw.values)), scale};
}

void write_reward(const std::filesystem::path& path, const Reward& reward) {
    check_reward_extension(path);
    if (path.extension() == ".json") return detail::write_text(path, format_reward(reward));
    const Shape& shape = reward.shape();
    std::vector<std::int64_t> sizes{shape.states, shape.actions};
    if (!reward.stationary()) sizes.insert(sizes.begin(), shape.horizon);
    detail::NpzArrays arrays;
    arrays.emplace("reward", detail::NpyArray::of_reals(std::move(sizes), reward.values()));
    detail::write_npz(path, arrays);
}

}  // namespace alidade
