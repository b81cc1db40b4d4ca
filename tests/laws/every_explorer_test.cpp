#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "alidade/audit/audit.hpp"
#include "alidade/environment/deployment.hpp"
#include "alidade/error.hpp"
#include "alidade/explore/exploration.hpp"
#include "alidade/problem/catalogue.hpp"
#include "support/effort.hpp"

namespace alidade {
namespace {

/// Every algorithm on every family at a small size.
class EveryExplorer : public testing::TestWithParam<std::tuple<std::string, std::string>> {};

std::vector<std::string> algorithms() {
    std::vector<std::string> names;
    for (const ExplorerEntry& entry : explorers()) names.push_back(entry.name);
    return names;
}

std::vector<std::string> problems() {
    std::vector<std::string> uris;
    for (const Family& family : families()) uris.push_back("builtin:" + family.name);
    uris.push_back("builtin:riverswim?variant=halves");
    uris.push_back("builtin:lock?variant=deep");
    uris.push_back("builtin:lock?variant=reset");
    return uris;
}

// T7, T9, T10: certificates hold against the truth, weights are well defined, projections optimal.
TEST_P(EveryExplorer, ClaimsNothingThatTheTruthContradicts) {
    const auto& [name, uri] = GetParam();
    const Problem problem = make_builtin(uri);
    if (!find_explorer(name).refusal(task_of(problem)).empty()) {
        EXPECT_THROW(Exploration(task_of(problem), find_explorer(name), {}), InvalidArgument);
        return;
    }
    const MixtureModel truth = problem.true_model();
    CountSplittingDeployer system(truth, 3);
    Exploration exploration(task_of(problem), find_explorer(name), {.seed = 3});
    for (const int episodes : {100, support::repetitions(3000)}) {
        exploration.run(system, {.episodes = episodes});
        const Knowledge& best = exploration.best();
        for (const ConfidenceSet& set : best.learned.sets()) {
            EXPECT_GE(set.weights().minCoeff(), -1e-12);
            EXPECT_NEAR(set.weights().sum(), 1, 1e-12);
            EXPECT_LE(set.projection().residual, set.radius());
            EXPECT_LE(set.projection().kkt_residual, 1e-9);
        }
        const AuditResult result =
            audit(best, truth, {.rewards = 12, .climb_steps = support::repetitions(20), .seed = 1});
        EXPECT_TRUE(result.truth_in_confidence_set) << "depth " << result.depth;
        EXPECT_EQ(result.violations, 0) << uri << " at " << episodes;
        EXPECT_LE(result.max_gap, best.certificate.bound + 1e-9);
    }
}

/// Remembers what was counted.
class Watched final : public Deployer {
public:
    explicit Watched(const Problem& problem, std::uint64_t seed)
        : system_(problem.true_model(), seed), seen_(problem.shared_features(), problem.shape().horizon) {}

    void deploy(const Policy& policy, std::int64_t first, std::int64_t episodes, Counts& counts) override {
        Counts batch(counts.shared_features(), counts.shape().horizon);
        system_.deploy(policy, first, episodes, batch);
        counts += batch;
        seen_ += batch;
    }

    /// Whether a transition came in about which the base models do not agree: only such ones teach anything.
    /// The last step's teach nothing, as no value follows.
    bool taught() const {
        const FeatureMap& features = seen_.features();
        for (Step h = 0; h < seen_.shape().learned_steps(); ++h)
            for (Index entry = 0; entry < features.entries(); ++entry) {
                const auto phi = features.phi(entry);
                const bool agree = std::ranges::all_of(phi, [&](double x) { return x == phi.front(); });
                if (!agree && seen_.at(h)[static_cast<std::size_t>(entry)] > 0) return true;
            }
        return false;
    }

private:
    CountSplittingDeployer system_;
    Counts seen_;
};

// Strictly, wherever anything came in that teaches. Uniform actions never get through the lock to where its
// base models differ: there the certificate has no reason to move, and must not.
TEST_P(EveryExplorer, LearnsWithMoreEpisodes) {
    const auto& [name, uri] = GetParam();
    const Problem problem = make_builtin(uri);
    if (!find_explorer(name).refusal(task_of(problem)).empty()) {
        EXPECT_THROW(Exploration(task_of(problem), find_explorer(name), {}), InvalidArgument);
        return;
    }
    Watched system(problem, 1);
    Exploration exploration(task_of(problem), find_explorer(name), {});
    exploration.run(system, {.episodes = 100});
    const double early = exploration.best().certificate.candidates.back().second;
    exploration.run(system, {.episodes = support::repetitions(30'000)});
    const double late = exploration.best().certificate.candidates.back().second;
    if (system.taught()) {
        EXPECT_LT(late, early);
    } else {
        EXPECT_EQ(late, early);
        EXPECT_EQ(name + " " + uri, "uniform builtin:lock");
    }
}

std::string test_name(const testing::TestParamInfo<EveryExplorer::ParamType>& info) {
    std::string name = std::get<0>(info.param) + "_" + std::get<1>(info.param).substr(8);
    for (char& c : name)
        if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
    return name;
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryExplorer,
                         testing::Combine(testing::ValuesIn(algorithms()), testing::ValuesIn(problems())),
                         test_name);

}  // namespace
}  // namespace alidade
