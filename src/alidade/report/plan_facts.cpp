#include <algorithm>
#include <set>

#include "alidade/certify/deviation.hpp"
#include "alidade/confidence/learned_mixture.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "alidade/spec/printable_text.hpp"
#include "facts.hpp"

namespace alidade::report::detail {
namespace {

/// Rewards without a plan that one is made for: a page of more is not read.
constexpr std::size_t most_rewards = 12;
/// So many (step, state, action) at most are asked whether their action is proved to be the best.
constexpr double most_open = 2e5;

/// What the best plans earn, in the learned model and in truth.
struct Yardstick {
    const TransitionModel& model;
    const TransitionModel* truth;
    Threads threads;

    void measure(PlanFacts& plan, const Reward& reward) const {
        plan.model_value = evaluate(model, plan.policy, reward, threads).value;
        plan.planner_error =
            std::max(0.0, backward_induction(model, reward, threads).value - plan.model_value);
        if (truth == nullptr) return;
        plan.true_value = evaluate(*truth, plan.policy, reward, threads).value;
        plan.true_loss = std::max(0.0, backward_induction(*truth, reward, threads).value - *plan.true_value);
    }
};

/// theta . direction over all members, where direction is what one action's lower value has over another's
/// upper one: taken together, since both are of the same weights.
bool proved_best(const LearnedMixture& learned, const Reward& reward, Step h, State s, Action chosen,
                 std::span<const double> lower, std::span<const double> upper) {
    const Shape& shape = learned.shape();
    const FeatureMap& features = learned.model().features();
    const Vector least = features.phi_value(shape.pair(s, chosen), lower);
    for (Action a = 0; a < shape.actions; ++a) {
        if (a == chosen) continue;
        const Vector direction = least - features.phi_value(shape.pair(s, a), upper);
        const double ahead = reward.at(h, s, chosen) - reward.at(h, s, a);
        if (ahead +
                learned.set(h).range({direction.data(), static_cast<std::size_t>(direction.size())}).lower <
            -1e-9)
            return false;
    }
    return true;
}

}  // namespace

std::vector<bool> open_actions(const LearnedModel& learned, const Reward& reward, const Policy& policy,
                               Threads threads) {
    const Shape& shape = learned.shape();
    const LearnedMixture* mixture = learned.mixture();
    if (mixture == nullptr || mixture->misspecification() > 0 || !policy.is_deterministic() ||
        static_cast<double>(shape.pairs()) * static_cast<double>(shape.horizon) > most_open)
        return {};
    const ValueBounds bounds = value_bounds(learned, reward, policy, threads);
    const auto states = static_cast<std::size_t>(shape.states);
    std::vector<bool> open(states * static_cast<std::size_t>(shape.horizon), false);
    std::vector<double> lower(states), upper(states);
    for (Step h = 0; h < shape.horizon; ++h) {
        for (State s = 0; s < shape.states; ++s) {
            lower[static_cast<std::size_t>(s)] = bounds.policy_lower(h + 1, s);
            upper[static_cast<std::size_t>(s)] = bounds.optimal_upper(h + 1, s);
        }
        for (State s = 0; s < shape.states; ++s) {
            const Action chosen = policy.action(h, s);
            bool best = true;
            if (h + 1 < shape.horizon) {
                best = proved_best(*mixture, reward, h, s, chosen, lower, upper);
            } else {
                for (Action a = 0; a < shape.actions; ++a)
                    best = best && reward.at(h, s, a) <= reward.at(h, s, chosen);
            }
            open[static_cast<std::size_t>(h) * states + static_cast<std::size_t>(s)] = !best;
        }
    }
    return open;
}

std::vector<PlanFacts> plan_facts(const Run& run, const Knowledge& knowledge, Threads threads) {
    const Problem& problem = run.problem();
    const TransitionModel& model = knowledge.learned->model();
    std::optional<TransitionModel> truth;
    if (problem.truth_known()) truth = problem.true_system();
    const Yardstick yardstick{model, truth ? &*truth : nullptr, threads};
    const DeviationTable deviations = DeviationTable::of(*knowledge.learned);
    std::vector<PlanFacts> plans;
    std::set<std::string> planned;
    for (const KeptPlan& kept : run.kept_plans()) {
        PlanFacts plan{.name = shortened(printable(kept.name), 60),
                       .reward = shortened(printable(kept.reward_name), 60),
                       .planner = shortened(printable(kept.planner), 60),
                       .kept = true,
                       .scale = kept.reward.scale,
                       .certificate = kept.certificate,
                       .policy = kept.policy};
        yardstick.measure(plan, kept.reward.reward);
        plan.open = open_actions(*knowledge.learned, kept.reward.reward, kept.policy, threads);
        planned.insert(kept.reward_name);
        plans.push_back(std::move(plan));
    }
    for (const NamedReward& named : problem.rewards()) {
        if (planned.contains(named.name) || plans.size() >= most_rewards) continue;
        const Policy policy = backward_induction(model, named.reward, threads).policy;
        const std::string name = shortened(printable(named.name), 60);
        PlanFacts plan{.name = name,
                       .reward = name,
                       .planner = "backward-induction",
                       .scale = {},
                       .certificate = certify_reward(knowledge, deviations, named.reward, policy, threads),
                       .policy = policy};
        yardstick.measure(plan, named.reward);
        plan.open = open_actions(*knowledge.learned, named.reward, policy, threads);
        plans.push_back(std::move(plan));
    }
    return plans;
}

}  // namespace alidade::report::detail
