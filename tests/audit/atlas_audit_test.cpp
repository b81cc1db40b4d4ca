#include "alidade/audit/atlas_audit.hpp"

#include <gtest/gtest.h>

#include "alidade/error.hpp"
#include "alidade/explore/exploration.hpp"
#include "alidade/problem/catalogue.hpp"

namespace alidade::atlas_audit_test {
namespace {

Objectives named_objectives(const Problem& problem) {
    std::vector<Reward> rewards;
    for (const NamedReward& named : problem.rewards()) rewards.push_back(named.reward);
    return Objectives(std::move(rewards));
}

TEST(AtlasAudit, FindsNoViolationAndSeesALoweredBound) {
    const Problem problem = make_builtin("builtin:inventory");
    CountSplittingDeployer system(problem.true_model(), 3);
    Exploration exploration(task_of(problem), {.seed = 3});
    exploration.run(system, {.episodes = 300});
    const Objectives objectives = named_objectives(problem);
    Atlas atlas = make_atlas(exploration.best(), objectives, {.loss = 0.5});
    const AtlasAudit found = audit(atlas, exploration.best(), objectives, problem, {.weights = 200});
    EXPECT_TRUE(found.truth_in_confidence_set);
    EXPECT_EQ(found.violations, 0);
    EXPECT_EQ(found.checks, 200 + 3 * static_cast<Index>(atlas.cells.size()));
    EXPECT_GT(found.worst_loss, 0.01);
    for (AtlasCell& cell : atlas.cells) cell.bounds.assign(3, 0.0);
    EXPECT_GT(audit(atlas, exploration.best(), objectives, problem, {.weights = 200}).violations, 0);
    EXPECT_GT(recheck(atlas, exploration.best(), objectives), 0.01);
}

}  // namespace
}  // namespace alidade::atlas_audit_test
