#include "certificate_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "numbers.hpp"
#include "table.hpp"

namespace alidade::app {

using nlohmann::ordered_json;

namespace {

constexpr std::size_t contributions_shown = 5;
constexpr Index weights_shown = 12;

}  // namespace

double value_in_unit(double value, const Shape& shape, const RewardScale& scale) {
    return static_cast<double>(shape.horizon) * scale.offset + scale.scale * value;
}

ordered_json to_json(const Measurement& measured, const Plan& plan, const Shape& shape,
                     const RewardScale& scale) {
    ordered_json object;
    object["claimed_value"] =
        plan.claimed_value ? ordered_json(value_in_unit(*plan.claimed_value, shape, scale)) : ordered_json();
    object["claimed_accuracy"] = std::isfinite(plan.claimed_accuracy)
                                     ? ordered_json(scale.scale * plan.claimed_accuracy)
                                     : ordered_json();
    object["claims_true"] = measured.claims_true();
    object["value"] = value_in_unit(measured.value, shape, scale);
    object["optimal"] = value_in_unit(measured.optimal, shape, scale);
    object["epsilon_opt"] = scale.scale * measured.epsilon_opt;
    return object;
}

ordered_json to_json(const std::vector<std::pair<std::string, double>>& named) {
    ordered_json object = ordered_json::object();
    for (const auto& [name, value] : named) object[name] = value;
    return object;
}

ordered_json to_json(const RewardFreeCertificate& certificate) {
    ordered_json object;
    object["reward_free"] = certificate.bound;
    object["vacuous"] = certificate.vacuous;
    object["method"] = certificate.method;
    object["candidates"] = to_json(certificate.candidates);
    object["any_plan"] = certificate.any_plan;
    if (!certificate.forms.empty()) {
        ordered_json forms = ordered_json::object();
        for (const auto& [name, form] : certificate.forms) forms[name] = form;
        object["forms"] = std::move(forms);
    }
    if (!certificate.unproved.empty()) object["unproved"] = to_json(certificate.unproved);
    return object;
}

ordered_json to_json(const std::vector<Contribution>& contributions, const Problem& problem) {
    ordered_json list = ordered_json::array();
    for (const Contribution& item : contributions) {
        ordered_json object;
        object["step"] = item.step;
        object["state"] = item.state;
        object["action"] = item.action;
        object["amount"] = item.amount;
        object["state_name"] = problem.state_name(item.state);
        object["action_name"] = problem.action_name(item.action);
        list.push_back(std::move(object));
    }
    return list;
}

ordered_json to_json(const RewardCertificate& certificate, const Shape& shape, const RewardScale& scale) {
    ordered_json object, methods = ordered_json::object();
    object["value_lower"] = value_in_unit(certificate.value.lower, shape, scale);
    object["value_upper"] = value_in_unit(certificate.value.upper, shape, scale);
    object["optimal_upper"] = value_in_unit(certificate.optimal_upper, shape, scale);
    object["loss_bound"] = scale.scale * certificate.loss_bound;
    object["vacuous"] = certificate.vacuous;
    for (const auto& [name, value] : certificate.methods) methods[name] = scale.scale * value;
    object["methods"] = std::move(methods);
    if (scale != RewardScale{}) object["rescaled"] = {{"scale", scale.scale}, {"offset", scale.offset}};
    return object;
}

namespace {

ordered_json weights_json(const MixtureModel& model) {
    ordered_json rows = ordered_json::array();
    for (Index h = 0; h < model.weights().rows(); ++h) {
        const Vector row = model.weights().row(h).transpose();
        rows.push_back(std::vector<double>(row.data(), row.data() + row.size()));
    }
    return rows;
}

}  // namespace

void add_weights(ordered_json& object, const LearnedModel& learned) {
    if (learned.mixture() != nullptr) object["weights"] = weights_json(learned.mixture()->model());
}

ordered_json to_json(const Policy& policy) {
    const Shape& shape = policy.shape();
    ordered_json steps = ordered_json::array();
    for (Step h = 0; h < shape.horizon; ++h) {
        ordered_json row = ordered_json::array();
        for (State s = 0; s < shape.states; ++s) {
            if (policy.is_deterministic()) {
                row.push_back(policy.action(h, s));
                continue;
            }
            ordered_json law = ordered_json::array();
            for (Action a = 0; a < shape.actions; ++a) law.push_back(policy.probability(h, s, a));
            row.push_back(std::move(law));
        }
        steps.push_back(std::move(row));
    }
    return steps;
}

std::string named_numbers(const std::vector<std::pair<std::string, double>>& named) {
    std::string text;
    for (const auto& [name, value] : named)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, upper_bound(value));
    return text;
}

std::string describe(const RewardFreeCertificate& certificate, const Shape& shape, const Console& console) {
    std::string text =
        fmt::format("{} {}", console.bold("Reward-free certificate:"), upper_bound(certificate.bound));
    if (certificate.vacuous)
        text += fmt::format(
            "  (vacuous)\n  No loss can exceed the horizon, {}, so this says nothing yet.\n"
            "  More episodes are needed.\n",
            shape.horizon);
    else
        text += fmt::format(
            "  (no loss can exceed {})\n"
            "  With probability {:.6g}, for every reward in [0, 1] at once: the plan that is\n"
            "  optimal in the learned model, from every state, loses at most this much on the real system.\n"
            "  The probability that a run reports such a bound and it is wrong is at most {:.6g};\n"
            "  nothing is promised of the smallest of several runs (other seeds, delta, options).\n",
            shape.horizon, 1 - certificate.failure_probability, certificate.failure_probability);
    text += fmt::format("  method {} (candidates: {})\n", certificate.method,
                        named_numbers(certificate.candidates));
    if (certificate.any_plan > certificate.bound)
        text += fmt::format(
            "  Of a plan of which only its value in the model is known: at most {} and what that is short "
            "of\n"
            "  the best.\n",
            upper_bound(certificate.any_plan));
    for (const auto& [name, form] : certificate.forms) text += fmt::format("  {}: {}\n", name, form);
    if (!certificate.unproved.empty())
        text +=
            fmt::format("  not proved, and no part of the bound: {}\n", named_numbers(certificate.unproved));
    return text;
}

std::string describe(const std::vector<Contribution>& contributions, const Problem& problem,
                     const Console& console) {
    if (contributions.empty()) return {};
    Table table({{"step"}, {"state", Table::Align::left}, {"action", Table::Align::left}, {"amount"}});
    for (std::size_t i = 0; i < std::min(contributions_shown, contributions.size()); ++i) {
        const Contribution& item = contributions[i];
        table.add({std::to_string(item.step), problem.state_name(item.state),
                   problem.action_name(item.action), rounded(item.amount)});
    }
    return console.bold("What the next experiment is for") + ": the largest parts of the certificate\n" +
           table.text();
}

std::string describe(const RewardCertificate& certificate, const Shape& shape, const RewardScale& scale) {
    std::vector<std::pair<std::string, double>> methods = certificate.methods;
    for (auto& [name, value] : methods) value *= scale.scale;
    return fmt::format(
        "  true value     in [{}, {}]\n  optimal value  at most {}\n"
        "  loss           at most {}{}  ({})\n"
        "  All three hold with probability {:.6g}; the best of several runs has no such promise.\n",
        lower_bound(value_in_unit(certificate.value.lower, shape, scale)),
        upper_bound(value_in_unit(certificate.value.upper, shape, scale)),
        upper_bound(value_in_unit(certificate.optimal_upper, shape, scale)),
        upper_bound(scale.scale * certificate.loss_bound), certificate.vacuous ? ", which is vacuous" : "",
        named_numbers(methods), 1 - certificate.failure_probability);
}

std::string describe(const Measurement& measured, const Shape& shape, const RewardScale& scale) {
    return fmt::format("  learned model  value {:.6g}, measured {:.3g} below the best plan for it\n",
                       value_in_unit(measured.value, shape, scale), scale.scale * measured.epsilon_opt);
}

std::string false_claims(const Measurement& measured, const Plan& plan, const Shape& shape,
                         const RewardScale& scale) {
    std::string text;
    if (!measured.value_true)
        text += fmt::format(" value {:.9g}, and it is {:.9g}",
                            value_in_unit(plan.claimed_value.value_or(0), shape, scale),
                            value_in_unit(measured.value, shape, scale));
    if (!measured.accuracy_true)
        text +=
            fmt::format("{} to be at most {:.3g} below the best, and it is {:.3g}", text.empty() ? "" : ";",
                        scale.scale * plan.claimed_accuracy, scale.scale * measured.epsilon_opt);
    if (text.empty()) return text;
    return "the planner's claim is false: in the learned model it claims" + text +
           ". The bounds do not rest on it.";
}

namespace {

/// How far rows are known, step by step.
std::string describe_rows(const LearnedModel& learned, const Console& console) {
    Table table({{"step"}, {"mean distance"}, {"largest"}, {"known within 0.1"}});
    const Index pairs = learned.shape().pairs(), rows = learned.uncertain_steps();
    for (Step h = 0; h < std::min(weights_shown, rows); ++h) {
        double sum = 0, largest = 0;
        Index near = 0;
        for (Index pair = 0; pair < pairs; ++pair) {
            const double radius = learned.row_radius(h, pair);
            sum += radius;
            largest = std::max(largest, radius);
            near += radius <= 0.1 ? 1 : 0;
        }
        table.add({learned.homogeneous() ? "all" : std::to_string(h),
                   rounded(sum / static_cast<double>(pairs)), upper_bound(largest),
                   fmt::format("{} of {}", near, pairs)});
    }
    return console.bold("Learned laws") +
           ", and how far a true one may be from its own, in total variation\n" + table.text();
}

std::string describe_weights(const MixtureModel& model, const Console& console) {
    const auto& names = model.features().names();
    const Index shown = std::min(weights_shown, model.features().features());
    std::vector<Table::Column> columns{{"step"}};
    for (Index i = 0; i < shown; ++i) columns.push_back({names[static_cast<std::size_t>(i)]});
    Table table(std::move(columns));
    // The last step is never learned: no reward depends on where it leads.
    const Index rows = model.homogeneous() ? 1 : model.shape().learned_steps();
    for (Index h = 0; h < std::min(weights_shown, rows); ++h) {
        std::vector<std::string> cells{model.homogeneous() ? "all" : std::to_string(h)};
        for (Index i = 0; i < shown; ++i) cells.push_back(fmt::format("{:.4f}", model.weights()(h, i)));
        table.add(std::move(cells));
    }
    std::string text = console.bold("Learned weights") + "\n" + table.text();
    if (rows > weights_shown || model.features().features() > shown)
        text += fmt::format("  ({} steps of {} weights in all; --json prints them)\n", rows,
                            model.features().features());
    return text;
}

}  // namespace

std::string describe_learned(const LearnedModel& learned, const Console& console) {
    if (learned.mixture() != nullptr) return describe_weights(learned.mixture()->model(), console);
    return describe_rows(learned, console);
}

}  // namespace alidade::app
