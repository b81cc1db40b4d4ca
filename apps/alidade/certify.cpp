#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "alidade/certify/reward_certificate.hpp"
#include "alidade/io/policy_file.hpp"
#include "certificate_view.hpp"
#include "commands.hpp"
#include "fit_view.hpp"
#include "numbers.hpp"
#include "recall.hpp"
#include "reward_choice.hpp"
#include "user_error.hpp"

namespace alidade::app {
namespace {

using nlohmann::ordered_json;

constexpr double agreement = 1e-12;

struct Arguments {
    std::string folder, reward, policy;
    bool rescale = false;
    int threads = 0;
    double fit_level = default_fit_level;
};

bool agree(double one, double other) {
    return std::abs(one - other) <= agreement * std::max(std::abs(one), std::abs(other));
}

/// Whether the recomputed certificate is the stored one: bound, method and every candidate.
bool agrees(const RewardFreeCertificate& computed, const RunResult& stored) {
    if (!agree(computed.bound, stored.reward_free) || computed.method != stored.method ||
        computed.candidates.size() != stored.candidates.size())
        return false;
    for (const auto& [name, value] : stored.candidates) {
        const auto same = std::find_if(computed.candidates.begin(), computed.candidates.end(),
                                       [&](const auto& candidate) { return candidate.first == name; });
        if (same == computed.candidates.end() || !agree(same->second, value)) return false;
    }
    return true;
}

bool contradicted(const std::optional<ModelFit>& fit) {
    return fit && fit->contradicted;
}

int certify_run(const RunStore& store, const Knowledge& knowledge, const std::optional<ModelFit>& fit,
                const Voice& voice) {
    const auto stored = store.result();
    const RewardFreeCertificate& certificate = knowledge.certificate;
    const bool same = !stored || agrees(certificate, *stored);
    if (voice.json()) {
        ordered_json object = to_json(certificate);
        object["delta"] = certificate.failure_probability;
        object["episodes"] = knowledge.episodes;
        object["stored"] = stored ? ordered_json(stored->reward_free) : ordered_json();
        object["agrees"] = same;
        object["contributions"] = to_json(certificate.contributions, store.problem());
        if (fit) object["model_check"] = to_json(*fit, store.problem());
        voice.object(object);
    } else {
        std::string text = describe(certificate, store.problem().shape(), voice);
        text +=
            fmt::format("  recomputed from what {} episodes left behind; ", with_commas(knowledge.episodes));
        text += !stored ? "the run has not ended, so none is stored to compare with\n"
                : same  ? "agrees with the stored one\n"
                        : fmt::format("DIFFERS from the stored one, {:.17g}\n", stored->reward_free);
        if (fit) text += "\n" + describe(*fit, store.problem(), voice);
        voice.result(text + "\n" + describe(certificate.contributions, store.problem(), voice));
    }
    if (!same)
        voice.say(
            fmt::format("error: the stored certificate, {:.17g} by {}, does not follow from the stored "
                        "evidence, which gives {:.17g} by {}.",
                        stored->reward_free, stored->method, certificate.bound, certificate.method));
    if (!same) return 1;
    return contradicted(fit) ? 4 : 0;
}

int certify_policy(const Arguments& given, const RunStore& store, const Knowledge& knowledge,
                   const std::optional<ModelFit>& fit, const Voice& voice) {
    const Problem& problem = store.problem();
    const ScaledReward reward = choose_reward(given.reward, problem, given.rescale, voice);
    const Policy policy = explaining(
        {fmt::format("policy file '{}'", given.policy),
         "a policy must say what to do at every step and state",
         "{\"policy\": [[action for each state] for each step]}, counted from 0; alidade plan -o writes one"},
        [&] { return read_policy(given.policy, problem.shape()); });
    const RewardCertificate certificate = certify_reward(knowledge, reward.reward, policy);
    if (voice.json()) {
        ordered_json object = to_json(certificate, problem.shape(), reward.scale);
        object["delta"] = certificate.failure_probability;
        if (fit) object["model_check"] = to_json(*fit, problem);
        voice.object(object);
    } else {
        voice.result(fmt::format("{} {} for {}\n", voice.bold("Policy"), given.policy, given.reward) +
                     describe(certificate, problem.shape(), reward.scale) +
                     (fit ? describe(*fit, problem, voice) : ""));
    }
    return contradicted(fit) ? 4 : 0;
}

int certify(const Arguments& given, const Voice& voice) {
    if (given.reward.empty() != given.policy.empty())
        throw UserError(fmt::format("{} is given without {}", given.reward.empty() ? "--policy" : "--reward",
                                    given.reward.empty() ? "--reward" : "--policy"),
                        {"the command line", "what a policy is worth depends on both",
                         "alidade certify RUN --reward FILE --policy FILE, or neither"});
    require_fit_level(given.fit_level);
    const RunStore store = open_run(given.folder);
    const Knowledge knowledge = recall(store, thread_count(given.threads));
    const std::optional<ModelFit> fit = stored_fit(store, given.fit_level);
    return given.reward.empty() ? certify_run(store, knowledge, fit, voice)
                                : certify_policy(given, store, knowledge, fit, voice);
}

}  // namespace

void add_certify(CLI::App& app, Chosen& chosen) {
    CLI::App* command = app.add_subcommand(
        "certify", "Compute a run's certificate again, or certify any policy for a reward");
    const auto given = std::make_shared<Arguments>();
    command->add_option("RUN", given->folder, "Folder of a run")->required();
    command->add_option("--reward", given->reward,
                        "A .json or .npz file, or a reward that the problem names");
    command->add_option("--policy", given->policy,
                        "A .json file: {\"policy\": [[action per state] per step]}");
    command->add_flag("--rescale", given->rescale, "Map rewards outside [0, 1] onto it, and the bounds back");
    command
        ->add_option("--fit-level", given->fit_level,
                     "Probability of calling a right model contradicted; 0: no check")
        ->capture_default_str();
    command->add_option("--threads", given->threads, "0: all cores; results do not depend on it")
        ->capture_default_str();
    add_voice_flags(*command, chosen);
    command->footer(
        "Exit code 1 if the recomputed certificate differs from the stored one, 4 if the data contradict "
        "the\n"
        "mixture of base models.");
    command->callback(
        [=, &chosen] { chosen.work = [given](const Voice& voice) { return certify(*given, voice); }; });
}

}  // namespace alidade::app
