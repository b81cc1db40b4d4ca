#include "alidade/problem/foreign.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "alidade/environment/deployment.hpp"
#include "alidade/error.hpp"
#include "alidade/problem/catalogue.hpp"

/// Truths that are a little off.
namespace alidade::foreign_test {
namespace {

const std::vector<std::string> laws{"random", "uniform", "shared", "lowest"};

std::string with(const std::string& family, double share, const std::string& law) {
    return fmt::format("builtin:{}?foreign={}&foreign_law={}", family, share, law);
}

TEST(Foreign, EveryFamilyMayBeOff) {
    for (const Family& family : families())
        for (const std::string& law : laws) {
            const std::string& name = family.name;
            const Problem plain = make_builtin("builtin:" + name), off = make_builtin(with(name, 0.1, law));
            ASSERT_TRUE(off.foreign().has_value()) << name;
            EXPECT_FALSE(plain.foreign().has_value());
            EXPECT_GT(off.true_misspecification(), 0);
            EXPECT_LE(off.true_misspecification(), 0.1 + 1e-12);
            if (!off.is_linear()) {
                EXPECT_EQ(off.features(), plain.features()) << "what may be known stays";
                EXPECT_EQ(*off.truth(), *plain.truth());
            }
            const TransitionModel truth = off.true_system(), mixture = plain.true_system();
            for (Step h = 0; h < off.shape().horizon; ++h) {
                const auto p = truth.all_probabilities(h), q = mixture.all_probabilities(h);
                for (std::size_t e = 0; e < p.size(); ++e)
                    ASSERT_NEAR(p[e], 0.9 * q[e] + 0.1 * off.foreign()->law[e], 1e-15) << name << " " << law;
            }
        }
}

TEST(Foreign, LawsAreThoseOfTheirNames) {
    const Problem plain = make_builtin("builtin:garnet?seed=3");
    const SuccessorMap& map = plain.successors();
    const auto uniform = foreign_part(map, 1, ForeignLaw::uniform),
               lowest = foreign_part(map, 1, ForeignLaw::lowest),
               shared = foreign_part(map, 1, ForeignLaw::shared, 3),
               random = foreign_part(map, 1, ForeignLaw::random, 3);
    // Two successors that two pairs have in common are in the same proportion under a shared law.
    std::vector<double> ratio(at(map.states()), 0.0);
    for (Index pair = 0; pair < map.pairs(); ++pair)
        for (Index e = map.first_entry(pair); e < map.first_entry(pair + 1); ++e) {
            EXPECT_EQ(uniform.law[at(e)], 1.0 / static_cast<double>(map.successors(pair)));
            EXPECT_EQ(lowest.law[at(e)],
                      map.targets()[at(e)] == *std::ranges::min_element(map.targets(pair)) ? 1 : 0);
        }
    for (Index pair = 0; pair < map.pairs(); ++pair)
        for (Index other = 0; other < map.pairs(); ++other) {
            std::vector<std::pair<double, double>> common;
            for (Index e = map.first_entry(pair); e < map.first_entry(pair + 1); ++e) {
                const Index there = map.find_entry(other, map.targets()[at(e)]);
                if (there >= 0) common.emplace_back(shared.law[at(e)], shared.law[at(there)]);
            }
            for (const auto& [x, y] : common)
                ASSERT_NEAR(x * common.front().second, y * common.front().first, 1e-12);
        }
    EXPECT_NE(random.law, foreign_part(map, 1, ForeignLaw::random, 4).law);
    EXPECT_EQ(random.law, make_builtin("builtin:garnet?seed=3&foreign=1").foreign()->law);
    EXPECT_THROW(parse_foreign_law("some"), InvalidArgument);
    for (const std::string& law : laws) EXPECT_EQ(to_string(parse_foreign_law(law)), law);
    for (const double share : {0.0, -0.1, 1.1, std::nan("")})
        EXPECT_THROW(foreign_part(map, share), InvalidArgument);
}

TEST(Foreign, TheTruthHasNoWeightsButItsMixturePartHas) {
    const Problem off = make_builtin("builtin:riverswim?foreign=0.05"),
                  plain = make_builtin("builtin:riverswim");
    EXPECT_THROW(off.true_model(), InvalidArgument);
    EXPECT_EQ(off.mixture_part().weights(), plain.true_model().weights());
    EXPECT_TRUE(off.truth_known());
    EXPECT_EQ(plain.true_misspecification(), 0);
    // The lowest successor's law is off by the share times what the mixture gives to the others.
    const Problem lowest = make_builtin("builtin:riverswim?foreign=0.05&foreign_law=lowest");
    const TransitionModel mixture = plain.true_system();
    double largest = 0;
    for (Step h = 0; h + 1 < plain.shape().horizon; ++h)
        for (Index pair = 0; pair < plain.shape().pairs(); ++pair)
            largest = std::max(largest, 0.05 * (1 - mixture.probabilities(h, pair)[0]));
    EXPECT_NEAR(lowest.true_misspecification(), largest, 1e-12);
}

TEST(Foreign, PartsThatAreNoLawsAreRefused) {
    const Problem plain = make_builtin("builtin:riverswim");
    const auto refused = [&](const std::function<void(ForeignPart&)>& spoil) {
        ProblemDescription parts = plain.description();
        parts.foreign = foreign_part(plain.successors(), 0.1);
        spoil(*parts.foreign);
        try {
            const Problem problem(parts);
        } catch (const InvalidArgument&) {
            return true;
        }
        return false;
    };
    EXPECT_FALSE(refused([](ForeignPart&) {}));
    EXPECT_TRUE(refused([](ForeignPart& part) { part.share = 0; }));
    EXPECT_TRUE(refused([](ForeignPart& part) { part.share = 1.01; }));
    EXPECT_TRUE(refused([](ForeignPart& part) { part.law.pop_back(); }));
    EXPECT_TRUE(refused([](ForeignPart& part) { part.law[0] += 1e-6; }));
    EXPECT_TRUE(refused([](ForeignPart& part) {
        part.law[0] = -0.1;
        part.law[1] += 0.1;
    }));
    ProblemDescription parts = plain.description();
    parts.foreign = foreign_part(plain.successors(), 0.1);
    parts.truth.reset();
    EXPECT_THROW(const Problem problem(parts), InvalidArgument);
}

TEST(Foreign, OneHotLinearProblemsHaveTheWholeTruth) {
    const Problem off = make_builtin("builtin:riverswim?foreign=0.3"), linear = one_hot_linear(off);
    EXPECT_FALSE(linear.foreign().has_value());
    const TransitionModel one = off.true_system(), other = linear.true_system();
    for (Step h = 0; h < off.shape().horizon; ++h) {
        const auto p = one.all_probabilities(h), q = other.all_probabilities(h);
        for (std::size_t e = 0; e < p.size(); ++e) ASSERT_NEAR(p[e], q[e], 1e-12);
    }
}

}  // namespace
}  // namespace alidade::foreign_test
