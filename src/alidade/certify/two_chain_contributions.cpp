#include <algorithm>
#include <map>
#include <tuple>
#include <vector>

#include "row_coupling.hpp"
#include "two_chain.hpp"

namespace alidade::detail {

namespace {

/// Masses that go along the chains, and what they leave behind at every step, state and action.
class Trail {
public:
    Trail(const LearnedModel& learned, const ErrorRecursion& errors, const ErrorRecursion& cap)
        : learned_(learned), shape_(learned.shape()), errors_(errors), cap_(cap) {
        alone_.assign(at(shape_.horizon), std::vector<double>(at(shape_.states), 0.0));
    }

    void add_alone(Step h, State s, double mass) { alone_[at(h)][at(s)] += mass; }
    void leave(Step h, State s, Action a, double amount) {
        if (amount > 0) left_[{h, s, a}] += amount;
    }

    /// What chains that go alone from step h leave there; after all of step h has been added.
    void follow_alone(Step h) {
        for (State s = 0; s < shape_.states; ++s) {
            const double mass = alone_[at(h)][at(s)];
            if (!(mass > 0)) continue;
            const Action a = errors_.actions[at(h * shape_.states + s)];
            const double error = errors_.values(h, s);
            // Where F is cut, the cut is what counts, and nothing later does.
            if (error >= cap_.values(h, s)) {
                leave(h, s, a, mass * error);
                continue;
            }
            const auto targets = learned_.model().successors().targets(shape_.pair(s, a));
            const auto law = learned_.model().probabilities(h, shape_.pair(s, a));
            double later = 0;
            for (std::size_t j = 0; j < targets.size(); ++j) {
                later += law[j] * errors_.values(h + 1, targets[j]);
                add_alone(h + 1, targets[j], mass * law[j]);
            }
            leave(h, s, a, mass * (error - later));
        }
    }

    std::vector<Contribution> contributions() const {
        std::vector<Contribution> all;
        for (const auto& [place, amount] : left_)
            all.push_back({std::get<0>(place), std::get<1>(place), std::get<2>(place), amount});
        return all;
    }

private:
    const LearnedModel& learned_;
    const Shape& shape_;
    const ErrorRecursion& errors_;
    const ErrorRecursion& cap_;
    std::vector<std::vector<double>> alone_;
    std::map<std::tuple<Step, State, Action>, double> left_;
};

/// Moves the mass of one pair of states on, and says what it leaves behind.
void follow_together(const LearnedModel& learned, const TwoChains& chains, Step h, State x, State y,
                     double mass, std::vector<double>& next, Trail& trail) {
    const Shape& shape = learned.shape();
    const TwoChains::Choice& choice = chains.choices[at(h)][at(chains.place(x, y))];
    if (choice.cut) {
        trail.add_alone(h, x, mass);
        trail.add_alone(h, y, mass);
        return;
    }
    trail.leave(h, x, choice.one, mass * choice.added / 2);
    trail.leave(h, y, choice.other, mass * choice.added / 2);
    const auto move = [&](State i, State j, double probability) {
        if (chains.all_pairs || i == j) {
            next[at(chains.place(i, j))] += mass * probability;
            return;
        }
        trail.add_alone(h + 1, i, mass * probability);
        trail.add_alone(h + 1, j, mass * probability);
    };
    const Index one = shape.pair(x, choice.one), other = shape.pair(y, choice.other);
    const SuccessorMap& successors = learned.model().successors();
    const auto first = learned.model().probabilities(h, one),
               second = learned.model().probabilities(h, other);
    RowCoupling coupling;
    coupling.couple({successors.targets(one), {first.begin(), first.end()}},
                    {successors.targets(other), {second.begin(), second.end()}});
    coupling.each(move);
}

}  // namespace

std::vector<Contribution> two_chain_contributions(const LearnedModel& learned, const TwoChains& chains,
                                                  const ErrorRecursion& errors, const ErrorRecursion& cap) {
    const Shape& shape = learned.shape();
    Trail trail(learned, errors, cap);
    std::vector<double> mass(chains.values[0].size(), 0.0), next(mass.size(), 0.0);
    for (const auto& [state, probability] : learned.model().start().atoms())
        mass[at(chains.place(state, state))] += probability;
    for (Step h = 0; h + 1 < shape.horizon; ++h) {
        std::ranges::fill(next, 0.0);
        for (State x = 0; x < shape.states; ++x)
            for (State y = chains.all_pairs ? 0 : x; y < (chains.all_pairs ? shape.states : x + 1); ++y)
                if (const double here = mass[at(chains.place(x, y))]; here > 0)
                    follow_together(learned, chains, h, x, y, here, next, trail);
        trail.follow_alone(h);
        mass.swap(next);
    }
    return trail.contributions();
}

std::vector<Contribution> optimal_span_contributions(const LearnedModel& learned,
                                                     const ErrorRecursion& errors,
                                                     const ErrorRecursion& cap) {
    Trail trail(learned, errors, cap);
    for (const auto& [state, probability] : learned.model().start().atoms())
        trail.add_alone(0, state, 2 * probability);
    for (Step h = 0; h + 1 < learned.shape().horizon; ++h) trail.follow_alone(h);
    return trail.contributions();
}

}  // namespace alidade::detail
