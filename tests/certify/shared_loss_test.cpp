#include "alidade/certify/shared_loss.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

#include "alidade/certify/occupancy_bounds.hpp"
#include "alidade/certify/reward_certificate.hpp"
#include "alidade/plan/evaluation.hpp"
#include "support/learned_models.hpp"
#include "support/members.hpp"

namespace alidade::shared_loss_test {
namespace {

using detail::LinearBound;
using detail::SharedLoss;
using detail::UndecidedAction;

LearnedMixture random_learned(Stream& random, std::uint64_t seed, const Shape& shape) {
    const support::RandomSizes sizes{.shape = shape,
                                     .features = 2 + sample_index(random, 4),
                                     .successors = 2,
                                     .start_law = seed % 2 == 0,
                                     .homogeneous = seed % 5 == 0};
    const MixtureModel truth = support::random_model(random, sizes);
    const double information = std::pow(10.0, static_cast<double>(seed % 6));
    if (seed % 3 == 0) return support::likelihood_model(truth, random, information);
    return support::knowledge_about(truth, seed, information).mixture();
}

/// The same with two first states, so that there is one search, from the policy itself.
LearnedMixture from_two_states(const LearnedMixture& learned) {
    return {learned.model().shared_features(),
            learned.shape().horizon,
            StartLaw(std::vector<std::pair<State, double>>{{0, 0.5}, {1, 0.5}}),
            learned.homogeneous(),
            learned.sets(),
            learned.delta()};
}

/// P(s_h = s) from the probabilities of pairs.
double probability(const Matrix& occupancy, const Shape& shape, Step h, State s) {
    return occupancy.row(h).segment(s * shape.actions, shape.actions).sum();
}

TEST(OccupancyBounds, AreAboveTheProbabilitiesOfEveryMember) {
    double tightest = 0;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        Stream random = support::test_stream(seed, 80);
        const Shape shape{2 + sample_index(random, 4), 2, 1 + sample_index(random, 5)};
        const LearnedMixture learned = random_learned(random, seed, shape);
        const Policy policy = seed % 2 == 0 ? support::random_stochastic_policy(random, shape)
                                            : support::random_deterministic_policy(random, shape);
        const Matrix bounds = detail::occupancy_bounds(learned, policy);
        for (int k = 0; k < 8; ++k) {
            const Matrix occupied = occupancy(support::random_member(learned, random, k % 3 == 2), policy);
            for (Step h = 0; h < shape.horizon; ++h)
                for (State s = 0; s < shape.states; ++s) {
                    const double exact = probability(occupied, shape, h, s);
                    EXPECT_GE(bounds(h, s), exact) << "seed " << seed << ", step " << h << ", state " << s;
                    if (h > 0 && exact > 1e-3) tightest = std::max(tightest, exact / bounds(h, s));
                }
        }
    }
    EXPECT_GT(tightest, 0.99);
}

TEST(OccupancyBounds, AreTheProbabilitiesWhereAllIsKnown) {
    const MixtureModel truth = support::random_model(3, {.shape = {5, 3, 5}, .features = 3, .successors = 3});
    const LearnedMixture learned = support::knowledge_about(truth, 3, 1e14).mixture();
    Stream random = support::test_stream(3, 81);
    const Policy policy = support::random_stochastic_policy(random, truth.shape());
    const Matrix bounds = detail::occupancy_bounds(learned, policy), occupied = occupancy(truth, policy);
    for (Step h = 0; h < 5; ++h)
        for (State s = 0; s < 5; ++s)
            EXPECT_NEAR(bounds(h, s), probability(occupied, truth.shape(), h, s), 1e-5);
}

/// Undecided actions with random directions, in `states` places that the policy comes to.
struct Undecided {
    std::vector<std::tuple<Step, State, std::vector<UndecidedAction>>> places;
};

/// Upper end of the sum over sets of (theta - theta~) . direction, from the sets' own ranges.
double largest(const LearnedMixture& learned, const std::vector<double>& direction) {
    const auto d = static_cast<std::size_t>(learned.model().features().features());
    double sum = 0;
    for (std::size_t k = 0; k < learned.sets().size(); ++k) {
        const std::span<const double> part = std::span(direction).subspan(k * d, d);
        const Vector& weights = learned.sets()[k].weights();
        sum += learned.sets()[k].range(part).upper;
        for (std::size_t i = 0; i < d; ++i) sum -= weights[static_cast<Index>(i)] * part[i];
    }
    return sum;
}

Undecided random_undecided(Stream& random, const LearnedMixture& learned, const SharedLoss& loss,
                           std::size_t states, Index most_actions) {
    const Shape& shape = learned.shape();
    const auto numbers =
        learned.sets().size() * static_cast<std::size_t>(learned.model().features().features());
    Undecided undecided;
    for (Step h = shape.horizon - 1; h > 0; --h)
        for (State s = 0; s < shape.states && undecided.places.size() < states; ++s) {
            if (!loss.counts(h, s)) continue;
            std::vector<UndecidedAction> actions;
            for (Index a = 0; a <= sample_index(random, most_actions); ++a) {
                LinearBound linear{0, std::vector<double>(numbers)};
                for (double& element : linear.direction) element = sample_normal(random);
                const double end = largest(learned, linear.direction);
                linear.constant = (0.5 - 1.4 * sample_uniform(random)) * end;
                // Another bound is now and then the lesser one.
                const double share = sample_index(random, 3) == 0 ? 0.5 : 1.0;
                actions.push_back({share * (linear.constant + end), linear});
            }
            undecided.places.emplace_back(h, s, std::move(actions));
        }
    return undecided;
}

/// Over all choices of an action or none from a place on, given what was chosen before.
double largest_choice(const LearnedMixture& learned, const Matrix& reach, const Undecided& undecided,
                      std::size_t place, double bounds, const LinearBound& linear) {
    if (place == undecided.places.size())
        return std::min(bounds, linear.constant + largest(learned, linear.direction));
    double best = largest_choice(learned, reach, undecided, place + 1, bounds, linear);
    const auto& [h, s, actions] = undecided.places[place];
    for (const UndecidedAction& action : actions) {
        LinearBound sum = linear;
        sum.constant += reach(h, s) * action.linear.constant;
        for (std::size_t i = 0; i < sum.direction.size(); ++i)
            sum.direction[i] += reach(h, s) * action.linear.direction[i];
        best = std::max(best, largest_choice(learned, reach, undecided, place + 1,
                                             bounds + reach(h, s) * action.bound, sum));
    }
    return best;
}

/// What the actions can sum to at a member.
double sum_at(const LearnedMixture& learned, const MixtureModel& member, const Matrix& reach,
              const Undecided& undecided) {
    const Index d = learned.model().features().features();
    double sum = 0;
    for (const auto& [h, s, actions] : undecided.places) {
        double most = 0;
        for (const auto& [bound, linear] : actions) {
            double value = linear.constant;
            for (Index set = 0; set < static_cast<Index>(learned.sets().size()); ++set)
                value += (member.weights(set) - learned.sets()[static_cast<std::size_t>(set)].weights())
                             .dot(Eigen::Map<const Vector>(linear.direction.data() + set * d, d));
            most = std::max(most, std::min(bound, value));
        }
        sum += reach(h, s) * most;
    }
    return sum;
}

// The enumeration is not the least bound itself: ranges of sums are bounded from above, and where another
// bound is less than an action's range it is only compared as a sum.
TEST(SharedLoss, IsBetweenTheMembersAndTheLargestOverAllChoices) {
    double tightest = 0;
    int equal = 0;
    for (std::uint64_t seed = 0; seed < 150; ++seed) {
        Stream random = support::test_stream(seed, 82);
        const Shape shape{3, 2, 2 + sample_index(random, 3)};
        const LearnedMixture learned = random_learned(random, seed, shape);
        const Policy policy = support::random_stochastic_policy(random, shape);
        const LearnedMixture spread = from_two_states(learned);
        SharedLoss loss(spread, policy);
        const Undecided undecided = random_undecided(random, spread, loss, 6, 2);
        for (const auto& [h, s, actions] : undecided.places) loss.add(h, s, actions);
        const LinearBound none{
            0, std::vector<double>(spread.sets().size() *
                                   static_cast<std::size_t>(spread.model().features().features()))};
        const Matrix reach = detail::occupancy_bounds(spread, policy);
        const double bound = loss.bound(), enumerated = largest_choice(spread, reach, undecided, 0, 0, none);
        EXPECT_LE(bound, enumerated * (1 + 1e-9)) << "seed " << seed;
        equal += bound > enumerated * (1 - 1e-9);
        for (int k = 0; k < 100; ++k) {
            const double sum =
                sum_at(spread, support::random_member(spread, random, false), reach, undecided);
            EXPECT_LE(sum, bound * (1 + 1e-12)) << "seed " << seed;
            if (bound > 0) tightest = std::max(tightest, sum / bound);
        }
    }
    EXPECT_GT(equal, 100);
    EXPECT_GT(tightest, 0.95);
}

// 80 states and more, of which the search decides but some.
TEST(SharedLoss, BoundsEveryMemberWhereTheSearchIsCutShort) {
    double tightest = 0, gained = 0;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        Stream random = support::test_stream(seed, 83);
        const Shape shape{30, 2, 5};
        const LearnedMixture learned = random_learned(random, 6 * seed + 1, shape);
        const Policy policy = support::random_stochastic_policy(random, shape);
        const LearnedMixture spread = from_two_states(learned);
        SharedLoss loss(spread, policy);
        const Undecided undecided = random_undecided(random, spread, loss, 80, seed % 2 == 0 ? 1 : 3);
        const Matrix reach = detail::occupancy_bounds(spread, policy);
        double apart = 0;
        for (const auto& [h, s, actions] : undecided.places) {
            loss.add(h, s, actions);
            double most = 0;
            for (const UndecidedAction& action : actions) most = std::max(most, action.bound);
            apart += reach(h, s) * most;
        }
        const double bound = loss.bound();
        EXPECT_LE(bound, apart * (1 + 1e-9));
        gained = std::max(gained, 1 - bound / apart);
        for (int k = 0; k < 40; ++k) {
            const double sum =
                sum_at(spread, support::random_member(spread, random, false), reach, undecided);
            EXPECT_LE(sum, bound) << "seed " << seed;
            tightest = std::max(tightest, sum / bound);
        }
    }
    EXPECT_GT(tightest, 0.3);
    EXPECT_GT(gained, 0.2);
}

/// From state 0 to 1 or 2, each with 1/2. There action 0 pays .5, and action 1 leads to state 3 with theta_b
/// from state 1, with theta_a from state 2; to state 4 otherwise. State 3 pays 1 at the last step.
SharedFeatures opposite_doors() {
    const std::vector<std::int64_t> offsets{0, 2, 4, 5, 7, 8, 10, 11, 12, 13, 14};
    const std::vector<std::int64_t> targets{1, 2, 1, 2, 4, 3, 4, 4, 3, 4, 4, 4, 4, 4};
    const BaseKernel a{"a", 10, 5, offsets, targets, {.5, .5, .5, .5, 1, 0, 1, 1, 1, 0, 1, 1, 1, 1}};
    const BaseKernel b{"b", 10, 5, offsets, targets, {.5, .5, .5, .5, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1}};
    return std::make_shared<const FeatureMap>(FeatureMap::from_base_kernels(5, 2, std::vector{a, b}));
}

// Nothing is known. The policy takes the .5. In either state the other action may be better by .5, but not in
// both: max(0, theta_b - .5) / 2 + max(0, theta_a - .5) / 2 is .25 at most, with theta_a + theta_b = 1.
TEST(SharedLoss, OneMemberCannotSpeakForOppositeActions) {
    const MixtureModel truth(opposite_doors(), 3, StartLaw(0), Matrix::Constant(3, 2, 0.5));
    const LearnedMixture learned = support::knowledge_about(truth, 1, 0).mixture();
    std::vector<double> rewards(30, 0.0);
    rewards[10 + 2] = rewards[10 + 4] = 0.5;
    rewards[20 + 6] = rewards[20 + 7] = 1;
    const Policy sure = Policy::deterministic(truth.shape(), std::vector<std::int32_t>(15, 0));
    const RewardCertificate certificate = certify_reward(learned, Reward(truth.shape(), rewards), sure);
    EXPECT_NEAR(certificate.loss_bound, 0.25, 1e-7);
}

}  // namespace
}  // namespace alidade::shared_loss_test
