#include "problem.hpp"

#include <fmt/format.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <thread>

#include "alidade/error.hpp"
#include "alidade/formats/problem_folder.hpp"
#include "alidade/problem/aggregation.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/problem/inspection.hpp"
#include "alidade/problem/reward_catalogue.hpp"
#include "alidade/random/stream.hpp"
#include "arrays.hpp"
#include "bindings.hpp"
#include "calling_thread.hpp"
#include "decisions.hpp"
#include "kernels.hpp"

namespace alidade::python {

using namespace nb::literals;

SharedProblem problem_of(nb::handle object, std::string& source) {
    if (nb::isinstance<Problem>(object)) {
        auto problem = nb::cast<std::shared_ptr<Problem>>(object);
        if (source.empty()) source = problem->name();
        return problem;
    }
    nb::object path = nb::steal(PyOS_FSPath(object.ptr()));
    if (!path.is_valid()) throw nb::python_error();
    const std::string address = nb::cast<std::string>(nb::str(path));
    if (source.empty()) source = address;
    return std::make_shared<const Problem>(load_problem(address));
}

AssumedError assumed_of(std::optional<double> misspecification, const std::optional<std::string>& reach) {
    AssumedError assumed{misspecification, {}};
    if (reach) assumed.reach = parse_reach(*reach);
    return assumed;
}

Threads threads_of(int threads) {
    expects(threads >= 0, "threads is {}; must not be negative (0: all cores)", threads);
    return threads > 0 ? threads : static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

namespace {

SharedFeatures features_argument(nb::handle bases, nb::handle names, const std::string& layout,
                                 bool normalise) {
    if (nb::isinstance<FeatureMap>(bases)) return nb::cast<std::shared_ptr<FeatureMap>>(bases);
    nb::object make = nb::type<FeatureMap>().attr("from_base_kernels");
    nb::object map =
        make(bases, "names"_a = nb::borrow(names), "layout"_a = layout, "normalise"_a = normalise);
    return nb::cast<std::shared_ptr<FeatureMap>>(map);
}

/// A Python function (state, action) -> masses of all cells, or (cells, masses), as a law of the next cell.
CellLaw law_of(const nb::object& law, Index cells) {
    return [law, cells](std::span<const double> state, Action action, CellMasses& to) {
        nb::object answer = law(own(std::vector(state.begin(), state.end()), {state.size()}), action);
        if (!nb::isinstance<nb::tuple>(answer)) {
            const auto masses = doubles(answer, "the law of a cell");
            expects(masses.ndim() == 1 && masses.size() == at(cells),
                    "the law of a cell has shape {}; must be {} masses, or (cells, masses)",
                    shape_text(masses), cells);
            for (State cell = 0; cell < cells; ++cell)
                if (masses.data()[cell] != 0) to.add(cell, masses.data()[cell]);
            return;
        }
        const nb::tuple both = nb::cast<nb::tuple>(answer);
        expects(both.size() == 2, "the law of a cell has {} parts; must be (cells, masses)", both.size());
        const auto places = nb::cast<std::vector<State>>(nb::object(both[0]));
        const auto masses = doubles(both[1], "masses of cells");
        expects(places.size() == masses.size(), "the law of a cell has {} cells and {} masses", places.size(),
                masses.size());
        for (std::size_t i = 0; i < places.size(); ++i) to.add(places[i], masses.data()[i]);
    };
}

nb::tuple aggregate_laws(const Grid& grid, Index actions, const std::vector<nb::object>& laws,
                         std::vector<std::string> names, const AggregationOptions& options) {
    if (names.empty())
        for (std::size_t i = 0; i < laws.size(); ++i) names.push_back(fmt::format("base {}", i));
    expects(names.size() == laws.size(), "{} names for {} laws", names.size(), laws.size());
    std::vector<BaseLaw> bases;
    for (std::size_t i = 0; i < laws.size(); ++i) bases.push_back({names[i], law_of(laws[i], grid.cells())});
    Aggregation made = aggregate(grid, actions, bases, options);
    return nb::make_tuple(std::const_pointer_cast<FeatureMap>(made.features), made.probed, made.law_error);
}

std::vector<std::string> texts(nb::handle list) {
    std::vector<std::string> all;
    if (!list.is_none())
        for (const nb::handle text : list) all.push_back(nb::cast<std::string>(text));
    return all;
}

/// Truth of a mixture: (H, d), or (d,) and (1, d) for one row.
Matrix weights_of(nb::handle object) {
    const auto array = doubles(object, "truth");
    if (array.ndim() == 2) return matrix_of(object, "truth");
    expects(array.ndim() == 1, "truth has shape {}; must be (horizon, features), or (features,)",
            shape_text(array));
    return Eigen::Map<const Vector>(array.data(), static_cast<Index>(array.size())).transpose();
}

/// One row stands for all steps.
Matrix every_step(const Matrix& rows, const ProblemDescription& parts) {
    if (rows.rows() != 1 || parts.homogeneous || parts.horizon <= 1) return rows;
    return rows.replicate(parts.horizon, 1);
}

void add_rewards(ProblemDescription& parts, nb::handle rewards, const Shape& shape) {
    if (rewards.is_none()) return;
    for (const auto& [name, reward] : nb::cast<nb::dict>(rewards))
        parts.rewards.push_back({nb::cast<std::string>(name), "", reward_of(reward, shape)});
}

Problem make_problem(nb::handle base_models, Index horizon, nb::handle start, bool homogeneous,
                     double misspecification, const std::string& reach, nb::handle truth, nb::handle linear,
                     nb::handle names, const std::string& layout, bool normalise, const std::string& name,
                     nb::handle state_names, nb::handle action_names, nb::handle rewards,
                     const ProblemTarget& target) {
    ProblemDescription parts;
    parts.name = name;
    if (!linear.is_none())
        parts.linear = nb::cast<std::shared_ptr<PairFeatures>>(linear);
    else
        parts.features = features_argument(base_models, names, layout, normalise);
    parts.horizon = horizon;
    parts.start = start_of(start);
    parts.homogeneous = homogeneous;
    parts.misspecification = misspecification;
    parts.reach = parse_reach(reach);
    if (!truth.is_none()) {
        if (parts.linear)
            for (const nb::handle measure : truth) parts.measures.push_back(matrix_of(measure, "truth"));
        else
            parts.truth = every_step(weights_of(truth), parts);
    }
    parts.state_names = texts(state_names);
    parts.action_names = texts(action_names);
    parts.target = target;
    const SuccessorMap& map =
        parts.linear ? static_cast<const SuccessorMap&>(*parts.linear) : *parts.features;
    add_rewards(parts, rewards, {map.states(), map.actions(), horizon});
    return Problem(std::move(parts));
}

constexpr const char* problem_doc =
    "A system under study: candidate models, horizon, start, and the truth where it is simulated. Immutable.";
constexpr const char* init_doc =
    "A problem from arrays.\n\n"
    "base_models: d kernels as FeatureMap.from_base_kernels takes them, or a FeatureMap; or ``linear``, "
    "PairFeatures of a linear MDP. start: a state, {state: probability}, or an array. homogeneous: one set "
    "of "
    "weights for all steps. misspecification: how far, in total variation, a true law may be from the "
    "mixture's. reach: where a truth that is off may lead, 'anywhere' or 'support', where some base model "
    "does. "
    "truth: the weights to simulate, (H, d), or (d,) for all steps. rewards: {name: array}.\n\n"
    ">>> import alidade, numpy as np\n"
    ">>> calm = np.array([[[1, 0], [0.1, 0.9]], [[0, 1], [0.9, 0.1]]])\n"
    ">>> wild = np.array([[[1, 0], [0.7, 0.3]], [[0, 1], [0.3, 0.7]]])\n"
    ">>> alidade.Problem([calm, wild], horizon=4, truth=[0.25, 0.75])\n"
    "<problem: 2 states, 2 actions, horizon 4, 2 base models, truth known>\n";

std::string text_of(const Problem& problem) {
    const Shape& s = problem.shape();
    const std::string called = problem.name().empty() ? "problem" : "problem " + problem.name();
    const std::string features =
        problem.is_linear()
            ? fmt::format("linear MDP of {} features", problem.pair_features().features())
            : fmt::format("{} {}", problem.features().features(),
                          problem.features().kind() == FeatureKind::base_models ? "base models" : "features");
    return fmt::format("<{}: {} states, {} actions, horizon {}, {}{}{}>", called, s.states, s.actions,
                       s.horizon, features, problem.homogeneous() ? ", homogeneous" : "",
                       problem.truth_known() ? ", truth known" : "");
}

void bind_problem_class(nb::module_& m) {
    nb::class_<Problem>(m, "Problem", problem_doc)
        .def(
            "__init__",
            [](Problem* self, nb::handle base_models, Index horizon, nb::handle start, bool homogeneous,
               double misspecification, const std::string& reach, nb::handle truth, nb::handle linear,
               nb::handle names, const std::string& layout, bool normalise, const std::string& name,
               nb::handle state_names, nb::handle action_names, nb::handle rewards,
               std::optional<double> epsilon, std::optional<double> delta,
               std::optional<std::int64_t> episodes) {
                new (self) Problem(make_problem(
                    base_models, horizon, start, homogeneous, misspecification, reach, truth, linear, names,
                    layout, normalise, name, state_names, action_names, rewards, {epsilon, delta, episodes}));
            },
            "base_models"_a = nb::none(), nb::kw_only(), "horizon"_a, "start"_a = 0, "homogeneous"_a = false,
            "misspecification"_a = 0.0, "reach"_a = "anywhere", "truth"_a = nb::none(),
            "linear"_a = nb::none(), "names"_a = nb::none(), "layout"_a = "sas", "normalise"_a = false,
            "name"_a = "", "state_names"_a = nb::none(), "action_names"_a = nb::none(),
            "rewards"_a = nb::none(), "epsilon"_a = nb::none(), "delta"_a = nb::none(),
            "episodes"_a = nb::none(),
            nb::sig(
                "def __init__(self, base_models: typing.Any = None, *, horizon: int, start: typing.Any = 0, "
                "homogeneous: bool = False, misspecification: float = 0.0, reach: str = 'anywhere', truth: "
                "typing.Any = None, "
                "linear: "
                "PairFeatures | None = None, names: collections.abc.Iterable[str] | None = None, layout: str "
                "= 'sas', normalise: bool = False, name: str = '', state_names: "
                "collections.abc.Iterable[str] | None = None, action_names: collections.abc.Iterable[str] | "
                "None = None, rewards: collections.abc.Mapping[str, typing.Any] | None = None, epsilon: "
                "float "
                "| None = None, delta: float | None = None, episodes: int | None = None) -> None"),
            init_doc)
        .def_prop_ro("name", &Problem::name)
        .def_prop_ro("shape", &Problem::shape)
        .def_prop_ro("is_linear", &Problem::is_linear)
        .def_prop_ro("features", [](const Problem& problem) { return problem.shared_features(); })
        .def_prop_ro("successors", [](const Problem& problem) { return problem.shared_successors(); })
        .def_prop_ro("start", &Problem::start)
        .def_prop_ro("homogeneous", &Problem::homogeneous)
        .def_prop_ro("misspecification", &Problem::misspecification)
        .def_prop_ro(
            "reach", [](const Problem& problem) { return to_string(problem.reach()); },
            "Where a truth that is off may lead: 'anywhere' or 'support'.")
        .def_prop_ro("truth_known", &Problem::truth_known)
        .def_prop_ro(
            "truth",
            [](nb::handle self) -> nb::object {
                const auto& truth = nb::cast<const Problem&>(self).truth();
                return truth ? rows_of(*truth, self) : nb::none();
            },
            nb::sig("def truth(self) -> numpy.typing.NDArray[numpy.float64] | None"),
            "The true weights, a row a step; a view. None where they are not known.")
        .def_prop_ro(
            "foreign",
            [](nb::handle self) -> nb::object {
                const auto& foreign = nb::cast<const Problem&>(self).foreign();
                if (!foreign) return nb::none();
                return nb::make_tuple(foreign->share,
                                      view<double>(foreign->law, {foreign->law.size()}, self));
            },
            nb::sig("def foreign(self) -> tuple[float, numpy.typing.NDArray[numpy.float64]] | None"),
            "The part of the truth that is no mixture: its share, and its law, a number for each successor "
            "of "
            "each pair; None where all of the truth is a mixture.")
        .def(
            "with_foreign",
            [](const Problem& problem, double share, nb::handle law, std::uint64_t seed) {
                ProblemDescription parts = problem.description();
                parts.foreign =
                    nb::isinstance<nb::str>(law)
                        ? foreign_part(problem.successors(), share,
                                       parse_foreign_law(nb::cast<std::string>(law)), seed)
                        : foreign_part(problem.successors(), share,
                                       KernelRows(law, "foreign", problem.shape().states, false).kernel());
                return std::make_shared<const Problem>(std::move(parts));
            },
            "share"_a, "law"_a = "random", "seed"_a = 1,
            nb::sig(
                "def with_foreign(self, share: float, law: typing.Any = 'random', seed: int = 1) -> Problem"),
            "The same problem with a truth that is a little off: a share of it is no mixture of the base "
            "models, "
            "but a law of its own at each state and action ('random'), 'uniform', 'shared', 'lowest', or a "
            "kernel (S, A, S).\n\n"
            ">>> import alidade\n"
            ">>> alidade.make_builtin('builtin:riverswim').with_foreign(0.05).true_misspecification() <= "
            "0.05\n"
            "True\n")
        .def("true_misspecification", &Problem::true_misspecification,
             "The largest total variation between a true law and the mixture of the true weights.")
        .def_prop_ro(
            "rewards",
            [](const Problem& problem) {
                nb::dict rewards;
                for (const NamedReward& named : problem.rewards())
                    rewards[nb::str(named.name.c_str())] = nb::cast(named.reward);
                return rewards;
            },
            nb::sig("def rewards(self) -> dict[str, Reward]"), "The natural rewards, by name.")
        .def_prop_ro(
            "target",
            [](const Problem& problem) {
                nb::dict target;
                target["epsilon"] = nb::cast(problem.target().epsilon);
                target["delta"] = nb::cast(problem.target().delta);
                target["episodes"] = nb::cast(problem.target().episodes);
                return target;
            },
            nb::sig("def target(self) -> dict[str, typing.Any]"),
            "What the problem asks for: epsilon, delta, episodes; None where it says nothing.")
        .def_prop_ro("state_names", [](const Problem& problem) { return problem.description().state_names; })
        .def_prop_ro("action_names",
                     [](const Problem& problem) { return problem.description().action_names; })
        .def("state_name", &Problem::state_name, "state"_a)
        .def("action_name", &Problem::action_name, "action"_a)
        .def(
            "true_model",
            [](const Problem& problem) -> nb::object {
                if (problem.is_linear() || problem.foreign()) return nb::cast(problem.true_system());
                return nb::cast(problem.true_model());
            },
            nb::sig("def true_model(self) -> TransitionModel"),
            "The true system. Raises InvalidArgument if the truth is not known.")
        .def(
            "reward",
            [](const Problem& problem, const std::string& address) { return make_reward(problem, address); },
            "address"_a, "A natural reward by its name, or a kind: 'sparse?seed=1', 'reach?state=3', ...")
        .def(
            "save",
            [](const SharedProblem& problem, const std::filesystem::path& folder) {
                save_problem(*problem, folder);
            },
            "folder"_a, nb::sig("def save(self, folder: str | os.PathLike[str]) -> None"),
            "Writes a folder that ``load_problem`` and the command line read.")
        .def(
            "inspect",
            [](SharedProblem problem) { return patiently([problem] { return inspect(*problem); }); },
            "What can be said before exploring it.")
        .def("_repr_html_", in_python("alidade._display", "problem_html"),
             nb::sig("def _repr_html_(self) -> str"))
        .def("__repr__", text_of);
}

void bind_inspection(nb::module_& m) {
    nb::class_<StepInspection>(m, "StepInspection")
        .def_ro("reachable", &StepInspection::reachable, "States that some policy and base model reach.")
        .def_ro("rank", &StepInspection::rank, "Directions of the weights that their transitions show.");
    nb::class_<Inspection>(m, "Inspection", "What can be said about a valid problem before exploring it.")
        .def_ro("steps", &Inspection::steps)
        .def_ro("unreachable", &Inspection::unreachable, "States that no step reaches.")
        .def_ro("dimension", &Inspection::dimension, "Directions in which the weights can move.")
        .def_ro("rank", &Inspection::rank, "Of these, those that reachable transitions show.")
        .def_ro("collinear", &Inspection::collinear, "Features in a direction that nothing shows.")
        .def_ro("bytes", &Inspection::bytes, "Memory that exploring takes, roughly.")
        .def("__repr__", [](const Inspection& i) {
            return fmt::format("<inspection: rank {} of {}, {} unreachable states>", i.rank, i.dimension,
                               i.unreachable.size());
        });
}

}  // namespace

void bind_problem(nb::module_& m) {
    bind_problem_class(m);
    bind_inspection(m);
    m.def(
        "make_builtin",
        [](const std::string& uri) { return std::make_shared<const Problem>(make_builtin(uri)); }, "uri"_a,
        "A built-in problem.\n\n"
        ">>> import alidade\n"
        ">>> alidade.make_builtin('builtin:riverswim?length=4&horizon=6').shape\n"
        "Shape(states=4, actions=2, horizon=6)\n");
    m.def(
        "load_problem",
        [](const std::filesystem::path& path, bool normalise) {
            return std::make_shared<const Problem>(load_problem(path.string(), {normalise}));
        },
        "path"_a, "normalise"_a = false,
        nb::sig("def load_problem(path: str | os.PathLike[str], normalise: bool = False) -> Problem"),
        "A folder with a problem.toml, that file itself, or builtin:NAME?parameter=value&...");
    m.def(
        "families",
        [] {
            nb::dict all;
            for (const Family& family : families()) {
                nb::dict parameters;
                for (const FamilyParameter& p : family.parameters)
                    parameters[nb::str(p.name.c_str())] = fmt::format("{} [{}]", p.meaning, p.default_value);
                all[nb::str(family.name.c_str())] = nb::make_tuple(family.summary, parameters);
            }
            return all;
        },
        nb::sig("def families() -> dict[str, tuple[str, dict[str, str]]]"),
        "The families of built-in problems: a sentence, and what each parameter means [its default].");
    m.def(
        "random_reward",
        [](const Shape& shape, const std::string& kind, std::uint64_t seed, double density) {
            const RandomRewardKind drawn = kind == "binary"  ? RandomRewardKind::binary
                                           : kind == "dense" ? RandomRewardKind::dense
                                                             : RandomRewardKind::sparse;
            expects(kind == "binary" || kind == "dense" || kind == "sparse",
                    "kind is '{}'; must be binary, dense or sparse", kind);
            Stream random(seed, Purpose::reward);
            return random_reward(shape, drawn, random, density);
        },
        "shape"_a, "kind"_a = "sparse", "seed"_a = 0, "density"_a = sparse_density,
        "A random reward: 'binary', 'dense' or 'sparse'.");
    m.def("single_state_reward", single_state_reward, "shape"_a, "state"_a,
          "1 for every action in one state.");
    m.def("reach_reward", reach_reward, "shape"_a, "state"_a, "1 for being in a state at the last step.");
    m.def(
        "one_hot_linear",
        [](const SharedProblem& problem) {
            return std::make_shared<const Problem>(one_hot_linear(*problem));
        },
        "problem"_a, "The same system as a linear MDP that knows nothing of base models.");
    m.def(
        "aggregate",
        [](const Grid& grid, Index actions, const std::vector<nb::object>& laws,
           const std::vector<std::string>& names, Index points, Index probes, double smoothing) {
            return aggregate_laws(grid, actions, laws, names, {points, probes, smoothing});
        },
        "grid"_a, "actions"_a, "laws"_a, nb::kw_only(), "names"_a = std::vector<std::string>{},
        "points"_a = 3, "probes"_a = 3, "smoothing"_a = 0.0,
        nb::sig(
            "def aggregate(grid: Grid, actions: int, laws: "
            "collections.abc.Sequence[collections.abc.Callable[["
            "numpy.typing.NDArray[numpy.float64], int], typing.Any]], *, names: "
            "collections.abc.Sequence[str] = [], points: int = 3, probes: int = 3, smoothing: float = 0.0) "
            "-> tuple[FeatureMap, float, float]"),
        "Base models over the cells of a grid from laws that can be computed: ``law(state, action)`` is the "
        "masses "
        "of all cells, or (cells, masses). Returns the features, the largest total variation between the law "
        "of a "
        "cell and that from a probe point in it (a lower estimate of the misspecification), and what "
        "smoothing "
        "adds to a proved bound of it.\n\n"
        ">>> import alidade\n"
        ">>> grid = alidade.Grid([(0, 1, 4)])\n"
        ">>> stay = lambda state, action: ([grid.cell_of(state)], [1.0])\n"
        ">>> anywhere = lambda state, action: [0.25] * 4\n"
        ">>> features, probed, smoothed = alidade.problem.aggregate(grid, 1, [stay, anywhere], points=1, "
        "probes=1)\n"
        ">>> features.states, features.features, probed\n"
        "(4, 2, 0.0)\n");
    m.def("sampled_law_error", sampled_law_error, "samples"_a, "cells"_a, "laws"_a, "failure"_a,
          "With probability 1 - failure no empirical law is farther than this from the true one, in total "
          "variation.");
    m.def("shift_variation", shift_variation, "slope"_a, "distance"_a, "variation"_a,
          "Largest total variation between the laws of g(s) + W and g(t) + W for s, t at most ``distance`` "
          "apart.");
}

}  // namespace alidade::python
