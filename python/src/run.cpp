#include "run.hpp"

#include <fmt/format.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <fstream>

#include "alidade/certify/misspecification_bound.hpp"
#include "alidade/certify/model_fit.hpp"
#include "alidade/certify/sensitivity.hpp"
#include "alidade/error.hpp"
#include "alidade/explore/explorer.hpp"
#include "alidade/report/report.hpp"
#include "atlas.hpp"
#include "bindings.hpp"
#include "decisions.hpp"
#include "problem.hpp"
#include "python_system.hpp"
#include "trace.hpp"
#include "watch.hpp"

namespace alidade::python {

namespace {

using namespace nb::literals;

constexpr std::int64_t default_episodes = 100'000;

Access access_of(const std::string& name) {
    if (name == "read") return Access::read;
    if (name == "write") return Access::write;
    expects(name == "share", "access is '{}'; must be read, write or share", name);
    return Access::share;
}

RunObject create(const std::filesystem::path& folder, nb::handle problem, const std::string& algorithm,
                 const std::string& confidence, std::optional<double> delta, std::uint64_t seed,
                 const std::string& replan, const std::string& system, std::string source, bool overwrite,
                 std::optional<double> misspecification, const std::optional<std::string>& reach) {
    const SharedProblem parts = problem_of(problem, source);
    const AssumedError assumed = assumed_of(misspecification, reach);
    const ExplorerOptions wanted =
        canonical({.algorithm = algorithm, .confidence = confidence}, assuming(task_of(*parts), assumed));
    const RunOptions options{.algorithm = wanted.algorithm,
                             .confidence = wanted.confidence,
                             .delta = delta.value_or(parts->target().delta.value_or(0.1)),
                             .seed = seed,
                             .schedule = parse_schedule(replan),
                             .system = system,
                             .assumed = assumed};
    expects(options.delta > 0 && options.delta < 1, "delta is {}; must lie strictly between 0 and 1",
            options.delta);
    const nb::gil_scoped_release unlocked;
    if (overwrite) Run::remove(folder);
    return RunObject(Run::create(folder, *parts, source, options));
}

std::string report_of(const RunObject& self, const std::optional<std::filesystem::path>& path,
                      std::optional<double> target, int threads) {
    const std::shared_ptr<Run>& run = self.settled();
    const nb::gil_scoped_release unlocked;
    const std::string page = report::page({run.get(), 1}, {.threads = threads_of(threads),
                                                           .target = target,
                                                           .program = "alidade " ALIDADE_VERSION})
                                 .html;
    if (path) {
        std::ofstream stream(*path, std::ios::binary);
        stream << page;
        stream.close();
        if (!stream) throw std::runtime_error(fmt::format("'{}' cannot be written", path->string()));
    }
    return page;
}

std::string figure_of(const RunObject& self, const std::string& kind, const std::string& format,
                      Index number) {
    expects(format == "svg" || format == "vega-lite", "format is '{}'; must be vega-lite or svg", format);
    const std::shared_ptr<Run>& run = self.settled();
    const nb::gil_scoped_release unlocked;
    return report::figure(
        *run, kind, format == "svg" ? report::FigureFormat::svg : report::FigureFormat::vega_lite, number);
}

/// As the command line checks it after exploring.
std::optional<ModelFit> fit_of(const Problem& problem, const Counts& counts, double level) {
    if (level == 0 || problem.is_linear()) return std::nullopt;
    if (problem.features().kind() != FeatureKind::base_models) return std::nullopt;
    return check_model(problem.features(), counts, problem.homogeneous(), level);
}

/// What an exploration left behind, and how the data stand with the model.
struct Explored {
    ExploredRun run;
    std::optional<ModelFit> fit;
    std::optional<RunContradiction> contradiction;
    std::optional<MisspecificationBound> bound = {};
    std::optional<AtlasObject> atlas = {};
};

Explored explore_run(Run& run, Tried& tried, const RunGoal& goal, const Watch& watch, double fit_level) {
    RunWatch watching;
    watching.interrupted = [&] { return watch.stops(); };
    watching.observe = [&](const Progress& now) { watch(now); };
    ExploredRun explored = tried.system ? run.explore(*tried.system, goal, watching)
                                        : run.explore(*tried.deployer, goal, watching);
    Explored all{std::move(explored), {}, {}};
    all.contradiction = all.run.contradiction;
    if (all.run.stopped == Stopped::interrupted) return all;
    all.fit = fit_of(run.problem(), all.run.counts, fit_level);
    if (!all.fit || !all.fit->contradicted) return all;
    const Problem& problem = run.problem();
    const double assumed = task_of(problem, run.options()).misspecification;
    all.bound = misspecification_lower(problem.features(), all.run.counts, problem.homogeneous(), fit_level);
    if (all.contradiction) return all;
    // A truth that may be off its mixture is contradicted where it is off by more.
    all.contradiction = assumed > 0 ? contradiction_of(*all.bound, assumed, all.run.counts.episodes())
                                    : contradiction_of(*all.fit, all.run.counts.episodes());
    if (all.contradiction) run.note(*all.contradiction);
    return all;
}

Explored explore(RunObject& self, nb::handle system, std::optional<std::int64_t> episodes,
                 std::optional<double> target, int threads, nb::handle observe, nb::handle interrupted,
                 bool progress, bool despite, double fit_level, std::optional<double> until_loss,
                 nb::handle objectives, nb::handle minimise, nb::handle at_least, nb::handle at_most) {
    const auto caller = std::make_shared<CallingThread>();
    const std::shared_ptr<Run> run = self.settled();
    const Problem& problem = run->problem();
    std::optional<AtlasWanted> wanted =
        atlas_to_stop_at({objectives, minimise, at_least, at_most}, problem, until_loss, target, threads);
    RunGoal goal{episodes.value_or(problem.target().episodes.value_or(default_episodes)),
                 target ? target : problem.target().epsilon, threads_of(threads), despite,
                 enough_for(wanted)};
    if (wanted) goal.target.reset();
    expects(!goal.target || *goal.target > 0, "target is {}; must be greater than 0", *goal.target);
    expects(fit_level >= 0 && fit_level < 1, "fit_level is {}; must be from 0 (no check) to below 1",
            fit_level);
    std::shared_ptr<const TransitionModel> truth;
    if (system.is_none() && problem.truth_known())
        truth = std::make_shared<const TransitionModel>(problem.true_system());
    const auto watch = std::make_shared<Watch>(observe, interrupted, progress, goal.episodes, caller);
    // Only simulated episodes can be had again at no cost: all others are kept.
    const bool simulated = system.is_none() || nb::isinstance<SimulatedSystem>(system);
    const auto before = run->result();
    const bool kept = !simulated || run->keeps_episodes() || (before && before->stopped == stopped_at_logs);
    const std::uint64_t seed = run->options().seed;
    const auto tried =
        std::make_shared<Tried>(kept ? reporting_system_of(system, problem.shape(), seed, truth, caller)
                                     : system_of(system, problem.shape(), seed, truth, caller));
    const auto explored = std::make_shared<std::optional<Explored>>();
    self.begin(caller);
    try {
        CallingThread::wait_for(
            caller, [=] { explored->emplace(explore_run(*run, *tried, goal, *watch, fit_level)); });
    } catch (...) {
        watch->close();
        throw;
    }
    watch->close();
    Explored& all = **explored;
    if (wanted && all.run.stopped != Stopped::interrupted && !all.contradiction)
        all.atlas = keep_atlas(*run, all.run.knowledge, std::move(*wanted));
    return std::move(all);
}

std::optional<LoadedRun> load(const RunObject& self, int threads, std::optional<double> misspecification,
                              const std::optional<std::string>& reach) {
    const auto run = self.settled();
    const Threads count = threads_of(threads);
    const AssumedError assumed = assumed_of(misspecification, reach);
    return patiently([=] { return run->load(count, assumed); });
}

Knowledge knowledge_of(const RunObject& self, int threads, std::optional<double> misspecification,
                       const std::optional<std::string>& reach) {
    auto loaded = load(self, threads, misspecification, reach);
    expects(loaded.has_value(), "{}: nothing was stored yet", self.settled()->folder().string());
    return std::move(loaded->knowledge);
}

/// As "certify RUN --sensitivity": of the model that was handed over, with all that was counted.
Sensitivity sensitivity_of(const RunObject& self, bool reward_free, int threads) {
    const auto run = self.settled();
    const Threads count = threads_of(threads);
    return patiently([=] {
        const auto loaded = run->load(count);
        const auto checkpoint = run->checkpoint();
        expects(loaded && checkpoint, "{}: nothing was stored yet", run->folder().string());
        return Sensitivity(task_of(run->problem(), run->options()), checkpoint->counts,
                           loaded->knowledge.mixture("a curve over misspecifications"),
                           {run->options().delta, count, reward_free});
    });
}

nb::object stored_trace(const RunObject& self) {
    std::vector<TracePoint> trace;
    const auto checkpoint = self.settled()->checkpoint();
    if (checkpoint && checkpoint->memory.integers.contains("trace.episodes")) {
        const Snapshot& memory = checkpoint->memory;
        const auto& episodes = memory.integers.at("trace.episodes");
        for (std::size_t i = 0; i < episodes.size(); ++i)
            trace.push_back({episodes[i], memory.numbers.at("trace.bound").at(i),
                             memory.integers.at("trace.replans").at(i)});
    }
    return trace_table(trace);
}

nb::dict options_dict(const RunObject& self) {
    const RunOptions& options = self.settled()->options();
    nb::dict all;
    all["algorithm"] = options.algorithm;
    all["confidence"] = options.confidence;
    all["delta"] = options.delta;
    all["seed"] = options.seed;
    all["replan"] = to_string(options.schedule);
    all["system"] = options.system;
    const Task task = task_of(self.settled()->problem(), options);
    all["misspecification"] = task.misspecification;
    all["reach"] = to_string(task.reach);
    return all;
}

nb::dict seconds_of(const Timings& timings) {
    nb::dict seconds;
    seconds["total"] = timings.total;
    seconds["explore"] = timings.simulate;
    seconds["plan"] = timings.plan;
    seconds["certify"] = timings.certify;
    return seconds;
}

std::string text_of(const RunObject& self) {
    if (self.is_closed()) return "<run, closed>";
    if (self.is_busy()) return "<run at work>";
    const auto run = self.settled();
    const auto result = run->result();
    if (!result) return fmt::format("<run {} of {}: no result yet>", run->folder().string(), run->source());
    return fmt::format("<run {} of {}: {} episodes, any reward: loss at most {:.4g} of {}>",
                       run->folder().string(), run->source(), result->episodes, result->reward_free,
                       run->problem().shape().horizon);
}

void bind_results(nb::module_& m) {
    nb::class_<RunResult>(m, "RunResult", "What the last call of a run left behind.")
        .def_ro("episodes", &RunResult::episodes)
        .def_ro("replans", &RunResult::replans)
        .def_ro("reward_free", &RunResult::reward_free, "The certificate that was reported.")
        .def_ro("method", &RunResult::method)
        .def_prop_ro(
            "candidates",
            [](const RunResult& result) {
                nb::dict all;
                for (const auto& [name, value] : result.candidates) all[nb::str(name.c_str())] = value;
                return all;
            },
            nb::sig("def candidates(self) -> dict[str, float]"))
        .def_ro("stopped", &RunResult::stopped, "'target', 'budget' or 'interrupted'; 'logs': not explored.")
        .def_prop_ro(
            "seconds", [](const RunResult& result) { return seconds_of(result.timings); },
            nb::sig("def seconds(self) -> dict[str, float]"))
        .def("__repr__", [](const RunResult& r) {
            return fmt::format("<result after {} episodes ({}): certificate {:.4g} by {}>", r.episodes,
                               r.stopped, r.reward_free, r.method);
        });
    nb::class_<Explored>(m, "ExploredRun", "What an exploration left behind.")
        .def_prop_ro(
            "stopped", [](const Explored& all) { return to_string(all.run.stopped); },
            "'target', 'budget' or 'interrupted'.")
        .def_prop_ro("knowledge", [](const Explored& all) { return all.run.knowledge; })
        .def_prop_ro("certificate", [](const Explored& all) { return all.run.knowledge.certificate; })
        .def_prop_ro("result", [](const Explored& all) { return all.run.result; })
        .def_prop_ro("replan_bound", [](const Explored& all) { return all.run.replan_bound; })
        .def_prop_ro("counts", [](const Explored& all) { return all.run.counts; })
        .def_prop_ro(
            "trace", [](const Explored& all) { return trace_table(all.run.trace); },
            nb::sig("def trace(self) -> alidade._table.Table"))
        .def_ro("fit", &Explored::fit,
                "Whether the data as a whole contradict the mixture; None: not checked.")
        .def_ro("misspecification", &Explored::bound,
                "How far the truth is off every mixture, at least; None: nothing was found.")
        .def_ro(
            "atlas", &Explored::atlas, nb::sig("def atlas(self) -> Atlas | None"),
            "Of the objectives of ``until_loss``, also written into the run's folder; None: not asked for.")
        .def_ro("contradiction", &Explored::contradiction,
                "The first that the run has stored; None: there is none.")
        .def("__repr__", [](const Explored& all) {
            return fmt::format("<explored {} episodes ({}): any reward, loss at most {:.4g}{}{}>",
                               all.run.result.episodes, to_string(all.run.stopped),
                               all.run.knowledge.certificate.bound,
                               all.run.knowledge.certificate.vacuous ? " (vacuous)" : "",
                               all.contradiction ? "; the data CONTRADICT the model" : "");
        });
}

void bind_kept(nb::module_& m) {
    nb::class_<KeptPlan>(m, "KeptPlan", "A plan that is kept with its run.")
        .def_ro("name", &KeptPlan::name)
        .def_ro("reward_name", &KeptPlan::reward_name)
        .def_prop_ro("reward", [](const KeptPlan& plan) { return plan.reward.reward; })
        .def_ro("planner", &KeptPlan::planner)
        .def_ro("policy", &KeptPlan::policy)
        .def_ro("certificate", &KeptPlan::certificate)
        .def_ro("episodes", &KeptPlan::episodes);
}

nb::tuple learn_run(const std::filesystem::path& folder, nb::handle problem, nb::handle episodes,
                    double delta, std::string source, bool replace, const std::string& name, int threads,
                    std::optional<double> misspecification, const std::optional<std::string>& reach) {
    const SharedProblem parts = problem_of(problem, source);
    const LearnOptions options{threads_of(threads), replace, {}, assumed_of(misspecification, reach)};
    std::optional<Counts> counts;
    if (nb::isinstance<Counts>(episodes)) counts = nb::cast<const Counts&>(episodes);
    std::vector<LoggedEpisode> seen;
    if (!counts) seen = episodes_of(episodes);
    LearnedRun learned = patiently([=, seen = std::move(seen)] {
        if (counts) return Run::learn(folder, *parts, source, delta, *counts, options);
        const EpisodeLog log{name, [&](const std::function<void(const LoggedEpisode&)>& each) {
                                 for (const LoggedEpisode& episode : seen) each(episode);
                             }};
        return Run::learn(folder, *parts, source, delta, std::span(&log, 1), options);
    });
    Knowledge knowledge = learned.knowledge;
    return nb::make_tuple(nb::cast(RunObject(std::move(learned.run))), nb::cast(std::move(knowledge)));
}

}  // namespace

void bind_run(nb::module_& m) {
    bind_results(m);
    bind_kept(m);
    nb::class_<RunObject>(
        m, "Run",
        "A run: what was asked for, what was counted and what is known, in a folder. Nothing that was "
        "counted is lost, and a run that was stopped goes on as if it had not been.")
        .def_static(
            "create", create, "folder"_a, "problem"_a, nb::kw_only(), "algorithm"_a = "", "confidence"_a = "",
            "delta"_a = nb::none(), "seed"_a = 0, "replan"_a = "growth=0.1", "system"_a = "simulated",
            "source"_a = "", "overwrite"_a = false, "misspecification"_a = nb::none(), "reach"_a = nb::none(),
            nb::sig(
                "def create(folder: str | os.PathLike[str], problem: Problem | str, *, algorithm: str = '', "
                "confidence: str = '', delta: float | None = None, seed: int = 0, replan: str = "
                "'growth=0.1', system: str = 'simulated', source: str = '', overwrite: bool = False, "
                "misspecification: float | None = None, reach: str | None = None) -> Run"),
            "Starts a run in a folder, which is made if it does not exist. misspecification, reach: how far "
            "a "
            "true law may be off its mixture, and where it may lead, where not as the problem says; to be "
            "chosen before the data are seen.\n\n"
            ">>> import alidade, tempfile\n"
            ">>> folder = tempfile.mkdtemp()\n"
            ">>> run = alidade.Run.create(folder, 'builtin:riverswim?length=4&horizon=6', seed=1)\n"
            ">>> run.explore(episodes=20_000).stopped\n"
            "'budget'\n"
            ">>> run.knowledge().certificate.vacuous\n"
            "False\n")
        .def_static(
            "open",
            [](const std::filesystem::path& folder, const std::string& access) {
                const Access how = access_of(access);
                const nb::gil_scoped_release unlocked;
                return RunObject(Run::open(folder, how));
            },
            "folder"_a, "access"_a = "write",
            nb::sig("def open(folder: str | os.PathLike[str], access: str = 'write') -> Run"),
            "Opens a run: 'write' to go on with it, 'read' beside a writer too, 'share' to ask and tell with "
            "others.")
        .def_static("exists", &Run::exists, "folder"_a,
                    nb::sig("def exists(folder: str | os.PathLike[str]) -> bool"))
        .def_static("remove", &Run::remove, "folder"_a,
                    nb::sig("def remove(folder: str | os.PathLike[str]) -> None"),
                    "Deletes the run in the folder, and nothing else in it.")
        .def_static(
            "learn", learn_run, "folder"_a, "problem"_a, "episodes"_a, nb::kw_only(), "delta"_a = 0.1,
            "source"_a = "", "replace"_a = false, "name"_a = "episodes", "threads"_a = 0,
            "misspecification"_a = nb::none(), "reach"_a = nb::none(),
            nb::sig(
                "def learn(folder: str | os.PathLike[str], problem: Problem | str, episodes: typing.Any, *, "
                "delta: float = 0.1, source: str = '', replace: bool = False, name: str = 'episodes', "
                "threads: int = 0, misspecification: float | None = None, reach: str | None = None) -> "
                "tuple[Run, Knowledge]"),
            "A run of episodes (or Counts) that somebody else collected, and what they teach.")
        .def("explore", explore, "system"_a = nb::none(), nb::kw_only(), "episodes"_a = nb::none(),
             "target"_a = nb::none(), "threads"_a = 0, "observe"_a = nb::none(), "interrupted"_a = nb::none(),
             "progress"_a = false, "despite_contradiction"_a = false, "fit_level"_a = 0.01,
             "until_loss"_a = nb::none(), "objectives"_a = nb::none(), "minimise"_a = nb::none(),
             "at_least"_a = nb::none(), "at_most"_a = nb::none(),
             nb::sig("def explore(self, system: typing.Any = None, *, episodes: int | None = None, target: "
                     "float | None = "
                     "None, threads: int = 0, observe: collections.abc.Callable[[Progress], object] | None = "
                     "None, "
                     "interrupted: collections.abc.Callable[[], bool] | None = None, progress: bool = False, "
                     "despite_contradiction: bool = False, fit_level: float = 0.01, until_loss: float | "
                     "None = None, objectives: typing.Any = None, minimise: collections.abc.Iterable[str] | "
                     "None = None, at_least: typing.Any = None, at_most: typing.Any = None) -> ExploredRun"),
             "Explores until the target, the budget (``episodes`` in all) or an interruption.\n\n"
             "The system is the problem's own, simulated; or an object with ``reset(seed)`` and "
             "``step(action)``, or with "
             "``run(policy, first, count)``: then every episode is kept. Ctrl-C ends it within 0.2 s and "
             "nothing is lost; "
             "what a callback or the system raises arrives as it is.\n\n"
             "With ``until_loss`` the target is another: plans for every weighting of the ``objectives`` (as "
             "of Knowledge.atlas, or names of the problem's rewards) that lose at most so much. The explorer "
             "is not told the objectives; ``atlas`` of what comes back has the plans.")
        .def("load", load, "threads"_a = 0, "misspecification"_a = nb::none(), "reach"_a = nb::none(),
             nb::sig("def load(self, threads: int = 0, misspecification: float | None = None, reach: str | "
                     "None = None) -> LoadedRun | None"))
        .def(
            "knowledge", knowledge_of, "threads"_a = 0, "misspecification"_a = nb::none(),
            "reach"_a = nb::none(),
            nb::sig("def knowledge(self, threads: int = 0, misspecification: float | None = None, reach: str "
                    "| None = None) -> Knowledge"),
            "What the run knows, computed again from the stored evidence. misspecification, reach: with "
            "another assumption than the run was made with, for what is certified and planned from here on.")
        .def("sensitivity", sensitivity_of, "reward_free"_a = true, "threads"_a = 0,
             "What is certain if the truth is farther off the mixture than was assumed.")
        .def_prop_ro("folder", [](const RunObject& self) { return self.settled()->folder().string(); })
        .def_prop_ro("problem",
                     [](const RunObject& self) {
                         const auto run = self.settled();
                         return std::shared_ptr<const Problem>(run, &run->problem());
                     })
        .def_prop_ro("source", [](const RunObject& self) { return self.settled()->source(); })
        .def_prop_ro("options", options_dict, nb::sig("def options(self) -> dict[str, typing.Any]"))
        .def_prop_ro("result", [](const RunObject& self) { return self.settled()->result(); })
        .def_prop_ro("counts",
                     [](const RunObject& self) -> std::optional<Counts> {
                         auto checkpoint = self.settled()->checkpoint();
                         if (!checkpoint) return std::nullopt;
                         return std::move(checkpoint->counts);
                     })
        .def_prop_ro("contradiction",
                     [](const RunObject& self) -> std::optional<RunContradiction> {
                         auto checkpoint = self.settled()->checkpoint();
                         if (!checkpoint) return std::nullopt;
                         return std::move(checkpoint->contradiction);
                     })
        .def_prop_ro("trace", stored_trace, nb::sig("def trace(self) -> alidade._table.Table"),
                     "The certificates on the way: episodes, bound (not clipped at H), replans.")
        .def_prop_ro("keeps_episodes", [](const RunObject& self) { return self.settled()->keeps_episodes(); })
        .def(
            "keep",
            [](const RunObject& self, const std::string& name, const std::string& reward_name,
               nb::handle reward, nb::handle policy, const RewardCertificate& certificate,
               std::int64_t episodes, const std::string& planner) {
                const auto run = self.settled();
                const Shape& shape = run->problem().shape();
                const KeptPlan plan{name,
                                    reward_name,
                                    {reward_of(reward, shape), {}},
                                    planner,
                                    policy_of(policy, shape),
                                    certificate,
                                    episodes};
                run->keep({&plan, 1});
            },
            "name"_a, "reward_name"_a, "reward"_a, "policy"_a, "certificate"_a, "episodes"_a,
            "planner"_a = "",
            nb::sig("def keep(self, name: str, reward_name: str, reward: typing.Any, policy: typing.Any, "
                    "certificate: "
                    "RewardCertificate, episodes: int, planner: str = '') -> None"),
            "Keeps a plan with the run, in place of one that has its name.")
        .def("kept_plans", [](const RunObject& self) { return self.settled()->kept_plans(); })
        .def("close", &RunObject::close, "Lets go of the folder; another process may write it then.")
        .def(
            "__enter__", [](nb::object self) { return self; }, nb::sig("def __enter__(self) -> Run"))
        .def(
            "__exit__", [](RunObject& self, const nb::args&) { self.close(); },
            nb::sig("def __exit__(self, *args: object) -> None"))
        .def("report", report_of, "path"_a = nb::none(), nb::kw_only(), "target"_a = nb::none(),
             "threads"_a = 0,
             nb::sig("def report(self, path: str | os.PathLike[str] | None = None, *, target: float | None = "
                     "None, "
                     "threads: int = 0) -> str"),
             "The run's report as one HTML page, which is also written to `path` if there is one.")
        .def("figure", figure_of, "kind"_a, nb::kw_only(), "format"_a = "vega-lite", "number"_a = 0,
             "One figure of the report: \"vega-lite\" is its specification as JSON, \"svg\" a picture.")
        .def("plot", in_python("alidade.plot", "plot"),
             nb::sig("def plot(self, *, plans: collections.abc.Mapping[str, RewardCertificate] | None = "
                     "None, target: "
                     "float | None = None) -> typing.Any"),
             "A page of pictures, by matplotlib: certificate, weights, coverage, and the value intervals of "
             "``plans``.")
        .def("_repr_html_", in_python("alidade._display", "run_html"),
             nb::sig("def _repr_html_(self) -> str"))
        .def("__repr__", text_of);
    nb::class_<LoadedRun>(m, "LoadedRun")
        .def_ro("knowledge", &LoadedRun::knowledge)
        .def_ro("result", &LoadedRun::result);
    m.def(
        "problem_hash", [](const Problem& problem) { return problem_hash(problem); }, "problem"_a,
        "32 hexadecimal digits that tell problems apart for exploration.");
}

}  // namespace alidade::python
