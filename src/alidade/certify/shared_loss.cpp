#include "shared_loss.hpp"

#include <algorithm>
#include <limits>
#include <queue>
#include <utility>

#include "occupancy_bounds.hpp"

namespace alidade::detail {

namespace {

constexpr std::size_t most_states = 32;     // searched; the others count with their bounds
constexpr std::size_t most_choices = 1000;  // examined
constexpr double outward = 1 + 1e-12;       // for rounding of sums of positive terms

void add(LinearBound& sum, double weight, const LinearBound& term) {
    sum.constant += weight * term.constant;
    for (std::size_t i = 0; i < sum.direction.size(); ++i) sum.direction[i] += weight * term.direction[i];
}

}  // namespace

SharedLoss::SharedLoss(const LearnedModel& learned, const Policy& policy)
    : learned_(learned),
      applies_(learned.misspecification() == 0 && !learned.sets().empty() &&
               learned.model().features().kind() == FeatureKind::base_models),
      single_start_(learned.model().start().atoms().size() == 1),
      numbers_(learned.sets().size() * static_cast<std::size_t>(learned.model().features().features())) {
    rest_.chord.direction.assign(numbers_, 0.0);
    if (applies_) reach_ = occupancy_bounds(learned, policy);
}

bool SharedLoss::before(const UndecidedState& one, const UndecidedState& other) {
    // Ties by place, so that the result is the same wherever it is computed.
    if (one.most != other.most) return one.most > other.most;
    return std::pair(one.h, one.s) < std::pair(other.h, other.s);
}

Interval SharedLoss::range(const std::vector<double>& direction) const {
    Interval sum{0, 0};
    const auto d = static_cast<std::size_t>(learned_.model().features().features());
    for (std::size_t k = 0; k < learned_.sets().size(); ++k) {
        const ConfidenceSet& set = learned_.sets()[k];
        const std::span<const double> part = std::span(direction).subspan(k * d, d);
        double here = 0;
        for (std::size_t i = 0; i < d; ++i) here += set.weights()[static_cast<Index>(i)] * part[i];
        const Interval all = set.range(part);
        sum.lower += all.lower - here;
        sum.upper += all.upper - here;
    }
    return sum;
}

LinearBound SharedLoss::chord(const UndecidedState& state) const {
    LinearBound bound{state.most, std::vector<double>(numbers_, 0.0)};
    if (state.actions.size() != 1) return bound;  // the largest of several has no chord
    const LinearBound& linear = state.actions.front().linear;
    const Interval ends = range(linear.direction);
    const double left = std::max(0.0, linear.constant + ends.lower);
    const double right = std::max(0.0, linear.constant + ends.upper);
    if (!(ends.upper > ends.lower)) return bound;
    const double slope = (right - left) / (ends.upper - ends.lower);
    bound.constant = state.reach * (left - slope * ends.lower);
    for (std::size_t i = 0; i < numbers_; ++i) bound.direction[i] = state.reach * slope * linear.direction[i];
    return bound;
}

void SharedLoss::add(Step h, State s, std::vector<UndecidedAction> actions) {
    double most = 0;
    for (const UndecidedAction& action : actions) most = std::max(most, action.bound);
    if (h == 0 && single_start_) {
        // V* - V^pi = max_a (A + P_a D_1) there, and for the policy's own action that is the sum over later
        // steps: no need to add the two.
        first_ = most;
        return;
    }
    UndecidedState state{reach_(h, s), reach_(h, s) * most, {}, h, s, std::move(actions)};
    state.chord = chord(state);
    states_.push_back(std::move(state));
    std::ranges::push_heap(states_, before);
    if (states_.size() <= most_states) return;
    std::ranges::pop_heap(states_, before);
    rest_.most += states_.back().most;
    detail::add(rest_.chord, 1, states_.back().chord);
    states_.pop_back();
}

/// Bounds what the choice can be continued to.
void SharedLoss::settle(Choice& choice, const Rest& rest) const {
    LinearBound all = choice.linear;
    detail::add(all, 1, rest.chord);
    const double together = all.constant + range(all.direction).upper;
    choice.bound = std::min({choice.bound, choice.bounds + rest.most, together});
}

double SharedLoss::search() const {
    std::vector<const UndecidedState*> states;
    for (const UndecidedState& state : states_) states.push_back(&state);
    std::ranges::sort(states, [](const auto* one, const auto* other) { return before(*one, *other); });
    std::vector<Rest> rests(states.size() + 1, rest_);
    for (std::size_t i = states.size(); i-- > 0;) {
        rests[i] = rests[i + 1];
        rests[i].most += states[i]->most;
        detail::add(rests[i].chord, 1, states[i]->chord);
    }
    const auto less = [](const Choice& one, const Choice& other) { return one.bound < other.bound; };
    std::priority_queue<Choice, std::vector<Choice>, decltype(less)> open(less);
    Choice root{.bound = rests[0].most, .linear = {0, std::vector<double>(numbers_, 0.0)}};
    settle(root, rests[0]);
    open.push(std::move(root));
    // The first that is whole is the largest; until then the first bounds all.
    for (std::size_t examined = 0; examined < most_choices && open.top().decided < states.size();) {
        Choice best = open.top();
        open.pop();
        const UndecidedState& state = *states[best.decided++];
        for (const UndecidedAction& action : state.actions) {
            Choice choice = best;
            choice.bounds += state.reach * action.bound;
            detail::add(choice.linear, state.reach, action.linear);
            settle(choice, rests[choice.decided]);
            open.push(std::move(choice));
            ++examined;
        }
        settle(best, rests[best.decided]);
        open.push(std::move(best));
    }
    return open.top().bound;
}

double SharedLoss::bound() const {
    if (!applies_) return std::numeric_limits<double>::infinity();
    return std::max({0.0, first_, search() * outward});
}

}  // namespace alidade::detail
