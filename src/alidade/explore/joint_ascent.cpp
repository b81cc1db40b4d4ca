#include "joint_ascent.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "../certify/relaxation.hpp"
#include "alidade/random/samplers.hpp"

namespace alidade::detail {

namespace {

/// Sweeps over all blocks at most, between two polishes and in all: far more than are ever used.
constexpr int most_sweeps = 50, most_rounds = 20;
/// A gain that rounding could have made is none: it must not be chased for ever.
constexpr double least_gain = 1e-10;
/// Values above this share of the clip count as clipped.
constexpr double clipped_share = 0.9;
/// No radius needs to be scaled down further: all bonuses are next to nothing.
constexpr double least_scale = 1e-12;

}  // namespace

JointAscent::JointAscent(const JointProblem& problem, const AscentOptions& options, double scale)
    : problem_(problem),
      options_(options),
      shape_(problem.task.shape()),
      scale_(scale),
      supports_(problem.parts.size()) {}

JointPoint JointAscent::plain_start() {
    const auto choices = at(shape_.horizon * shape_.states);
    JointPoint point{std::vector<std::int32_t>(choices, 0), std::vector<std::uint8_t>(choices, 1), {}};
    for (std::size_t k = 0; k < problem_.parts.size(); ++k) {
        const ConfidenceSet& set = problem_.parts[k].set;
        Vector weights = set.weights();
        // A projection in one metric need not lie in the balls of others.
        if (options_.joint && !set.contains(weights)) {
            const SupportBracket some =
                support(static_cast<Index>(k)).bracket({weights.data(), at(weights.size())});
            if (some.witness.size() > 0) weights = some.witness;
        }
        point.weights.push_back(std::move(weights));
    }
    return point;
}

JointPoint JointAscent::start_with(const std::vector<std::int32_t>& actions, std::uint64_t turn) {
    JointPoint point = plain_start();
    std::ranges::copy(actions, point.actions.begin());
    // Of equal rewards nothing is uncertain, and there is no slope that would lead away from them.
    Stream random(0, Purpose::starts, turn, 0);
    for (std::uint8_t& reward : point.rewards) reward = sample_index(random, 2) == 0 ? 0 : 1;
    return point;
}

JointPoint JointAscent::random_start(std::uint64_t turn, std::uint64_t number) {
    JointPoint point = plain_start();
    Stream random(0, Purpose::starts, turn, number);
    for (std::int32_t& action : point.actions)
        action = static_cast<std::int32_t>(sample_index(random, shape_.actions));
    for (std::uint8_t& reward : point.rewards) reward = sample_index(random, 2) == 0 ? 0 : 1;
    if (!options_.joint) return point;
    for (std::size_t k = 0; k < point.weights.size(); ++k) {
        Vector direction(point.weights[k].size());
        for (double& x : direction) x = sample_normal(random);
        const SupportBracket corner =
            support(static_cast<Index>(k)).bracket({direction.data(), at(direction.size())});
        if (corner.witness.size() > 0) point.weights[k] = corner.witness;
    }
    return point;
}

JointPoint JointAscent::repaired(JointPoint point) const {
    for (std::size_t k = 0; k < point.weights.size(); ++k) {
        const ConfidenceSet& set = problem_.parts[k].set;
        const Vector& model = set.weights();
        // Towards what the set hands over until it is a member; the parameters are convex.
        Vector weights = options_.joint ? point.weights[k] : model;
        for (int halving = 0; halving < 30 && !set.contains(weights); ++halving)
            weights = (weights + model) / 2;
        point.weights[k] = set.contains(weights) ? weights : model;
    }
    return point;
}

const SupportFunction& JointAscent::support(Index part) {
    auto& kept = supports_[at(part)];
    // No bound is made of it.
    if (!kept) kept.emplace(problem_.parts[at(part)].set.support_function({.tolerance = 1e-6}));
    return *kept;
}

/// Whether a step is kept: if the value has not fallen.
bool JointAscent::accept(JointValues& values, double before) {
    if (values.value() < before) return false;
    trace_.push_back(values.value());
    return true;
}

// All states of a step at once: the value is convex in what the step's values are, so a choice that the slope
// prefers cannot lower it where nothing is clipped and backups are monotone [docs/algorithms/bernstein.md,
// The search].
bool JointAscent::layer_step(JointValues& values, Step h) {
    const double before = values.value();
    values.differentiate(h, false, adjoint_);
    values.keep(h);
    bool moved = false;
    for (State s = 0; s < shape_.states; ++s) {
        const auto place = at(h * shape_.states + s);
        const double optimistic = adjoint_.optimistic[place], model = adjoint_.model[place];
        if (optimistic == 0 && model == 0) continue;
        const bool rewarded = values.point().rewards[place] != 0;
        // mu is the slope by the reward, of which 0 and 1 are enough [docs/algorithms/bernstein.md, The
        // search].
        const bool reward = model > 0 || (model == 0 && rewarded);
        Action best = values.point().actions[place];
        if (h + 1 < shape_.horizon) {
            // To first order in what the step's values are, but with the clip, which no slope shows.
            const auto score = [&](Action a) {
                const JointValues::Worth worth = values.worth(h, shape_.pair(s, a));
                return optimistic * std::min(problem_.clips[at(h)], worth.optimistic) + model * worth.model;
            };
            double highest = score(best);
            // Ties within rounding stay where they are, or sweeps would go round in circles.
            highest += least_gain * std::abs(highest);
            for (Action a = 0; a < shape_.actions; ++a)
                if (const double own = score(a); own > highest) {
                    highest = own;
                    best = a;
                }
        }
        moved = moved || best != values.point().actions[place] || reward != rewarded;
        values.choose(h, s, best, reward);
    }
    if (!moved) return false;
    const JointPoint wanted = values.point();
    values.evaluate(h);
    if (accept(values, before)) return values.value() > before * (1 + least_gain);
    values.undo();
    return state_by_state(values, h, wanted);
}

/// Kept if the value has risen by more than rounding.
bool JointAscent::try_choice(JointValues& values, const Choice& choice) {
    const double before = values.value();
    values.keep(choice.h);
    values.choose(choice.h, choice.s, choice.action, choice.reward);
    values.evaluate_choice(choice.h, choice.s);
    if (values.value() > before * (1 + least_gain) && accept(values, before)) return true;
    values.undo();
    return false;
}

// Where the whole layer lowered the value, which clips and printed backups allow, some of its changes may
// still raise it.
bool JointAscent::state_by_state(JointValues& values, Step h, const JointPoint& wanted) {
    bool gained = false;
    for (State s = 0; s < shape_.states && values.backups() < limit_; ++s) {
        const auto place = at(h * shape_.states + s);
        if (wanted.actions[place] == values.point().actions[place] &&
            wanted.rewards[place] == values.point().rewards[place])
            continue;
        gained = try_choice(values, {h, s, wanted.actions[place], wanted.rewards[place] != 0}) || gained;
    }
    return gained;
}

// To the member that the slope prefers, or part of the way [docs/algorithms/bernstein.md, The search]. One
// set for all steps: the slope is the sum of theirs, and the same test decides.
bool JointAscent::weight_step(JointValues& values, Index part) {
    const double before = values.value();
    values.differentiate(shape_.horizon, true, adjoint_);
    const Vector& slope = adjoint_.weights[at(part)];
    const SupportBracket corner = support(part).bracket({slope.data(), at(slope.size())});
    const Vector start = values.point().weights[at(part)];
    if (corner.witness.size() == 0 || !(corner.lower > slope.dot(start))) return false;
    // The slope is that at the start: where the whole way loses, a part of it may gain.
    for (const double length : {1.0, 0.4, 0.16, 0.064}) {
        values.take_weights(part, start + length * (corner.witness - start));
        values.evaluate(shape_.horizon - 2);
        if (values.value() > before * (1 + least_gain)) return accept(values, before);
    }
    values.take_weights(part, start);
    values.evaluate(shape_.horizon - 2);
    return false;
}

bool JointAscent::try_choices(JointValues& values, Step h, State s) {
    const auto place = at(h * shape_.states + s);
    bool gained = false;
    const Index actions = h + 1 < shape_.horizon ? shape_.actions : 1;  // the last one leads nowhere
    for (Action a = 0; a < actions; ++a)
        for (const bool reward : {false, true}) {
            if (values.point().actions[place] == a && (values.point().rewards[place] != 0) == reward)
                continue;
            gained = try_choice(values, {h, s, a, reward}) || gained;
        }
    return gained;
}

/// All single choices, those first that matter most.
bool JointAscent::polish(JointValues& values) {
    values.differentiate(shape_.horizon, false, adjoint_);
    std::vector<std::pair<double, Index>> places;
    for (Index place = 0; place < shape_.horizon * shape_.states; ++place) {
        const double slope = std::abs(adjoint_.optimistic[at(place)]) + std::abs(adjoint_.model[at(place)]);
        if (slope > 0) places.emplace_back(-slope, place);
    }
    std::ranges::sort(places);
    bool gained = false;
    for (const auto& [slope, place] : places) {
        if (values.backups() >= limit_) break;
        gained = try_choices(values, place / shape_.states, place % shape_.states) || gained;
    }
    return gained;
}

JointSolution JointAscent::climb(JointPoint start) {
    JointValues values(problem_, std::move(start), scale_);
    trace_ = {values.value()};
    limit_ = values.backups() + options_.backups;
    for (int round = 0; round < most_rounds; ++round) {
        bool gained = true;
        for (int sweep = 0; sweep < most_sweeps && gained && values.backups() < limit_; ++sweep) {
            gained = false;
            for (Step h = 0; h < shape_.horizon; ++h) gained = layer_step(values, h) || gained;
            if (!options_.joint) continue;
            for (std::size_t k = 0; k < problem_.parts.size(); ++k)
                gained = weight_step(values, static_cast<Index>(k)) || gained;
        }
        // Where no block gains a single choice may, and after it blocks again.
        if (values.backups() >= limit_ || !polish(values)) break;
    }
    return {values.point(), values.value(), scale_};
}

namespace {

/// The best of all starts at one scale.
JointSolution best_of_starts(const JointProblem& problem, const AscentOptions& options,
                             const std::optional<JointSolution>& before, const JointPoint& relaxed,
                             double scale, std::uint64_t turn) {
    // The solution before, as sets change little between two policies; the relaxation's policy, which B rests
    // on; and random ones, for what both miss.
    JointAscent ascent(problem, options, scale);
    std::optional<JointSolution> best;
    for (Index number = 0; number < options.starts; ++number) {
        JointPoint start = number == 0 && before ? ascent.repaired(before->point)
                           : number == (before ? 1 : 0)
                               ? relaxed
                               : ascent.random_start(turn, static_cast<std::uint64_t>(number));
        JointSolution found = ascent.climb(std::move(start));
        if (!best || found.value > best->value) best = std::move(found);
    }
    return std::move(*best);
}

}  // namespace

JointSolution maximise(const JointProblem& problem, const AscentOptions& options,
                       const std::optional<JointSolution>& before, std::uint64_t turn) {
    const Shape shape = problem.task.shape();
    JointAscent first(problem, options);
    if (shape.learned_steps() == 0) return {first.plain_start(), 0, 1};
    // The policy that attains B, which no (pi, R) exceeds [docs/algorithms/bernstein.md, Theorem 3].
    std::vector<std::int32_t> actions = relaxation(problem, {}).actions;
    actions.resize(at(shape.horizon * shape.states), 0);
    const JointPoint relaxed = first.start_with(actions, turn);
    const double limit = clipped_share * problem.clips.front();
    // While everything is clipped all points are maxima, and there is no slope. Up again by twice at most,
    // as radii hardly change between two policies [docs/algorithms/bernstein.md, The search].
    double scale = before ? std::min(1.0, 2 * before->scale) : 1.0;
    // One point that is clipped is enough to see that the scale is too large.
    const JointPoint probe = before ? first.repaired(before->point) : relaxed;
    while (scale > least_scale && JointValues(problem, probe, scale).value() >= limit) scale /= 2;
    JointSolution found = best_of_starts(problem, options, before, relaxed, scale, turn);
    while (found.value >= limit && scale > least_scale) {
        scale /= 2;
        found = best_of_starts(problem, options, found, relaxed, scale, turn);
    }
    return found;
}

// Radii as they are and backups by members that a solver found: a number that the problem has at this point,
// and so a lower end of its maximum, to be compared with B.
double attained_value(const JointProblem& problem, const JointPoint& point) {
    return JointValues(problem, point, 1, RobustBackup::attained).value();
}

}  // namespace alidade::detail
