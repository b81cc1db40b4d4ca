#include "alidade/audit/member_attack.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "../model/parallel.hpp"
#include "alidade/confidence/learned_mixture.hpp"
#include "alidade/error.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "alidade/random/samplers.hpp"
#include "worst_reward.hpp"

namespace alidade {

namespace {

/// A member and a reward, with what the plan loses there and the slopes of that loss.
class Standpoint {
public:
    Standpoint(const LearnedMixture& learned, Matrix weights, std::vector<double> values)
        : learned_(learned),
          shape_(learned.shape()),
          weights_(std::move(weights)),
          truth_(learned.model().shared_features(), shape_.horizon, learned.model().start(), weights_),
          reward_(shape_, std::move(values)),
          plan_(backward_induction(learned.model(), reward_).policy),
          best_(backward_induction(truth_, reward_)),
          followed_(evaluate(truth_, plan_, reward_)) {}

    double loss() const { return best_.value - followed_.value; }
    const Matrix& weights() const { return weights_; }
    const std::vector<double>& values() const { return reward_.values(); }
    const Reward& reward() const { return reward_; }

    const Policy& best() const { return best_.policy; }
    const Policy& plan() const { return plan_; }
    const MixtureModel& truth() const { return truth_; }

    /// Of the loss, in the weights of every step: d numbers each.
    Matrix slopes() const {
        Matrix found = Matrix::Zero(shape_.horizon, weights_.cols());
        add(best_.policy, best_.values, 1, found);
        add(plan_, followed_.values, -1, found);
        return found;
    }

private:
    /// What the weights do to a deterministic policy's value, where it is.
    void add(const Policy& policy, const Matrix& values, double sign, Matrix& found) const {
        std::vector<double> mass(at(shape_.states), 0.0), next(mass), later(mass);
        for (const auto& [state, probability] : learned_.model().start().atoms())
            mass[at(state)] = probability;
        for (Step h = 0; h + 1 < shape_.horizon; ++h) {
            std::ranges::fill(next, 0.0);
            for (State s = 0; s < shape_.states; ++s) later[at(s)] = values(h + 1, s);
            for (State s = 0; s < shape_.states; ++s) {
                if (!(mass[at(s)] > 0)) continue;
                const Index pair = shape_.pair(s, policy.action(h, s));
                found.row(h) += sign * mass[at(s)] * truth_.features().phi_value(pair, later).transpose();
                const auto targets = truth_.successors().targets(pair);
                const auto law = truth_.probabilities(h, pair);
                for (std::size_t j = 0; j < targets.size(); ++j) next[at(targets[j])] += mass[at(s)] * law[j];
            }
            mass.swap(next);
        }
    }

    const LearnedMixture& learned_;
    const Shape& shape_;
    Matrix weights_;
    MixtureModel truth_;
    Reward reward_;
    Policy plan_;
    OptimalPlan best_;
    Evaluation followed_;
};

/// The farthest on the way to the weights that is a member, as the set itself says.
Vector last_member(const ConfidenceSet& set, const Vector& weights) {
    if (set.contains(weights)) return weights;
    const Vector& centre = set.weights();
    double low = 0, high = 1;
    for (int step = 0; step < 30; ++step) {
        const double middle = (low + high) / 2;
        (set.contains(centre + middle * (weights - centre)) ? low : high) = middle;
    }
    return centre + low * (weights - centre);
}

/// A reward of 1 in one state of one step, which some policy reaches in the model.
std::vector<double> one_place(const LearnedMixture& learned, Stream& random) {
    const Shape& shape = learned.shape();
    std::vector<bool> reached(at(shape.states), false);
    for (const auto& [state, probability] : learned.model().start().atoms())
        reached[at(state)] = probability > 0;
    const Step last = sample_index(random, shape.horizon);
    for (Step h = 0; h < last; ++h) {
        std::vector<bool> next(reached.size(), false);
        for (State s = 0; s < shape.states; ++s)
            for (Action a = 0; reached[at(s)] && a < shape.actions; ++a)
                for (const std::int32_t target : learned.model().successors().targets(shape.pair(s, a)))
                    next[at(target)] = true;
        reached.swap(next);
    }
    std::vector<State> there;
    for (State s = 0; s < shape.states; ++s)
        if (reached[at(s)]) there.push_back(s);
    std::vector<double> values(at(shape.horizon * shape.pairs()), 0.0);
    const State chosen = there[at(sample_index(random, std::ssize(there)))];
    for (Action a = 0; a < shape.actions; ++a) values[at(last * shape.pairs() + shape.pair(chosen, a))] = 1;
    return values;
}

/// One search.
class Climb {
public:
    Climb(const LearnedMixture& learned, Stream random, Index number) : learned_(learned), random_(random) {
        const Shape& shape = learned.shape();
        std::vector<double> values;
        for (Index i = 0; i < shape.horizon * shape.pairs(); ++i)
            values.push_back(number % 4 == 0 ? static_cast<double>(sample_index(random_, 2))
                                             : sample_uniform(random_));
        here_.emplace(learned, random_members(), std::move(values));
        // Where few policies lead anywhere: the plans of two places.
        if (number % 4 >= 2) {
            const Reward one(shape, one_place(learned, random_)), other(shape, one_place(learned, random_));
            offer_worst(backward_induction(here_->truth(), one).policy,
                        backward_induction(learned.model(), other).policy);
        }
    }

    void run(Index steps) {
        while (tried_ < steps) {
            const double before = here_->loss();
            move_weights();
            offer_worst(here_->best(), here_->plan());
            if (here_->loss() > before * (1 + 1e-6)) continue;
            // At the end of a slope: another plan, which differs in one place.
            for (int k = 0; k < 8 && tried_ < steps; ++k) disturb();
        }
    }

    const Standpoint& here() const { return *here_; }
    Index tried() const { return tried_; }

private:
    /// The last member of every set on the way to some weights.
    Matrix random_members() {
        Matrix weights = learned_.model().weights();
        for (Step h = 0; h + 1 < learned_.shape().horizon; ++h) {
            const auto law = sample_dirichlet(random_, weights.cols(), 0.5);
            weights.row(h) =
                last_member(learned_.set(h), Eigen::Map<const Vector>(law.data(), weights.cols()))
                    .transpose();
        }
        return weights;
    }

    bool offer(Matrix weights, std::vector<double> values) {
        ++tried_;
        Standpoint there(learned_, std::move(weights), std::move(values));
        if (!(there.loss() > here_->loss())) return false;
        here_.emplace(std::move(there));
        return true;
    }

    /// The reward that is worst for a plan, where another policy is the best.
    bool offer_worst(const Policy& best, const Policy& plan) {
        std::optional<std::vector<double>> worst =
            detail::worst_reward(learned_.model(), here_->truth(), best, plan);
        if (!worst) {
            ++tried_;
            return false;
        }
        return offer(here_->weights(), std::move(*worst));
    }

    void move_weights() {
        for (Step h = 0; h + 1 < learned_.shape().horizon; ++h) {
            const Vector slope = here_->slopes().row(h).transpose();
            if (!(slope.cwiseAbs().maxCoeff() > 0)) continue;
            Matrix weights = here_->weights();
            weights.row(h) = learned_.set(h).farthest_member({slope.data(), at(slope.size())}).transpose();
            offer(std::move(weights), here_->values());
        }
    }

    void disturb() {
        const Shape& shape = learned_.shape();
        const auto place = at(sample_index(random_, shape.horizon * shape.states));
        const auto action = static_cast<std::int32_t>(sample_index(random_, shape.actions));
        // Of the plan or of the best policy.
        const bool of_plan = sample_index(random_, 2) == 0;
        std::vector<std::int32_t> actions = (of_plan ? here_->plan() : here_->best()).actions();
        actions[place] = action;
        const Policy changed = Policy::deterministic(shape, std::move(actions));
        if (of_plan)
            offer_worst(here_->best(), changed);
        else
            offer_worst(changed, here_->plan());
    }

    const LearnedMixture& learned_;
    Stream random_;
    std::optional<Standpoint> here_;
    Index tried_ = 0;
};

}  // namespace

double MemberAttack::slack() const noexcept {
    return loss > 0 ? bound / loss : std::numeric_limits<double>::infinity();
}

MemberAttack attack_members(const Knowledge& knowledge, const MemberAttackOptions& options) {
    const LearnedMixture& learned = knowledge.mixture("the largest loss over members");
    expects(options.starts >= 1 && options.steps >= 1, "{} starts and {} steps; must be at least 1",
            options.starts, options.steps);
    expects(
        learned.misspecification() == 0 && !learned.homogeneous(),
        "members are tried of sets of one step each, and of mixtures; the run has a misspecification of {} "
        "or pooled steps",
        learned.misspecification());
    std::vector<std::optional<Climb>> climbs(at(options.starts));
    detail::in_chunks(options.starts, 1, options.threads, [&](Index first, Index last) {
        for (Index k = first; k < last; ++k) {
            climbs[at(k)].emplace(learned,
                                  Stream(options.seed, Purpose::audit, static_cast<std::uint64_t>(k), 2), k);
            climbs[at(k)]->run(options.steps);
        }
    });
    std::size_t best = 0;
    Index tried = 0;
    for (std::size_t k = 0; k < climbs.size(); ++k) {
        tried += climbs[k]->tried();
        if (climbs[k]->here().loss() > climbs[best]->here().loss()) best = k;
    }
    const Standpoint& worst = climbs[best]->here();
    return {worst.loss(), worst.reward(), worst.weights().topRows(learned.shape().horizon - 1), tried,
            knowledge.certificate.bound};
}

}  // namespace alidade
