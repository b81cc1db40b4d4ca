#include "uct.hpp"

#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "alidade/error.hpp"
#include "alidade/random/samplers.hpp"
#include "alidade/random/stream.hpp"

namespace alidade::detail {
namespace {

/// All that the search sees of the model.
class Sampler {
public:
    Sampler(const TransitionModel& model, const Reward& reward) : model_(model), reward_(reward) {}
    const Shape& shape() const noexcept { return model_.shape(); }
    double reward(Step h, State s, Action a) const { return reward_.at(h, s, a); }
    State draw(Step h, State s, Action a, Stream& random) const {
        const Index pair = shape().pair(s, a);
        const Index successor = sample_categorical(random, model_.probabilities(h, pair));
        return model_.successors().targets(pair)[static_cast<std::size_t>(successor)];
    }

private:
    const TransitionModel& model_;
    const Reward& reward_;
};

/// What is known of an action at a step and state.
struct Arm {
    Index tries = 0;
    double total = 0;  ///< of the returns from there to the end
    double mean() const noexcept { return tries > 0 ? total / static_cast<double>(tries) : 0; }
};

class Search {
public:
    Search(const Sampler& sampler, double exploration)
        : sampler_(sampler),
          shape_(sampler.shape()),
          exploration_(exploration),
          arms_(static_cast<std::size_t>(shape_.horizon * shape_.pairs())),
          visits_(static_cast<std::size_t>(shape_.horizon * shape_.states)),
          path_(static_cast<std::size_t>(shape_.horizon)) {}

    /// One episode from (h, s) to the end, and what it teaches.
    void simulate(Step first, State s, Stream& random) {
        for (Step h = first; h < shape_.horizon; ++h) {
            const Action a = choose(h, s);
            path_[static_cast<std::size_t>(h)] = {s, a};
            if (h + 1 < shape_.horizon) s = sampler_.draw(h, s, a, random);
        }
        double earned = 0;
        for (Step h = shape_.horizon - 1; h >= first; --h) {
            const auto [state, action] = path_[static_cast<std::size_t>(h)];
            earned += sampler_.reward(h, state, action);
            Arm& arm = at(h, state)[action];
            arm.total += earned;
            ++arm.tries;
            ++visits_[static_cast<std::size_t>(h * shape_.states + state)];
        }
    }

    /// The action tried most; of those, the one with the best mean, then the first.
    Action recommended(Step h, State s) {
        const Arm* const arms = at(h, s);
        Action best = 0;
        for (Action a = 1; a < shape_.actions; ++a) {
            if (std::pair(arms[a].tries, arms[a].mean()) > std::pair(arms[best].tries, arms[best].mean()))
                best = a;
        }
        return best;
    }

private:
    Arm* at(Step h, State s) { return arms_.data() + h * shape_.pairs() + shape_.pair(s, 0); }

    Action choose(Step h, State s) {
        const Arm* const arms = at(h, s);
        const auto visits = static_cast<double>(visits_[static_cast<std::size_t>(h * shape_.states + s)]);
        const double scale =
            exploration_ * static_cast<double>(shape_.horizon - h) * std::sqrt(std::log(visits + 1));
        double best = -1;  // below every index: rewards are not negative
        Action first = 0;
        for (Action a = 0; a < shape_.actions; ++a) {
            if (arms[a].tries == 0) return a;
            const double index = arms[a].mean() + scale / std::sqrt(static_cast<double>(arms[a].tries));
            if (index > best) {
                best = index;
                first = a;
            }
        }
        return first;
    }

    const Sampler& sampler_;
    Shape shape_;
    double exploration_;
    std::vector<Arm> arms_;
    std::vector<Index> visits_;
    std::vector<std::pair<State, Action>> path_;
};

}  // namespace

UctPlanner::UctPlanner(const UctOptions& options) : options_(options) {
    expects(options.simulations >= 1, "tree search with {} simulations; there must be at least 1",
            options.simulations);
    expects(options.exploration >= 0 && std::isfinite(options.exploration),
            "tree search with exploration constant {}; it must be a finite number of at least 0",
            options.exploration);
}

Plan UctPlanner::do_plan(const TransitionModel& model, const Reward& reward) const {
    const Shape& shape = model.shape();
    const Sampler sampler(model, reward);
    Search search(sampler, options_.exploration);
    for (Step h = shape.horizon - 1; h >= 0; --h) {
        for (State s = 0; s < shape.states; ++s) {
            Stream random(options_.seed, Purpose::tree_search, static_cast<std::uint64_t>(s),
                          static_cast<std::uint64_t>(h));
            for (Index i = 0; i < options_.simulations; ++i) search.simulate(h, s, random);
        }
    }
    std::vector<std::int32_t> actions;
    actions.reserve(static_cast<std::size_t>(shape.horizon * shape.states));
    for (Step h = 0; h < shape.horizon; ++h)
        for (State s = 0; s < shape.states; ++s)
            actions.push_back(static_cast<std::int32_t>(search.recommended(h, s)));
    return Plan{Policy::deterministic(shape, std::move(actions)), std::nullopt,
                std::numeric_limits<double>::infinity()};
}

}  // namespace alidade::detail
