#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "alidade/certify/reward_certificate.hpp"
#include "alidade/environment/continuous.hpp"
#include "alidade/environment/deployment.hpp"
#include "alidade/environment/simulated.hpp"
#include "alidade/explore/exploration.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "alidade/problem/aggregation.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/problem/reservoir.hpp"
#include "support/effort.hpp"
#include "support/random_models.hpp"

// T23 [theory §4]: aggregation that is exact changes nothing; where it is not, coverage needs the zeta terms.
namespace alidade::aggregation_test {
namespace {

using detail::Reservoir;
using detail::ReservoirOptions;

/// A finite problem as a continuous one: cell k of [0, S] is state k, and a point is uniform in its cell.
class Spread {
public:
    explicit Spread(const Problem& problem)
        : problem_(problem),
          model_(problem.true_model()),
          grid_({{0, static_cast<double>(problem.shape().states), problem.shape().states}}) {}

    const Grid& grid() const { return grid_; }

    std::vector<BaseLaw> laws() const {
        std::vector<BaseLaw> bases;
        const FeatureMap& map = problem_.features();
        for (Index i = 0; i < map.features(); ++i) {
            bases.push_back({map.names()[static_cast<std::size_t>(i)],
                             [this, i, &map](std::span<const double> state, Action a, CellMasses& law) {
                                 const Index pair = map.pair(grid_.cell_of(state), a);
                                 for (Index e = map.first_entry(pair); e < map.first_entry(pair + 1); ++e)
                                     law.add(map.targets()[static_cast<std::size_t>(e)],
                                             map.phi(e)[static_cast<std::size_t>(i)]);
                             }});
        }
        return bases;
    }

    /// Draws the cell as SimulatedEnvironment draws the state, then the place in it.
    ContinuousEnvironment environment() const {
        const auto place = [](State cell, Stream& random) {
            return static_cast<double>(cell) + sample_uniform(random);
        };
        const State first = problem_.start().atoms().front().first;
        const Shape& shape = problem_.shape();
        return ContinuousEnvironment(
            grid_, shape.actions, shape.horizon,
            [place, first](Stream& random, std::span<double> point) { point[0] = place(first, random); },
            [this, place](Step h, std::span<const double> point, Action a, Stream& random,
                          std::span<double> next) {
                const Index pair = model_.shape().pair(grid_.cell_of(point), a);
                const Index successor = sample_categorical(random, model_.probabilities(h, pair));
                next[0] = place(model_.features().targets(pair)[static_cast<std::size_t>(successor)], random);
            });
    }

private:
    const Problem& problem_;
    MixtureModel model_;
    Grid grid_;
};

TEST(ExactAggregation, GivesTheTrajectoriesAndCertificatesOfTheSmallModel) {
    const Problem small = make_builtin("builtin:garnet?states=8&actions=3&features=3&horizon=4&successors=5");
    const Spread spread(small);
    const std::vector<BaseLaw> laws = spread.laws();
    const Aggregation made = aggregate(spread.grid(), 3, laws, {.points = 1, .probes = 1});
    EXPECT_EQ(*made.features, small.features());
    ProblemDescription parts = small.description();
    parts.features = made.features;
    const Problem aggregated(parts);

    SimulatedEnvironment finite(small.true_model());
    ContinuousEnvironment continuous = spread.environment();
    StepwiseDeployer one(finite, 5), two(continuous, 5);
    Exploration on_small(task_of(small), {.algorithm = "hoeffding", .seed = 2});
    Exploration on_cells(task_of(aggregated), {.algorithm = "hoeffding", .seed = 2});
    for (const std::int64_t episodes : {1, 10, 300, 3000}) {
        on_small.run(one, {.episodes = episodes});
        on_cells.run(two, {.episodes = episodes});
        EXPECT_EQ(on_small.counts(), on_cells.counts());
        EXPECT_EQ(on_small.memory(), on_cells.memory());
        EXPECT_EQ(on_small.best().certificate.candidates, on_cells.best().certificate.candidates);
        EXPECT_EQ(on_small.best().mixture().model().weights(), on_cells.best().mixture().model().weights());
    }
}

/// A reservoir whose grid is coarse and whose episodes begin at the border of a cell, with its true values
/// from a grid a hundred times as fine.
struct Basin {
    static constexpr Index ratio = 100;

    explicit Basin(Index features)
        : options{.cells = 10, .actions = 2, .features = features, .horizon = 3, .start_level = 0.5999999},
          truth(Matrix::Constant(3, features, 1 / static_cast<double>(features))) {}

    ReservoirOptions options;
    Matrix truth;
    Reservoir coarse{options};
    Problem problem = coarse.problem(truth);
    MixtureModel fine = fine_reservoir().problem(truth).true_model();
    /// No value of the continuous system, of whatever policy on the fine grid, is farther from the fine
    /// model's than the sum over steps of the fine misspecification times the range that is left.
    double accuracy = 3 * fine_reservoir().misspecification();

    Reservoir fine_reservoir() const {
        ReservoirOptions more = options;
        more.cells *= ratio;
        return Reservoir(more);
    }

    ContinuousEnvironment environment() const {
        return ContinuousEnvironment(
            coarse.grid(), options.actions, options.horizon,
            [level = options.start_level](Stream&, std::span<double> first) { first[0] = level; },
            mixture_dynamics(coarse.simulators(), truth));
    }

    Reward refined(const Reward& reward) const {
        const Shape& shape = fine.shape();
        std::vector<double> values;
        for (Step h = 0; h < shape.horizon; ++h)
            for (State s = 0; s < shape.states; ++s)
                for (Action a = 0; a < shape.actions; ++a) values.push_back(reward.at(h, s / ratio, a));
        return Reward(shape, std::move(values));
    }

    Policy refined(const Policy& policy) const {
        const Shape& shape = fine.shape();
        std::vector<std::int32_t> actions;
        for (Step h = 0; h < shape.horizon; ++h)
            for (State s = 0; s < shape.states; ++s)
                actions.push_back(static_cast<std::int32_t>(policy.action(h, s / ratio)));
        return Policy::deterministic(shape, std::move(actions));
    }
};

/// How far the truth is beyond what is claimed, in the worst of several rewards; negative: nowhere.
struct Excess {
    double value = -1e9;        ///< of V^pi beyond its interval
    double loss = -1e9;         ///< of V* - V^pi beyond the bound for the reward
    double reward_free = -1e9;  ///< of V* - V^pi beyond the reward-free certificate
};

/// One at step 1 in the cells from `threshold` on, and at step 0 so much for one of the two actions that the
/// model just prefers it: what the cell hides decides which is better in truth.
Reward tempting(const MixtureModel& model, State threshold) {
    const Shape& shape = model.shape();
    std::vector<double> high(static_cast<std::size_t>(shape.states), 0.0);
    std::fill(high.begin() + threshold, high.end(), 1.0);
    const State start = model.start().atoms().front().first;
    const double lead =
        model.expect(0, shape.pair(start, 0), high) - model.expect(0, shape.pair(start, 1), high);
    std::vector<double> values(static_cast<std::size_t>(shape.horizon * shape.pairs()), 0.0);
    for (Index pair = 0; pair < shape.pairs(); ++pair) {
        if (pair % 2 == (lead > 0 ? 1 : 0))
            values[static_cast<std::size_t>(pair)] = std::min(1.0, std::abs(lead) + 1e-6);
        values[static_cast<std::size_t>(shape.pairs() + pair)] = high[static_cast<std::size_t>(pair / 2)];
    }
    return Reward(shape, std::move(values));
}

Excess excess(const Basin& basin, const Knowledge& knowledge) {
    std::vector<Reward> rewards;
    for (const NamedReward& named : basin.problem.rewards()) rewards.push_back(named.reward);
    Stream random = support::test_stream(7);
    for (int i = 0; i < 8; ++i) {
        rewards.push_back(support::random_reward(random, basin.problem.shape()));
        rewards.push_back(support::random_sparse_reward(random, basin.problem.shape(), 0.3));
    }
    for (State threshold = 1; threshold < basin.problem.shape().states; ++threshold)
        rewards.push_back(tempting(knowledge.mixture().model(), threshold));
    Excess worst;
    for (const Reward& reward : rewards) {
        const Policy policy = backward_induction(knowledge.mixture().model(), reward).policy;
        const RewardCertificate claim = certify_reward(knowledge, reward, policy);
        const double value = evaluate(basin.fine, basin.refined(policy), basin.refined(reward)).value;
        const double loss = backward_induction(basin.fine, basin.refined(reward)).value - value;
        worst.value = std::max({worst.value, claim.value.lower - value, value - claim.value.upper});
        worst.loss = std::max(worst.loss, loss - claim.loss_bound);
        worst.reward_free = std::max(worst.reward_free, loss - knowledge.certificate.bound);
    }
    return worst;
}

Knowledge explored(const Basin& basin, double misspecification, std::uint64_t seed, std::int64_t episodes) {
    Task task = task_of(basin.problem);
    task.misspecification = misspecification;
    ContinuousEnvironment environment = basin.environment();
    StepwiseDeployer system(environment, seed);
    Exploration exploration(task, {.algorithm = "hoeffding", .delta = 0.1, .seed = seed});
    exploration.run(system, {.episodes = episodes});
    return exploration.best();
}

// Every episode begins at the same border of a cell, where the law is farthest from the cell's: without zeta
// the estimate of step 0 converges to other weights than the true ones. A loss is the difference of two
// values, each known to within `accuracy`. With zeta each run may fail with probability 0.1, far from which
// these are.
TEST(CoarseAggregation, CoverageHoldsWithTheMisspecificationAndFailsWithoutIt) {
    const Basin basin(3);
    const MixtureModel truth = basin.problem.true_model();
    for (std::uint64_t seed = 0; seed < support::repetitions<std::uint64_t>(3); ++seed) {
        const Knowledge with = explored(basin, basin.problem.misspecification(), seed, 100'000);
        EXPECT_TRUE(with.mixture().contains(truth));
        EXPECT_FALSE(with.certificate.vacuous);
        const Excess none = excess(basin, with);
        EXPECT_LE(none.value, basin.accuracy);
        EXPECT_LE(none.loss, 0);
        EXPECT_LE(none.reward_free, 0);

        const Knowledge without = explored(basin, 0, seed, 100'000);
        EXPECT_FALSE(without.mixture().contains(truth));
        const Excess some = excess(basin, without);
        EXPECT_GT(some.value, basin.accuracy);
        EXPECT_GT(some.loss, 2 * basin.accuracy);
    }
}

// One base model: the weights are known before any data, and a certificate without zeta claims that nothing
// can be lost. The grid loses.
TEST(CoarseAggregation, WithNothingToLearnWhatIsLostIsLostToTheGrid) {
    const Basin basin(1);
    const Knowledge with = explored(basin, basin.problem.misspecification(), 0, 10);
    const Excess none = excess(basin, with);
    EXPECT_LE(none.value, basin.accuracy);
    EXPECT_LE(none.loss, 0);
    EXPECT_LE(none.reward_free, 0);

    const Knowledge without = explored(basin, 0, 0, 10);
    EXPECT_EQ(without.certificate.bound, 0);
    const Excess some = excess(basin, without);
    EXPECT_GT(some.value, basin.accuracy);
    EXPECT_GT(some.loss, 2 * basin.accuracy);
    EXPECT_GT(some.reward_free, 2 * basin.accuracy);
}

}  // namespace
}  // namespace alidade::aggregation_test
