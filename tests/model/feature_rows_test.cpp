#include <gtest/gtest.h>

#include "alidade/error.hpp"
#include "alidade/model/feature_map.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/random/samplers.hpp"
#include "support/random_models.hpp"

namespace alidade::feature_rows_test {
namespace {

/// The rows of kernels, targets in the order in which the base models name them.
RowSource rows_of(Index states, Index actions, const std::vector<BaseKernel>& kernels) {
    RowSource source{states, actions, {}, states, {}};
    for (const BaseKernel& kernel : kernels) source.names.push_back(kernel.name);
    source.make = [&kernels, d = kernels.size()]() -> RowSource::Row {
        return [&kernels, d](Index pair, BaseRow& row) {
            row.targets.clear();
            row.probabilities.clear();
            for (std::size_t i = 0; i < d; ++i)
                for (auto e = kernels[i].offsets[at(pair)]; e < kernels[i].offsets[at(pair + 1)]; ++e) {
                    const State target = kernels[i].targets[at(e)];
                    auto place = std::ranges::find(row.targets, target) - row.targets.begin();
                    if (place == std::ssize(row.targets)) {
                        row.targets.insert(row.targets.begin(), target);
                        row.probabilities.insert(row.probabilities.begin(), d, 0.0);
                        place = 0;
                    }
                    row.probabilities[at(place) * d + i] += kernels[i].probabilities[at(e)];
                }
        };
    };
    return source;
}

TEST(FeatureRows, AreTheMapOfTheKernelsThatTheyMake) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        Stream random = support::test_stream(seed, 12);
        auto kernels = support::random_kernels(random, {.shape = {20, 2, 3}, .features = 3, .successors = 6});
        for (std::size_t i = 0; i < kernels.size(); ++i) kernels[i].name = fmt::format("model {}", i);
        const FeatureMap expected = FeatureMap::from_base_kernels(20, 2, kernels);
        for (const int threads : {1, 4})
            EXPECT_EQ(FeatureMap::from_rows(rows_of(20, 2, kernels), threads), expected);
    }
}

TEST(FeatureRows, RefuseARowThatIsNone) {
    const auto with = [](std::vector<State> targets, std::vector<double> probabilities) {
        RowSource source{3, 1, {"one", "two"}, 2, {}};
        source.make = [=]() -> RowSource::Row {
            return [=](Index pair, BaseRow& row) {
                row = {{0}, {1, 1}};
                if (pair == 1) row = {targets, probabilities};
            };
        };
        return source;
    };
    EXPECT_NO_THROW(FeatureMap::from_rows(with({2, 0}, {0.5, 1, 0.5, 0})));
    for (const RowSource& bad :
         {with({0, 1, 2}, {1, 1, 0, 0, 0, 0}), with({0}, {1}), with({3}, {1, 1}), with({-1}, {1, 1}),
          with({0, 0}, {0.5, 0.5, 0.5, 0.5}), with({0, 1}, {0.5, 1, 0.4, 0}), with({0, 1}, {1.5, 1, -0.5, 0}),
          with({}, {})})
        try {
            FeatureMap::from_rows(bad);
            ADD_FAILURE();
        } catch (const InvalidArgument& error) {
            EXPECT_NE(std::string(error.what()).find("state 1, action 0"), std::string::npos) << error.what();
        }
    RowSource none = with({0}, {1, 1});
    none.names.clear();
    EXPECT_THROW(FeatureMap::from_rows(none), InvalidArgument);
    RowSource huge = with({0}, {1, 1});
    huge.states = 1'000'000;
    huge.actions = 1000;
    huge.most_successors = 1000;
    EXPECT_THROW(FeatureMap::from_rows(huge), InvalidArgument);
}

TEST(Garnet, LeadsNoFartherThanItsReach) {
    const Problem problem = make_builtin("builtin:garnet?states=60&successors=5&reach=4&seed=3");
    const FeatureMap& features = problem.features();
    for (Index pair = 0; pair < features.pairs(); ++pair) {
        const State s = pair / features.actions();
        for (const std::int32_t target : features.targets(pair)) {
            // At the ends the window is shifted, and stays as wide.
            EXPECT_GE(target, std::clamp<State>(s - 4, 0, 60 - 9));
            EXPECT_LE(target, std::clamp<State>(s - 4, 0, 60 - 9) + 8);
        }
    }
    EXPECT_THROW(make_builtin("builtin:garnet?states=60&successors=8&reach=3"), InvalidArgument);
}

}  // namespace
}  // namespace alidade::feature_rows_test
