#include "alidade/certify/reward_free.hpp"

#include <algorithm>

#include "alidade/theory/regression.hpp"
#include "coupling.hpp"

namespace alidade {

namespace {

std::size_t at(Index i) {
    return static_cast<std::size_t>(i);
}

/// Scratch of the coupling backup at one pair.
struct Scratch {
    std::vector<double> probabilities, values;
    std::vector<std::pair<double, std::size_t>> order;
};

/// Leaves in `scratch.probabilities` what P~ keeps of its mass; returns the backup.
double coupling_backup(const LearnedModel& learned, Step h, Index pair, double tau,
                       std::span<const double> next, Scratch& scratch) {
    const auto targets = learned.model().features().targets(pair);
    const auto law = learned.model().probabilities(h, pair);
    scratch.probabilities.assign(law.begin(), law.end());
    scratch.values.clear();
    for (const std::int32_t target : targets) scratch.values.push_back(next[at(target)]);
    return tau * static_cast<double>(learned.shape().steps_after(h)) +
           detail::remove_mass(scratch.probabilities, scratch.values, tau, scratch.order);
}

ErrorRecursion empty_recursion(const Shape& shape) {
    return {Matrix::Zero(shape.horizon, shape.states),
            std::vector<Action>(at(shape.learned_steps() * shape.states), 0)};
}

/// Runs a recursion backwards; `backup(h, pair, next)` is the error bound of taking the pair's action.
template <class Backup>
ErrorRecursion run_backwards(const Shape& shape, Backup backup) {
    ErrorRecursion result = empty_recursion(shape);
    std::vector<double> next(at(shape.states), 0.0), now(at(shape.states), 0.0);
    for (Step h = shape.horizon - 2; h >= 0; --h) {
        for (State s = 0; s < shape.states; ++s) {
            double best = -1;
            for (Action a = 0; a < shape.actions; ++a) {
                const double value = backup(h, shape.pair(s, a), next);
                if (value <= best) continue;
                best = value;
                result.actions[at(h * shape.states + s)] = a;
            }
            now[at(s)] = best;
            result.values(h, s) = best;
        }
        std::swap(now, next);
    }
    return result;
}

double start_value(const LearnedModel& learned, const ErrorRecursion& recursion) {
    const Vector first = recursion.values.row(0).transpose();
    return learned.model().start().expect({first.data(), at(first.size())});
}

/// Where the bound comes from: the recursion's value at the start is a sum over (step, state) of the
/// mass that its worst policy brings there times what is added there. `keep` moves the mass on.
template <class Added, class Move>
std::vector<Contribution> decompose(const LearnedModel& learned, const ErrorRecursion& recursion, Added added,
                                    Move move) {
    const Shape& shape = learned.shape();
    std::vector<Contribution> all;
    std::vector<double> mass(at(shape.states), 0.0), next(at(shape.states), 0.0);
    for (const auto& [state, probability] : learned.model().start().atoms()) mass[at(state)] = probability;
    for (Step h = 0; h + 1 < shape.horizon; ++h) {
        std::ranges::fill(next, 0.0);
        for (State s = 0; s < shape.states; ++s) {
            if (mass[at(s)] <= 0) continue;
            const Action a = recursion.actions[at(h * shape.states + s)];
            const double amount = 2 * mass[at(s)] * added(h, s, a);
            if (amount > 0) all.push_back({h, s, a, amount});
            move(h, s, a, mass[at(s)], next);
        }
        std::swap(mass, next);
    }
    return all;
}

std::vector<Contribution> model_contributions(const LearnedModel& learned, const DeviationTable& deviations,
                                              const ErrorRecursion& recursion) {
    const Shape& shape = learned.shape();
    // Where the recursion is clipped, the clip is what is added and nothing later counts.
    const auto clipped = [&](Step h, State s) {
        return recursion.values(h, s) >= static_cast<double>(shape.steps_after(h));
    };
    const auto added = [&](Step h, State s, Action a) {
        return clipped(h, s) ? recursion.values(h, s)
                             : static_cast<double>(shape.steps_after(h)) * deviations.at(h, shape.pair(s, a));
    };
    const auto move = [&](Step h, State s, Action a, double mass, std::vector<double>& next) {
        if (clipped(h, s)) return;
        const auto targets = learned.model().features().targets(shape.pair(s, a));
        const auto law = learned.model().probabilities(h, shape.pair(s, a));
        for (std::size_t j = 0; j < law.size(); ++j) next[at(targets[j])] += mass * law[j];
    };
    return decompose(learned, recursion, added, move);
}

std::vector<Contribution> coupling_contributions(const LearnedModel& learned,
                                                 const DeviationTable& deviations,
                                                 const ErrorRecursion& recursion) {
    const Shape& shape = learned.shape();
    Scratch scratch;
    std::vector<double> values(at(shape.states));
    const auto added = [&](Step h, State s, Action a) {
        return static_cast<double>(shape.steps_after(h)) * deviations.at(h, shape.pair(s, a));
    };
    const auto move = [&](Step h, State s, Action a, double mass, std::vector<double>& next) {
        const Index pair = shape.pair(s, a);
        for (State t = 0; t < shape.states; ++t) values[at(t)] = recursion.values(h + 1, t);
        coupling_backup(learned, h, pair, deviations.at(h, pair), values, scratch);
        const auto targets = learned.model().features().targets(pair);
        for (std::size_t j = 0; j < targets.size(); ++j)
            next[at(targets[j])] += mass * scratch.probabilities[j];
    };
    return decompose(learned, recursion, added, move);
}

}  // namespace

ErrorRecursion model_recursion(const LearnedModel& learned, const DeviationTable& deviations) {
    const Shape& shape = learned.shape();
    return run_backwards(shape, [&](Step h, Index pair, const std::vector<double>& next) {
        const auto range = static_cast<double>(shape.steps_after(h));
        return std::min(range, range * deviations.at(h, pair) + learned.model().expect(h, pair, next));
    });
}

ErrorRecursion coupling_recursion(const LearnedModel& learned, const DeviationTable& deviations) {
    Scratch scratch;
    return run_backwards(learned.shape(), [&](Step h, Index pair, const std::vector<double>& next) {
        return coupling_backup(learned, h, pair, deviations.at(h, pair), next, scratch);
    });
}

RewardFreeCertificate certify_reward_free(const LearnedModel& learned, const DeviationTable& deviations,
                                          std::size_t most) {
    const Shape& shape = learned.shape();
    const auto horizon = static_cast<double>(shape.horizon);
    RewardFreeCertificate certificate;
    certificate.failure_probability = learned.delta();
    if (deviations.zero()) {  // H = 1, one base model, or base models that agree: any plan is optimal
        certificate.vacuous = false;
        certificate.method = "model";
        certificate.candidates = {{"model", 0.0}, {"coupling", 0.0}};
        return certificate;
    }
    const ErrorRecursion model = model_recursion(learned, deviations);
    const ErrorRecursion coupling = coupling_recursion(learned, deviations);
    const double slack = rounding_slack(shape.horizon);
    const double by_model = 2 * start_value(learned, model) + slack;
    const double by_coupling = 2 * start_value(learned, coupling) + slack;
    certificate.candidates = {{"model", by_model}, {"coupling", by_coupling}};
    const bool coupled = by_coupling <= by_model;
    certificate.method = coupled ? "coupling" : "model";
    const double least = std::min(by_model, by_coupling);
    certificate.vacuous = least >= horizon;
    certificate.bound = std::min(least, horizon);
    if (most == 0) return certificate;
    certificate.contributions = coupled ? coupling_contributions(learned, deviations, coupling)
                                        : model_contributions(learned, deviations, model);
    const std::size_t kept = std::min(most, certificate.contributions.size());
    std::ranges::partial_sort(
        certificate.contributions, certificate.contributions.begin() + static_cast<std::ptrdiff_t>(kept),
        [](const Contribution& a, const Contribution& b) {
            if (a.amount != b.amount) return a.amount > b.amount;
            return std::tie(a.step, a.state, a.action) < std::tie(b.step, b.state, b.action);
        });
    certificate.contributions.resize(kept);
    return certificate;
}

}  // namespace alidade
