#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "alidade/explore/explorer.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "alidade/plan/planner.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/spec/printable_text.hpp"
#include "certificate_view.hpp"
#include "commands.hpp"
#include "demo_atlas.hpp"
#include "demo_view.hpp"
#include "exploration_run.hpp"
#include "load_run.hpp"
#include "numbers.hpp"
#include "report_file.hpp"
#include "run_advice.hpp"
#include "sensitivity_view.hpp"
#include "user_error.hpp"

namespace alidade::app {
namespace {

using nlohmann::ordered_json;

constexpr std::string_view demo_problem = "builtin:inventory";
constexpr std::int64_t demo_episodes = 300'000;
constexpr std::array planners_shown{"backward-induction", "lookahead"};

struct DemoArguments {
    std::string report = "report.html", folder = "alidade-demo";
    std::string seed = "0";
    int threads = 0;
};

/// A fresh run in the demo's folder. A run that an earlier demo left there is replaced, no other.
Run fresh_run(const DemoArguments& given) {
    const Context context{fmt::format("run folder '{}'", given.folder),
                          "the demo would replace it, and it is not the demo's",
                          "alidade demo --run ANOTHER"};
    const Problem problem = make_builtin(demo_problem);
    RunOptions options;
    const ExplorerOptions method = canonical(ExplorerOptions{}, task_of(problem));
    options.algorithm = method.algorithm;
    options.confidence = method.confidence;
    options.seed = parse_seed(given.seed, "--seed");
    const RunUse use{.writes = true, .may_overwrite = false, .another = "alidade demo --run ANOTHER_FOLDER"};
    return explaining_run(given.folder, use, [&] {
        if (Run::exists(given.folder)) {
            if (Run::open(given.folder, Access::read).source() != demo_problem)
                throw UserError("the folder holds a run of another problem", context);
            Run::remove(given.folder);
        }
        return Run::create(given.folder, problem, std::string(demo_problem), options);
    });
}

std::vector<DemoPlan> plan_all(const Problem& problem, const Knowledge& knowledge) {
    const TransitionModel& model = knowledge.learned->model();
    const MixtureModel truth = problem.true_model();
    std::vector<DemoPlan> plans;
    for (const NamedReward& named : problem.rewards()) {
        const double best = backward_induction(truth, named.reward).value;
        for (const std::string planner : planners_shown) {
            const Policy policy = make_planner(planner)->plan(model, named.reward).policy;
            const double true_value = evaluate(truth, policy, named.reward).value;
            plans.push_back({named.name, planner, evaluate(model, policy, named.reward).value, true_value,
                             best - true_value, certify_reward(knowledge, named.reward, policy), policy});
        }
    }
    return plans;
}

/// Keeps them with the run, so that the report has them.
void keep(Run& run, const std::vector<DemoPlan>& plans, const Knowledge& knowledge) {
    std::vector<KeptPlan> kept;
    for (const DemoPlan& plan : plans) {
        const auto named = std::ranges::find(run.problem().rewards(), plan.reward, &NamedReward::name);
        const bool exact = plan.planner == planners_shown.front();
        kept.push_back({exact ? plan.reward : fmt::format("{}.{}", plan.reward, plan.planner),
                        plan.reward,
                        {named->reward, {}},
                        plan.planner,
                        plan.policy,
                        plan.certificate,
                        knowledge.episodes});
    }
    run.keep(kept);
}

ordered_json plan_json(const DemoPlan& plan, const Shape& shape) {
    ordered_json object;
    object["reward"] = plan.reward;
    object["planner"] = plan.planner;
    object["model_value"] = plan.model_value;
    object.update(to_json(plan.certificate, shape, RewardScale{}));
    object["true_value"] = plan.true_value;
    object["true_loss"] = plan.true_loss;
    return object;
}

int demo(const DemoArguments& given, const Console& console) {
    require_replaceable(given.report, "alidade demo");
    Goal goal;
    goal.episodes = demo_episodes;
    goal.threads = thread_count(given.threads);
    Run store = fresh_run(given);
    SystemChoice system({}, store.problem(), store.source());
    const Explored explored = explore_into(store, goal, console, system);
    insist(explored.standing, console);
    const std::vector<DemoPlan> plans = plan_all(store.problem(), explored.knowledge);
    keep(store, plans, explored.knowledge);
    write_report_file(given.report, {&store, 1}, goal.threads, {});
    const DemoAtlas atlas = explore_for_atlas(store.problem(), store.options().seed, goal.threads);
    if (console.json()) {
        ordered_json object = to_json(explored, store, goal);
        object["plans"] = ordered_json::array();
        for (const DemoPlan& plan : plans)
            object["plans"].push_back(plan_json(plan, store.problem().shape()));
        object["atlas"] = to_json(atlas);
        object["report"] = given.report;
        console.object(object);
    } else {
        const auto off = sensitivity_of(store, explored.knowledge, {}, nullptr, goal.threads);
        console.result(fmt::format(
            "{}\n{}{}{}\n{}\n{}\n{}  {} (the whole story: open it in a browser)\n{}     {}, explored in "
            "{}\n{}    "
            "alidade audit {}\n",
            paragraph(explanation(explored, store), console.width()),
            off ? describe_briefly(*off, store.problem().shape(), {}) : std::string(),
            describe_contradiction(explored.standing, store.problem(), console), plans_table(plans).text(),
            paragraph(reading_aid(), console.width()),
            paragraph(describe(atlas, explored, store.problem()), console.width()), console.bold("Report"),
            printable(given.report), console.bold("Run"), printable(given.folder),
            duration(explored.result.timings.total), console.bold("Next"), shell_path(given.folder)));
    }
    return exit_code(explored, goal);
}

}  // namespace

void add_demo(CLI::App& app, Chosen& chosen) {
    CLI::App* command =
        app.add_subcommand("demo", "Explore a warehouse, certify, plan three rewards, write report.html");
    const auto given = std::make_shared<DemoArguments>();
    command->add_option("-o,--output", given->report, "The report; only an earlier one is replaced")
        ->capture_default_str();
    command->add_option("--run", given->folder, "Folder of the run; an earlier demo's is replaced")
        ->capture_default_str();
    command->add_option("--seed", given->seed, "Of the simulation and of ties")->capture_default_str();
    command->add_option("--threads", given->threads, "0: all cores; results do not depend on it")
        ->capture_default_str();
    add_output_flags(*command, chosen);
    command->callback(
        [=, &chosen] { chosen.work = [given](const Console& console) { return demo(*given, console); }; });
}

}  // namespace alidade::app
