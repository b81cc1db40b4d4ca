#include "alidade/plan/planner.hpp"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "arrays.hpp"
#include "bindings.hpp"
#include "calling_thread.hpp"
#include "decisions.hpp"
#include "problem.hpp"

namespace alidade::python {

namespace {

using namespace nb::literals;
using SharedModel = std::shared_ptr<const TransitionModel>;

/// How much a sweep over all steps takes, in operations.
double sweep(const TransitionModel& model) {
    return static_cast<double>(model.successors().entries()) * static_cast<double>(model.shape().horizon);
}

OptimalPlan induce(const SharedModel& model, nb::handle reward, int threads) {
    const Reward wanted = reward_of(reward, model->shape());
    const Threads count = threads_of(threads);
    return patiently(sweep(*model), [=] { return backward_induction(*model, wanted, count); });
}

Evaluation value_of(const SharedModel& model, nb::handle policy, nb::handle reward, int threads) {
    const Policy followed = policy_of(policy, model->shape());
    const Reward wanted = reward_of(reward, model->shape());
    const Threads count = threads_of(threads);
    return patiently(sweep(*model), [=] { return evaluate(*model, followed, wanted, count); });
}

nb::object occupied(const SharedModel& model, nb::handle policy, int threads) {
    const Policy followed = policy_of(policy, model->shape());
    const Threads count = threads_of(threads);
    const Shape shape = model->shape();
    Matrix rows = patiently(sweep(*model), [=] { return occupancy(*model, followed, count); });
    return own_rows(std::move(rows)).attr("reshape")(shape.horizon, shape.states, shape.actions);
}

template <class Result>
nb::object values_of(nb::handle self) {
    return rows_of(nb::cast<const Result&>(self).values, self);
}

void bind_results(nb::module_& m) {
    nb::class_<OptimalPlan>(m, "OptimalPlan",
                            "An optimal policy of a known model and the values that prove it.")
        .def_ro("policy", &OptimalPlan::policy)
        .def_prop_ro("values", values_of<OptimalPlan>,
                     nb::sig("def values(self) -> numpy.typing.NDArray[numpy.float64]"),
                     "(H+1, S): V*_h(s), the last row zero; a view.")
        .def_ro("value", &OptimalPlan::value, "Expectation of V*_0 over the start.")
        .def("__repr__",
             [](const OptimalPlan& plan) { return fmt::format("<optimal plan: value {:.6g}>", plan.value); });
    nb::class_<Evaluation>(m, "Evaluation", "What a policy earns in a known model.")
        .def_prop_ro("values", values_of<Evaluation>,
                     nb::sig("def values(self) -> numpy.typing.NDArray[numpy.float64]"),
                     "(H+1, S): V^pi_h(s), the last row zero; a view.")
        .def_ro("value", &Evaluation::value, "Expectation of V^pi_0 over the start.")
        .def("__repr__",
             [](const Evaluation& found) { return fmt::format("<evaluation: value {:.6g}>", found.value); });
    nb::class_<Plan>(m, "Plan",
                     "What a planner returns. Nothing in it is believed: certificates evaluate it again.")
        .def(
            "__init__",
            [](Plan* self, const Policy& policy, std::optional<double> value, double accuracy) {
                new (self) Plan{policy, value, accuracy};
            },
            "policy"_a, "claimed_value"_a = nb::none(),
            "claimed_accuracy"_a = std::numeric_limits<double>::infinity())
        .def_ro("policy", &Plan::policy)
        .def_ro("claimed_value", &Plan::claimed_value)
        .def_ro("claimed_accuracy", &Plan::claimed_accuracy);
    nb::class_<Measurement>(m, "Measurement", "What a plan is worth in the model that it was made for.")
        .def_ro("value", &Measurement::value)
        .def_ro("optimal", &Measurement::optimal)
        .def_ro("epsilon_opt", &Measurement::epsilon_opt, "What the planner left on the table.")
        .def_prop_ro("claims_true", &Measurement::claims_true, "Whether everything that was claimed holds.")
        .def("__repr__", [](const Measurement& found) {
            return fmt::format("<value {:.6g} of {:.6g} in the model>", found.value, found.optimal);
        });
}

}  // namespace

void bind_plan(nb::module_& m) {
    bind_results(m);
    nb::class_<Planner>(m, "Planner", "A built-in planner; ``make_planner`` makes one.")
        .def(
            "plan",
            [](const std::shared_ptr<Planner>& planner, const SharedModel& model, nb::handle reward) {
                const Reward wanted = reward_of(reward, model->shape());
                return patiently([=] { return planner->plan(*model, wanted); });
            },
            "model"_a, "reward"_a,
            nb::sig("def plan(self, model: TransitionModel, reward: typing.Any) -> Plan"));
    m.def(
        "make_planner",
        [](const std::string& request) { return std::shared_ptr<Planner>(make_planner(request)); },
        "request"_a, "The planner of 'NAME' or 'NAME?parameter=value&...'; ``planners()`` names them.");
    m.def(
        "planners",
        [] {
            nb::dict all;
            for (const PlannerEntry& entry : planners()) all[nb::str(entry.name.c_str())] = entry.summary;
            return all;
        },
        nb::sig("def planners() -> dict[str, str]"), "The built-in planners, and a sentence about each.");
    m.def(
        "measure",
        [](const SharedModel& model, nb::handle reward, const Plan& plan) {
            const Reward wanted = reward_of(reward, model->shape());
            return patiently(sweep(*model), [=] { return measure(*model, wanted, plan); });
        },
        "model"_a, "reward"_a, "plan"_a,
        nb::sig("def measure(model: TransitionModel, reward: typing.Any, plan: Plan) -> Measurement"),
        "Checks a plan, believing nothing of it.");
    m.def("backward_induction", induce, "model"_a, "reward"_a, "threads"_a = 0,
          nb::sig("def backward_induction(model: TransitionModel, reward: typing.Any, threads: int = 0) -> "
                  "OptimalPlan"),
          "Dynamic programming backwards from the horizon; exact up to rounding.\n\n"
          ">>> import alidade, numpy as np\n"
          ">>> model = alidade.TransitionModel(np.array([[[1, 0], [0, 1]], [[0, 1], [1, 0]]]), horizon=3)\n"
          ">>> plan = alidade.backward_induction(model, [[0, 0], [1, 0]])\n"
          ">>> plan.value, plan.policy.actions[:, 0].tolist()\n"
          "(2.0, [1, 1, 0])\n");
    m.def("evaluate", value_of, "model"_a, "policy"_a, "reward"_a, "threads"_a = 0,
          nb::sig("def evaluate(model: TransitionModel, policy: typing.Any, reward: typing.Any, threads: int "
                  "= 0) -> "
                  "Evaluation"),
          "Evaluates any policy exactly.");
    m.def("occupancy", occupied, "model"_a, "policy"_a, "threads"_a = 0,
          nb::sig("def occupancy(model: TransitionModel, policy: typing.Any, threads: int = 0) -> "
                  "numpy.typing.NDArray[numpy.float64]"),
          "Probability of (s, a) at each step: (H, S, A).");
}

}  // namespace alidade::python
