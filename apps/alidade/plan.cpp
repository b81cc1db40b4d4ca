#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "alidade/certify/reward_certificate.hpp"
#include "alidade/certify/robust_plan.hpp"
#include "alidade/files/policy_file.hpp"
#include "alidade/plan/planner.hpp"
#include "alidade/spec/printable_text.hpp"
#include "certificate_view.hpp"
#include "commands.hpp"
#include "contradiction_view.hpp"
#include "load_run.hpp"
#include "misspecification_view.hpp"
#include "numbers.hpp"
#include "plan_names.hpp"
#include "planner_choice.hpp"
#include "reward_batch.hpp"
#include "robustness_view.hpp"
#include "sensitivity_view.hpp"
#include "user_error.hpp"

namespace alidade::app {
namespace {

using nlohmann::ordered_json;

struct PlanArguments {
    std::string folder, output, keep;
    PlannerFlags planner;
    RewardFlags rewards;
    FitFlags fit;
    MisspecificationFlags off;
    SensitivityFlags sensitivity;
    int threads = 0;
};

/// What plans rest on.
struct PlanBasis {
    const Problem& problem;
    const Knowledge& knowledge;
    const Standing& standing;
    Threads threads;
    Run& run;                               ///< opened to write where plans are kept
    const std::vector<std::string>& names;  ///< to keep plans under, of each reward; none: they are not kept
};

/// What a planner made of a reward.
struct Planned {
    Plan plan;
    Measurement measured;
    double seconds;
    std::optional<PriceOfRobustness> price;  ///< of a robust plan
};

/// Nothing if Ctrl-C ended the planner's command.
std::optional<Planned> plan_for(PlannerChoice& planner, const PlannerFlags& flags, const ChosenReward& called,
                                const LearnedModel& learned, Threads threads, const Console& console) {
    const Reward& reward = called.scaled.reward;
    const auto begin = std::chrono::steady_clock::now();
    std::optional<Plan> found = planner.plan(learned.model(), reward);
    if (!found) return std::nullopt;
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    const Measurement measured = measure(learned.model(), reward, *found);
    Planned planned{std::move(*found), measured, seconds, {}};
    if (const std::string lie = false_claims(measured, planned.plan, learned.shape(), called.scaled.scale);
        !lie.empty())
        console.say("warning: " + lie);
    if (flags.robust()) planned.price = price_of_robustness(learned, reward, planned.plan.policy, threads);
    return planned;
}

ordered_json plan_json(const Planned& planned, const RewardCertificate& certificate,
                       const PlanArguments& given, const ChosenReward& reward, const Shape& shape) {
    const RewardScale& scale = reward.scaled.scale;
    ordered_json object = to_json(certificate, shape, scale);
    object["planner"] = given.planner.planner;
    object["measured"] = to_json(planned.measured, planned.plan, shape, scale);
    object["reward"] = reward.name;
    object["delta"] = certificate.failure_probability;
    if (planned.price) object["price_of_robustness"] = to_json(*planned.price, shape, scale);
    object["policy"] = to_json(planned.plan.policy);
    object["seconds"] = planned.seconds;
    return object;
}

/// Keeps plans with their run: those that have a certificate, as a batch may have been interrupted.
void keep(const PlanArguments& given, const PlanBasis& basis, std::span<const ChosenReward> rewards,
          std::span<const Planned> plans, std::span<const RewardCertificate> certificates) {
    std::vector<KeptPlan> kept;
    for (std::size_t i = 0; i < certificates.size(); ++i)
        kept.push_back({basis.names[i], rewards[i].name, rewards[i].scaled, given.planner.planner,
                        plans[i].plan.policy, certificates[i], basis.knowledge.episodes});
    writing([&] { basis.run.keep(kept); });
}

int plan_one(const PlanArguments& given, const ChosenReward& reward, PlannerChoice& planner,
             const PlanBasis& basis, const Console& console) {
    const auto& [problem, knowledge, standing, threads, run, names] = basis;
    const Shape& shape = knowledge.learned->shape();
    const RewardScale& scale = reward.scaled.scale;
    const std::optional<Planned> planned =
        plan_for(planner, given.planner, reward, *knowledge.learned, threads, console);
    if (!planned) {
        console.say("Interrupted; the planner's command was killed, and nothing was written.");
        return 130;
    }
    const Policy& policy = planned->plan.policy;
    const RewardCertificate certificate = certify_reward(knowledge, reward.scaled.reward, policy, threads);
    if (!given.output.empty()) writing([&] { write_policy(given.output, policy); });
    if (!names.empty()) keep(given, basis, {&reward, 1}, {&*planned, 1}, {&certificate, 1});
    const Task task = assuming(task_of(problem, run.options()), assumed_of(given.off));
    const RewardQuestion question{reward.scaled.reward, policy};
    SensitivityFlags asked = given.sensitivity;
    if (asked.tolerance) asked.tolerance = *asked.tolerance / scale.scale;
    const bool wanted = asked.wanted() || asked.tolerance;
    const std::optional<SensitivityAnswer> off =
        wanted || (!console.json() && !standing.contradiction)
            ? sensitivity_of(run, knowledge, asked, &question, threads, standing.off_by())
            : std::nullopt;
    if (console.json()) {
        ordered_json object = plan_json(*planned, certificate, given, reward, shape);
        if (given.off.given() || !(run.options().assumed == AssumedError{})) add_assumed(object, task);
        if (off) object["sensitivity"] = to_json(*off, shape, scale);
        add_standing(object, standing, problem);
        console.object(object);
        return 0;
    }
    std::string text = fmt::format("{} for {} by {}, in {}\n", console.bold("Plan"), printable(reward.name),
                                   printable(given.planner.planner), duration(planned->seconds));
    text += describe(planned->measured, shape, scale) + describe(certificate, shape, scale);
    if (planned->price) text += describe(*planned->price, shape, scale);
    text += describe_assumed(task);
    if (off)
        text += asked.wanted() ? describe(*off, shape, scale, console) : describe_briefly(*off, shape, scale);
    text += describe_contradiction(standing, problem, console);
    if (given.output.empty() && given.keep.empty())
        text += "  To keep the policy, add -o plan.json, or --keep NAME to store it in the run.\n";
    if (!given.output.empty()) text += fmt::format("  Policy written to {}\n", printable(given.output));
    if (!given.keep.empty())
        text +=
            fmt::format("  Kept in the run as {}: alidade plans {}\n", given.keep, shell_path(given.folder));
    console.result(text);
    return 0;
}

std::string describe_batch(const PlanArguments& given, const std::vector<ChosenReward>& rewards,
                           const std::vector<Planned>& plans, const BatchOutcome& outcome,
                           const PlanBasis& basis, const Console& console) {
    const Knowledge& knowledge = basis.knowledge;
    const bool robust = given.planner.robust();
    std::vector<Table::Column> columns{{"reward", Table::Align::left}};
    for (Table::Column& column : certificate_columns()) columns.push_back(std::move(column));
    if (robust) columns.insert(columns.end(), {{"robustness costs"}, {"gains"}});
    Table table(std::move(columns));
    for (std::size_t i = 0; i < outcome.certificates.size(); ++i) {
        const RewardScale& scale = rewards[i].scaled.scale;
        std::vector<std::string> cells{rewards[i].name};
        for (std::string& cell :
             certificate_cells(outcome.certificates[i], knowledge.learned->shape(), scale))
            cells.push_back(std::move(cell));
        if (robust) {
            cells.push_back(rounded(scale.scale * std::max(0.0, plans[i].price->cost())));
            cells.push_back(rounded(scale.scale * plans[i].price->gain()));
        }
        table.add(std::move(cells));
    }
    double seconds = 0;
    for (const Planned& planned : plans) seconds += planned.seconds;
    std::string text =
        fmt::format("{} for {} rewards by {}, in {}\n", console.bold("Plans"), outcome.certificates.size(),
                    printable(given.planner.planner), duration(seconds));
    text += table.text() + batch_footer(outcome, rewards.size(), knowledge.certificate.failure_probability);
    text += describe_contradiction(basis.standing, basis.problem, console);
    if (!given.output.empty()) text += fmt::format("  Policies written to {}\n", printable(given.output));
    return text;
}

int plan_many(const PlanArguments& given, const std::vector<ChosenReward>& rewards, PlannerChoice& planner,
              const PlanBasis& basis, const Console& console) {
    const Knowledge& knowledge = basis.knowledge;
    const Threads threads = basis.threads;
    const std::vector<std::filesystem::path> files = policy_files(given.output, rewards);
    std::vector<Planned> plans;
    const BatchOutcome outcome = certify_batch(
        knowledge, rewards.size(),
        [&](std::size_t i) -> std::optional<RewardQuestion> {
            std::optional<Planned> planned =
                plan_for(planner, given.planner, rewards[i], *knowledge.learned, threads, console);
            if (!planned) return std::nullopt;
            plans.push_back(std::move(*planned));
            const Policy& policy = plans.back().plan.policy;
            if (!files.empty()) writing([&] { write_policy(files[i], policy); });
            return RewardQuestion{rewards[i].scaled.reward, policy};
        },
        threads, console);
    if (!basis.names.empty()) keep(given, basis, rewards, plans, outcome.certificates);
    if (console.json()) {
        ordered_json object;
        object["plans"] = ordered_json::array();
        for (std::size_t i = 0; i < outcome.certificates.size(); ++i) {
            ordered_json plan =
                plan_json(plans[i], outcome.certificates[i], given, rewards[i], knowledge.learned->shape());
            plan["method"] = best_method(outcome.certificates[i]);
            if (!files.empty()) plan["file"] = files[i].string();
            object["plans"].push_back(std::move(plan));
        }
        object["planner"] = given.planner.planner;
        object["delta"] = knowledge.certificate.failure_probability;
        add_standing(object, basis.standing, basis.problem);
        add_batch_end(object, outcome, rewards.size());
        console.object(object);
    } else {
        console.result(describe_batch(given, rewards, plans, outcome, basis, console));
    }
    return outcome.exit_code();
}

int plan(const PlanArguments& given, const Console& console) {
    if (!given.rewards.given())
        throw UserError("no reward is given",
                        {"the command line", "a plan needs to know what is worth having",
                         "alidade plan RUN --reward FILE_OR_NAME"});
    Run store = given.keep.empty() ? open_run(given.folder) : open_run_to_keep(given.folder);
    const Threads threads = thread_count(given.threads);
    const std::vector<ChosenReward> rewards = choose_rewards(given.rewards, store.problem(), console);
    const std::vector<std::string> names = plan_names(given.keep, rewards, given.rewards.batch());
    require_sensitivity(given.sensitivity);
    const AssumedError assumed = assumed_of(given.off);
    const Knowledge knowledge = load_run(store, threads, assumed).knowledge;
    const Standing standing = standing_of(store, given.fit, assumed);
    insist(standing, console);
    PlannerChoice planner(given.planner, knowledge.learned, threads);
    const PlanBasis basis{store.problem(), knowledge, standing, threads, store, names};
    return standing.exit_code(given.rewards.batch()
                                  ? plan_many(given, rewards, planner, basis, console)
                                  : plan_one(given, rewards.front(), planner, basis, console));
}

}  // namespace

void add_plan(CLI::App& app, Chosen& chosen) {
    CLI::App* command =
        app.add_subcommand("plan", "Plan for rewards on a run's model, with bounds on value and loss");
    const auto given = std::make_shared<PlanArguments>();
    command->add_option("RUN", given->folder, "Folder of a run")->required();
    add_reward_flags(*command, given->rewards);
    add_planner_flags(*command, given->planner);
    command->add_option(
        "-o,--output", given->output,
        "Write the policy to this .json file; of several rewards, each to a file in this folder");
    command->add_option(
        "--keep", given->keep,
        "Store plan and certificate in the run, under this name (of several rewards, NAME-REWARD);\n"
        "alidade plans shows them");
    add_fit_flags(*command, given->fit);
    add_misspecification_flags(*command, given->off);
    add_sensitivity_flags(*command, given->sensitivity);
    command->add_option("--threads", given->threads, "0: all cores; results do not depend on it")
        ->capture_default_str();
    add_output_flags(*command, chosen);
    command->footer("Exit code 4 if the data contradict the model: then no bound is to be relied on.");
    command->callback(
        [=, &chosen] { chosen.work = [given](const Console& console) { return plan(*given, console); }; });
}

}  // namespace alidade::app
