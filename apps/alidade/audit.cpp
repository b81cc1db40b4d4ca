#include "alidade/audit/audit.hpp"
#include "alidade/audit/member_attack.hpp"
#include "alidade/files/reward_file.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "alidade/confidence/learned_mixture.hpp"
#include "alidade/spec/printable_text.hpp"
#include "commands.hpp"
#include "contradiction_view.hpp"
#include "load_run.hpp"
#include "numbers.hpp"
#include "user_error.hpp"

namespace alidade::app {
namespace {

using nlohmann::ordered_json;

struct AuditArguments {
    std::string folder;
    std::string rewards = std::to_string(AuditOptions{}.rewards);
    std::string climb = std::to_string(AuditOptions{}.climb_steps);
    std::string seed = "0";
    std::string members;
    FitFlags fit;
    int threads = 0;
};

ordered_json object_of(const AuditResult& result) {
    ordered_json object;
    object["rewards"] = result.rewards;
    object["max_gap"] = result.max_gap;
    object["mean_gap"] = result.mean_gap;
    object["violations"] = result.violations;
    object["reward_free_certificate"] = result.reward_free;
    object["truth_in_confidence_set"] = result.truth_in_confidence_set;
    object["max_bound"] = result.max_bound;
    object["mean_bound"] = result.mean_bound;
    object["depth"] = result.depth;
    return object;
}

/// `what` is uncertain: weights, or laws.
std::string text_of(const AuditResult& result, double delta, std::string_view what, const Console& console) {
    std::string text = fmt::format("{} with the truth, over {} rewards\n", console.bold("Audit"),
                                   with_commas(result.rewards));
    text += fmt::format("  certificate, any reward    {}\n", upper_bound(result.reward_free));
    text += fmt::format("  worst true loss found      {}\n", rounded(result.max_gap));
    text += fmt::format("  bounds for single rewards  mean {}, largest {}\n", upper_bound(result.mean_bound),
                        upper_bound(result.max_bound));
    text += fmt::format("  true losses of the same    mean {}\n", rounded(result.mean_gap));
    text += fmt::format("  violations                 {}\n", result.violations);
    if (result.truth_in_confidence_set)
        return text + fmt::format("  The true {} lie in the confidence set, at {:.2f} of its radius.\n", what,
                                  result.depth);
    if (result.depth <= 1) return text;  // what is outside then is the law, not the weights
    return text + fmt::format(
                      "  The true {} lie OUTSIDE the confidence set ({:.2f} of its radius): this "
                      "run is one of\n  the share of at most {} for which no bound is promised.\n",
                      what, result.depth, delta);
}

/// The largest loss over members of the sets, and its reward in a file; nothing where it was not asked for.
std::optional<MemberAttack> attack_of(const AuditArguments& given, const Knowledge& knowledge,
                                      const AuditOptions& options) {
    if (given.members.empty()) return std::nullopt;
    MemberAttack attack = attack_members(knowledge, {.steps = std::max<Index>(1, options.climb_steps / 4),
                                                     .seed = options.seed,
                                                     .threads = options.threads});
    write_reward(given.members, attack.reward);
    return attack;
}

std::string text_of(const MemberAttack& attack, const std::string& file) {
    return fmt::format(
        "  Over members of the confidence sets and all rewards a search of {} tries found a loss of {}:\n"
        "  the certificate is {:.2f} times that, at most that far from what could be certified. Its reward\n"
        "  is in {}.\n",
        with_commas(attack.tried), rounded(attack.loss), attack.slack(), printable(file));
}

/// Where the truth is farther off the mixtures than was allowed for, no bound was promised.
std::string text_of_foreign(const Problem& problem, const LearnedMixture* learned) {
    if (!problem.foreign() || learned == nullptr) return {};
    const double off = problem.true_misspecification();
    if (off <= learned->misspecification()) return {};
    return fmt::format(
        "  The truth is off every mixture with its weights by up to {:.4g}; the run assumed at most {:.4g}.\n"
        "  No bound is promised.\n",
        off, learned->misspecification());
}

int run_audit(const AuditArguments& given, const Console& console) {
    AuditOptions options;
    options.rewards = parse_count(given.rewards, "--rewards", 1);
    options.climb_steps = parse_count(given.climb, "--climb", 0);
    options.seed = parse_seed(given.seed, "--seed");
    options.threads = thread_count(given.threads);
    const Run store = open_run(given.folder);
    const Problem& problem = store.problem();
    if (!problem.truth_known())
        throw UserError("the truth of this run's problem is not known",
                        {fmt::format("run folder '{}'", given.folder),
                         "an audit compares bounds with true losses, which are known only where the problem "
                         "states its truth",
                         fmt::format("alidade certify {} needs no truth", shell_path(given.folder))});
    const Knowledge knowledge = load_run(store, options.threads).knowledge;
    const Standing standing = standing_of(store, given.fit);
    insist(standing, console);
    const AuditResult result = audit(knowledge, problem, options);
    const std::optional<MemberAttack> attack =
        explaining({fmt::format("run folder '{}'", given.folder), "members of its confidence sets are tried",
                    "leave --members out"},
                   [&] { return attack_of(given, knowledge, options); });
    if (console.json()) {
        ordered_json object = object_of(result);
        if (attack)
            object["members"] = {{"loss", attack->loss},
                                 {"slack", attack->slack()},
                                 {"tried", attack->tried},
                                 {"reward", given.members}};
        add_standing(object, standing, problem);
        console.object(object);
    } else {
        console.result(text_of(result, knowledge.certificate.failure_probability,
                               problem.is_linear() ? "laws" : "weights", console) +
                       (attack ? text_of(*attack, given.members) : std::string()) +
                       text_of_foreign(problem, knowledge.learned->mixture()) +
                       describe_contradiction(standing, problem, console));
    }
    // Outside the confidence set nothing is promised; inside it a violation is a fault of the program.
    return result.truth_in_confidence_set && result.violations > 0 ? 1 : standing.exit_code(0);
}

}  // namespace

void add_audit(CLI::App& app, Chosen& chosen) {
    CLI::App* command = app.add_subcommand("audit", "Compare a simulated run's bounds with true losses");
    const auto given = std::make_shared<AuditArguments>();
    command->add_option("RUN", given->folder, "Folder of a run")->required();
    command->add_option("--rewards", given->rewards, "Random rewards to try")->capture_default_str();
    command->add_option("--climb", given->climb, "Steps of the search for a worse reward")
        ->capture_default_str();
    command->add_option(
        "--members", given->members,
        "Search members of the confidence sets for the largest loss, and write its reward (.npz) "
        "to this file");
    command->add_option("--seed", given->seed, "Of the random rewards")->capture_default_str();
    add_fit_flags(*command, given->fit);
    command->add_option("--threads", given->threads, "0: all cores; results do not depend on it")
        ->capture_default_str();
    add_output_flags(*command, chosen);
    command->footer(
        "Exit code 1 if a bound fails though the truth lies in the confidence set, 4 if the data contradict\n"
        "the model.");
    command->callback([=, &chosen] {
        chosen.work = [given](const Console& console) { return run_audit(*given, console); };
    });
}

}  // namespace alidade::app
