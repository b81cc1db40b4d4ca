#include "class_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include "alidade/spec/printable_text.hpp"
#include "user_error.hpp"

namespace alidade::app {
namespace {

constexpr std::string_view forms = "total, steps=3.., steps=2,5, states=NAME, states=0..2, near=REWARD:0.05";

UserError wrong(const std::string& what, std::string_view why) {
    return UserError(what, {"--class on the command line", std::string(why),
                            fmt::format("one of {}; total, steps and states also together: "
                                        "total+steps=3..",
                                        forms)});
}

std::vector<std::string_view> split(std::string_view text, char by) {
    std::vector<std::string_view> parts;
    while (true) {
        const std::size_t end = text.find(by);
        parts.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return parts;
        text.remove_prefix(end + 1);
    }
}

std::optional<Index> whole_number(std::string_view text) {
    Index value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
    return value;
}

std::optional<double> number(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
        return std::nullopt;
    return value;
}

/// "3", "3..5", "3.." or "..5", of numbers from 0 to count - 1, both ends included; none if it is no such.
std::optional<std::pair<Index, Index>> range_of(std::string_view text, Index count) {
    const std::size_t dots = text.find("..");
    if (dots == std::string_view::npos) {
        const auto one = whole_number(text);
        return one ? std::optional(std::pair(*one, *one)) : std::nullopt;
    }
    const std::string_view first = text.substr(0, dots), last = text.substr(dots + 2);
    if (first.empty() && last.empty()) return std::nullopt;
    const auto from = first.empty() ? std::optional<Index>(0) : whole_number(first);
    const auto to = last.empty() ? std::optional<Index>(count - 1) : whole_number(last);
    if (!from || !to) return std::nullopt;
    return std::pair(*from, *to);
}

void add_range(const std::pair<Index, Index>& range, std::string_view text, Index count, std::string_view of,
               std::vector<Index>& numbers) {
    const auto [first, last] = range;
    if (first < 0 || last >= count || first > last)
        throw wrong(fmt::format("'{}' is no range of {}: they are 0 to {}", printable(std::string(text)), of,
                                count - 1),
                    fmt::format("{} count from 0", of));
    for (Index i = first; i <= last; ++i) numbers.push_back(i);
}

std::vector<Index> steps_of(std::string_view text, Index horizon) {
    std::vector<Index> steps;
    for (const std::string_view part : split(text, ',')) {
        const auto range = range_of(part, horizon);
        if (!range)
            throw wrong(fmt::format("'{}' is no step", printable(std::string(part))),
                        "steps are numbers from 0, or ranges such as 3.. and 2..4");
        add_range(*range, part, horizon, "steps", steps);
    }
    return steps;
}

std::optional<State> state_named(std::string_view text, const Problem& problem) {
    const std::vector<std::string>& names = problem.description().state_names;
    const auto place = std::ranges::find(names, text);
    if (place == names.end()) return std::nullopt;
    return static_cast<State>(place - names.begin());
}

std::vector<Index> states_of(std::string_view text, const Problem& problem) {
    // A name may have a comma in it.
    if (const auto all = state_named(text, problem)) return {*all};
    std::vector<Index> states;
    for (const std::string_view part : split(text, ',')) {
        if (const auto named = state_named(part, problem)) {
            states.push_back(*named);
            continue;
        }
        const auto range = range_of(part, problem.shape().states);
        if (!range)
            throw wrong(fmt::format("the problem has no state '{}'", printable(std::string(part))),
                        problem.description().state_names.empty()
                            ? "its states have no names: they are numbers from 0"
                            : fmt::format("its states have names such as '{}', or are numbers from 0",
                                          printable(problem.description().state_names.front())));
        add_range(*range, part, problem.shape().states, "states", states);
    }
    return states;
}

ClassChoice::Near near_of(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    const auto eta = colon == std::string_view::npos ? std::nullopt : number(text.substr(colon + 1));
    if (!eta || *eta < 0 || colon == 0)
        throw wrong(fmt::format("'near={}' names no reward and how far others may be from it",
                                printable(std::string(text))),
                    "near is a reward, a colon, and the largest difference to it at any step, 0 or more");
    return {std::string(text.substr(0, colon)), *eta};
}

/// One of total, steps and states, and what it says of a reward.
std::pair<RewardClass, std::string> part_of(std::string_view part, const Problem& problem) {
    const Shape& shape = problem.shape();
    const auto equals = part.find('=');
    const std::string_view name = part.substr(0, equals);
    const std::string_view value = equals == std::string_view::npos ? "" : part.substr(equals + 1);
    if (name == "total") {
        const auto most = equals == std::string_view::npos ? std::optional(1.0) : number(value);
        if (!most || *most <= 0 || *most > static_cast<double>(shape.horizon))
            throw wrong(
                fmt::format("the total is '{}'", printable(std::string(value))),
                fmt::format("it is a number above 0, and no episode pays more than {}", shape.horizon));
        return {RewardClass::total(shape, *most),
                fmt::format("adds up to at most {} in every episode, whatever it depends on", *most)};
    }
    if (name == "steps" && !value.empty())
        return {RewardClass::at_steps(shape, steps_of(value, shape.horizon)),
                fmt::format("is zero but at the steps {}", value)};
    if (name == "states" && !value.empty())
        return {RewardClass::in_states(shape, states_of(value, problem)),
                fmt::format("is zero but in the states {}", printable(std::string(value)))};
    throw wrong(fmt::format("'{}' is no class of rewards", printable(std::string(part))),
                "a class says which rewards the certificate is to hold for");
}

}  // namespace

ClassChoice choose_class(const std::string& choice, const Problem& problem) {
    ClassChoice result;
    if (choice.starts_with("near=")) {
        result.near = near_of(std::string_view(choice).substr(5));
        return result;
    }
    for (const std::string_view part : split(choice, '+')) {
        auto [rewards, words] = part_of(part, problem);
        result.words += (result.words.empty() ? "every reward in [0, 1] at once that " : " and ") + words;
        result.rewards = result.rewards ? result.rewards->both(rewards) : rewards;
    }
    return result;
}

std::string class_help() {
    return fmt::format("Certify a class of rewards instead of all: {}; total+steps=3.. is both", forms);
}

}  // namespace alidade::app
