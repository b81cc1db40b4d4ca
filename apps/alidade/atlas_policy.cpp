#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "alidade/certify/atlas_mixture.hpp"
#include "alidade/certify/reward_certificate.hpp"
#include "alidade/files/atlas_file.hpp"
#include "alidade/files/policy_file.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/spec/printable_text.hpp"
#include "atlas_view.hpp"
#include "certificate_view.hpp"
#include "commands.hpp"
#include "contradiction_view.hpp"
#include "load_run.hpp"
#include "numbers.hpp"
#include "objective_choice.hpp"
#include "user_error.hpp"

namespace alidade::app {

using nlohmann::ordered_json;

namespace {

struct AtlasPolicyArguments {
    std::string folder, run, weights, target, output;
    FitFlags fit;
    int threads = 0;
    bool own = false;
};

/// A sum of objectives in their own units: value = base + scale * value of the weighted reward.
struct WeightedUnit {
    std::vector<double> weights;  ///< of rewards, sum 1
    double base = 0, scale = 1;
};

WeightedUnit unit_of(const AtlasRecord& record, const std::vector<double>& in_units) {
    WeightedUnit unit{record.weights_of(in_units), 0, 0};
    const auto horizon = static_cast<double>(record.atlas.horizon);
    for (std::size_t i = 0; i < in_units.size(); ++i) {
        const AtlasObjective& objective = record.objectives[i];
        unit.scale += unit.weights[i];
        // What is minimised counts with the other sign, as 1 - r.
        unit.base += objective.sense == Sense::maximise
                         ? in_units[i] * horizon * objective.scale.offset
                         : -in_units[i] * horizon * (objective.scale.offset + objective.scale.scale);
    }
    for (double& weight : unit.weights) weight /= unit.scale;
    return unit;
}

/// What is certain of these weights beyond what the atlas knew beforehand.
struct Afresh {
    RewardCertificate of_cell, of_own;
    Policy own;
};

Afresh certify_afresh(const AtlasRecord& record, const Policy& policy, const WeightedUnit& unit,
                      const Knowledge& knowledge, Threads threads) {
    const Reward reward = rewards_of(record.objectives).weighted(unit.weights);
    Policy own = backward_induction(knowledge.learned->model(), reward, threads).policy;
    return {certify_reward(knowledge, reward, policy, threads),
            certify_reward(knowledge, reward, own, threads), std::move(own)};
}

std::string weights_by_name(const AtlasRecord& record, const std::vector<double>& weights) {
    std::string text;
    for (std::size_t i = 0; i < weights.size(); ++i)
        text +=
            fmt::format("{}{} {:.4g}", i == 0 ? "" : ", ", printable(record.objectives[i].name), weights[i]);
    return text;
}

int policy_for_weights(const AtlasPolicyArguments& given, const AtlasRecord& record, const Console& console) {
    std::vector<double> weights;
    for (const auto& weight : numbers_by_objective(given.weights, "--weights", record.objectives))
        weights.push_back(weight.value_or(0));
    const Context context{"--weights", "weights say how much each objective counts",
                          "numbers of 0 or more, not all 0, in the region that the atlas was made for"};
    const AtlasAnswer answer =
        explaining(context, [&] { return record.atlas.at(record.weights_of(weights)); });
    const WeightedUnit unit = unit_of(record, weights);
    const Policy* policy = &record.atlas.policies[at(answer.policy)].policy;
    std::optional<Afresh> afresh;
    std::optional<Standing> standing;
    if (!given.run.empty()) {
        const Run run = open_run(given.run);
        require_run_of(record, run);
        const Threads threads = thread_count(given.threads);
        const Knowledge knowledge = load_run(run, threads).knowledge;
        standing = standing_of(run, given.fit);
        insist(*standing, console);
        afresh = certify_afresh(record, *policy, unit, knowledge, threads);
        if (given.own) policy = &afresh->own;
    }
    if (!given.output.empty()) writing([&] { write_policy(given.output, *policy); });
    const double beforehand = answer.loss_bound;
    double least = beforehand;
    if (afresh) least = unit.scale * (given.own ? afresh->of_own.loss_bound : afresh->of_cell.loss_bound);
    if (afresh && !given.own) least = std::min(least, beforehand);
    const auto in_unit = [&](double value) { return unit.base + unit.scale * value; };
    if (console.json()) {
        ordered_json object;
        object["plan"] = answer.policy + 1;
        object["plans"] = record.atlas.policies.size();
        object["cell"] = answer.cell;
        object["weights"] = weights;
        object["loss_bound"] = least;
        object["loss_beforehand"] = beforehand;
        if (afresh) {
            object["loss_certified"] = unit.scale * afresh->of_cell.loss_bound;
            object["own_loss"] = unit.scale * afresh->of_own.loss_bound;
            const RewardCertificate& told = given.own ? afresh->of_own : afresh->of_cell;
            object["value_lower"] = in_unit(told.value.lower);
            object["value_upper"] = in_unit(told.value.upper);
        }
        object["delta"] = record.atlas.failure_probability;
        object["policy"] = to_json(*policy);
        console.object(object);
        return standing ? standing->exit_code(0) : 0;
    }
    std::string text =
        fmt::format("{} {} of {} for {}\n  loss        at most {}, known before the weights were\n",
                    console.bold("Plan"), answer.policy + 1, record.atlas.policies.size(),
                    weights_by_name(record, weights), upper_bound(beforehand));
    if (afresh) {
        const RewardCertificate& told = given.own ? afresh->of_own : afresh->of_cell;
        text += fmt::format("              at most {}, certified for these weights\n",
                            upper_bound(unit.scale * afresh->of_cell.loss_bound));
        text += fmt::format("  own plan    at most {}: the plan made for these weights{}\n",
                            upper_bound(unit.scale * afresh->of_own.loss_bound),
                            given.own ? ", chosen by --own" : "; --own chooses it instead");
        text += fmt::format("  true value  in [{}, {}]{}\n", lower_bound(in_unit(told.value.lower)),
                            upper_bound(in_unit(told.value.upper)), given.own ? " (of the own plan)" : "");
    }
    text += fmt::format("  All of it holds at once, with probability {:.6g}.\n",
                        1 - record.atlas.failure_probability);
    text += given.output.empty() ? "  To keep the policy, add -o plan.json.\n"
                                 : fmt::format("  Policy written to {}\n", printable(given.output));
    console.result(text);
    return standing ? standing->exit_code(0) : 0;
}

std::string mixture_text(const AtlasRecord& record, const AtlasMixture& mixture,
                         const std::vector<std::optional<double>>& wanted, const Console& console) {
    std::string text = fmt::format("{} of {} of the atlas's plans, one drawn at the start of each episode\n",
                                   console.bold("Mixture"), mixture.shares.size());
    for (const auto& [policy, share] : mixture.shares)
        text += fmt::format("  plan {:<4} with probability {:.4f}\n", policy + 1, share);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        const AtlasObjective& objective = record.objectives[i];
        const Interval value = objective.in_unit(mixture.values[i]);
        const bool met = wanted[i] && mixture.values[i].lower >= objective.in_rewards(*wanted[i]);
        text +=
            fmt::format("  {:<20} in [{}, {}]{}\n", printable(objective.name), lower_bound(value.lower),
                        upper_bound(value.upper),
                        !wanted[i] ? ""
                                   : fmt::format(", {} {} wanted: {}",
                                                 objective.sense == Sense::maximise ? "at least" : "at most",
                                                 rounded(*wanted[i]), met ? "certain" : "not certain"));
    }
    if (mixture.guaranteed())
        text += "  All targets are met, ";
    else if (mixture.excluded())
        text += fmt::format("  No policy at all meets the targets: weights {:.3g} rule them out, ",
                            fmt::join(mixture.excluded_by, ", "));
    else
        text += fmt::format(
            "  The targets are not certain, and not excluded either: if any policy meets them, some mixture "
            "of these plans\n"
            "  is within {} of them in every objective, in rewards; ",
            upper_bound(record.atlas.loss_bound));
    text += fmt::format("with probability {:.6g}.\n", 1 - record.atlas.failure_probability);
    return text +
           "  Draw once an episode: drawing anew at each step is another policy, of which nothing is "
           "known.\n";
}

int mixture_for_targets(const AtlasPolicyArguments& given, const AtlasRecord& record,
                        const Console& console) {
    const auto wanted = numbers_by_objective(given.target, "--target", record.objectives);
    AtlasTargets targets(wanted.size());
    const auto horizon = static_cast<double>(record.atlas.horizon);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (!wanted[i]) continue;
        targets[i] = record.objectives[i].in_rewards(*wanted[i]);
        if (*targets[i] < 0 || *targets[i] > horizon) {
            const Interval range = record.objectives[i].in_unit({0, horizon});
            throw UserError(
                fmt::format("the target of {} is {}; its values are from {} to {}",
                            printable(record.objectives[i].name), *wanted[i], range.lower, range.upper),
                {"--target", "what cannot be is not looked for", "--target NAME=VALUE,NAME=VALUE"});
        }
    }
    const AtlasMixture mixture = mixture_for(record.atlas, targets);
    if (console.json()) {
        ordered_json object;
        object["mixture"] = ordered_json::array();
        for (const auto& [policy, share] : mixture.shares)
            object["mixture"].push_back({{"plan", policy + 1}, {"probability", share}});
        object["values"] = ordered_json::array();
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            const Interval value = record.objectives[i].in_unit(mixture.values[i]);
            object["values"].push_back({{"objective", record.objectives[i].name},
                                        {"lower", value.lower},
                                        {"upper", value.upper},
                                        {"wanted", wanted[i] ? ordered_json(*wanted[i]) : ordered_json()}});
        }
        object["guaranteed"] = mixture.guaranteed();
        object["excluded"] = mixture.excluded();
        object["margin"] = mixture.margin;
        object["delta"] = record.atlas.failure_probability;
        console.object(object);
    } else {
        console.result(mixture_text(record, mixture, wanted, console));
    }
    return mixture.guaranteed() ? 0 : 3;
}

int atlas_policy(const AtlasPolicyArguments& given, const Console& console) {
    const AtlasRecord record = read_atlas_argument(given.folder);
    if (given.weights.empty() == given.target.empty())
        throw UserError(given.weights.empty() ? "neither weights nor a target are given"
                                              : "weights and a target are given at once",
                        {"the command line", "a plan is for weights, a mixture of plans for targets",
                         fmt::format("--weights NAME=2,NAME=1 or --target NAME=VALUE,NAME=VALUE, of {}",
                                     printable(objective_names(record.objectives)))});
    if (given.own && given.run.empty())
        throw UserError(
            "--own needs a run",
            {"the command line", "a plan is made on the model that a run has learned", "--run RUN --own"});
    if (!given.target.empty()) return mixture_for_targets(given, record, console);
    return policy_for_weights(given, record, console);
}

}  // namespace

void add_atlas_policy(CLI::App& atlas, Chosen& chosen) {
    CLI::App* command =
        atlas.add_subcommand("policy", "The plan for given weights, or a mixture of plans for targets");
    const auto given = std::make_shared<AtlasPolicyArguments>();
    command->add_option("ATLAS", given->folder, "Folder of an atlas")->required();
    command->add_option("--weights", given->weights,
                        "0.3,0.7 in the order of the objectives, or NAME=3,NAME=1; they need not sum to 1");
    command->add_option(
        "--target", given->target,
        "NAME=VALUE,...: what each objective's expected total is to be at least (or at most, if it is\n"
        "minimised)");
    command->add_option("--run", given->run,
                        "Certify these weights afresh on the run's data, and the plan made for them");
    command->add_flag("--own", given->own, "With --run: take the plan made for these weights");
    command->add_option("-o,--output", given->output, "Write the policy to this .json file");
    add_fit_flags(*command, given->fit);
    command->add_option("--threads", given->threads, "0: all cores; results do not depend on it")
        ->capture_default_str();
    add_output_flags(*command, chosen);
    command->footer(
        "Exit code: 0, 3 if the targets are not met for certain, 4 if the data contradict the model.");
    command->callback([=, &chosen] {
        chosen.work = [given](const Console& console) { return atlas_policy(*given, console); };
    });
}

}  // namespace alidade::app
