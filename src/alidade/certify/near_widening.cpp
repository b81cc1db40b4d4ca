#include "near_widening.hpp"

#include <algorithm>

#include "alidade/confidence/learned_mixture.hpp"
#include "reward_caps.hpp"
#include "same_rows.hpp"

namespace alidade::detail {

NearWidening::NearWidening(const LearnedModel& learned, const DeviationTable& deviations,
                           const Policy& policy, const NearRewards& near)
    : learned_(learned),
      deviations_(deviations),
      policy_(policy),
      near_(near),
      anywhere_(leads_anywhere(learned)),
      backup_(learned),
      difference_(learned),
      next_(at(learned.shape().states), 0.0),
      taken_(at(learned.shape().actions), 0.0),
      earns_(taken_),
      most_(taken_) {}

void NearWidening::enter(Step h, State s) {
    const Shape& shape = learned_.shape();
    if (h != h_) {
        for (State t = 0; t < shape.states; ++t) next_[at(t)] = near_.later(h + 1, t);
        everywhere_ = std::ranges::max(next_);
    }
    h_ = h;
    s_ = s;
    for (Action a = 0; a < shape.actions; ++a) {
        taken_[at(a)] = policy_.probability(h, s, a);
        if (last()) continue;
        const Index pair = shape.pair(s, a);
        earns_[at(a)] = backup_.upper(h, pair, next_);
        most_[at(a)] = anywhere_ ? everywhere_ : 0;
        if (!anywhere_)
            for (const std::int32_t target : learned_.model().successors().targets(pair))
                most_[at(a)] = std::max(most_[at(a)], next_[at(target)]);
    }
}

double NearWidening::operator()(Action a) {
    if (taken_[at(a)] == 1) return 0;
    // g(s,a) - sum_b pi(b) g(s,b), in which b = a drops out but for 1 - pi(a).
    double own = (1 - taken_[at(a)]) * near_.unit.at(h_, s_, a);
    for (Action b = 0; b < learned_.shape().actions; ++b)
        if (b != a) own += taken_[at(b)] * near_.unit.at(h_, s_, b);
    return last() ? own : own + of_what_follows(a);
}

// (P_a - P_pi) V^{pi,g}, of which |V^{pi,g}| <= N.
double NearWidening::of_what_follows(Action a) {
    if (same_law(a)) return 0;
    const double left = 1 - taken_[at(a)];
    const auto deviation = [&](Action b) { return deviations_.at(h_, learned_.shape().pair(s_, b)); };
    double most = most_[at(a)], apart = left * earns_[at(a)], moved = left * deviation(a);
    for (Action b = 0; b < learned_.shape().actions; ++b) {
        if (b == a || taken_[at(b)] == 0) continue;
        most = std::max(most, most_[at(b)]);
        apart += taken_[at(b)] * earns_[at(b)];
        moved += taken_[at(b)] * deviation(b);
    }
    // The learned laws' difference, and each row's distance from its learned one, which is 2 tau in absolute
    // values; or all of what both can earn.
    const double together = difference_(
                                h_, s_, a, [&](Action b) { return taken_[at(b)]; }, next_) +
                            2 * moved * most;
    return std::min({together, apart, 2 * left * most});
}

bool NearWidening::same_law(Action a) const {
    const LearnedMixture* const mixture = learned_.mixture();
    // Where the truth is no mixture, actions with the same mixtures may differ.
    if (mixture == nullptr || mixture->misspecification() > 0) return false;
    for (Action b = 0; b < learned_.shape().actions; ++b)
        if (taken_[at(b)] == 1)
            return same_rows(mixture->model().features(), learned_.shape().pair(s_, a),
                             learned_.shape().pair(s_, b));
    return false;
}

namespace {

/// Advantages that are known but for the rounding of one difference have no other slack.
constexpr double rounding_of_difference = 2e-15, rounding_of_widening = 2e-12;

}  // namespace

double margin_of(double advantage, double widening) {
    if (advantage > 0) return -1;
    if (widening == 0) return std::numeric_limits<double>::infinity();
    return std::max(0.0, -advantage - 2 * rounding_of_difference) /
           (widening * (1 + 2 * rounding_of_widening));
}

double widened(double advantage, double widening, double scale) {
    if (widening == 0 || scale == 0) return advantage;
    return advantage + scale * widening * (1 + rounding_of_widening) + rounding_of_difference;
}

std::vector<char> reachable_states(const LearnedModel& learned) {
    const Shape& shape = learned.shape();
    std::vector<char> reached(at(shape.horizon * shape.states), 0);
    for (const auto& [state, probability] : learned.model().start().atoms())
        if (probability > 0) reached[at(state)] = 1;
    const bool anywhere = leads_anywhere(learned);
    for (Step h = 0; h + 1 < shape.horizon; ++h) {
        char* const next = reached.data() + (h + 1) * shape.states;
        if (anywhere) {
            std::fill_n(next, shape.states, char{1});
            continue;
        }
        for (State s = 0; s < shape.states; ++s) {
            if (reached[at(h * shape.states + s)] == 0) continue;
            for (Action a = 0; a < shape.actions; ++a)
                for (const std::int32_t target : learned.model().successors().targets(shape.pair(s, a)))
                    next[target] = 1;
        }
    }
    return reached;
}

}  // namespace alidade::detail
