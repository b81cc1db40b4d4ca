#include "objective_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>

#include "alidade/spec/printable_text.hpp"
#include "reward_choice.hpp"
#include "user_error.hpp"

namespace alidade::app {

namespace {

/// What a file's objective is called: its name without folder and ending; other names are names.
std::string objective_name(const std::string& choice) {
    const std::filesystem::path path = choice;
    const std::string ending = path.extension().string();
    return ending == ".json" || ending == ".npz" ? path.stem().string() : choice;
}

double parse_weight(const std::string& text, const std::string& flag) {
    double value = 0;
    const auto [end, trouble] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (trouble == std::errc{} && end == text.data() + text.size() && std::isfinite(value)) return value;
    throw UserError(fmt::format("'{}' is no number", printable(text)),
                    {flag, "weights and values of objectives are numbers", fmt::format("{} NAME=0.5", flag)});
}

std::size_t place_of(const std::string& name, const std::string& flag,
                     const std::vector<AtlasObjective>& objectives) {
    const auto found = std::ranges::find(objectives, name, &AtlasObjective::name);
    if (found != objectives.end()) return static_cast<std::size_t>(found - objectives.begin());
    throw UserError(fmt::format("there is no objective '{}'", printable(name)),
                    {flag, "it would speak of something that nobody weighs",
                     fmt::format("one of {}", printable(objective_names(objectives)))});
}

}  // namespace

void add_objective_flags(CLI::App& command, ObjectiveFlags& flags) {
    command
        .add_option("--objective", flags.maximise,
                    "To maximise: a .json or .npz file, or a name that alidade reward list shows; two to "
                    "eight, with\n"
                    "those of --minimise")
        ->allow_extra_args(false);
    command.add_option("--minimise,--minimize", flags.minimise, "The same, to minimise")
        ->allow_extra_args(false);
    command
        .add_option("--at-least", flags.at_least,
                    "NAME=A: only weights of NAME of at least A; may be repeated")
        ->allow_extra_args(false);
    command
        .add_option("--at-most", flags.at_most, "NAME=B: only weights of NAME of at most B; may be repeated")
        ->allow_extra_args(false);
    command.add_flag("--rescale", flags.rescale,
                     "Map objectives outside [0, 1] onto it; weights are then of the mapped ones");
}

std::vector<AtlasObjective> choose_objectives(const ObjectiveFlags& flags, const Problem& problem,
                                              const Console& console) {
    std::vector<AtlasObjective> objectives;
    const auto add = [&](const std::string& choice, Sense sense) {
        ScaledReward chosen = choose_reward(choice, problem, flags.rescale, console);
        const std::string name = objective_name(choice);
        if (std::ranges::count(objectives, name, &AtlasObjective::name) > 0)
            throw UserError(
                fmt::format("the objective '{}' is named twice", printable(name)),
                {"the command line", "its two weights could not be told apart", "name every objective once"});
        objectives.push_back(
            {name, sense, chosen.scale,
             sense == Sense::maximise ? std::move(chosen.reward) : complement(chosen.reward)});
    };
    for (const std::string& choice : flags.maximise) add(choice, Sense::maximise);
    for (const std::string& choice : flags.minimise) add(choice, Sense::minimise);
    const auto count = static_cast<Index>(objectives.size());
    if (count < Objectives::least || count > Objectives::most)
        throw UserError(
            fmt::format("there {} {} objective{}; must be {} to {}", count == 1 ? "is" : "are", count,
                        count == 1 ? "" : "s", Objectives::least, Objectives::most),
            {"the command line",
             count > Objectives::most
                 ? "cells of weights grow too many; for any reward at all there is the reward-free "
                   "certificate: alidade certify RUN"
                 : "with fewer than two there is nothing to weigh: alidade plan RUN --reward NAME",
             "--objective NAME --objective NAME"});
    return objectives;
}

void add_region(const ObjectiveFlags& flags, const std::vector<AtlasObjective>& objectives,
                AtlasOptions& options) {
    const auto read = [&](const std::vector<std::string>& texts, const std::string& flag, double otherwise) {
        std::vector<double> bounds(objectives.size(), otherwise);
        for (const std::string& text : texts) {
            const auto equals = text.rfind('=');
            if (equals == std::string::npos)
                throw UserError(
                    fmt::format("'{}' is not NAME=NUMBER", printable(text)),
                    {flag, "it must be known whose weight is meant", fmt::format("{} NAME=0.3", flag)});
            bounds[place_of(text.substr(0, equals), flag, objectives)] =
                parse_weight(text.substr(equals + 1), flag);
        }
        return texts.empty() ? std::vector<double>{} : bounds;
    };
    options.at_least = read(flags.at_least, "--at-least", 0);
    options.at_most = read(flags.at_most, "--at-most", 1);
}

std::vector<std::optional<double>> numbers_by_objective(const std::string& text, const std::string& flag,
                                                        const std::vector<AtlasObjective>& objectives) {
    std::vector<std::optional<double>> numbers(objectives.size());
    std::size_t from = 0, place = 0;
    while (from <= text.size()) {
        const std::size_t comma = std::min(text.find(',', from), text.size());
        const std::string part = text.substr(from, comma - from);
        const auto equals = part.rfind('=');
        const std::size_t at_place =
            equals == std::string::npos ? place : place_of(part.substr(0, equals), flag, objectives);
        if (at_place >= numbers.size() || numbers[at_place])
            throw UserError(
                at_place >= numbers.size()
                    ? fmt::format("there are more numbers than objectives in '{}'", printable(text))
                    : fmt::format("an objective has two numbers in '{}'", printable(text)),
                {flag, "there is one number for each objective",
                 fmt::format("{} 0.5,0.5 or {} NAME=1,NAME=2, of {}", flag, flag,
                             printable(objective_names(objectives)))});
        numbers[at_place] = parse_weight(part.substr(equals == std::string::npos ? 0 : equals + 1), flag);
        ++place;
        from = comma + 1;
    }
    return numbers;
}

std::string objective_names(const std::vector<AtlasObjective>& objectives, const std::string& last) {
    std::string names;
    for (std::size_t i = 0; i < objectives.size(); ++i)
        names += (i == 0 ? "" : i + 1 == objectives.size() ? last : ", ") + objectives[i].name;
    return names;
}

}  // namespace alidade::app
