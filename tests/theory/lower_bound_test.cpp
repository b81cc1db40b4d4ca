#include "alidade/theory/bounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "alidade/error.hpp"

namespace alidade::lower_bound_test {
namespace {

/// Value of exiting with these probabilities at steps 1 .. H: an exit at step h earns H - h.
double value_of(const std::vector<double>& exits) {
    double value = 0;
    for (std::size_t h = exits.size(); h-- > 0;) {
        const auto rest = static_cast<double>(exits.size() - 1 - h);
        value = exits[h] * rest + (1 - exits[h]) * value;
    }
    return value;
}

/// Loss on the hard instance of a policy that gets so many of the d-1 signs wrong at each step.
double loss(const std::vector<Index>& wrong, Index signs, double gap) {
    const double base = 1 / static_cast<double>(wrong.size());
    std::vector<double> best(wrong.size(), base + static_cast<double>(signs) * gap), own;
    for (const Index count : wrong) own.push_back(base + static_cast<double>(signs - 2 * count) * gap);
    return value_of(best) - value_of(own);
}

TEST(HardInstance, LossesAreBetweenItsSums) {
    // All policies of small instances by dynamic programming, with Delta as large as allowed and smaller.
    for (const Index H : {2, 3, 5})
        for (const Index signs : {1, 2, 3})
            for (const double share : {1.0, 0.3}) {
                const HardInstance instance = hard_instance({signs + 1, H, 2, 0.1});
                const double gap = share * instance.margin / static_cast<double>(signs);
                const double unit = 2 * static_cast<double>(signs) * gap;
                std::vector<Index> wrong(static_cast<std::size_t>(H), 0);
                double worst = 0;
                const auto policies =
                    static_cast<Index>(std::lround(std::pow(static_cast<double>(signs + 1), H)));
                for (Index code = 0; code < policies; ++code) {
                    Index rest = code, total = 0;
                    for (Index& count : wrong) {
                        count = rest % (signs + 1);
                        total += count;
                        rest /= signs + 1;
                    }
                    const double lost = loss(wrong, signs, gap);
                    worst = std::max(worst, lost);
                    EXPECT_GE(lost, -1e-15);
                    if (total == signs * H) {
                        EXPECT_GE(lost, unit * instance.least * (1 - 1e-12));
                    }
                }
                EXPECT_LE(worst, unit * instance.largest * (1 + 1e-12));
            }
}

TEST(HardInstance, LossOfEveryStepIsAtLeastItsTerm) {
    // Wrong at one step only: at least that step's term of the sum, written out.
    const Index H = 6, signs = 2;
    const HardInstance instance = hard_instance({signs + 1, H, 2, 0.1});
    const double gap = instance.margin / static_cast<double>(signs), stay = 1 - 1.5 / 6;
    double sum = 0;
    for (Index h = 0; h < H; ++h) {
        std::vector<Index> wrong(static_cast<std::size_t>(H), 0);
        wrong[static_cast<std::size_t>(h)] = signs;
        double later = 0;
        for (Index j = 0; j < H - 1 - h; ++j) later += std::pow(stay, static_cast<double>(j));
        const double term = std::pow(stay, static_cast<double>(h)) * later;
        EXPECT_GE(loss(wrong, signs, gap), 2 * static_cast<double>(signs) * gap * term * (1 - 1e-12)) << h;
        sum += term;
    }
    EXPECT_NEAR(instance.least, sum, 1e-12);
}

TEST(HardInstance, CannotBeToldApartByMoreThanItsSignal) {
    // Exact Kullback-Leibler divergence of one transition, over all actions and both directions, times K,
    // with Delta = t/sqrt(HK) inside the margin.
    for (const Index H : {2, 4, 20})
        for (const Index signs : {1, 3, 8}) {
            const HardInstance instance = hard_instance({signs + 1, H, 1.05, 0.1});
            const double gap = instance.margin / static_cast<double>(signs),
                         base = 1 / static_cast<double>(H);
            for (Index others = -(signs - 1); others <= signs - 1; ++others)
                for (const double sign : {-1.0, 1.0}) {
                    const double p = base + (static_cast<double>(others) + sign) * gap;
                    const double q = base + (static_cast<double>(others) - sign) * gap;
                    ASSERT_GT(std::min(p, q), 0);
                    const double divergence = p * std::log(p / q) + (1 - p) * std::log((1 - p) / (1 - q));
                    const double bound = instance.signal * std::sqrt(static_cast<double>(H)) * gap;
                    EXPECT_LE(std::sqrt(divergence / 2), bound * (1 + 1e-12));
                }
        }
}

TEST(Theorem3, EpisodesAndAccuracyAreEachOthersInverse) {
    for (const BoundSetting& setting : {BoundSetting{20, 10, 4, 0.1}, BoundSetting{2, 2, 1.01, 0.01}}) {
        const double most = setting.delta < 0.05 ? 1e-3 : 0.5;
        for (const double epsilon : {most, most / 3, most / 100}) {
            const double episodes = lower_bound_episodes(setting, epsilon);
            if (episodes < 1000) continue;
            EXPECT_NEAR(lower_bound_accuracy(setting, episodes) / epsilon, 1, 2e-3);
        }
    }
    EXPECT_GT(lower_bound_episodes({20, 10, 4, 0.1}, 0.005), 1000);
}

TEST(Theorem3, HasTheRateOfThePaper) {
    const auto ratio = [](Index d, Index H, double epsilon) {
        const BoundSetting setting{d, H, 10, 0.01};
        return lower_bound_episodes(setting, epsilon) / lower_bound_rate(setting, epsilon);
    };
    // The same constant for all large sizes and small epsilon; some 5e-4.
    const double constant = ratio(1000, 500, 0.01);
    EXPECT_NEAR(ratio(4000, 500, 0.01) / constant, 1, 0.01);
    EXPECT_NEAR(ratio(1000, 2000, 0.01) / constant, 1, 0.01);
    EXPECT_NEAR(ratio(1000, 500, 0.001) / constant, 1, 0.01);
    EXPECT_GT(constant, 3e-4);
    EXPECT_LT(constant, 7e-4);
    EXPECT_DOUBLE_EQ(lower_bound_rate({3, 2, 1, 0.1}, 0.5), 9 * 8 / 0.25);
}

TEST(Theorem3, IsBelowWhatIsSufficient) {
    for (const Index d : {2, 10, 300, 30000})
        for (const Index H : {2, 10, 300, 30000})
            for (const double epsilon : {0.001, 0.1, 1.0}) {
                const BoundSetting setting{d, H, base_model_norm_bound(d), 0.1};
                const double needed = lower_bound_episodes(setting, epsilon);
                EXPECT_LT(needed, hoeffding_episodes(setting, epsilon));
                EXPECT_LT(needed, bernstein_episodes(setting, epsilon, BernsteinRadii::safe));
            }
}

TEST(Theorem3, ClaimsNothingWhereItsInstancesDoNotExist) {
    EXPECT_EQ(lower_bound_episodes({5, 5, 1, 0.1}, 0.01), 0);
    EXPECT_EQ(lower_bound_episodes({1, 5, 2, 0.1}, 0.01), 0);
    EXPECT_EQ(lower_bound_episodes({5, 1, 2, 0.1}, 0.01), 0);
    EXPECT_EQ(lower_bound_episodes({5, 5, 2, 0.1}, 2), 0);
    EXPECT_EQ(lower_bound_episodes({5, 5, 2, 0.9}, 0.01), 0);
    EXPECT_EQ(lower_bound_accuracy({5, 5, 2, 0.9}, 100), 0);
    EXPECT_THROW(hard_instance({5, 5, 1, 0.1}), InvalidArgument);
}

}  // namespace
}  // namespace alidade::lower_bound_test
