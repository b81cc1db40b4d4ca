#include "demo_atlas.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "alidade/certify/atlas_goal.hpp"
#include "numbers.hpp"

namespace alidade::app {

namespace {

constexpr double part_of_horizon = 0.05;
constexpr std::int64_t atlas_budget = 100'000;

}  // namespace

DemoAtlas explore_for_atlas(const Problem& problem, std::uint64_t seed, Threads threads) {
    std::vector<Reward> rewards;
    for (const NamedReward& named : problem.rewards()) rewards.push_back(named.reward);
    const Objectives objectives(std::move(rewards));
    const AtlasOptions options{.loss = part_of_horizon * static_cast<double>(problem.shape().horizon),
                               .threads = threads};
    AtlasGoal goal(objectives, options);
    CountSplittingDeployer system(problem.true_model(), seed);
    Exploration exploration(task_of(problem), {.seed = seed, .threads = threads});
    exploration.run(system, {.episodes = atlas_budget,
                             .enough = [&](const Knowledge& knowledge) { return goal.met(knowledge); }});
    const Atlas atlas = make_atlas(exploration.best(), objectives, options);
    return {options.loss, exploration.counts().episodes(), static_cast<Index>(atlas.policies.size()),
            atlas.loss_bound, atlas.failure_probability};
}

nlohmann::ordered_json to_json(const DemoAtlas& atlas) {
    return {{"loss", atlas.loss},
            {"episodes", atlas.episodes},
            {"plans", atlas.plans},
            {"loss_bound", atlas.loss_bound}};
}

std::string describe(const DemoAtlas& atlas, const Explored& explored, const Problem& problem) {
    std::string any_reward;
    for (const TracePoint& point : explored.trace)
        if (point.bound <= atlas.loss) {
            any_reward =
                fmt::format(" For any reward at all, that took {} weeks.", with_commas(point.episodes));
            break;
        }
    return fmt::format(
        "If all that is ever wanted is some weighting of these {}, far fewer weeks do: a second exploration, "
        "told nothing either, was ended after {} weeks, when {} ordering plans covered every weighting of "
        "them. Whatever the weighting, the plan for it loses at most {} of {} in the real warehouse, with "
        "probability {:.6g}.{}",
        problem.rewards().size() == 3 ? "three" : std::to_string(problem.rewards().size()),
        with_commas(atlas.episodes), atlas.plans, upper_bound(atlas.loss_bound), problem.shape().horizon,
        1 - atlas.failure_probability, any_reward);
}

}  // namespace alidade::app
