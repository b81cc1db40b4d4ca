#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "alidade/certify/near_reward.hpp"
#include "alidade/certify/reward_certificate.hpp"
#include "alidade/certify/reward_class.hpp"
#include "alidade/files/policy_file.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/spec/printable_text.hpp"
#include "certificate_view.hpp"
#include "class_choice.hpp"
#include "class_view.hpp"
#include "commands.hpp"
#include "contradiction_view.hpp"
#include "load_run.hpp"
#include "misspecification_view.hpp"
#include "numbers.hpp"
#include "reward_batch.hpp"
#include "reward_choice.hpp"
#include "sensitivity_view.hpp"
#include "table.hpp"
#include "user_error.hpp"

namespace alidade::app {
namespace {

using nlohmann::ordered_json;

constexpr double agreement = 1e-12;

struct CertifyArguments {
    std::string folder;
    RewardFlags rewards;
    std::vector<std::string> policies;
    std::string rewards_class;
    int threads = 0;
    FitFlags fit;
    MisspecificationFlags off;
    SensitivityFlags sensitivity;
};

bool agree(double one, double other) {
    return std::abs(one - other) <= agreement * std::max(std::abs(one), std::abs(other));
}

/// How the recomputed certificate is to the stored one.
enum class Comparison {
    same,     ///< bound, method and every candidate
    sharper,  ///< every stored number is recomputed, and there are candidates that the run's program lacked
    differs,  ///< what is stored does not follow from the evidence
};

Comparison compare(const RewardFreeCertificate& computed, const RunResult& stored, Index horizon) {
    double least = static_cast<double>(horizon);
    bool named = false, shorter = false;
    for (const auto& [name, value] : stored.candidates) {
        const auto same = std::find_if(computed.candidates.begin(), computed.candidates.end(),
                                       [&](const auto& candidate) { return candidate.first == name; });
        if (same == computed.candidates.end()) return Comparison::differs;
        // The free numbers of `ltv` are searched for, and a better search finds less.
        const bool searched = name == "ltv" && same->second < value;
        if (!agree(same->second, value) && !searched) return Comparison::differs;
        shorter = shorter || (searched && !agree(same->second, value));
        least = std::min(least, value);
        named = named || (name == stored.method &&
                          agree(std::min(value, static_cast<double>(horizon)), stored.reward_free));
    }
    if (computed.candidates.size() == stored.candidates.size() && !shorter)
        return agree(computed.bound, stored.reward_free) && computed.method == stored.method
                   ? Comparison::same
                   : Comparison::differs;
    // A program of less candidates, or of a shorter search, took the least of those it had.
    return named && agree(least, stored.reward_free) ? Comparison::sharper : Comparison::differs;
}

std::string in_words(Comparison comparison, const RunResult& stored) {
    switch (comparison) {
        case Comparison::same:
            return "agrees with the stored one";
        case Comparison::sharper:
            return fmt::format(
                "the stored one, {:.6g} by {}, is confirmed: it was computed without the other candidates",
                stored.reward_free, stored.method);
        default:
            return fmt::format("DIFFERS from the stored one, {:.17g}", stored.reward_free);
    }
}

/// What is assumed in this call: by its flags, else by the run; said where it was said by either.
struct Assumptions {
    Task task;
    bool said = false;      ///< not as the problem has it
    bool of_flags = false;  ///< not as the run has it, so that nothing stored is to be compared with
};

int certify_run(const CertifyArguments& given, const Run& store, const LoadedRun& loaded,
                const Assumptions& assumptions, const Standing& standing, const Console& console) {
    const auto& [knowledge, stored] = loaded;
    const std::optional<SensitivityAnswer> off =
        given.sensitivity.wanted() || given.sensitivity.tolerance
            ? sensitivity_of(store, knowledge, given.sensitivity, nullptr, thread_count(given.threads),
                             standing.off_by())
            : std::nullopt;
    const RewardFreeCertificate& certificate = knowledge.certificate;
    const Comparison comparison =
        stored ? compare(certificate, *stored, store.problem().shape().horizon) : Comparison::same;
    const bool same = comparison != Comparison::differs;
    if (console.json()) {
        ordered_json object = to_json(certificate);
        object["delta"] = certificate.failure_probability;
        object["episodes"] = knowledge.episodes;
        object["stored"] = stored ? ordered_json(stored->reward_free) : ordered_json();
        object["agrees"] = same;
        object["contributions"] = to_json(certificate.contributions, store.problem());
        if (assumptions.said) add_assumed(object, assumptions.task);
        if (off) object["sensitivity"] = to_json(*off, store.problem().shape(), RewardScale{});
        add_standing(object, standing, store.problem());
        console.object(object);
    } else {
        std::string text =
            describe(certificate, store.problem().shape(), console) + describe_assumed(assumptions.task);
        text +=
            fmt::format("  recomputed from what {} episodes left behind; ", with_commas(knowledge.episodes));
        text += (stored ? in_words(comparison, *stored)
                 : assumptions.of_flags
                     ? "the run assumes something else, so what it has stored is not compared with"
                     : "the run has not ended, so none is stored to compare with") +
                std::string("\n");
        if (off) text += "\n" + describe(*off, store.problem().shape(), {}, console);
        if (const std::string words = describe(standing, store.problem(), console); !words.empty())
            text += "\n" + words;
        console.result(text + "\n" + describe(certificate.contributions, store.problem(), console));
    }
    if (!same)
        console.say(
            fmt::format("error: the stored certificate, {:.17g} by {}, does not follow from the stored "
                        "evidence, which gives {:.17g} by {}.",
                        stored->reward_free, stored->method, certificate.bound, certificate.method));
    return same ? standing.exit_code(0) : 1;
}

Policy policy_of(const std::string& file, const Problem& problem) {
    return explaining_file(
        file,
        {fmt::format("policy file '{}'", file), "a policy must say what to do at every step and state",
         "{\"policy\": [[action for each state] for each step]}, counted from 0; alidade plan -o writes one"},
        [&] { return read_policy(file, problem.shape()); });
}

int certify_policy(const CertifyArguments& given, const ChosenReward& reward, const Run& store,
                   const Knowledge& knowledge, const Assumptions& assumptions, const Standing& standing,
                   Threads threads, const Console& console) {
    const Problem& problem = store.problem();
    const std::string& file = given.policies.front();
    const Policy policy = policy_of(file, problem);
    const RewardScale& scale = reward.scaled.scale;
    const RewardQuestion question{reward.scaled.reward, policy};
    SensitivityFlags asked = given.sensitivity;
    if (asked.tolerance) asked.tolerance = *asked.tolerance / scale.scale;
    const std::optional<SensitivityAnswer> off =
        asked.wanted() || asked.tolerance
            ? sensitivity_of(store, knowledge, asked, &question, threads, standing.off_by())
            : std::nullopt;
    const RewardCertificate certificate = certify_reward(knowledge, reward.scaled.reward, policy, threads);
    if (console.json()) {
        ordered_json object = to_json(certificate, problem.shape(), reward.scaled.scale);
        object["delta"] = certificate.failure_probability;
        if (assumptions.said) add_assumed(object, assumptions.task);
        if (off) object["sensitivity"] = to_json(*off, problem.shape(), scale);
        add_standing(object, standing, problem);
        console.object(object);
    } else {
        console.result(
            fmt::format("{} {} for {}\n", console.bold("Policy"), printable(file), printable(reward.name)) +
            describe(certificate, problem.shape(), scale) + describe_assumed(assumptions.task) +
            (off ? describe(*off, problem.shape(), scale, console) : std::string()) +
            describe(standing, problem, console));
    }
    return standing.exit_code(0);
}

int certify_near_reward(const CertifyArguments& given, const ClassChoice::Near& near, const Run& store,
                        const Knowledge& knowledge, const Assumptions& assumptions, const Standing& standing,
                        Threads threads, const Console& console) {
    const Problem& problem = store.problem();
    const ScaledReward chosen = choose_reward(near.reward, problem, given.rewards.rescale, console);
    const std::string whose = given.policies.empty() ? "the model's plan" : given.policies.front();
    const Policy policy = given.policies.empty()
                              ? backward_induction(knowledge.learned->model(), chosen.reward, threads).policy
                              : policy_of(whose, problem);
    const NearCertificate certificate =
        certify_near(knowledge, chosen.reward, policy,
                     RewardTolerance::uniform(problem.shape(), near.eta / chosen.scale.scale), threads);
    if (console.json()) {
        ordered_json object{{"class", given.rewards_class}, {"reward", near.reward}, {"eta", near.eta}};
        object["policy"] = given.policies.empty() ? ordered_json() : ordered_json(whose);
        object.update(to_json(certificate, chosen.scale));
        object["delta"] = certificate.failure_probability;
        if (assumptions.said) add_assumed(object, assumptions.task);
        add_standing(object, standing, problem);
        console.object(object);
    } else {
        console.result(fmt::format("{} {} for all rewards near {}\n", console.bold("Policy"),
                                   printable(whose), printable(near.reward)) +
                       describe(certificate, near.eta, chosen.scale) + describe_assumed(assumptions.task) +
                       describe(standing, problem, console));
    }
    return standing.exit_code(0);
}

int certify_reward_class(const CertifyArguments& given, const ClassChoice& choice, const Run& store,
                         const Knowledge& knowledge, const Assumptions& assumptions, const Standing& standing,
                         Threads threads, const Console& console) {
    const Problem& problem = store.problem();
    if (constants_of(store.options()) == "paper")
        throw UserError("the run has the paper's constants, which have the certificate of their own alone",
                        {fmt::format("run folder '{}'", store.folder().string()),
                         "a class is certified from sets whose radii are proved here",
                         "a run with --constants sharp, which is what they are unless told otherwise"});
    const ClassCertificate certificate =
        certify_class(knowledge, *choice.rewards, RewardFreeOptions{.threads = threads});
    if (console.json()) {
        ordered_json object{{"class", given.rewards_class}};
        object.update(to_json(certificate));
        object["reward_free"] = knowledge.certificate.bound;
        object["delta"] = certificate.failure_probability;
        object["episodes"] = knowledge.episodes;
        object["contributions"] = to_json(certificate.contributions, problem);
        if (assumptions.said) add_assumed(object, assumptions.task);
        add_standing(object, standing, problem);
        console.object(object);
    } else {
        std::string text =
            describe(certificate, choice.words, console) +
            fmt::format("  any reward in [0, 1] at all: {}{}, of {}\n",
                        upper_bound(knowledge.certificate.bound),
                        knowledge.certificate.vacuous ? " (vacuous)" : "", problem.shape().horizon) +
            describe_assumed(assumptions.task);
        if (const std::string words = describe(standing, problem, console); !words.empty())
            text += "\n" + words;
        console.result(text + "\n" + describe(certificate.contributions, problem, console));
    }
    return standing.exit_code(0);
}

/// --class stands in the place of a reward, and `near` goes with one policy at most.
void require_class_alone(const CertifyArguments& given) {
    const bool near = given.rewards_class.starts_with("near=");
    const auto refuse = [](std::string_view flag, std::string why) {
        throw UserError(fmt::format("{} is given with --class", flag),
                        {"the command line", std::move(why),
                         "alidade certify RUN --class total, or --class near=REWARD:0.05 --policy FILE"});
    };
    if (given.rewards.given()) refuse("--reward", "a class says itself which rewards are meant");
    if (!given.policies.empty() && !near)
        refuse("--policy", "the certificate of a class is about the plans that are optimal in the model");
    if (given.policies.size() > 1) refuse("more than one --policy", "near is about one policy");
    if (given.sensitivity.wanted() || given.sensitivity.tolerance)
        refuse("a question about the assumed error", "it is answered for all rewards, or for one");
}

/// Rewards and policies in pairs; a single one of either goes with all of the other.
struct Pairs {
    std::vector<ChosenReward> rewards;
    std::vector<std::string> files;
    std::vector<Policy> policies;

    std::size_t size() const { return std::max(rewards.size(), files.size()); }
    const ChosenReward& reward(std::size_t i) const { return rewards[rewards.size() == 1 ? 0 : i]; }
    const std::string& file(std::size_t i) const { return files[files.size() == 1 ? 0 : i]; }
    const Policy& policy(std::size_t i) const { return policies[policies.size() == 1 ? 0 : i]; }
};

Pairs pair_up(std::vector<ChosenReward> rewards, const std::vector<std::string>& files,
              const Problem& problem) {
    if (rewards.size() != files.size() && rewards.size() != 1 && files.size() != 1)
        throw UserError(
            fmt::format("{} rewards are given and {} policies", rewards.size(), files.size()),
            {"the command line", "each policy is certified for its own reward, in the order given",
             "as many --policy as rewards, one --policy for all of them, or one reward for all policies"});
    Pairs pairs{std::move(rewards), files, {}};
    for (const std::string& file : files) pairs.policies.push_back(policy_of(file, problem));
    return pairs;
}

int certify_many(const Pairs& pairs, const Run& store, const Knowledge& knowledge, const Standing& standing,
                 Threads threads, const Console& console) {
    const Problem& problem = store.problem();
    const BatchOutcome outcome = certify_batch(
        knowledge, pairs.size(),
        [&](std::size_t i) {
            return RewardQuestion{pairs.reward(i).scaled.reward, pairs.policy(i)};
        },
        threads, console);
    const double delta = knowledge.certificate.failure_probability;
    ordered_json list = ordered_json::array();
    std::vector<Table::Column> columns{{"reward", Table::Align::left}, {"policy", Table::Align::left}};
    for (Table::Column& column : certificate_columns()) columns.push_back(std::move(column));
    Table table(std::move(columns));
    for (std::size_t i = 0; i < outcome.certificates.size(); ++i) {
        const RewardScale& scale = pairs.reward(i).scaled.scale;
        ordered_json object = to_json(outcome.certificates[i], problem.shape(), scale);
        object["method"] = best_method(outcome.certificates[i]);
        object["reward"] = pairs.reward(i).name;
        object["policy"] = pairs.file(i);
        list.push_back(std::move(object));
        std::vector<std::string> cells{pairs.reward(i).name, pairs.file(i)};
        for (std::string& cell : certificate_cells(outcome.certificates[i], problem.shape(), scale))
            cells.push_back(std::move(cell));
        table.add(std::move(cells));
    }
    if (console.json()) {
        ordered_json object;
        object["certificates"] = std::move(list);
        object["delta"] = delta;
        add_standing(object, standing, problem);
        add_batch_end(object, outcome, pairs.size());
        console.object(object);
    } else {
        console.result(fmt::format("{} {}\n", outcome.certificates.size(), console.bold("certificates")) +
                       table.text() + batch_footer(outcome, pairs.size(), delta) +
                       describe(standing, problem, console));
    }
    return standing.exit_code(outcome.exit_code());
}

int certify(const CertifyArguments& given, const Console& console) {
    const bool rewards_given = given.rewards.given();
    if (!given.rewards_class.empty())
        require_class_alone(given);
    else if (rewards_given == given.policies.empty())
        throw UserError(fmt::format("{} is given without {}", rewards_given ? "--reward" : "--policy",
                                    rewards_given ? "--policy" : "--reward"),
                        {"the command line", "what a policy is worth depends on both",
                         "alidade certify RUN --reward FILE --policy FILE, or neither"});
    require_fit_level(given.fit.level);
    require_sensitivity(given.sensitivity);
    const AssumedError assumed = assumed_of(given.off);
    const Run store = open_run(given.folder);
    const Threads threads = thread_count(given.threads);
    const LoadedRun loaded = load_run(store, threads, assumed);
    const Assumptions assumptions{assuming(task_of(store.problem(), store.options()), assumed),
                                  given.off.given() || !(store.options().assumed == AssumedError{}),
                                  given.off.given()};
    const Knowledge& knowledge = loaded.knowledge;
    const Standing standing = standing_of(store, given.fit, assumed);
    insist(standing, console);
    if (!given.rewards_class.empty()) {
        const ClassChoice choice = choose_class(given.rewards_class, store.problem());
        return choice.near ? certify_near_reward(given, *choice.near, store, knowledge, assumptions, standing,
                                                 threads, console)
                           : certify_reward_class(given, choice, store, knowledge, assumptions, standing,
                                                  threads, console);
    }
    if (!rewards_given) return certify_run(given, store, loaded, assumptions, standing, console);
    std::vector<ChosenReward> rewards = choose_rewards(given.rewards, store.problem(), console);
    if (!given.rewards.batch() && given.policies.size() == 1)
        return certify_policy(given, rewards.front(), store, knowledge, assumptions, standing, threads,
                              console);
    return certify_many(pair_up(std::move(rewards), given.policies, store.problem()), store, knowledge,
                        standing, threads, console);
}

}  // namespace

void add_certify(CLI::App& app, Chosen& chosen) {
    CLI::App* command = app.add_subcommand(
        "certify", "Compute a run's certificate again, or certify any policies for rewards");
    const auto given = std::make_shared<CertifyArguments>();
    command->add_option("RUN", given->folder, "Folder of a run")->required();
    add_reward_flags(*command, given->rewards);
    command
        ->add_option("--policy", given->policies,
                     "A .json file: {\"policy\": [[action per state] per step]}; one for each reward, or one "
                     "for all")
        ->allow_extra_args(false);
    command->add_option("--class", given->rewards_class, class_help());
    add_fit_flags(*command, given->fit);
    add_misspecification_flags(*command, given->off);
    add_sensitivity_flags(*command, given->sensitivity);
    command->add_option("--threads", given->threads, "0: all cores; results do not depend on it")
        ->capture_default_str();
    add_output_flags(*command, chosen);
    command->footer(
        "Exit code 1 if the recomputed certificate differs from the stored one, 4 if the data contradict "
        "the\n"
        "model: as the run has stored, or as the check here finds.");
    command->callback(
        [=, &chosen] { chosen.work = [given](const Console& console) { return certify(*given, console); }; });
}

}  // namespace alidade::app
