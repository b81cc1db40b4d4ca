#include "alidade/certify/catalogue.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "alidade/error.hpp"
#include "support/learned_models.hpp"
#include "support/members.hpp"

namespace alidade::certificate_catalogue_test {
namespace {

LearnedMixture some_learned() {
    Stream random = support::test_stream(1, 320);
    const support::RandomSizes sizes{.shape = {4, 2, 4}, .features = 3, .successors = 3};
    return support::likelihood_model(support::random_model(random, sizes), random, 100);
}

std::vector<std::string> names_of(const RewardFreeCertificate& certificate) {
    std::vector<std::string> names;
    for (const auto& [name, bound] : certificate.candidates) names.push_back(name);
    return names;
}

TEST(CertificateCatalogue, HasNamesSummariesAndReasons) {
    const LearnedMixture learned = some_learned();
    const DeviationTable deviations = DeviationTable::of(learned);
    const RewardFreeOptions options;
    const detail::RewardFreeWork work(learned, deviations, options);
    std::set<std::string> names;
    for (const detail::RewardFreeEntry& entry : detail::reward_free_certificates()) {
        EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
        EXPECT_FALSE(entry.summary.empty()) << entry.name;
        EXPECT_EQ(entry.refusal(work), "") << entry.name;
        EXPECT_EQ(detail::find_reward_free(entry.name).name, entry.name);
    }
    try {
        detail::find_reward_free("modell");
        FAIL();
    } catch (const InvalidArgument& error) {
        for (const std::string& name : names)
            EXPECT_NE(std::string(error.what()).find(name), std::string::npos) << name;
    }
}

TEST(CertificateCatalogue, GivesAllThatApplyInItsOrder) {
    const LearnedMixture learned = some_learned();
    const DeviationTable deviations = DeviationTable::of(learned);
    std::vector<std::string> all;
    for (const detail::RewardFreeEntry& entry : detail::reward_free_certificates()) all.push_back(entry.name);
    EXPECT_EQ(names_of(certify_reward_free(learned, deviations)), all);
    const LearnedMixture off(learned.model().shared_features(), 4, learned.model().start(), false,
                             learned.sets(), 0.1, 0.01);
    EXPECT_EQ(names_of(certify_reward_free(off, DeviationTable::of(off))), all);
}

TEST(CertificateCatalogue, GivesWhatIsAskedForWhateverElseIs) {
    const LearnedMixture learned = some_learned();
    const DeviationTable deviations = DeviationTable::of(learned);
    const RewardFreeCertificate all = certify_reward_free(learned, deviations);
    // What follows from the others is another number without them.
    for (const char* name : {"model", "coupling", "span", "trajectory-kl", "hybrid"}) {
        const RewardFreeCertificate alone =
            certify_reward_free(learned, deviations, {.certificates = {name}});
        ASSERT_EQ(names_of(alone), std::vector<std::string>{name});
        EXPECT_EQ(alone.method, name);
        const auto same =
            std::ranges::find(all.candidates, name, [](const auto& each) { return each.first; });
        EXPECT_EQ(alone.candidates.front().second, same->second) << name;
        EXPECT_FALSE(alone.contributions.empty());
    }
    EXPECT_EQ(names_of(certify_reward_free(learned, deviations, {.certificates = {"ltv", "span", "model"}})),
              (std::vector<std::string>{"model", "span", "ltv"}));
    EXPECT_THROW(certify_reward_free(learned, deviations, {.certificates = {"model", "?"}}), InvalidArgument);
    EXPECT_EQ(
        names_of(certify_reward_free(learned, deviations, {.without = {"hybrid", "model"}})),
        (std::vector<std::string>{"coupling", "span", "trajectory-kl", "ltv", "optimal-span", "two-chain"}));
    EXPECT_THROW(certify_reward_free(learned, deviations, {.without = {"?"}}), InvalidArgument);
    EXPECT_THROW(certify_reward_free(learned, deviations, {.certificates = {"span"}, .without = {"span"}}),
                 InvalidArgument);
}

TEST(CertificateCatalogue, HasDivergencesUnderAMisspecificationByTransfer) {
    const LearnedMixture exact = some_learned();
    const double zeta = 0.01;
    const LearnedMixture off(exact.model().shared_features(), 4, exact.model().start(), false, exact.sets(),
                             0.1, zeta);
    const RewardFreeOptions named{.certificates = {"trajectory-kl", "hybrid", "ltv"}};
    const auto without = certify_reward_free(exact, DeviationTable::of(exact), named).candidates,
               with = certify_reward_free(off, DeviationTable::of(off), named).candidates;
    // Z_0 by hand: n = 3, 2, 1.
    const double rest = 2 * (zeta * 3 + (1 - zeta) * (zeta * 2 + (1 - zeta) * zeta));
    ASSERT_EQ(with.size(), 3u);
    EXPECT_NEAR(with[0].second, without[0].second + rest, 1e-12);
    EXPECT_LE(with[1].second, with[0].second);
    EXPECT_GT(with[1].second, without[1].second);
    EXPECT_LE(with[2].second, without[2].second + rest + 1e-12);
}

}  // namespace
}  // namespace alidade::certificate_catalogue_test
