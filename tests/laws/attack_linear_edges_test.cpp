#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "alidade/certify/linear_plan.hpp"
#include "alidade/confidence/linear_regression.hpp"
#include "alidade/error.hpp"
#include "alidade/explore/linear_source.hpp"
#include "alidade/files/pair_features_file.hpp"
#include "alidade/formats/problem_folder.hpp"
#include "support/effort.hpp"
#include "support/files.hpp"
#include "support/linear_truths.hpp"

// Linear MDPs where rounding, scales, empty rows and truths that are none could break a bound.
namespace alidade::attack_linear_edges_test {
namespace {

using support::LinearSizes, support::LinearTruth;
using Long = long double;
__extension__ typedef __float128 Quad;

constexpr double delta = 0.1;

Quad root(Quad x) {
    Quad y = std::sqrt(static_cast<double>(x));
    for (int k = 0; k < 3; ++k) y = (y + x / y) / 2;
    return y;
}

/// A regression at one step, to 33 digits.
class ExactRegression {
public:
    ExactRegression(const PairFeatures& map, const Counts& counts, double lambda)
        : map_(map), d_(map.features()), factor_(at(d_ * d_), 0), moments_(at(d_ * map.states()), 0) {
        for (Index i = 0; i < d_; ++i) factor_[at(i * d_ + i)] = lambda;
        for (Index pair = 0; pair < map.pairs(); ++pair)
            for (Index e = map.first_entry(pair); e < map.first_entry(pair + 1); ++e)
                for (Index i = 0; i < d_; ++i) {
                    const Quad x = static_cast<Quad>(counts.count(0, e)) * map.phi(pair)[i];
                    moments_[at(i * map.states() + map.targets()[at(e)])] += x;
                    for (Index j = 0; j < d_; ++j) factor_[at(i * d_ + j)] += x * map.phi(pair)[j];
                }
        for (Index j = 0; j < d_; ++j)
            for (Index i = j; i < d_; ++i) {
                Quad& x = factor_[at(i * d_ + j)];
                for (Index k = 0; k < j; ++k) x -= factor_[at(i * d_ + k)] * factor_[at(j * d_ + k)];
                x = i == j ? root(x) : x / factor_[at(j * d_ + j)];
            }
    }

    Long log_det(double lambda) const {
        Long sum = 0;
        for (Index i = 0; i < d_; ++i)
            sum += 2 * std::log(static_cast<Long>(factor_[at(i * d_ + i)])) -
                   std::log(static_cast<Long>(lambda));
        return sum;
    }

    /// L^-1 x.
    std::vector<Quad> solve(std::vector<Quad> x) const {
        for (Index i = 0; i < d_; ++i) {
            for (Index k = 0; k < i; ++k) x[at(i)] -= factor_[at(i * d_ + k)] * x[at(k)];
            x[at(i)] /= factor_[at(i * d_ + i)];
        }
        return x;
    }

    Quad norm(Index pair) const {
        Quad sum = 0;
        for (const Quad x : solve(phi(pair))) sum += x * x;
        return root(sum);
    }

    /// phi . Lambda^-1 M e_s.
    Quad predict(Index pair, State s) const {
        std::vector<Quad> moment;
        for (Index i = 0; i < d_; ++i) moment.push_back(moments_[at(i * map_.states() + s)]);
        const auto x = solve(phi(pair)), y = solve(moment);
        Quad sum = 0;
        for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
        return sum;
    }

private:
    std::vector<Quad> phi(Index pair) const { return {map_.phi(pair).data(), map_.phi(pair).data() + d_}; }

    const PairFeatures& map_;
    Index d_;
    std::vector<Quad> factor_, moments_;
};

/// Visits of each pair of step 0, shared among its successors as the truth has it.
Counts shared_visits(const LinearTruth& truth, const std::vector<std::int64_t>& visits) {
    const PairFeatures& map = *truth.task.linear;
    Counts counts(truth.task.linear, truth.task.horizon);
    for (Index pair = 0; pair < map.pairs(); ++pair) {
        std::int64_t rest = visits[at(pair)];
        const Index first = map.first_entry(pair), last = map.first_entry(pair + 1);
        Index most = first;
        for (Index e = first; e < last; ++e) {
            const double p = truth.at(0)(pair, map.targets()[at(e)]);
            const auto count =
                static_cast<std::int64_t>(std::floor(p * static_cast<double>(visits[at(pair)])));
            counts.add(0, e, count);
            rest -= count;
            if (p > truth.at(0)(pair, map.targets()[at(most)])) most = e;
        }
        counts.add(0, most, rest);
    }
    return counts;
}

LearnedLinear learn(const LinearTruth& truth, const Counts& counts) {
    const detail::LinearRegression regression(truth.task, delta);
    return {truth.task,
            regression.solve(detail::linear_statistics(*truth.task.linear, counts, truth.task.homogeneous)),
            delta};
}

// u must be above beta |phi| of the exact regression by as much as the estimate in use is off it, at every V.
TEST(LinearEdges, RoundingIsLessThanWhatIsAllowedForIt) {
    Long worst = 0, loosest = 0;
    const int seeds = support::runs(600, 20000);
    for (int seed = 0; seed < seeds; ++seed) {
        SCOPED_TRACE(seed);
        Stream random = support::test_stream(static_cast<std::uint64_t>(seed), 720);
        LinearSizes sizes;
        sizes.shape = {2 + sample_index(random, 2), 2, 2};
        sizes.laws = 2 + sample_index(random, 2);
        sizes.features = sizes.laws + sample_index(random, 3);
        sizes.turned = sample_index(random, 4) > 0;
        sizes.scale =
            std::pow(10.0, -8 * sample_uniform(random) * static_cast<double>(sample_index(random, 2)));
        sizes.spread =
            std::pow(10.0, -9 * sample_uniform(random) * static_cast<double>(sample_index(random, 2)));
        const LinearTruth truth = support::random_linear_truth(random, sizes);
        const PairFeatures& map = *truth.task.linear;
        std::vector<std::int64_t> visits;
        const double most = 12 * sample_uniform(random);
        for (Index pair = 0; pair < map.pairs(); ++pair)
            visits.push_back(sample_index(random, 3) == 0 ? sample_index(random, 11)
                                                          : std::llround(std::pow(10.0, most)));
        if (seed % 3 == 0) visits.assign(visits.size(), 0), visits[0] = 1'000'000'000'000, visits[1] = 10;
        const Counts counts = shared_visits(truth, visits);
        const detail::LinearRegression regression(truth.task, delta);
        const double lambda = regression.regularisation();
        const ExactRegression exact(map, counts, lambda);
        const LearnedLinear learned = learn(truth, counts);
        const auto successors = static_cast<Long>(regression.successors(0));
        const Long beta =
            std::sqrt(static_cast<Long>(lambda)) * static_cast<Long>(map.norm_bound()) +
            (successors > 1 ? std::sqrt(exact.log_det(lambda) + 2 * ((successors - 1) * std::log(Long{2}) -
                                                                     std::log(static_cast<Long>(delta)))) /
                                  2
                            : 0);
        for (Index pair = 0; pair < map.pairs(); ++pair) {
            Quad up = 0, down = 0;
            for (State s = 0; s < map.states(); ++s) {
                Quad used = 0;
                for (Index i = 0; i < map.features(); ++i)
                    used += static_cast<Quad>(map.phi(pair)[i]) * learned.estimate(0).measures(i, s);
                const Quad off = used - exact.predict(pair, s);
                (off > 0 ? up : down) += off > 0 ? off : -off;
            }
            const Long shift = static_cast<Long>(std::max(up, down));
            const Long exactly = static_cast<Long>(static_cast<Quad>(beta) * exact.norm(pair));
            const Long allowed = static_cast<Long>(learned.bonus(0, pair)) - exactly;
            EXPECT_GT(allowed, shift) << "u " << static_cast<double>(exactly) << ", pair " << pair;
            worst = std::max(worst, shift / allowed);
            loosest = std::max(loosest, allowed / exactly);
        }
    }
    RecordProperty("worst", std::to_string(worst));
    RecordProperty("loosest", std::to_string(loosest));
}

TEST(LinearEdges, ScalingTheFeaturesChangesNothing) {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        SCOPED_TRACE(seed);
        std::vector<std::vector<double>> bonuses;
        for (const double scale : {1.0, 1e-8, 0x1p-40}) {
            Stream random = support::test_stream(seed, 721);
            LinearSizes sizes{
                .shape = {3, 2, 2}, .laws = 3, .features = 3, .turned = seed % 2 == 0, .scale = scale};
            const LinearTruth truth = support::random_linear_truth(random, sizes);
            const LearnedLinear learned = learn(
                truth,
                shared_visits(truth, std::vector<std::int64_t>(6, seed % 3 == 0 ? 1'000'000'000 : 1000)));
            auto& found = bonuses.emplace_back();
            for (Index pair = 0; pair < 6; ++pair) found.push_back(learned.bonus(0, pair));
        }
        for (std::size_t pair = 0; pair < 6; ++pair) {
            EXPECT_NEAR(bonuses[1][pair] / bonuses[0][pair], 1, 1e-4);
            EXPECT_NEAR(bonuses[2][pair] / bonuses[0][pair], 1, 1e-4);
        }
    }
}

Task one_pair_task(Index states, std::vector<std::int32_t> targets) {
    std::vector<std::int64_t> offsets{0};
    std::vector<std::int32_t> all;
    for (State s = 0; s < states; ++s) {
        all.insert(all.end(), targets.begin(), targets.end());
        offsets.push_back(static_cast<std::int64_t>(all.size()));
    }
    Task task;
    task.linear = std::make_shared<const PairFeatures>(SuccessorMap(states, 1, offsets, all), 1,
                                                       std::vector<double>(at(states), 1.0), 1.0);
    task.horizon = 2;
    return task;
}

TEST(LinearEdges, ARowOfWhichNothingIsLeftIsKnownToBeNothing) {
    const Task task = one_pair_task(3, {0, 1});
    const Matrix one = Matrix::Identity(1, 1);
    Matrix measures(1, 3);
    measures << -0.4, 0, 0.9;
    // Every law on the first two states is 1.4 from it.
    for (const double u : {1.4, 2.0, 1e6}) {
        const LearnedLinear learned(task, {{measures, one, u}}, delta);
        for (Index pair = 0; pair < 3; ++pair) {
            EXPECT_DOUBLE_EQ(learned.model().probabilities(0, pair)[0], 0.5);
            EXPECT_GE(learned.bonus(0, pair), u);
            EXPECT_GE(std::min(1.0, learned.bonus(0, pair)), 1.0);
        }
    }
    EXPECT_THROW(LearnedLinear(task, {{measures, one, 1.39}}, delta), ModelContradiction);
    measures << 0, 0, 0;
    EXPECT_THROW(LearnedLinear(task, {{measures, one, 0.99}}, delta), ModelContradiction);
    EXPECT_GE(LearnedLinear(task, {{measures, one, 1.0}}, delta).bonus(0, 0), 1.0);
    // No contradiction within what rounding may do, and yet nothing is known.
    EXPECT_GE(LearnedLinear(task, {{measures, one, 1 - 5e-10}}, delta).bonus(0, 0), 1.0);
}

TEST(LinearEdges, OneStateAndOneStepLeaveNothingToLearn) {
    Stream random = support::test_stream(0, 722);
    const LinearTruth one = support::random_linear_truth(
        random, {.shape = {1, 3, 4}, .laws = 2, .features = 3, .turned = true, .scale = 1e-8});
    detail::LinearSource alone({one.task, delta, {}, {}});
    EXPECT_EQ(alone.knowledge().certificate.bound, 0);
    Task short_task = one_pair_task(2, {0, 1});
    short_task.horizon = 1;
    detail::LinearSource brief({short_task, delta, {}, {}});
    EXPECT_EQ(brief.knowledge().certificate.bound, 0);
    EXPECT_EQ(linear_plan_bound(brief.knowledge().learned->as_linear("the test")), 0);
}

TEST(LinearEdges, TruthsThatAreNoLawsAreRefused) {
    const auto map = static_cast<SuccessorMap>(*one_pair_task(4, {0, 1}).linear);
    const auto features = std::make_shared<const PairFeatures>(map, 1, std::vector<double>(4, 0.25), 8.0);
    const auto model = [&](std::vector<double> law) {
        const Matrix mu = 4 * Eigen::Map<const Eigen::RowVectorXd>(law.data(), std::ssize(law));
        return linear_model(features, 2, StartLaw(0), {mu});
    };
    EXPECT_NO_THROW(model({0.3, 0.7, 0, 0}));
    EXPECT_NO_THROW(model({1, 0, 0, 0}));
    EXPECT_THROW(model({1.1, -0.1, 0, 0}), InvalidArgument);
    EXPECT_THROW(model({0.3, 0.6, 0, 0}), InvalidArgument);
    EXPECT_THROW(model({0.3, 0.6, 0.1, 0}), InvalidArgument);
    // Where nothing can follow there is no mass, neither of this sign nor of that.
    EXPECT_THROW(model({0.3, 0.7, 0.4, -0.4}), InvalidArgument);
    EXPECT_THROW(model({0.3, 0.7, 1e-6, -1e-6}), InvalidArgument);
    EXPECT_THROW(model({0.3, 9.7, 0, -9}), InvalidArgument);
    EXPECT_THROW(PairFeatures(map, 1, std::vector<double>(4, 1e-101), 1e101), InvalidArgument);
}

TEST(LinearEdges, AFolderWhoseTruthIsNoLawIsRefused) {
    const testing::TemporaryFolder folder;
    const Problem problem = load_problem("builtin:linear-random?states=4&actions=2&features=2&horizon=3");
    save_problem(problem, folder.path());
    EXPECT_NO_THROW(load_problem(folder.path().string()));
    auto measures = detail::read_measures(folder.path() / "truth.npz");
    measures[1](0, 0) += 1e-6;
    detail::write_measures(folder.path() / "truth.npz", measures);
    EXPECT_THROW(load_problem(folder.path().string()), InvalidArgument);
    measures[1](0, 0) -= 1e-6;
    measures[2].row(0).swap(measures[2].row(1));
    measures[2](0, 1) -= 2;
    measures[2](0, 2) += 2;
    detail::write_measures(folder.path() / "truth.npz", measures);
    EXPECT_THROW(load_problem(folder.path().string()), InvalidArgument);
}

/// From the start only state 0 can follow; from state 1 all can. So data of state 1 at step 0 are not from
/// this start, and a radius that counts one state is none for them.
TEST(LinearEdges, DataFromWhereTheStartCannotLeadAreRefused) {
    Task task;
    task.linear =
        std::make_shared<const PairFeatures>(SuccessorMap(3, 1, {0, 1, 4, 7}, {0, 0, 1, 2, 0, 1, 2}), 2,
                                             std::vector<double>{1, 0, 0, 1, 0, 1}, std::sqrt(2.0));
    task.horizon = 2;
    const detail::LinearRegression regression(task, delta);
    EXPECT_EQ(regression.successors(0), 1);
    detail::LinearSource source({task, delta, {}, {}});
    Counts counts(task.linear, 2);
    counts.add(Episode{{0, 0}, {0, 0}});
    source.absorb(counts);
    EXPECT_NO_THROW(source.knowledge());
    counts.clear();
    counts.add(Episode{{1, 2}, {0, 0}});
    source.absorb(counts);
    EXPECT_THROW(source.knowledge(), ModelContradiction);
    EXPECT_THROW(source.refresh(), ModelContradiction);
}

/// One-hot features, so that a regression is a mean with one more visit. Two states and actions; action 1
/// goes to state 1 with probability 0.7, action 0 with 0.3; H = 3. Exploration is by Algorithm 3; the reward
/// is 1 everywhere, so that Q* = H - h. Regressed on what exploration thought at the time [errata 44 and 45],
/// whose values fall with the data, planning is not optimistic; regressed on its own values it is.
TEST(LinearEdges, RegressingOnValuesOfOlderEpisodesIsNotOptimistic) {
    LinearTruth truth;
    std::vector<double> one_hot(16, 0);
    for (std::size_t i = 0; i < 4; ++i) one_hot[5 * i] = 1;
    truth.task.linear = std::make_shared<const PairFeatures>(all_successors(2, 2), 4, one_hot, 2.0);
    truth.task.horizon = 3;
    Matrix laws(4, 2);
    laws << .7, .3, .3, .7, .7, .3, .3, .7;
    truth.laws = {laws, laws};
    Stream random = support::test_stream(0, 723);
    Counts counts(truth.task.linear, 3);
    double sums[2][4] = {};  // of V_t(s') by step and pair: the printed targets
    constexpr int episodes = 3000;
    for (int k = 0; k < episodes; ++k) {
        double values[3][2] = {};
        Episode episode;
        std::vector<std::vector<Action>> chosen(2, std::vector<Action>(2));
        for (Step h = 1; h >= 0; --h)
            for (State s = 0; s < 2; ++s) {
                double best = -1;
                for (Action a = 0; a < 2; ++a) {
                    const Index pair = 2 * s + a;
                    const auto n = static_cast<double>(counts.visits(h, pair));
                    double log_det = 0, mean = 0;
                    for (Index i = 0; i < 4; ++i)
                        log_det += std::log1p(static_cast<double>(counts.visits(h, i)));
                    for (std::size_t next = 0; next < 2; ++next)
                        mean += static_cast<double>(counts.count(h, 2 * pair + static_cast<Index>(next))) *
                                values[h + 1][next];
                    const double beta = 2 + 0.5 * std::sqrt(log_det + 2 * std::log(2 * 2 / delta));
                    const double range = 2 - static_cast<double>(h);
                    const double worth = mean / (1 + n) + 2 * range * beta / std::sqrt(1 + n);
                    if (worth > best) best = worth, chosen[at(h)][at(s)] = a;
                    values[h][s] = std::max(values[h][s], std::min(range, worth));
                }
            }
        State s = 0;
        for (Step h = 0; h < 3; ++h) {
            episode.states.push_back(s);
            const Action a = h < 2 ? chosen[at(h)][at(s)] : 0;
            episode.actions.push_back(a);
            if (h == 2) break;
            const Index pair = 2 * s + a;
            s = support::sample_row(random, laws, pair);
            sums[h][pair] += values[h + 1][s];
        }
        counts.add(episode);
    }
    const LearnedLinear learned = learn(truth, counts);
    const Reward reward({2, 2, 3}, std::vector<double>(12, 1.0));
    const LinearPlan plan = linear_plan(learned, reward);
    int printed_below = 0;
    for (Step h = 0; h < 2; ++h)
        for (Index pair = 0; pair < 4; ++pair) {
            const double range = 2 - static_cast<double>(h), u = learned.bonus(h, pair);
            const auto n = static_cast<double>(counts.visits(h, pair));
            const double later =
                learned.estimate(h).expect(*truth.task.linear, plan.values.row(h + 1).transpose())[pair];
            EXPECT_GE(std::min(range, later + range * u), range - 1e-12);  // Q* = 1 + range
            const double mean = laws.row(pair) * plan.values.row(h + 1).transpose();
            EXPECT_LE(later, mean + range * u + 1e-12);
            if (std::min(range, sums[h][pair] / (1 + n) + range * u) < range - 0.1) ++printed_below;
        }
    EXPECT_GT(printed_below, 0);
}

}  // namespace
}  // namespace alidade::attack_linear_edges_test
