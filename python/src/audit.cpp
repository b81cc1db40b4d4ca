#include "alidade/audit/audit.hpp"

#include <fmt/format.h>
#include <nanobind/stl/shared_ptr.h>

#include "bindings.hpp"
#include "calling_thread.hpp"
#include "decisions.hpp"
#include "problem.hpp"

namespace alidade::python {

namespace {

using namespace nb::literals;

AuditResult audited(const Knowledge& knowledge, nb::handle truth, Index rewards, Index climb_steps,
                    Index climb_starts, std::uint64_t seed, int threads) {
    const AuditOptions options{rewards, climb_steps, climb_starts, seed, threads_of(threads)};
    if (nb::isinstance<Problem>(truth)) {
        const auto problem = nb::cast<std::shared_ptr<Problem>>(truth);
        return patiently([=] { return audit(knowledge, *problem, options); });
    }
    if (nb::isinstance<MixtureModel>(truth)) {
        const auto model = nb::cast<std::shared_ptr<MixtureModel>>(truth);
        return patiently([=] { return audit(knowledge, *model, options); });
    }
    const auto model = nb::cast<std::shared_ptr<TransitionModel>>(truth);
    return patiently([=] { return audit(knowledge, *model, options); });
}

}  // namespace

void bind_audit(nb::module_& m) {
    nb::class_<AuditResult>(m, "AuditResult", "What an audit with the truth found.")
        .def_ro("rewards", &AuditResult::rewards, "Tried, the steps of the search included.")
        .def_ro("max_gap", &AuditResult::max_gap, "Largest true loss found.")
        .def_ro("mean_gap", &AuditResult::mean_gap)
        .def_ro("max_bound", &AuditResult::max_bound)
        .def_ro("mean_bound", &AuditResult::mean_bound)
        .def_ro("violations", &AuditResult::violations, "Zero unless the confidence event failed.")
        .def_ro("reward_free", &AuditResult::reward_free)
        .def_ro("truth_in_confidence_set", &AuditResult::truth_in_confidence_set)
        .def_ro("depth", &AuditResult::depth)
        .def("__repr__", [](const AuditResult& found) {
            return fmt::format(
                "<audit of {} rewards: largest true loss {:.4g}, certificate {:.4g}, {} violations>",
                found.rewards, found.max_gap, found.reward_free, found.violations);
        });
    m.def("audit", audited, "knowledge"_a, "truth"_a, nb::kw_only(), "rewards"_a = 240,
          "climb_steps"_a = 1000, "climb_starts"_a = 3, "seed"_a = 0, "threads"_a = 0,
          nb::sig("def audit(knowledge: Knowledge, truth: Problem | TransitionModel, *, rewards: int = 240, "
                  "climb_steps: "
                  "int = 1000, climb_starts: int = 3, seed: int = 0, threads: int = 0) -> AuditResult"),
          "Compares every certificate with the truth: random rewards, then a search for the worst one.");
    m.def(
        "true_loss",
        [](const Knowledge& knowledge, const std::shared_ptr<const TransitionModel>& truth,
           nb::handle reward) {
            const Reward wanted = reward_of(reward, truth->shape());
            return patiently([=] { return true_loss(*knowledge.learned, *truth, wanted); });
        },
        "knowledge"_a, "truth"_a, "reward"_a,
        nb::sig("def true_loss(knowledge: Knowledge, truth: TransitionModel, reward: typing.Any) -> float"),
        "What the exact plan of the learned model loses on the truth.");
}

}  // namespace alidade::python
