#include "alidade/plan/planner.hpp"

#include <utility>

#include "alidade/error.hpp"
#include "alidade/plan/backup.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/lookahead.hpp"

namespace alidade {
namespace {

class BackwardInductionPlanner final : public Planner {
    Plan do_plan(const MixtureModel& model, const Reward& reward) const override {
        OptimalPlan optimal = backward_induction(model, reward);
        return Plan{std::move(optimal.policy), optimal.value, 0.0};
    }
};

}  // namespace

Plan Planner::plan(const MixtureModel& model, const Reward& reward) const {
    expect_same_shape(model.shape(), reward.shape(), "reward");
    Plan result = do_plan(model, reward);
    expect_same_shape(model.shape(), result.policy.shape(), "planner's policy");
    return result;
}

const std::vector<PlannerEntry>& planners() {
    static const std::vector<PlannerEntry> entries{
        {"backward-induction", "Dynamic programming from the horizon back; exact.",
         [] { return std::make_unique<BackwardInductionPlanner>(); }},
        {"lookahead", "Plans two steps ahead, as if nothing could be earned after them; not exact.",
         [] { return std::make_unique<LookaheadPlanner>(); }},
    };
    return entries;
}

std::unique_ptr<Planner> make_planner(std::string_view name) {
    std::string names;
    for (const PlannerEntry& entry : planners()) {
        if (entry.name == name) return entry.make();
        names += (names.empty() ? "" : ", ") + entry.name;
    }
    throw InvalidArgument(fmt::format("no planner is called '{}'; there are {}", name, names));
}

}  // namespace alidade
