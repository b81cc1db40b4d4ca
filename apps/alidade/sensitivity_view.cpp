#include "sensitivity_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "certificate_view.hpp"
#include "numbers.hpp"
#include "table.hpp"
#include "user_error.hpp"

namespace alidade::app {

using nlohmann::ordered_json;

namespace {

/// Of every answer: a little off, and rather much.
constexpr std::array<double, 2> brief_zetas{0.01, 0.05};
/// So many (step, state, action) at most are looked at without being asked.
constexpr double many_places = 2e4;

std::vector<double> zetas_of(const SensitivityFlags& flags) {
    if (!flags.wanted()) return {brief_zetas.begin(), brief_zetas.end()};
    if (flags.zetas.empty()) {
        const auto usual = usual_misspecifications();
        return {usual.begin(), usual.end()};
    }
    const auto refuse = [&](std::string_view word) {
        throw UserError(
            fmt::format("--sensitivity has '{}'; must be numbers of at least 0 and less than 1", word),
            {"the command line", "each is a total variation between the truth and its mixture",
             "--sensitivity 0,0.01,0.05, or alone for the usual ones"});
    };
    std::vector<double> zetas;
    std::string_view left = flags.zetas;
    while (!left.empty()) {
        const std::string_view word = left.substr(0, left.find(','));
        left.remove_prefix(std::min(left.size(), word.size() + 1));
        double zeta = -1;
        const auto read = std::from_chars(word.data(), word.data() + word.size(), zeta);
        if (read.ec != std::errc{} || read.ptr != word.data() + word.size() || !(zeta >= 0 && zeta < 1))
            refuse(word);
        zetas.push_back(zeta);
    }
    if (zetas.empty()) refuse(flags.zetas);
    std::ranges::sort(zetas);
    return zetas;
}

std::string percent(double share) {
    return fmt::format("{:.3g} %", 100 * share);
}

/// Down, to a tenth of a per cent.
std::string percent_below(double share) {
    return fmt::format("{:.1f} %", std::floor(1000 * share) / 10);
}

}  // namespace

void add_sensitivity_flags(CLI::App& command, SensitivityFlags& flags) {
    flags.curve =
        command
            .add_option("--sensitivity", flags.zetas,
                        "What is certain if the model is off by this much, or that, in total variation:\n"
                        "0,0.01,0.05; alone: the usual ones")
            ->expected(0, 1);
    command.add_option("--tolerance", flags.tolerance,
                       "A loss, in units of reward over an episode: how far off may the model be for it? "
                       "[the problem's target]");
}

void require_sensitivity(const SensitivityFlags& flags) {
    zetas_of(flags);
    if (!flags.tolerance || (*flags.tolerance >= 0 && std::isfinite(*flags.tolerance))) return;
    throw UserError(fmt::format("--tolerance is {}; must be a number of at least 0", *flags.tolerance),
                    {"the command line", "it is a loss, and no plan loses less than nothing",
                     "--tolerance 0.5, in units of reward over a whole episode"});
}

std::optional<SensitivityAnswer> sensitivity_of(const Run& run, const Knowledge& knowledge,
                                                const SensitivityFlags& flags, const RewardQuestion* question,
                                                Threads threads, double lower) {
    const Task task = task_of(run.problem(), run.options());
    const bool asked = flags.wanted() || flags.tolerance;
    if (!Sensitivity::applies(task, *knowledge.learned)) return std::nullopt;
    const Shape& shape = knowledge.learned->shape();
    if (!asked &&
        static_cast<double>(shape.pairs()) * static_cast<double>(shape.learned_steps()) > many_places)
        return std::nullopt;
    const auto checkpoint = run.checkpoint();
    if (!checkpoint || shape.learned_steps() == 0) return std::nullopt;
    const Sensitivity sensitivity(task, checkpoint->counts, *knowledge.learned->mixture(),
                                  {.delta = run.options().delta,
                                   .threads = threads,
                                   .reward_free = question == nullptr || flags.wanted()});
    SensitivityAnswer answer{sensitivity.curve(zetas_of(flags), question), {}, {}, question != nullptr};
    for (SensitivityPoint& point : answer.points) point.refuted = point.refuted || point.zeta < lower;
    answer.tolerance = flags.tolerance ? flags.tolerance : run.problem().target().epsilon;
    if (answer.tolerance) answer.breakdown = sensitivity.breakdown(*answer.tolerance, question);
    return answer;
}

ordered_json to_json(const SensitivityAnswer& answer, const Shape& shape, const RewardScale& scale) {
    ordered_json object;
    object["tolerance"] = answer.tolerance ? ordered_json(scale.scale * *answer.tolerance) : ordered_json();
    object["breakdown"] = answer.breakdown ? ordered_json(*answer.breakdown) : ordered_json();
    object["points"] = ordered_json::array();
    for (const SensitivityPoint& point : answer.points) {
        ordered_json each{{"zeta", point.zeta}, {"refuted", point.refuted}};
        if (!point.refuted) {
            if (answer.of_plan) {
                each["value_lower"] = value_in_unit(point.value.lower, shape, scale);
                each["value_upper"] = value_in_unit(point.value.upper, shape, scale);
                each["loss_bound"] = scale.scale * point.loss;
            }
            each["reward_free"] = point.reward_free;
        }
        object["points"].push_back(std::move(each));
    }
    return object;
}

namespace {

std::string interval(const SensitivityPoint& point, const Shape& shape, const RewardScale& scale) {
    return fmt::format("[{}, {}]", lower_bound(value_in_unit(point.value.lower, shape, scale)),
                       upper_bound(value_in_unit(point.value.upper, shape, scale)));
}

std::string breakdown_line(const SensitivityAnswer& answer, const RewardScale& scale) {
    if (!answer.breakdown) return {};
    const std::string tolerance = fmt::format("{:.4g}", scale.scale * *answer.tolerance);
    if (*answer.breakdown < 0.001)
        return fmt::format(
            "  {} within {} of optimal if the model is off at all.\n",
            answer.of_plan ? "The plan is not certified to be" : "Plans are not certified to be", tolerance);
    return fmt::format("  {} within {} of optimal as long as the model is off by less than {}.\n",
                       answer.of_plan ? "The plan stays" : "Optimal plans in the model stay", tolerance,
                       percent_below(*answer.breakdown));
}

}  // namespace

std::string describe(const SensitivityAnswer& answer, const Shape& shape, const RewardScale& scale,
                     const Console& console) {
    std::vector<Table::Column> columns{{"off by"}};
    if (answer.of_plan) {
        columns.push_back({"true value in"});
        columns.push_back({"loss ≤"});
    }
    columns.push_back({"reward-free ≤"});
    Table table(std::move(columns));
    for (const SensitivityPoint& point : answer.points) {
        std::vector<std::string> cells{percent(point.zeta)};
        if (answer.of_plan) {
            cells.push_back(point.refuted ? "refuted" : interval(point, shape, scale));
            cells.push_back(point.refuted ? "" : upper_bound(scale.scale * point.loss));
        }
        cells.push_back(point.refuted ? (answer.of_plan ? "" : "refuted") : upper_bound(point.reward_free));
        table.add(std::move(cells));
    }
    return fmt::format("{}\n", console.bold("If the model is off")) + table.text() +
           breakdown_line(answer, scale) +
           paragraph(
               "All rows hold at once with the run's probability: each is right if every true law is "
               "that near to its mixture. Believe the row that you would have believed before the "
               "data. The first row that is not refuted is no estimate of how far off the model is: "
               "data tell when it is off by more, never that it is off by no more.",
               console.width());
}

std::string describe_briefly(const SensitivityAnswer& answer, const Shape& shape, const RewardScale& scale) {
    std::string text;
    for (const SensitivityPoint& point : answer.points) {
        text += text.empty() ? fmt::format("  If the model is off by {}: ", percent(point.zeta))
                             : fmt::format("  By {}: ", percent(point.zeta));
        if (point.refuted)
            text += "refuted, it is off by more.";
        else if (answer.of_plan)
            text += fmt::format("value {}, loss at most {}.", interval(point, shape, scale),
                                upper_bound(scale.scale * point.loss));
        else
            text += fmt::format("certificate {}{}.", upper_bound(point.reward_free),
                                point.reward_free >= static_cast<double>(shape.horizon) ? ", vacuous" : "");
    }
    return text + "\n" + breakdown_line(answer, scale);
}

}  // namespace alidade::app
