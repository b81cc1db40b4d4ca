#include "alidade/audit/audit.hpp"
#include "alidade/audit/member_attack.hpp"

#include <fmt/format.h>
#include <nanobind/stl/shared_ptr.h>

#include "arrays.hpp"
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

void bind_member_attack(nb::module_& m) {
    nb::class_<MemberAttack>(
        m, "MemberAttack",
        "The largest loss that a search found over members of the confidence sets and all "
        "rewards: from below what the reward-free certificate bounds from above.")
        .def_ro("loss", &MemberAttack::loss)
        .def_ro("reward", &MemberAttack::reward, "The adversary's.")
        .def_prop_ro(
            "weights", [](const MemberAttack& found) { return own_rows(found.weights); },
            nb::sig("def weights(self) -> numpy.typing.NDArray[numpy.float64]"),
            "The adversary's member: a row a set.")
        .def_ro("tried", &MemberAttack::tried, "Members and rewards.")
        .def_ro("bound", &MemberAttack::bound, "The reward-free certificate.")
        .def_prop_ro("slack", &MemberAttack::slack, "How many times what was found is certified.")
        .def("__repr__", [](const MemberAttack& found) {
            return fmt::format("<a member loses {:.4g}, certificate {:.4g}>", found.loss, found.bound);
        });
    m.def(
        "attack_members",
        [](const Knowledge& knowledge, Index starts, Index steps, std::uint64_t seed, int threads) {
            const MemberAttackOptions options{starts, steps, seed, threads_of(threads)};
            return patiently([=] { return attack_members(knowledge, options); });
        },
        "knowledge"_a, nb::kw_only(), "starts"_a = 8, "steps"_a = 400, "seed"_a = 0, "threads"_a = 0,
        nb::sig(
            "def attack_members(knowledge: Knowledge, *, starts: int = 8, steps: int = 400, seed: int = 0, "
            "threads: int = 0) -> MemberAttack"),
        "Searches members of the confidence sets, and rewards, for the largest loss of the exact plan.");
}

}  // namespace

void bind_audit(nb::module_& m) {
    bind_member_attack(m);
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
