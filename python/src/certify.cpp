#include <fmt/format.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "alidade/certify/knowledge.hpp"
#include "alidade/certify/linear_plan.hpp"
#include "alidade/certify/reward_certificate.hpp"
#include "alidade/certify/robust_plan.hpp"
#include "arrays.hpp"
#include "bindings.hpp"
#include "calling_thread.hpp"
#include "decisions.hpp"
#include "problem.hpp"

namespace alidade::python {

namespace {

using namespace nb::literals;

nb::dict named(const std::vector<std::pair<std::string, double>>& pairs) {
    nb::dict all;
    for (const auto& [name, value] : pairs) all[nb::str(name.c_str())] = value;
    return all;
}

void bind_certificates(nb::module_& m) {
    nb::class_<Contribution>(m, "Contribution", "How much one (step, state, action) adds to a certificate.")
        .def_ro("step", &Contribution::step)
        .def_ro("state", &Contribution::state)
        .def_ro("action", &Contribution::action)
        .def_ro("amount", &Contribution::amount)
        .def("__repr__", [](const Contribution& c) {
            return fmt::format("<step {}, state {}, action {}: {:.4g}>", c.step, c.state, c.action, c.amount);
        });
    nb::class_<RewardFreeCertificate>(
        m, "RewardFreeCertificate",
        "The claim: with probability 1 - failure_probability, for every reward in [0, 1] at once, a policy "
        "that is "
        "optimal in the learned model, from every state on (as backward induction makes it), loses at most "
        "``bound`` on the real system.")
        .def_ro("bound", &RewardFreeCertificate::bound,
                "At most H; of plans that are greedy in every state of every step.")
        .def_ro("any_plan", &RewardFreeCertificate::any_plan,
                "The same of any plan, less what it is short of optimal in the model.")
        .def_prop_ro(
            "forms",
            [](const RewardFreeCertificate& c) {
                return std::map<std::string, std::string>(c.forms.begin(), c.forms.end());
            },
            nb::sig("def forms(self) -> dict[str, str]"),
            "How candidates were computed of which there are several forms, and why others were left out.")
        .def_ro("vacuous", &RewardFreeCertificate::vacuous, "The bound is H: it says nothing.")
        .def_ro("method", &RewardFreeCertificate::method, "The argument that gave the bound.")
        .def_prop_ro(
            "candidates", [](const RewardFreeCertificate& c) { return named(c.candidates); },
            nb::sig("def candidates(self) -> dict[str, float]"), "Every argument's bound, not clipped at H.")
        .def_prop_ro(
            "unproved", [](const RewardFreeCertificate& c) { return named(c.unproved); },
            nb::sig("def unproved(self) -> dict[str, float]"))
        .def_ro("failure_probability", &RewardFreeCertificate::failure_probability)
        .def_ro("contributions", &RewardFreeCertificate::contributions, "The largest, in falling order.")
        .def("__repr__", [](const RewardFreeCertificate& c) {
            if (c.vacuous)
                return fmt::format("<certificate: vacuous (probability {})>", 1 - c.failure_probability);
            return fmt::format("<certificate: any reward, loss at most {:.4g} with probability {} ({})>",
                               c.bound, 1 - c.failure_probability, c.method);
        });
    nb::class_<RewardCertificate>(m, "RewardCertificate",
                                  "What is certain about one policy under one reward on the real system. The "
                                  "policy may come from anywhere, "
                                  "and the reward may have been chosen after seeing everything.")
        .def_ro("value", &RewardCertificate::value, "Contains the policy's true value.")
        .def_ro("optimal_upper", &RewardCertificate::optimal_upper, "No policy is worth more than this.")
        .def_ro("loss_bound", &RewardCertificate::loss_bound,
                "What the policy loses against the best one, at most.")
        .def_ro("vacuous", &RewardCertificate::vacuous)
        .def_prop_ro(
            "methods", [](const RewardCertificate& c) { return named(c.methods); },
            nb::sig("def methods(self) -> dict[str, float]"), "Loss bounds by the name of their argument.")
        .def_ro("failure_probability", &RewardCertificate::failure_probability)
        .def("__repr__", [](const RewardCertificate& c) {
            return fmt::format(
                "<certificate: value in [{:.6g}, {:.6g}], loss at most {:.4g}{} (probability {})>",
                c.value.lower, c.value.upper, c.loss_bound, c.vacuous ? ", vacuous" : "",
                1 - c.failure_probability);
        });
}

RewardCertificate certified(const Knowledge& knowledge, nb::handle reward, nb::handle policy, int threads) {
    const Shape& shape = knowledge.learned->shape();
    const Reward wanted = reward_of(reward, shape);
    const Policy followed = policy_of(policy, shape);
    const Threads count = threads_of(threads);
    const double size = static_cast<double>(knowledge.learned->model().successors().entries()) *
                        static_cast<double>(shape.horizon) * 100;
    return patiently(size, [=] { return certify_reward(knowledge, wanted, followed, count); });
}

std::vector<RewardCertificate> certified_all(const Knowledge& knowledge, nb::handle questions, int threads) {
    const Shape& shape = knowledge.learned->shape();
    std::vector<RewardQuestion> all;
    for (const nb::handle question : questions)
        all.push_back({reward_of(nb::object(question[0]), shape), policy_of(nb::object(question[1]), shape)});
    const Threads count = threads_of(threads);
    return patiently([=, all = std::move(all)] { return certify_rewards(knowledge, all, count); });
}

void bind_knowledge(nb::module_& m) {
    nb::class_<Knowledge>(m, "Knowledge", "A learned model with the claim about it.")
        .def_prop_ro("learned",
                     [](const Knowledge& knowledge) {
                         return std::const_pointer_cast<LearnedModel>(knowledge.learned);
                     })
        .def_prop_ro(
            "model",
            [](const Knowledge& knowledge) {
                return nb::object(
                    nb::cast(std::const_pointer_cast<LearnedModel>(knowledge.learned)).attr("model"));
            },
            nb::sig("def model(self) -> TransitionModel"), "What is planned with.")
        .def_prop_ro(
            "weights",
            [](const Knowledge& knowledge) {
                return nb::object(
                    nb::cast(std::const_pointer_cast<LearnedModel>(knowledge.learned)).attr("weights"));
            },
            nb::sig("def weights(self) -> numpy.typing.NDArray[numpy.float64]"),
            "The learned weights, a row a step, or one if homogeneous; a view.")
        .def_ro("certificate", &Knowledge::certificate)
        .def_ro("episodes", &Knowledge::episodes, "That it rests on.")
        .def_prop_ro("shape", [](const Knowledge& knowledge) { return knowledge.learned->shape(); })
        .def("plan", in_python("alidade.plan", "plan"),
             nb::sig("def plan(self, reward: typing.Any, planner: typing.Any = 'backward-induction', *, "
                     "threads: int = "
                     "0) -> alidade.plan.CertifiedPlan"),
             "A plan for a reward, certified.\n\n"
             "The planner is a name of ``planners()``, 'robust', an object with ``plan(model, reward)``, or "
             "any "
             "callable (P, R, H) -> policy: P is a list of H arrays (S, A, S), or one if the model is "
             "homogeneous, R has "
             "shape (H, S, A), and the policy has shape (H, S), or (S,).")
        .def("certify", certified, "reward"_a, "policy"_a, "threads"_a = 0,
             nb::sig("def certify(self, reward: typing.Any, policy: typing.Any, threads: int = 0) -> "
                     "RewardCertificate"),
             "Certifies any policy, wherever it comes from, for a reward.")
        .def("certify_class", in_python("alidade._core", "certify_class"),
             nb::sig("def certify_class(self, rewards: typing.Any, threads: int = 0) -> ClassCertificate"),
             "Certifies a class of rewards: 'total', or a RewardClass.")
        .def("certify_near", in_python("alidade._core", "certify_near"),
             nb::sig("def certify_near(self, reward: typing.Any, policy: typing.Any, eta: typing.Any, "
                     "threads: int = 0) -> NearCertificate"),
             "Certifies a policy for every reward within ``eta`` of one, a number or an array.")
        .def("_repr_html_", in_python("alidade._display", "knowledge_html"),
             nb::sig("def _repr_html_(self) -> str"))
        .def("__repr__", [](const Knowledge& knowledge) {
            const auto& c = knowledge.certificate;
            return fmt::format(
                "<knowledge from {} episodes: any reward, loss at most {:.4g} of {}{}, with probability "
                "{}>",
                knowledge.episodes, c.bound, knowledge.learned->shape().horizon,
                c.vacuous ? " (vacuous)" : "", 1 - c.failure_probability);
        });
    m.def("certify_reward", certified, "knowledge"_a, "reward"_a, "policy"_a, "threads"_a = 0,
          nb::sig("def certify_reward(knowledge: Knowledge, reward: typing.Any, policy: typing.Any, threads: "
                  "int = 0) "
                  "-> RewardCertificate"),
          "What is certain about one policy under one reward.");
    m.def("certify_rewards", certified_all, "knowledge"_a, "questions"_a, "threads"_a = 0,
          nb::sig("def certify_rewards(knowledge: Knowledge, questions: "
                  "collections.abc.Iterable[tuple[typing.Any, typing.Any]], threads: int = 0) -> "
                  "list[RewardCertificate]"),
          "The certificates of many pairs (reward, policy). All hold at once, with no union over the "
          "questions.");
}

void bind_robust(nb::module_& m) {
    nb::class_<PriceOfRobustness>(m, "PriceOfRobustness")
        .def_ro("model_value", &PriceOfRobustness::model_value)
        .def_ro("optimal_model_value", &PriceOfRobustness::optimal_model_value)
        .def_ro("guaranteed", &PriceOfRobustness::guaranteed)
        .def_ro("optimal_guaranteed", &PriceOfRobustness::optimal_guaranteed)
        .def_prop_ro("cost", &PriceOfRobustness::cost, "Value that is given up if the model is right.")
        .def_prop_ro("gain", &PriceOfRobustness::gain, "Guaranteed value that is gained.");
    nb::class_<RobustPlan>(m, "RobustPlan", "A policy with the largest guaranteed value.")
        .def_ro("policy", &RobustPlan::policy)
        .def_prop_ro(
            "guaranteed",
            [](nb::handle self) { return rows_of(nb::cast<const RobustPlan&>(self).guaranteed, self); },
            nb::sig("def guaranteed(self) -> numpy.typing.NDArray[numpy.float64]"), "(H+1, S).")
        .def_ro("price", &RobustPlan::price);
    m.def(
        "robust_plan",
        [](const Knowledge& knowledge, nb::handle reward, bool solver, int threads) {
            const Reward wanted = reward_of(reward, knowledge.learned->shape());
            const Threads count = threads_of(threads);
            const WorstCase worst = solver ? WorstCase::solver : WorstCase::closed_form;
            return patiently([=] { return robust_plan(*knowledge.learned, wanted, worst, count); });
        },
        "knowledge"_a, "reward"_a, "solver"_a = false, "threads"_a = 0,
        nb::sig("def robust_plan(knowledge: Knowledge, reward: typing.Any, solver: bool = False, threads: "
                "int = 0) -> "
                "RobustPlan"),
        "Plans for the worst member of the confidence sets.");
    m.def(
        "value_bounds",
        [](const Knowledge& knowledge, nb::handle reward, nb::handle policy, int threads) {
            const Shape& shape = knowledge.learned->shape();
            const Reward wanted = reward_of(reward, shape);
            const Policy followed = policy_of(policy, shape);
            const Threads count = threads_of(threads);
            ValueBounds bounds =
                patiently([=] { return value_bounds(*knowledge.learned, wanted, followed, count); });
            nb::dict all;
            all["policy_lower"] = own_rows(std::move(bounds.policy_lower));
            all["policy_upper"] = own_rows(std::move(bounds.policy_upper));
            all["optimal_upper"] = own_rows(std::move(bounds.optimal_upper));
            return all;
        },
        "knowledge"_a, "reward"_a, "policy"_a, "threads"_a = 0,
        nb::sig("def value_bounds(knowledge: Knowledge, reward: typing.Any, policy: typing.Any, threads: int "
                "= 0) -> "
                "dict[str, numpy.typing.NDArray[numpy.float64]]"),
        "Bounds of true values at every (step, state), each (H+1, S).");
}

}  // namespace

void bind_certify(nb::module_& m) {
    bind_certificates(m);
    bind_knowledge(m);
    bind_robust(m);
}

}  // namespace alidade::python
