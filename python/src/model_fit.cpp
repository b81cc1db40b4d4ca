#include "alidade/certify/model_fit.hpp"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "alidade/certify/knowledge.hpp"
#include "alidade/certify/misspecification_bound.hpp"
#include "alidade/certify/sensitivity.hpp"
#include "alidade/certify/suspect_rows.hpp"
#include "alidade/error.hpp"
#include "alidade/explore/run_contradiction.hpp"
#include "bindings.hpp"
#include "calling_thread.hpp"
#include "decisions.hpp"
#include "kernels.hpp"
#include "problem.hpp"

namespace alidade::python {

namespace {

using namespace nb::literals;

/// A policy and a reward, or none of both.
std::optional<RewardQuestion> question_of(nb::handle reward, nb::handle policy, const Shape& shape) {
    expects(reward.is_none() == policy.is_none(), "a reward and a policy are given together, or neither");
    if (reward.is_none()) return std::nullopt;
    return RewardQuestion{reward_of(reward, shape), policy_of(policy, shape)};
}

const RewardQuestion* address(const std::optional<RewardQuestion>& question) {
    return question ? &*question : nullptr;
}

void bind_sensitivity(nb::module_& m) {
    nb::class_<SensitivityPoint>(m, "SensitivityPoint",
                                 "What is certain if every law is within ``zeta`` of its mixture.")
        .def_ro("zeta", &SensitivityPoint::zeta)
        .def_ro("refuted", &SensitivityPoint::refuted,
                "No weights are that near to the data: the truth is farther off.")
        .def_ro("value", &SensitivityPoint::value, "Contains the plan's true value; [0, H] without a plan.")
        .def_ro("loss", &SensitivityPoint::loss,
                "What the plan loses at most; without a plan ``reward_free``.")
        .def_ro("reward_free", &SensitivityPoint::reward_free,
                "Of every reward's optimal plan in the model; H where it was not computed.")
        .def("__repr__", [](const SensitivityPoint& point) {
            if (point.refuted) return fmt::format("<off by {:g}: refuted>", point.zeta);
            return fmt::format("<off by {:g}: value in [{:.6g}, {:.6g}], loss at most {:.4g}>", point.zeta,
                               point.value.lower, point.value.upper, point.loss);
        });
    nb::class_<Sensitivity>(
        m, "Sensitivity",
        "From how far the truth may be off the mixtures to what is certain then. All points hold at once: "
        "each is right if every law is that near to its mixture. What may not be done is to choose zeta by "
        "the data, say as the least that is not refuted, and to call that point certified.")
        .def(
            "__init__",
            [](Sensitivity* self, const std::shared_ptr<const Problem>& problem, const Counts& counts,
               const Knowledge& knowledge, std::optional<double> delta,
               const std::optional<std::string>& reach, bool reward_free, int threads) {
                const Task task = assuming(task_of(*problem), assumed_of(std::nullopt, reach));
                const SensitivityOptions options{delta.value_or(knowledge.learned->delta()),
                                                 threads_of(threads), reward_free};
                new (self) Sensitivity(patiently([=] {
                    return Sensitivity(task, counts, knowledge.mixture("a curve over misspecifications"),
                                       options);
                }));
            },
            "problem"_a, "counts"_a, "knowledge"_a, nb::kw_only(), "delta"_a = nb::none(),
            "reach"_a = nb::none(), "reward_free"_a = true, "threads"_a = 0,
            nb::sig("def __init__(self, problem: Problem, counts: Counts, knowledge: Knowledge, *, delta: "
                    "float | None = None, reach: str | None = None, reward_free: bool = True, threads: int = "
                    "0) -> None"),
            "knowledge: the model that was handed over. delta: of all points together.")
        .def(
            "at",
            [](const std::shared_ptr<const Sensitivity>& self, double zeta, nb::handle reward,
               nb::handle policy) {
                const auto question = question_of(reward, policy, self->shape());
                return patiently([self, zeta, question] { return self->at(zeta, address(question)); });
            },
            "zeta"_a, "reward"_a = nb::none(), "policy"_a = nb::none(),
            nb::sig("def at(self, zeta: float, reward: typing.Any = None, policy: typing.Any = None) -> "
                    "SensitivityPoint"),
            "One point.")
        .def(
            "curve",
            [](const std::shared_ptr<const Sensitivity>& self, std::optional<std::vector<double>> zetas,
               nb::handle reward, nb::handle policy) {
                const auto question = question_of(reward, policy, self->shape());
                const auto usual = usual_misspecifications();
                const std::vector<double> wanted =
                    zetas.value_or(std::vector<double>(usual.begin(), usual.end()));
                return patiently([self, wanted, question] { return self->curve(wanted, address(question)); });
            },
            "zetas"_a = nb::none(), "reward"_a = nb::none(), "policy"_a = nb::none(),
            nb::sig(
                "def curve(self, zetas: collections.abc.Sequence[float] | None = None, reward: typing.Any "
                "= None, policy: typing.Any = None) -> list[SensitivityPoint]"),
            "Points at ascending zetas (0 to 0.1, if none are said), each no worse than those above it.")
        .def(
            "breakdown",
            [](const std::shared_ptr<const Sensitivity>& self, double tolerance, nb::handle reward,
               nb::handle policy) {
                const auto question = question_of(reward, policy, self->shape());
                return patiently(
                    [self, tolerance, question] { return self->breakdown(tolerance, address(question)); });
            },
            "tolerance"_a, "reward"_a = nb::none(), "policy"_a = nb::none(),
            nb::sig("def breakdown(self, tolerance: float, reward: typing.Any = None, policy: typing.Any = "
                    "None) -> float"),
            "A zeta up to which the loss (without a plan the reward-free certificate) is at most the "
            "tolerance; 0 if there is none.");
}

void bind_fit(nb::module_& m) {
    nb::class_<Misfit>(m, "Misfit", "A pair whose transitions speak against the mixture.")
        .def_ro("step", &Misfit::step)
        .def_ro("state", &Misfit::state)
        .def_ro("action", &Misfit::action)
        .def_ro("log_evidence", &Misfit::log_evidence)
        .def_ro("visits", &Misfit::visits)
        .def_ro("successor", &Misfit::successor)
        .def_ro("seen", &Misfit::seen)
        .def_ro("expected", &Misfit::expected);
    nb::class_<Evidence>(m, "Evidence", "What an alternative to the mixtures makes of the data.")
        .def_ro("alternative", &Evidence::alternative)
        .def_ro("parameter", &Evidence::parameter)
        .def_ro("step", &Evidence::step)
        .def_ro("log_evidence", &Evidence::log_evidence)
        .def("__repr__", [](const Evidence& one) {
            return fmt::format("<{} {:g}{}: {:.3g} nats>", one.alternative, one.parameter,
                               one.step ? fmt::format(", step {}", *one.step) : "", one.log_evidence);
        });
    nb::class_<MisspecificationBound>(m, "MisspecificationBound",
                                      "That the truth is off every mixture, and by how much at least.")
        .def_ro("lower", &MisspecificationBound::lower, "In total variation.")
        .def_ro("level", &MisspecificationBound::level, "Probability that this is wrong.")
        .def_ro("step", &MisspecificationBound::step)
        .def_ro("varying", &MisspecificationBound::varying,
                "The same where laws may change with time; ``lower`` takes each pair to have one law a step.")
        .def("__repr__", [](const MisspecificationBound& bound) {
            return fmt::format("<off by at least {:.4g} (probability {})>", bound.lower, 1 - bound.level);
        });
    nb::class_<ModelFit>(m, "ModelFit",
                         "Whether the data contradict that every law is a mixture of the base models.")
        .def_ro("level", &ModelFit::level)
        .def_ro("log_evidence", &ModelFit::log_evidence)
        .def_ro("threshold", &ModelFit::threshold)
        .def_ro("contradicted", &ModelFit::contradicted)
        .def_ro("best", &ModelFit::best, "The alternatives that explain most, the strongest first.")
        .def_ro("worst", &ModelFit::worst)
        .def_ro("unseen", &ModelFit::unseen,
                "Errors below about this cannot be expected to be seen: a scale, not a bound.")
        .def_ro("kt", &ModelFit::kt, "The evidence of a predictor that lets every row be anything.")
        .def_ro("sets", &ModelFit::sets, "That of each confidence set.")
        .def("__repr__", [](const ModelFit& fit) {
            return fmt::format("<model fit: {} (log evidence {:.3g}, threshold {:.3g})>",
                               fit.contradicted ? "contradicted" : "not contradicted", fit.log_evidence,
                               fit.threshold);
        });
    m.def(
        "check_model",
        [](const std::shared_ptr<const Problem>& problem, const Counts& counts, double level,
           nb::handle suspects) {
            std::vector<BaseKernel> kernels;
            if (!suspects.is_none())
                for (const KernelRows& rows :
                     kernels_of(suspects, nb::none(), nb::int_(problem->shape().states), false))
                    kernels.push_back(rows.kernel());
            return patiently([=] {
                return check_model(problem->features(), counts, problem->homogeneous(), level, kernels);
            });
        },
        "problem"_a, "counts"_a, "level"_a = 0.01, "suspects"_a = nb::none(),
        nb::sig("def check_model(problem: Problem, counts: Counts, level: float = 0.01, suspects: "
                "collections.abc.Iterable[typing.Any] | None = None) -> ModelFit"),
        "Whether counts contradict the problem's mixture, at a level. suspects: kernels that may be mixed "
        "into "
        "the truth, for all one knows before the data are seen.");
    m.def(
        "misspecification_lower",
        [](const std::shared_ptr<const Problem>& problem, const Counts& counts, double level) {
            return patiently([=] {
                return misspecification_lower(problem->features(), counts, problem->homogeneous(), level);
            });
        },
        "problem"_a, "counts"_a, "level"_a = 0.01,
        "How far, in total variation, the truth is off every mixture at least. No data say how far at most.");
    nb::class_<SuspectRows>(
        m, "SuspectRows",
        "Rows that are off, if no law is farther than ``misspecification`` off its mixture.")
        .def_ro("misspecification", &SuspectRows::misspecification)
        .def_ro("refuted", &SuspectRows::refuted,
                "The data prove that some law is farther off; then nothing is listed.")
        .def_ro("rows", &SuspectRows::rows, "The worst first.")
        .def("__repr__", [](const SuspectRows& list) {
            return fmt::format("<{} if no law is off by more than {:g}>",
                               list.refuted ? "refuted" : fmt::format("{} rows are off", list.rows.size()),
                               list.misspecification);
        });
    m.def(
        "suspect_rows",
        [](const std::shared_ptr<const Problem>& problem, const Counts& counts,
           std::optional<double> misspecification, double share, const std::optional<std::string>& reach) {
            const Task task = assuming(task_of(*problem), assumed_of(misspecification, reach));
            return patiently([=] { return suspect_rows(task, counts, share); });
        },
        "problem"_a, "counts"_a, "misspecification"_a = nb::none(), "share"_a = 0.05, "reach"_a = nb::none(),
        nb::sig("def suspect_rows(problem: Problem, counts: Counts, misspecification: float | None = None, "
                "share: float = 0.05, reach: str | None = None) -> SuspectRows"),
        "States and actions whose transitions no weights explain that are possible if no law is farther than "
        "``misspecification`` (the problem's, if it is not said; not 0) off its mixture. Then a share of "
        "those listed at most is right, in expectation; for all misspecifications that are true at once.");
    nb::class_<RunContradiction>(m, "Contradiction", "That the data of a run contradict its model.")
        .def_prop_ro("kind", [](const RunContradiction& found) { return to_string(found.kind); })
        .def_ro("what", &RunContradiction::what)
        .def_ro("episodes", &RunContradiction::episodes)
        .def_ro("step", &RunContradiction::step)
        .def_ro("state", &RunContradiction::state)
        .def_ro("action", &RunContradiction::action)
        .def_ro("successor", &RunContradiction::successor)
        .def("__repr__",
             [](const RunContradiction& found) { return fmt::format("<contradiction: {}>", found.what); });
}

}  // namespace

void bind_model_fit(nb::module_& m) {
    bind_fit(m);
    bind_sensitivity(m);
}

}  // namespace alidade::python
