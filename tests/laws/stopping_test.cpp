#include <gtest/gtest.h>

#include "alidade/environment/deployment.hpp"
#include "alidade/explore/exploration.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/theory/bounds.hpp"

namespace alidade::stopping_test {
namespace {

// The bound says: stopped by then with probability 1 - 2 * 0.05. It is loose by a large factor (runs stop
// within a fifth of it), so a failure for any of these seeds means a mistake, not bad luck.
TEST(Stopping, RunsEndBeforeTheSharpBoundSaysTheyMust) {
    const double target = 0.5;
    const BoundSetting setting{2, 2, 1, 0.1};
    const double most = sharp_episodes(setting, target);
    ASSERT_LT(most, 2e4);
    for (std::uint64_t seed = 0; seed < 5; ++seed)
        for (const Schedule::Kind kind : {Schedule::Kind::every, Schedule::Kind::doubling}) {
            const Problem problem =
                make_builtin("builtin:garnet?states=6&actions=2&features=2&horizon=2&successors=4&seed=" +
                             std::to_string(seed));
            CountSplittingDeployer system(problem.true_model(), seed);
            Schedule schedule;
            schedule.kind = kind;
            Exploration exploration(
                task_of(problem),
                {.algorithm = "hoeffding", .delta = 0.05, .seed = seed, .schedule = schedule});
            const auto budget = static_cast<std::int64_t>(most);
            EXPECT_EQ(exploration.run(system, {.episodes = budget, .target = target}), Stopped::target);
            EXPECT_LT(static_cast<double>(exploration.counts().episodes()), most / 5);
            exploration.run(system, {.episodes = budget});
            const double growth = kind == Schedule::Kind::every ? 0 : 1;
            EXPECT_LE(exploration.best().certificate.bound, sharp_guarantee(setting, most, growth));
            if (kind == Schedule::Kind::doubling) {
                EXPECT_LE(static_cast<double>(exploration.trace().back().replans),
                          sharp_policies(setting, most, 1));
            }
        }
}

}  // namespace
}  // namespace alidade::stopping_test
