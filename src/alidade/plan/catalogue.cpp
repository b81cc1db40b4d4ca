#include <fmt/ranges.h>

#include <optional>
#include <utility>

#include "../spec/nearest_name.hpp"
#include "alidade/error.hpp"
#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/planner.hpp"
#include "alidade/spec/request.hpp"
#include "linear_program.hpp"
#include "lookahead.hpp"
#include "policy_iteration.hpp"
#include "rollout.hpp"
#include "uct.hpp"

namespace alidade {
namespace {

class BackwardInductionPlanner final : public Planner {
    Plan do_plan(const TransitionModel& model, const Reward& reward) const override {
        OptimalPlan optimal = backward_induction(model, reward);
        return Plan{std::move(optimal.policy), optimal.value, 0.0};
    }
};

RequestParameter integer(std::string name, std::string default_value, double minimum, double maximum,
                         std::string meaning) {
    return {.name = std::move(name),
            .kind = ParameterKind::integer,
            .default_value = std::move(default_value),
            .meaning = std::move(meaning),
            .minimum = minimum,
            .maximum = maximum};
}

/// A policy that can be named before the model's shape is known.
enum class NamedPolicy { first, uniform };

/// Improves a named policy: makes the planner once the shape is there.
template <class Make>
class FromNamedPolicy final : public Planner {
public:
    FromNamedPolicy(NamedPolicy start, Make make) : start_(start), make_(std::move(make)) {}

private:
    Plan do_plan(const TransitionModel& model, const Reward& reward) const override {
        const Shape& shape = model.shape();
        const std::vector<std::int32_t> first(static_cast<std::size_t>(shape.horizon * shape.states), 0);
        return make_(start_ == NamedPolicy::first ? Policy::deterministic(shape, first)
                                                  : Policy::uniform(shape))
            .plan(model, reward);
    }

    NamedPolicy start_;
    Make make_;
};

template <class Make>
std::unique_ptr<Planner> from_named(const std::string& name, Make make) {
    return std::make_unique<FromNamedPolicy<Make>>(
        name == "first" ? NamedPolicy::first : NamedPolicy::uniform, std::move(make));
}

PlannerEntry policy_iteration_entry() {
    return {"policy-iteration",
            "Improves a policy in sweeps until nothing changes; exact.",
            {word_parameter("start", {"first", "uniform"},
                            "the policy to start from: always the first action, or random actions"),
             integer("sweeps", "0", 0, 1e9, "stop after so many sweeps; 0: when nothing changes")},
            [](const RequestArguments& arguments) {
                return from_named(arguments.text("start"),
                                  [sweeps = arguments.integer("sweeps")](Policy start) {
                                      return detail::PolicyIterationPlanner(std::move(start), sweeps);
                                  });
            }};
}

PlannerEntry uct_entry() {
    return {"uct",
            "Monte-Carlo tree search, which only draws from the model; not exact.",
            {integer("simulations", "1000", 1, 1e9, "episodes drawn from every step and state"),
             {.name = "exploration",
              .kind = ParameterKind::real,
              .default_value = "0.5",
              .meaning = "how much untried actions are preferred, in units of the value's range",
              .minimum = 0,
              .maximum = 1e6},
             integer("seed", "1", 0, 9e15, "the same seed gives the same policy")},
            [](const RequestArguments& arguments) {
                return std::make_unique<detail::UctPlanner>(
                    detail::UctOptions{.simulations = arguments.integer("simulations"),
                                       .exploration = arguments.real("exploration"),
                                       .seed = static_cast<std::uint64_t>(arguments.integer("seed"))});
            }};
}

PlannerEntry rollout_entry() {
    return {"rollout",
            "Plans a few steps ahead and then follows a base policy, which it improves; not exact.",
            {integer("depth", "1", 1, 1e9, "steps planned exactly"),
             word_parameter("base", {"uniform", "first"},
                            "the policy to improve: random actions, or always the first action")},
            [](const RequestArguments& arguments) {
                return from_named(arguments.text("base"), [depth = arguments.integer("depth")](Policy base) {
                    return detail::RolloutPlanner(depth, std::move(base));
                });
            }};
}

}  // namespace

const std::vector<PlannerEntry>& planners() {
    static const std::vector<PlannerEntry> entries{
        {"backward-induction",
         "Dynamic programming from the horizon back; exact.",
         {},
         [](const RequestArguments&) { return std::make_unique<BackwardInductionPlanner>(); }},
        {"linear-program",
         "The linear program over occupancies, by the simplex method; exact up to the accuracy it proves.",
         {},
         [](const RequestArguments&) { return std::make_unique<detail::LinearProgramPlanner>(); }},
        policy_iteration_entry(),
        uct_entry(),
        rollout_entry(),
        {"lookahead",
         "Plans a few steps ahead, as if nothing could be earned after them; not exact.",
         {integer("depth", "2", 1, 1e9, "steps in sight")},
         [](const RequestArguments& arguments) {
             return std::make_unique<detail::LookaheadPlanner>(arguments.integer("depth"));
         }},
    };
    return entries;
}

std::unique_ptr<Planner> make_planner(std::string_view text) {
    const Request request = parse_request(text, text);
    std::vector<std::string> names;
    for (const PlannerEntry& entry : planners()) {
        if (entry.name == request.name)
            return entry.make(
                RequestArguments(fmt::format("planner {}", entry.name), entry.parameters, request.given));
        names.push_back(entry.name);
    }
    throw InvalidArgument(fmt::format("no planner is called '{}'{}; there are {}", request.name,
                                      detail::suggestion(request.name, names), fmt::join(names, ", ")));
}

}  // namespace alidade
