#include <gtest/gtest.h>

#include "alidade/audit/audit.hpp"
#include "alidade/environment/deployment.hpp"
#include "alidade/error.hpp"
#include "alidade/explore/exploration.hpp"
#include "alidade/explore/explorer.hpp"
#include "alidade/problem/catalogue.hpp"
#include "support/effort.hpp"

/// Truths that are a little off, with and without a misspecification that allows for it.
namespace alidade::foreign_audit_test {
namespace {

AuditResult audited(const std::string& uri, double assumed, const std::string& algorithm, Index rewards) {
    const Problem made = make_builtin(uri);
    ProblemDescription parts = made.description();
    parts.misspecification = assumed;
    const Problem problem(std::move(parts));
    CountSplittingDeployer system(problem.true_system(), 3);
    Exploration exploration(task_of(problem), {.algorithm = algorithm});
    exploration.run(system, {.episodes = support::episodes(std::int64_t{100'000})});
    return audit(exploration.best(), problem, {.rewards = rewards, .climb_steps = 30});
}

TEST(ForeignAudit, BoundsHoldWhereWhatIsOffWasAllowedFor) {
    Index checks = 0;
    for (const char* law : {"random", "uniform", "shared", "lowest"})
        for (const char* family : {"builtin:garnet?states=6&actions=2&features=3&horizon=4&successors=4&",
                                   "builtin:inventory?capacity=6&"}) {
            const std::string uri = fmt::format("{}foreign=0.1&foreign_law={}", family, law);
            const AuditResult result = audited(uri, 0.1, "hoeffding", support::runs(60, 2000));
            EXPECT_EQ(result.violations, 0) << uri;
            EXPECT_TRUE(result.truth_in_confidence_set) << uri;
            checks += result.rewards;
        }
    EXPECT_GT(checks, support::repetitions(500));
}

TEST(ForeignAudit, BoundsFailWhereItWasNot) {
    Index violations = 0;
    for (const char* law : {"random", "shared", "lowest"})
        for (const char* family : {"builtin:inventory?capacity=6&", "builtin:riverswim?variant=halves&"}) {
            try {
                const AuditResult result =
                    audited(fmt::format("{}foreign=0.05&foreign_law={}", family, law), 0, "likelihood", 60);
                violations += result.violations;
                EXPECT_FALSE(result.truth_in_confidence_set);
            } catch (const ModelContradiction&) {
                // The data have noticed: no bounds are claimed.
            }
        }
    if (support::effort_is("sanitized")) return;
    EXPECT_GT(violations, 0) << "else the audit is blind";
}

}  // namespace
}  // namespace alidade::foreign_audit_test
