#include "alidade/certify/reward_class.hpp"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>

#include "alidade/certify/near_reward.hpp"
#include "alidade/error.hpp"
#include "arrays.hpp"
#include "bindings.hpp"
#include "calling_thread.hpp"
#include "decisions.hpp"
#include "problem.hpp"

namespace alidade::python {

namespace {

using namespace nb::literals;

nb::dict bounds_by_name(const std::vector<std::pair<std::string, double>>& pairs) {
    nb::dict all;
    for (const auto& [name, value] : pairs) all[nb::str(name.c_str())] = value;
    return all;
}

void bind_classes(nb::module_& m) {
    nb::class_<RewardClass>(m, "RewardClass",
                            "The rewards that a certificate is to hold for, all at once; ``one & other`` are "
                            "those of both.")
        .def_static("all", &RewardClass::all, "shape"_a, "Every reward in [0, 1].")
        .def_static(
            "total", [](const Shape& shape, double most) { return RewardClass::total(shape, most); },
            "shape"_a, "most"_a = 1.0,
            "Rewards that may depend on the whole past, and add up to at most ``most`` in every episode: any "
            "event.")
        .def_static(
            "at_steps",
            [](const Shape& shape, const std::vector<Step>& steps) {
                return RewardClass::at_steps(shape, steps);
            },
            "shape"_a, "steps"_a, "Rewards that are zero but at these steps, counted from 0.")
        .def_static(
            "in_states",
            [](const Shape& shape, const std::vector<State>& states) {
                return RewardClass::in_states(shape, states);
            },
            "shape"_a, "states"_a, "Rewards that are zero but in these states.")
        .def_static(
            "below",
            [](const Shape& shape, nb::handle caps) { return RewardClass::below(reward_of(caps, shape)); },
            "shape"_a, "caps"_a, nb::sig("def below(shape: Shape, caps: typing.Any) -> RewardClass"),
            "Rewards that are nowhere above ``caps``, itself a reward.")
        .def("__and__", &RewardClass::both, "other"_a)
        .def_prop_ro("shape", &RewardClass::shape)
        .def_prop_ro(
            "most_in_all",
            [](const RewardClass& rewards) {
                return rewards.of_histories() ? std::optional(rewards.total()) : std::nullopt;
            },
            "What a reward may add up to; None where that is not said.")
        .def("__repr__", [](const RewardClass& rewards) {
            return rewards.of_histories()
                       ? fmt::format("<rewards with a total of at most {}>", rewards.total())
                       : std::string("<rewards below caps>");
        });
    nb::class_<ClassCertificate>(m, "ClassCertificate",
                                 "The claim: with probability 1 - failure_probability, for every reward of "
                                 "the class at once, a policy that is optimal in the learned model loses at "
                                 "most ``bound`` on the real system.")
        .def_ro("bound", &ClassCertificate::bound, "At most ``most``.")
        .def_ro("most", &ClassCertificate::most, "No loss can exceed this.")
        .def_ro("vacuous", &ClassCertificate::vacuous, "The bound is ``most``: it says nothing.")
        .def_ro("method", &ClassCertificate::method)
        .def_prop_ro(
            "candidates", [](const ClassCertificate& c) { return bounds_by_name(c.candidates); },
            nb::sig("def candidates(self) -> dict[str, float]"))
        .def_ro("failure_probability", &ClassCertificate::failure_probability)
        .def_ro("contributions", &ClassCertificate::contributions)
        .def("__repr__", [](const ClassCertificate& c) {
            return fmt::format("<certificate of a class: loss at most {:.4g} of {:.4g}{} (probability {})>",
                               c.bound, c.most, c.vacuous ? ", vacuous" : "", 1 - c.failure_probability);
        });
    nb::class_<NearCertificate>(m, "NearCertificate",
                                "What is certain of one policy under every reward near a given one at once.")
        .def_ro("loss_bound", &NearCertificate::loss_bound, "Under each of the rewards.")
        .def_ro("most", &NearCertificate::most, "No loss can exceed this.")
        .def_ro("vacuous", &NearCertificate::vacuous)
        .def_prop_ro(
            "methods", [](const NearCertificate& c) { return bounds_by_name(c.methods); },
            nb::sig("def methods(self) -> dict[str, float]"))
        .def_ro("radius", &NearCertificate::radius,
                "The policy is proved optimal under every reward within this, in multiples of ``eta`` where "
                "that is an array; None where it is not for the reward itself.")
        .def_ro("failure_probability", &NearCertificate::failure_probability)
        .def("__repr__", [](const NearCertificate& c) {
            return fmt::format(
                "<certificate of rewards near one: loss at most {:.4g}{}, {} (probability {})>", c.loss_bound,
                c.vacuous ? ", vacuous" : "",
                c.radius ? fmt::format("proved optimal within {:.4g}", *c.radius)
                         : std::string("not proved optimal"),
                1 - c.failure_probability);
        });
}

ClassCertificate certified_class(const Knowledge& knowledge, nb::handle rewards, int threads) {
    std::optional<RewardClass> wanted;
    if (nb::isinstance<nb::str>(rewards)) {
        const auto name = nb::cast<std::string>(rewards);
        expects(name == "total" || name == "all",
                "'{}' is no class of rewards; must be 'total', 'all' or a RewardClass", name);
        wanted = name == "total" ? RewardClass::total(knowledge.learned->shape())
                                 : RewardClass::all(knowledge.learned->shape());
    } else {
        wanted = nb::cast<const RewardClass&>(rewards);
    }
    const Threads count = threads_of(threads);
    return patiently(
        [knowledge, wanted, count] { return certify_class(knowledge, *wanted, {.threads = count}); });
}

NearCertificate certified_near(const Knowledge& knowledge, nb::handle reward, nb::handle policy,
                               nb::handle eta, int threads) {
    const Shape& shape = knowledge.learned->shape();
    const Reward wanted = reward_of(reward, shape);
    const Policy followed = policy_of(policy, shape);
    const bool number = nb::isinstance<nb::float_>(eta) || nb::isinstance<nb::int_>(eta);
    const RewardTolerance tolerance = number ? RewardTolerance::uniform(shape, nb::cast<double>(eta))
                                             : RewardTolerance{reward_of(eta, shape), 1};
    const Threads count = threads_of(threads);
    return patiently([=] { return certify_near(knowledge, wanted, followed, tolerance, count); });
}

}  // namespace

void bind_reward_class(nb::module_& m) {
    bind_classes(m);
    m.def("certify_class", certified_class, "knowledge"_a, "rewards"_a, "threads"_a = 0,
          nb::sig("def certify_class(knowledge: Knowledge, rewards: typing.Any, threads: int = 0) -> "
                  "ClassCertificate"),
          "Certifies a class of rewards: 'total', or a RewardClass.");
    m.def("certify_near", certified_near, "knowledge"_a, "reward"_a, "policy"_a, "eta"_a, "threads"_a = 0,
          nb::sig("def certify_near(knowledge: Knowledge, reward: typing.Any, policy: typing.Any, eta: "
                  "typing.Any, threads: int = 0) -> NearCertificate"),
          "Certifies a policy for every reward within ``eta`` of one: a number, or an array as a reward is.");
}

}  // namespace alidade::python
