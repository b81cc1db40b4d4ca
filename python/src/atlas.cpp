#include "atlas.hpp"

#include <fmt/format.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "alidade/audit/atlas_audit.hpp"
#include "alidade/error.hpp"
#include "arrays.hpp"
#include "bindings.hpp"
#include "calling_thread.hpp"
#include "problem.hpp"
#include "run.hpp"

namespace alidade::python {

namespace {

using namespace nb::literals;

nb::object corner_rows(const std::vector<std::vector<double>>& all, Index columns) {
    std::vector<double> numbers;
    for (const auto& row : all) numbers.insert(numbers.end(), row.begin(), row.end());
    return nb::cast(own(std::move(numbers), {all.size(), at(columns)}));
}

/// What may end the search: Ctrl-C, or who is asked.
bool asked_to_end(CallingThread& caller, const Kept& interrupted) {
    if (caller.ending()) return true;
    if (!interrupted) return false;
    bool stop = true;
    caller.run_quietly([&] { stop = nb::cast<bool>(nb::bool_(nb::object((*interrupted)()))); });
    return stop;
}

}  // namespace

AtlasObject make_atlas_object(const Knowledge& knowledge, AtlasWanted wanted, std::string problem,
                              nb::handle observe, nb::handle interrupted) {
    const auto caller = std::make_shared<CallingThread>();
    const Kept told = observe.is_none() ? nullptr : keep(nb::borrow(observe));
    const Kept asked = interrupted.is_none() ? nullptr : keep(nb::borrow(interrupted));
    const auto found = std::make_shared<std::optional<Atlas>>();
    const auto work = [=, options = wanted.options, objectives = rewards_of(wanted.objectives)]() mutable {
        options.interrupted = [&] { return asked_to_end(*caller, asked); };
        if (told)
            options.observe = [&](const AtlasProgress& progress) {
                caller->run_quietly([&] { (*told)(nb::cast(progress)); });
            };
        found->emplace(make_atlas(knowledge, objectives, options));
    };
    try {
        CallingThread::wait_for(caller, work);
    } catch (nb::python_error& error) {
        if (!error.matches(PyExc_KeyboardInterrupt)) throw;
        // The round is finished, and what there is by then is handed over; Ctrl-C once more does not wait.
        caller->wait_until_over();
        if (!*found) throw;
    }
    return {std::make_shared<const AtlasRecord>(
        AtlasRecord{std::move(**found), std::move(wanted.objectives), std::move(problem)})};
}

AtlasObject keep_atlas(const Run& run, const Knowledge& knowledge, AtlasWanted wanted) {
    AtlasObject atlas =
        make_atlas_object(knowledge, std::move(wanted), run.problem_hash(), nb::none(), nb::none());
    const nb::gil_scoped_release unlocked;
    write_atlas(run.folder() / "atlas", *atlas.record);
    return atlas;
}

namespace {

double loss_asked(std::optional<double> loss, const Shape& shape) {
    return loss.value_or(static_cast<double>(shape.horizon) / 100);  // as the command line has it
}

AtlasObject atlas_of_knowledge(const Knowledge& knowledge, nb::handle objectives, nb::handle minimise,
                               std::optional<double> loss, nb::handle at_least, nb::handle at_most,
                               Index certificates, double shortest_edge, int threads, nb::handle observe,
                               nb::handle interrupted, nb::handle problem) {
    const Shape& shape = knowledge.learned->shape();
    const SharedProblem known = problem.is_none() ? nullptr : problem_of(problem);
    AtlasWanted wanted = atlas_wanted({objectives, minimise, at_least, at_most}, shape, known.get(),
                                      loss_asked(loss, shape), threads);
    wanted.options.certificates = certificates;
    wanted.options.shortest_edge = shortest_edge;
    return make_atlas_object(knowledge, std::move(wanted), known ? problem_hash(*known) : "", observe,
                             interrupted);
}

AtlasObject atlas_of_run(const RunObject& self, nb::handle objectives, nb::handle minimise,
                         std::optional<double> loss, nb::handle at_least, nb::handle at_most,
                         Index certificates, int threads, nb::handle observe, nb::handle interrupted) {
    const auto run = self.settled();
    const Shape& shape = run->problem().shape();
    AtlasWanted wanted = atlas_wanted({objectives, minimise, at_least, at_most}, shape, &run->problem(),
                                      loss_asked(loss, shape), threads);
    wanted.options.certificates = certificates;
    const Threads count = wanted.options.threads;
    const auto loaded = patiently([=] { return run->load(count); });
    expects(loaded.has_value(), "{}: nothing was stored yet", run->folder().string());
    return make_atlas_object(loaded->knowledge, std::move(wanted), run->problem_hash(), observe, interrupted);
}

AtlasAnswerObject atlas_answer(const AtlasObject& self, nb::handle weights) {
    std::vector<double> numbers;
    for (const auto& weight : numbers_by_objective(weights, "weights", self.record->objectives))
        numbers.push_back(weight.value_or(0));
    return {self.record, self.record->atlas.at(self.record->weights_of(numbers))};
}

AtlasMixtureObject atlas_mixture(const AtlasObject& self, nb::handle targets) {
    const AtlasRecord& record = *self.record;
    const auto horizon = static_cast<double>(record.atlas.horizon);
    AtlasTargets wanted = numbers_by_objective(targets, "targets", record.objectives);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (!wanted[i]) continue;
        const AtlasObjective& objective = record.objectives[i];
        const double given = *wanted[i];
        wanted[i] = objective.in_rewards(given);
        const Interval range = objective.in_unit({0, horizon});
        expects(*wanted[i] >= 0 && *wanted[i] <= horizon, "the target of {} is {}; must be from {} to {}",
                objective.name, given, range.lower, range.upper);
    }
    return {self.record, mixture_for(record.atlas, wanted)};
}

AtlasCheck check_again(const AtlasObject& self, const Knowledge& knowledge, int threads) {
    constexpr double rounding_allowed = 1e-9;  // other machines may round otherwise
    const auto record = self.record;
    const Threads count = threads_of(threads);
    return patiently([=] {
        const Atlas& atlas = record->atlas;
        check_cover(atlas);
        AtlasCheck found{false, recheck(atlas, knowledge, rewards_of(record->objectives), count),
                         knowledge.episodes, atlas.episodes};
        found.follows = found.excess <= rounding_allowed * static_cast<double>(atlas.horizon) &&
                        knowledge.learned->delta() <= atlas.failure_probability;
        return found;
    });
}

std::string atlas_words(const AtlasObject& self) {
    const Atlas& atlas = self.record->atlas;
    std::string names;
    for (const AtlasObjective& objective : self.record->objectives)
        names += (names.empty() ? "" : ", ") + objective.name;
    if (atlas.vacuous()) return fmt::format("<atlas of {}: vacuous for some weightings>", names);
    return fmt::format("<atlas of {}: {} policies, any weighting, loss at most {:.4g} with probability {}>",
                       names, atlas.policies.size(), atlas.loss_bound, 1 - atlas.failure_probability);
}

void bind_atlas_class(nb::module_& m) {
    nb::class_<AtlasObject>(
        m, "Atlas",
        "Policies for every weighting of some objectives: with probability 1 - failure_probability and "
        "whatever the weights, the policy of their cell loses at most ``loss_bound`` on the real system. "
        "Whatever the weighting is not whatever the reward: that is ``reward_free``.")
        .def_prop_ro("objectives", [](const AtlasObject& self) { return self.record->objectives; })
        .def_prop_ro(
            "loss_bound", [](const AtlasObject& self) { return self.record->atlas.loss_bound; },
            "Whatever the weights that were asked for; at most H, which says nothing.")
        .def_prop_ro(
            "vacuous", [](const AtlasObject& self) { return self.record->atlas.vacuous(); },
            "The bound is H: it says nothing of some weightings.")
        .def_prop_ro(
            "asked", [](const AtlasObject& self) { return self.record->atlas.asked; },
            "The loss that was asked for.")
        .def_prop_ro(
            "limit", [](const AtlasObject& self) { return to_string(self.record->atlas.limit); },
            "Why it is not finer: 'target' (the loss is met), 'data' (they allow no less), 'budget', "
            "'resolution' or 'interrupted'.")
        .def_prop_ro(
            "floor", [](const AtlasObject& self) { return self.record->atlas.floor; },
            "What the data leave open where they leave most open.")
        .def_prop_ro(
            "floor_weights", [](const AtlasObject& self) { return self.record->atlas.floor_weights; },
            "Where that is.")
        .def_prop_ro(
            "reward_free", [](const AtlasObject& self) { return self.record->atlas.reward_free; },
            "The certificate for any reward at all, for comparison; at most H.")
        .def_prop_ro("failure_probability",
                     [](const AtlasObject& self) { return self.record->atlas.failure_probability; })
        .def_prop_ro(
            "episodes", [](const AtlasObject& self) { return self.record->atlas.episodes; },
            "That it rests on.")
        .def_prop_ro(
            "certificates", [](const AtlasObject& self) { return self.record->atlas.certificates; },
            "That it took.")
        .def_prop_ro("horizon", [](const AtlasObject& self) { return self.record->atlas.horizon; })
        .def_prop_ro(
            "at_least", [](const AtlasObject& self) { return self.record->atlas.at_least; },
            "Of each weight: what was asked for.")
        .def_prop_ro("at_most", [](const AtlasObject& self) { return self.record->atlas.at_most; })
        .def_prop_ro(
            "policies",
            [](const AtlasObject& self) {
                std::vector<AtlasPolicyObject> all;
                for (std::size_t i = 0; i < self.record->atlas.policies.size(); ++i)
                    all.push_back({self.record, i});
                return all;
            },
            "Those with the larger share of weights first.")
        .def_prop_ro("cells", [](const AtlasObject& self) { return self.record->atlas.cells; })
        .def_prop_ro(
            "corners",
            [](const AtlasObject& self) {
                return corner_rows(self.record->atlas.corners, self.record->atlas.objectives);
            },
            nb::sig("def corners(self) -> numpy.typing.NDArray[numpy.float64]"),
            "Of the cells: weights, a row a corner; the first are the objectives alone.")
        .def_prop_ro(
            "outer", [](const AtlasObject& self) { return self.record->atlas.outer; },
            "What no policy at all can have.")
        .def("at", atlas_answer, "weights"_a, nb::sig("def at(self, weights: typing.Any) -> AtlasAnswer"),
             "The policy for given weights, and what it loses at most. Weights are numbers of 0 or more, one "
             "an objective, or {name: number}; they need not sum to 1, and the loss is in their scale.")
        .def("mixture_for", atlas_mixture, "targets"_a,
             nb::sig("def mixture_for(self, targets: typing.Any) -> AtlasMixture"),
             "The mixture of policies that is the surest to have what is wanted of several objectives at "
             "once: {name: value}, at least, or at most if it is minimised.")
        .def("check", check_again, "knowledge"_a, "threads"_a = 0,
             "Whether the cells cover all weights, and every bound follows from the knowledge, computed "
             "again. Raises BrokenInvariant where they do not cover.")
        .def(
            "save",
            [](const AtlasObject& self, const std::filesystem::path& folder) {
                const nb::gil_scoped_release unlocked;
                write_atlas(folder, *self.record);
            },
            "folder"_a, nb::sig("def save(self, folder: str | os.PathLike[str]) -> None"),
            "Writes it as the command line does, but for pictures; ``io.read_atlas`` reads it.")
        .def(
            "to_json", [](const AtlasObject& self) { return atlas_text(*self.record); },
            "The text of its atlas.json: everything but the policies themselves.")
        .def("plot", in_python("alidade.plot", "atlas"), nb::sig("def plot(self) -> typing.Any"),
             "Front and map of the weights, by matplotlib.")
        .def("_repr_html_", in_python("alidade._display", "atlas_html"),
             nb::sig("def _repr_html_(self) -> str"))
        .def("__repr__", atlas_words);
}

void bind_makers() {
    auto knowledge = nb::borrow<nb::class_<Knowledge>>(nb::type<Knowledge>());
    knowledge.def(
        "atlas", atlas_of_knowledge, "objectives"_a, nb::kw_only(), "minimise"_a = nb::none(),
        "loss"_a = nb::none(), "at_least"_a = nb::none(), "at_most"_a = nb::none(), "certificates"_a = 20'000,
        "shortest_edge"_a = 1e-4, "threads"_a = 0, "observe"_a = nb::none(), "interrupted"_a = nb::none(),
        "problem"_a = nb::none(),
        nb::sig(
            "def atlas(self, objectives: typing.Any, *, minimise: collections.abc.Iterable[str] | None = "
            "None, loss: float | None = None, at_least: typing.Any = None, at_most: typing.Any = None, "
            "certificates: int = 20000, shortest_edge: float = 0.0001, threads: int = 0, observe: "
            "collections.abc.Callable[[AtlasProgress], "
            "object] | None = None, interrupted: collections.abc.Callable[[], bool] | None = None, problem: "
            "Problem | str | None = None) -> Atlas"),
        "Plans and certificates for every weighting of two to eight objectives, {name: reward}; a reward may "
        "be (reward, scale, offset), as ``io.read_reward`` gives it.\n\n"
        "``minimise`` names those to minimise. ``loss`` is what a plan may lose at most, in rewards: None is "
        "a "
        "hundredth of the horizon, 0 as little as the data allow. ``at_least`` and ``at_most`` bound the "
        "weights, {name: number}; weights nearer than ``shortest_edge`` are not told apart. With "
        "``problem``, objectives may be names of its rewards, and an atlas "
        "that "
        "is saved says what it is of. Ctrl-C ends it with what there is, which is valid; ``limit`` says "
        "so.\n\n"
        ">>> import alidade\n"
        ">>> problem = alidade.make_builtin('builtin:inventory?capacity=6')\n"
        ">>> exploration = alidade.Exploration(problem, seed=1)\n"
        ">>> exploration.run(episodes=2_000)\n"
        "'budget'\n"
        ">>> names = ['service-level', 'holding-cost']\n"
        ">>> atlas = exploration.knowledge.atlas({name: problem.rewards[name] for name in names}, loss=0.5)\n"
        ">>> atlas.loss_bound <= 0.5, atlas.limit\n"
        "(True, 'target')\n"
        ">>> atlas.at({'service-level': 2, 'holding-cost': 1}).loss_bound <= 3 * atlas.loss_bound\n"
        "True\n");
    auto run = nb::borrow<nb::class_<RunObject>>(nb::type<RunObject>());
    run.def(
        "atlas", atlas_of_run, "objectives"_a, nb::kw_only(), "minimise"_a = nb::none(),
        "loss"_a = nb::none(), "at_least"_a = nb::none(), "at_most"_a = nb::none(), "certificates"_a = 20'000,
        "threads"_a = 0, "observe"_a = nb::none(), "interrupted"_a = nb::none(),
        nb::sig(
            "def atlas(self, objectives: typing.Any, *, minimise: collections.abc.Iterable[str] | None = "
            "None, loss: float | None = None, at_least: typing.Any = None, at_most: typing.Any = None, "
            "certificates: int = 20000, threads: int = 0, observe: collections.abc.Callable[[AtlasProgress], "
            "object] | None = None, interrupted: collections.abc.Callable[[], bool] | None = None) -> Atlas"),
        "Knowledge.atlas of what the run knows; objectives may be names of the problem's rewards.");
}

}  // namespace

void bind_atlas(nb::module_& m) {
    bind_atlas_answers(m);
    bind_atlas_class(m);
    bind_makers();
    m.def(
        "read_atlas",
        [](const std::filesystem::path& folder) {
            return AtlasObject{std::make_shared<const AtlasRecord>(read_atlas(folder))};
        },
        "folder"_a, nb::sig("def read_atlas(folder: str | os.PathLike[str]) -> Atlas"),
        "An atlas that was saved, by Python or the command line. Its cells cover the weights; whether its "
        "bounds follow from a run, Atlas.check tells.");
    m.def(
        "audit_atlas",
        [](const AtlasObject& atlas, const Knowledge& knowledge, nb::handle problem, Index weights,
           std::uint64_t seed) {
            const SharedProblem known = problem_of(problem);
            const auto record = atlas.record;
            return patiently([=] {
                return audit(record->atlas, knowledge, rewards_of(record->objectives), *known,
                             {weights, seed});
            });
        },
        "atlas"_a, "knowledge"_a, "problem"_a, nb::kw_only(), "weights"_a = 1000, "seed"_a = 0,
        nb::sig(
            "def audit_atlas(atlas: Atlas, knowledge: Knowledge, problem: Problem | str, *, weights: int = "
            "1000, seed: int = 0) -> AtlasAudit"),
        "Compares an atlas with the truth, at every corner of every cell and at random weights.");
}

}  // namespace alidade::python
