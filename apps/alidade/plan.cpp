#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "alidade/certify/reward_certificate.hpp"
#include "alidade/io/policy_file.hpp"
#include "alidade/plan/measurement.hpp"
#include "certificate_view.hpp"
#include "commands.hpp"
#include "fit_view.hpp"
#include "numbers.hpp"
#include "planner_choice.hpp"
#include "recall.hpp"
#include "reward_choice.hpp"
#include "user_error.hpp"

namespace alidade::app {
namespace {

using nlohmann::ordered_json;

struct Arguments {
    std::string folder, reward, output;
    PlannerFlags planner;
    bool rescale = false;
};

int plan(const Arguments& given, const Voice& voice) {
    const RunStore store = open_run(given.folder);
    const Problem& problem = store.problem();
    const ScaledReward reward = choose_reward(given.reward, problem, given.rescale, voice);
    PlannerChoice planner(given.planner);
    const Knowledge knowledge = recall(store, 1);
    if (const auto fit = stored_fit(store, default_fit_level); fit && fit->contradicted)
        voice.say(
            fmt::format("warning: the data of this run contradict the mixture, on which all bounds rest; see "
                        "alidade certify {}.",
                        given.folder));

    const auto begin = std::chrono::steady_clock::now();
    const std::optional<Plan> planned = planner.plan(knowledge.learned.model(), reward.reward);
    if (!planned) {
        voice.say("Interrupted; the planner's command was killed, and nothing was written.");
        return 130;
    }
    const Plan& found = *planned;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const Measurement measured = measure(knowledge.learned.model(), reward.reward, found);
    const RewardCertificate certificate = certify_reward(knowledge, reward.reward, found.policy);
    if (!given.output.empty()) writing([&] { write_policy(given.output, found.policy); });

    if (const std::string lie = false_claims(measured, found, problem.shape(), reward.scale); !lie.empty())
        voice.say("warning: " + lie);
    if (voice.json()) {
        ordered_json object = to_json(certificate, problem.shape(), reward.scale);
        object["planner"] = given.planner.planner;
        object["measured"] = to_json(measured, found, problem.shape(), reward.scale);
        object["reward"] = given.reward;
        object["delta"] = certificate.failure_probability;
        object["policy"] = to_json(found.policy);
        object["seconds"] = seconds;
        voice.object(object);
        return 0;
    }
    std::string text = fmt::format("{} for {} by {}, in {}\n", voice.bold("Plan"), given.reward,
                                   given.planner.planner, duration(seconds));
    text += describe(measured, problem.shape(), reward.scale);
    text += describe(certificate, problem.shape(), reward.scale);
    if (given.output.empty())
        text += "  To keep the policy, add -o plan.json.\n";
    else
        text += fmt::format("  Policy written to {}\n", given.output);
    voice.result(text);
    return 0;
}

}  // namespace

void add_plan(CLI::App& app, Chosen& chosen) {
    CLI::App* command =
        app.add_subcommand("plan", "Plan for a reward on a run's model, with bounds on value and loss");
    const auto given = std::make_shared<Arguments>();
    command->add_option("RUN", given->folder, "Folder of a run")->required();
    command->add_option("--reward", given->reward, "A .json or .npz file, or a reward that the problem names")
        ->required();
    command->add_flag("--rescale", given->rescale, "Map rewards outside [0, 1] onto it, and the bounds back");
    add_planner_flags(*command, given->planner);
    command->add_option("-o,--output", given->output, "Write the policy to this .json file");
    add_voice_flags(*command, chosen);
    command->callback(
        [=, &chosen] { chosen.work = [given](const Voice& voice) { return plan(*given, voice); }; });
}

}  // namespace alidade::app
