#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "alidade/certify/sensitivity.hpp"
#include "alidade/error.hpp"
#include "alidade/explore/catalogue.hpp"
#include "alidade/explore/exploration.hpp"
#include "arrays.hpp"
#include "atlas_arguments.hpp"
#include "bindings.hpp"
#include "calling_thread.hpp"
#include "decisions.hpp"
#include "problem.hpp"
#include "python_system.hpp"
#include "trace.hpp"
#include "watch.hpp"

namespace alidade::python {

namespace {

using namespace nb::literals;

/// An exploration in memory, with the problem that it is of.
struct ExploredProblem {
    SharedProblem problem;
    std::shared_ptr<Exploration> exploration;
    std::uint64_t seed = 0;
    int threads = 0;
    std::shared_ptr<CallingThread> last;  // the last call, which may be at it although it was interrupted
    Task task = {};                       // what is assumed of the truth
    double delta = 0.1;

    void settle() const {
        if (last && !last->is_over()) last->wait_until_over();
    }
};

std::string run(ExploredProblem& self, nb::handle system, std::int64_t episodes, std::optional<double> target,
                nb::handle observe, nb::handle interrupted, bool progress, bool despite,
                std::optional<double> until_loss, nb::handle objectives, nb::handle minimise,
                nb::handle at_least, nb::handle at_most) {
    self.settle();
    const auto enough = enough_for(atlas_to_stop_at({objectives, minimise, at_least, at_most}, *self.problem,
                                                    until_loss, target, self.threads));
    const auto caller = std::make_shared<CallingThread>();
    const auto watch = std::make_shared<Watch>(observe, interrupted, progress, episodes, caller);
    std::shared_ptr<const TransitionModel> truth;
    if (system.is_none() && self.problem->truth_known())
        truth = std::make_shared<const TransitionModel>(self.problem->true_system());
    const auto tried =
        std::make_shared<Tried>(system_of(system, self.problem->shape(), self.seed, truth, caller));
    const auto stopped = std::make_shared<Stopped>(Stopped::budget);
    self.last = caller;
    const auto exploration = self.exploration;
    const auto work = [=] {
        ExploreOptions options;
        options.episodes = episodes;
        options.target = target;
        options.interrupted = [&] { return watch->stops(); };
        options.observe = [&](const Progress& now) { (*watch)(now); };
        options.despite_contradiction = despite;
        options.enough = enough;
        *stopped = exploration->run(*tried->deployer, options);
    };
    try {
        CallingThread::wait_for(caller, work);
    } catch (...) {
        watch->close();
        throw;
    }
    watch->close();
    return to_string(*stopped);
}

nb::object ask(const ExploredProblem& self, std::int64_t episodes, std::optional<double> target,
               bool despite) {
    self.settle();
    const auto exploration = self.exploration;
    const auto deployment = patiently([=] {
        ExploreOptions options;
        options.episodes = episodes;
        options.target = target;
        options.despite_contradiction = despite;
        return exploration->ask(options);
    });
    if (!deployment) return nb::none();
    return nb::make_tuple(std::const_pointer_cast<Policy>(deployment->policy), deployment->episodes);
}

/// Counts, or episodes to be counted.
Counts batch_of(const ExploredProblem& self, nb::handle seen) {
    self.settle();
    if (nb::isinstance<Counts>(seen)) return nb::cast<const Counts&>(seen);
    Counts counts(self.problem->shared_successors(), self.problem->shape().horizon, self.task.elsewhere());
    for (const LoggedEpisode& episode : episodes_of(seen))
        counts.add(episode.states, episode.actions, episode.times);
    return counts;
}

void bind_exploration(nb::module_& m) {
    nb::class_<Progress>(m, "Progress", "Where a running exploration stands.")
        .def_ro("episodes", &Progress::episodes)
        .def_ro("replans", &Progress::replans)
        .def_ro("certificate", &Progress::certificate, "The best so far, at most H.")
        .def_ro("seconds", &Progress::seconds, "Since this call.")
        .def("__repr__", [](const Progress& p) {
            return fmt::format("<{} episodes, certificate {:.4g}>", p.episodes, p.certificate);
        });
    nb::class_<ExploredProblem>(m, "Exploration",
                                "An exploration in memory: chooses experiments, and certifies what is known "
                                "on the way. ``Run`` is the same on "
                                "disk.")
        .def(
            "__init__",
            [](ExploredProblem* self, nb::handle problem, const std::string& algorithm,
               const std::string& confidence, double delta, std::uint64_t seed, const std::string& replan,
               int threads, std::optional<double> misspecification, const std::optional<std::string>& reach) {
                SharedProblem parts = problem_of(problem);
                const ExplorerOptions options{
                    algorithm, confidence, delta, seed, parse_schedule(replan), threads_of(threads)};
                Task task = assuming(task_of(*parts), assumed_of(misspecification, reach));
                auto exploration = std::make_shared<Exploration>(task, options);
                new (self) ExploredProblem{std::move(parts), std::move(exploration), seed, threads,
                                           nullptr,          std::move(task),        delta};
            },
            "problem"_a, nb::kw_only(), "algorithm"_a = "", "confidence"_a = "", "delta"_a = 0.1,
            "seed"_a = 0, "replan"_a = "growth=0.1", "threads"_a = 0, "misspecification"_a = nb::none(),
            "reach"_a = nb::none(),
            nb::sig("def __init__(self, problem: Problem | str, *, algorithm: str = '', confidence: str = "
                    "'', delta: "
                    "float = 0.1, seed: int = 0, replan: str = 'growth=0.1', threads: int = 0, "
                    "misspecification: float | None = None, reach: str | None = None) -> None"),
            "misspecification, reach: how far a true law may be off its mixture, and where it may lead, "
            "where "
            "not as the problem says; to be chosen before the data are seen.\n\n"
            ">>> import alidade\n"
            ">>> exploration = alidade.Exploration('builtin:riverswim?length=4&horizon=6', seed=1)\n"
            ">>> exploration.run(episodes=20_000)\n"
            "'budget'\n"
            ">>> exploration.knowledge.certificate.bound < 0.6\n"
            "True\n")
        .def("run", run, "system"_a = nb::none(), nb::kw_only(), "episodes"_a = 100'000,
             "target"_a = nb::none(), "observe"_a = nb::none(), "interrupted"_a = nb::none(),
             "progress"_a = false, "despite_contradiction"_a = false, "until_loss"_a = nb::none(),
             "objectives"_a = nb::none(), "minimise"_a = nb::none(), "at_least"_a = nb::none(),
             "at_most"_a = nb::none(),
             nb::sig("def run(self, system: typing.Any = None, *, episodes: int = 100000, target: float | "
                     "None = None, "
                     "observe: collections.abc.Callable[[Progress], object] | None = None, interrupted: "
                     "collections.abc.Callable[[], bool] | None = None, progress: bool = False, "
                     "despite_contradiction: bool = False, until_loss: float | None = None, objectives: "
                     "typing.Any = None, minimise: collections.abc.Iterable[str] | None = None, at_least: "
                     "typing.Any = None, at_most: typing.Any = None) -> str"),
             "Explores until the target, the budget (``episodes`` in all) or an interruption, and says "
             "which. The "
             "system is the simulated truth, or whatever alidade.environment describes. May be called "
             "again.\n\n"
             "With ``until_loss`` the target is another: plans for every weighting of the ``objectives`` "
             "(as of Knowledge.atlas, or names of the problem's rewards) that lose at most so much. The "
             "explorer is not told the objectives.")
        .def("ask", ask, "episodes"_a = most_episodes, "target"_a = nb::none(),
             "despite_contradiction"_a = false,
             nb::sig("def ask(self, episodes: int = 9007199254740992, target: float | None = None, "
                     "despite_contradiction: "
                     "bool = False) -> tuple[Policy, int] | None"),
             "The next experiment, a policy and for how many episodes, for who runs the loop; None if the "
             "target is met or "
             "the budget spent.")
        .def(
            "tell",
            [](const ExploredProblem& self, nb::handle seen) {
                self.exploration->tell(batch_of(self, seen));
            },
            "seen"_a, nb::sig("def tell(self, seen: typing.Any) -> None"),
            "What the experiment asked for showed: episodes, or Counts.")
        .def(
            "tell_unasked",
            [](const ExploredProblem& self, nb::handle seen) {
                self.exploration->tell_unasked(batch_of(self, seen));
            },
            "seen"_a, nb::sig("def tell_unasked(self, seen: typing.Any) -> None"),
            "Episodes, or Counts, that nobody asked for.")
        .def_prop_ro("problem", [](const ExploredProblem& self) { return self.problem; })
        .def_prop_ro(
            "knowledge",
            [](ExploredProblem& self) {
                self.settle();
                const auto exploration = self.exploration;
                return patiently([=] { return exploration->best(); });
            },
            "The learned model with the smallest certificate so far.")
        .def_prop_ro(
            "counts",
            [](const ExploredProblem& self) {
                self.settle();
                return self.exploration->counts();
            },
            "All transitions counted; a copy.")
        .def(
            "sensitivity",
            [](ExploredProblem& self, bool reward_free, int threads) {
                self.settle();
                const auto exploration = self.exploration;
                const SensitivityOptions options{self.delta, threads_of(threads), reward_free};
                return patiently([=, task = self.task] {
                    return Sensitivity(task, exploration->counts(),
                                       exploration->best().mixture("a curve over misspecifications"),
                                       options);
                });
            },
            "reward_free"_a = true, "threads"_a = 0,
            "What is certain if the truth is farther off the mixture than was assumed.")
        .def_prop_ro("contradiction",
                     [](const ExploredProblem& self) {
                         self.settle();
                         return self.exploration->contradiction();
                     })
        .def_prop_ro("episodes",
                     [](const ExploredProblem& self) {
                         self.settle();
                         return self.exploration->explorer().episodes();
                     })
        .def_prop_ro("replans",
                     [](const ExploredProblem& self) {
                         self.settle();
                         return self.exploration->explorer().replans();
                     })
        .def_prop_ro(
            "trace",
            [](const ExploredProblem& self) {
                self.settle();
                return trace_table(self.exploration->trace());
            },
            nb::sig("def trace(self) -> alidade._table.Table"),
            "The certificates on the way: episodes, bound (not clipped at H), replans.")
        .def("plot", in_python("alidade.plot", "plot"),
             nb::sig("def plot(self, *, plans: collections.abc.Mapping[str, RewardCertificate] | None = "
                     "None, target: "
                     "float | None = None) -> typing.Any"),
             "A page of pictures, by matplotlib: certificate, weights, coverage, and the value intervals of "
             "``plans``.")
        .def("_repr_html_", in_python("alidade._display", "exploration_html"),
             nb::sig("def _repr_html_(self) -> str"))
        .def("__repr__", [](const ExploredProblem& self) {
            if (self.last && !self.last->is_over()) return std::string("<exploration at work>");
            const Knowledge* known = self.exploration->certified();
            const std::string claim =
                known ? fmt::format(", any reward: loss at most {:.4g} of {}", known->certificate.bound,
                                    self.problem->shape().horizon)
                      : "";
            return fmt::format("<exploration of {} episodes{}>", self.exploration->explorer().episodes(),
                               claim);
        });
}

}  // namespace

nb::object trace_table(const std::vector<TracePoint>& trace) {
    std::vector<std::int64_t> episodes, replans;
    std::vector<double> bounds;
    for (const TracePoint& point : trace) {
        episodes.push_back(point.episodes);
        replans.push_back(point.replans);
        bounds.push_back(point.bound);
    }
    nb::dict columns;
    const std::size_t size = trace.size();
    columns["episodes"] = own(std::move(episodes), {size});
    columns["bound"] = own(std::move(bounds), {size});
    columns["replans"] = own(std::move(replans), {size});
    return nb::module_::import_("alidade._table").attr("Table")(columns);
}

void bind_explore(nb::module_& m) {
    bind_exploration(m);
    m.def(
        "learn",
        [](nb::handle problem, const Counts& counts, double delta, std::optional<double> misspecification,
           const std::optional<std::string>& reach) {
            const SharedProblem parts = problem_of(problem);
            const Task task = assuming(task_of(*parts), assumed_of(misspecification, reach));
            return patiently([=] { return learn(task, counts, delta); });
        },
        "problem"_a, "counts"_a, "delta"_a = 0.1, "misspecification"_a = nb::none(), "reach"_a = nb::none(),
        nb::sig("def learn(problem: Problem | str, counts: Counts, delta: float = 0.1, misspecification: "
                "float | None = None, reach: str | None = None) -> Knowledge"),
        "What counts teach, whoever collected them and however. misspecification, reach: how far a true law "
        "may be off its mixture, and where it may lead, where not as the problem says.");
    m.def(
        "algorithms",
        [] {
            nb::dict all;
            for (const BehaviourEntry& entry : behaviours()) all[nb::str(entry.name.c_str())] = entry.summary;
            return all;
        },
        nb::sig("def algorithms() -> dict[str, str]"),
        "How experiments can be chosen, and a sentence about each.");
    m.def(
        "confidence_sets",
        [] {
            nb::dict all;
            for (const SourceEntry& entry : set_sources()) all[nb::str(entry.name.c_str())] = entry.summary;
            return all;
        },
        nb::sig("def confidence_sets() -> dict[str, str]"),
        "What certificates can rest on, and a sentence about each.");
}

}  // namespace alidade::python
