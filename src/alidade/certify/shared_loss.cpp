#include "shared_loss.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "occupancy_bounds.hpp"
#include "range_about_weights.hpp"

namespace alidade::detail {

namespace {

constexpr std::size_t most_states = 32;    // searched; the others count with their bounds
constexpr std::size_t most_choices = 300;  // examined
constexpr double worth_sharpening = 0.1;   // the share of a set in a bound
constexpr double sum_slack = 1 + 1e-12;    // for rounding of sums of positive terms

void add(LinearBound& sum, double weight, const LinearBound& term) {
    sum.constant += weight * term.constant;
    for (std::size_t i = 0; i < sum.direction.size(); ++i) sum.direction[i] += weight * term.direction[i];
}

}  // namespace

SharedLoss::SharedLoss(const LearnedMixture& learned, const Policy& policy, Threads threads)
    : learned_(learned),
      applies_(learned.misspecification() == 0 && !learned.sets().empty() &&
               learned.model().features().kind() == FeatureKind::base_models),
      splits_(applies_ && learned.model().start().atoms().size() == 1),
      numbers_(learned.sets().size() * static_cast<std::size_t>(learned.model().features().features())) {
    if (!applies_) return;
    const LinearBound zero{0, std::vector<double>(numbers_, 0.0)};
    paths_.resize(splits_ ? static_cast<std::size_t>(learned.shape().actions) : 1);
    for (std::size_t a = 0; a < paths_.size(); ++a) {
        Path& path = paths_[a];
        path.reach = splits_ ? occupancy_bounds(learned, policy, static_cast<Action>(a), threads)
                             : occupancy_bounds(learned, policy, std::nullopt, threads);
        path.rest.chord = path.first.linear = zero;
        path.possible = !splits_;
        path.bound = std::numeric_limits<double>::infinity();
    }
}

bool SharedLoss::counts(Step h, State s) const {
    return std::ranges::any_of(paths_, [&](const Path& path) { return path.reach(h, s) > 0; });
}

bool SharedLoss::before(const WeighedState& one, const WeighedState& other) {
    // Ties by place, so that the result is the same wherever it is computed.
    if (one.most() != other.most()) return one.most() > other.most();
    return std::pair(one.state->h, one.state->s) < std::pair(other.state->h, other.state->s);
}

Interval SharedLoss::range(const std::vector<double>& direction) const {
    Interval sum{0, 0};
    const auto d = static_cast<std::size_t>(learned_.model().features().features());
    for (std::size_t k = 0; k < learned_.sets().size(); ++k) {
        const Interval part = range_about_weights(learned_.sets()[k], std::span(direction).subspan(k * d, d));
        sum.lower += part.lower;
        sum.upper += part.upper;
    }
    return sum;
}

LinearBound SharedLoss::chord(const UndecidedState& state) const {
    LinearBound bound{state.most, std::vector<double>(numbers_, 0.0)};
    if (state.actions.size() != 1) return bound;  // the largest of several has no chord
    const LinearBound& linear = state.actions.front().linear;
    const Interval ends = range(linear.direction);
    if (!(ends.upper > ends.lower)) return bound;
    const double left = std::max(0.0, linear.constant + ends.lower);
    const double right = std::max(0.0, linear.constant + ends.upper);
    const double slope = (right - left) / (ends.upper - ends.lower);
    bound.constant = left - slope * ends.lower;
    for (std::size_t i = 0; i < numbers_; ++i) bound.direction[i] = slope * linear.direction[i];
    return bound;
}

void SharedLoss::add(Step h, State s, std::vector<UndecidedAction> actions) {
    auto state = std::make_shared<UndecidedState>(UndecidedState{h, s, 0, {}, std::move(actions)});
    for (const UndecidedAction& action : state->actions) state->most = std::max(state->most, action.bound);
    state->chord = chord(*state);
    for (Path& path : paths_) {
        const double reach = path.reach(h, s);
        if (!(reach > 0)) continue;
        path.states.push_back({reach, state});
        std::ranges::push_heap(path.states, before);
        if (path.states.size() <= most_states) continue;
        std::ranges::pop_heap(path.states, before);
        const WeighedState& least = path.states.back();
        path.rest.most += least.most();
        detail::add(path.rest.chord, least.reach, least.state->chord);
        path.states.pop_back();
    }
}

void SharedLoss::add_first(Action a, double bound, UndecidedAction advantage) {
    Path& path = paths_[static_cast<std::size_t>(a)];
    path.possible = true;
    path.bound = bound;
    path.first = std::move(advantage);
}

/// Bounds what the choice can be continued to.
void SharedLoss::settle(Choice& choice, const Rest& rest) const {
    LinearBound all = choice.linear;
    detail::add(all, 1, rest.chord);
    const double together = all.constant + range(all.direction).upper;
    // No more than what it continues, than without sharing members, and than with.
    choice.bound = std::min({choice.bound, choice.bounds + rest.most, together});
}

/// The same by the convex sets whose ellipsoids they are, where these make up some part of it.
void SharedLoss::sharpen(Choice& choice, const Rest& rest) const {
    choice.sharp = true;
    LinearBound all = choice.linear;
    detail::add(all, 1, rest.chord);
    const auto d = static_cast<std::size_t>(learned_.model().features().features());
    const auto part_of = [&](std::size_t k) {
        return std::span<const double>(all.direction).subspan(k * d, d);
    };
    std::vector<double> reaches;
    for (std::size_t k = 0; k < learned_.sets().size(); ++k)
        reaches.push_back(range_about_weights(learned_.sets()[k], part_of(k)).upper);
    const double some = worth_sharpening * std::accumulate(reaches.begin(), reaches.end(), 0.0);
    for (std::size_t k = 0; k < reaches.size(); ++k)
        if (reaches[k] > some) reaches[k] = std::min(reaches[k], sharp_reach(learned_.sets()[k], part_of(k)));
    choice.bound = std::min(choice.bound, std::accumulate(reaches.begin(), reaches.end(), all.constant));
}

SharedLoss::Search SharedLoss::search(const Path& path) const {
    std::vector<WeighedState> states = path.states;
    std::ranges::sort(states, before);
    Search found{{}, std::vector<Rest>(states.size() + 1, path.rest)};
    auto& [open, rests] = found;
    for (std::size_t i = states.size(); i-- > 0;) {
        rests[i] = rests[i + 1];
        rests[i].most += states[i].most();
        detail::add(rests[i].chord, states[i].reach, states[i].state->chord);
    }
    Choice root{.bound = path.bound, .bounds = path.first.bound, .linear = path.first.linear};
    settle(root, rests[0]);
    open.push(std::move(root));
    // The first that is whole is the largest; until then the first bounds all.
    for (std::size_t examined = 0; examined < most_choices && open.top().decided < states.size();) {
        Choice best = open.top();
        open.pop();
        const auto& [reach, state] = states[best.decided++];
        for (const UndecidedAction& action : state->actions) {
            Choice choice = best;
            choice.bounds += reach * action.bound;
            detail::add(choice.linear, reach, action.linear);
            settle(choice, rests[choice.decided]);
            open.push(std::move(choice));
            ++examined;
        }
        settle(best, rests[best.decided]);
        open.push(std::move(best));
    }
    return found;
}

double SharedLoss::bound(int sharpened) const {
    if (!applies_) return std::numeric_limits<double>::infinity();
    std::vector<Search> searches;
    for (const Path& path : paths_)
        if (path.possible) searches.push_back(search(path));
    double most = 0;
    // The largest of all is looked at once more, until that is one that was.
    for (int k = 0; !searches.empty(); ++k) {
        Search& largest =
            *std::ranges::max_element(searches, {}, [](const Search& each) { return each.open.top().bound; });
        most = std::max(0.0, largest.open.top().bound * sum_slack);
        if (k == sharpened || largest.open.top().sharp || most == 0) break;
        Choice best = largest.open.top();
        largest.open.pop();
        sharpen(best, largest.rests[best.decided]);
        largest.open.push(std::move(best));
    }
    return most;
}

}  // namespace alidade::detail
