#include "alidade/run/run_record.hpp"

#include <gtest/gtest.h>

#include <set>

#include "support/small_problem.hpp"

namespace alidade::testing::problem_hash_test {
namespace {

TEST(ProblemHash, EqualsAnIndependentComputation) {
    // FNV-1a with 128 bits over struct.pack("<q" or "<d") of: 0, S, A, d, norm bound, offsets, targets,
    // values, atoms, H, homogeneous, computed with Python's integers.
    ProblemDescription parts = small_description();
    EXPECT_EQ(problem_hash(Problem(parts)), "d4a4d939693a112591bcbe866edaefb6");
    parts.truth.reset();
    parts.homogeneous = true;
    EXPECT_EQ(problem_hash(Problem(parts)), "181e07a6013a112ad2fe1207325ee397");
}

TEST(ProblemHash, AMisspecificationEntersAndItsAbsenceLeavesTheHashAlone) {
    ProblemDescription parts = small_description();
    const std::string exact = problem_hash(Problem(parts));
    std::set<std::string> hashes{exact};
    for (const double zeta : {1e-300, 0.02, 0.5}) {
        parts.misspecification = zeta;
        hashes.insert(problem_hash(Problem(parts)));
    }
    EXPECT_EQ(hashes.size(), 4u);
    parts.misspecification = 0;
    EXPECT_EQ(problem_hash(Problem(parts)), exact);
}

TEST(ProblemHash, NamesTruthRewardsAndTargetDoNotEnter) {
    ProblemDescription parts = small_description();
    parts.name = "other";
    parts.truth.reset();
    parts.rewards.clear();
    parts.state_names.clear();
    parts.target = {};
    EXPECT_EQ(problem_hash(Problem(parts)), problem_hash(Problem(small_description())));
}

TEST(ProblemHash, WhatExplorationDependsOnEnters) {
    std::set<std::string> hashes{problem_hash(Problem(small_description())),
                                 problem_hash(Problem(signed_description()))};
    ProblemDescription parts = small_description();
    parts.truth.reset();
    parts.rewards.clear();
    parts.horizon = 4;
    hashes.insert(problem_hash(Problem(parts)));
    parts.start = StartLaw(1);
    hashes.insert(problem_hash(Problem(parts)));
    BaseKernel first = parts.features->base_kernel(0);
    const BaseKernel second = parts.features->base_kernel(1);
    first.probabilities[0] = 0.5;
    first.probabilities[1] = 0.5;
    const std::vector<BaseKernel> kernels{first, second};
    parts.features = std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(2, 2, kernels));
    hashes.insert(problem_hash(Problem(parts)));
    EXPECT_EQ(hashes.size(), 5u);
}

}  // namespace
}  // namespace alidade::testing::problem_hash_test
