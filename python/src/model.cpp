#include <fmt/format.h>
#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "alidade/error.hpp"
#include "alidade/model/feature_map.hpp"
#include "alidade/model/mixture_model.hpp"
#include "alidade/model/pair_features.hpp"
#include "alidade/model/shape.hpp"
#include "arrays.hpp"
#include "bindings.hpp"
#include "calling_thread.hpp"
#include "kernels.hpp"

namespace alidade::python {

namespace {

using namespace nb::literals;

void bind_shape(nb::module_& m) {
    nb::class_<Shape>(m, "Shape", "Sizes shared by everything that speaks of one decision process.")
        .def(
            "__init__",
            [](Shape* self, Index states, Index actions, Index horizon) {
                const Shape shape{states, actions, horizon};
                validate(shape);
                new (self) Shape(shape);
            },
            "states"_a, "actions"_a, "horizon"_a)
        .def_ro("states", &Shape::states, "S, at least 1.")
        .def_ro("actions", &Shape::actions, "A, at least 1.")
        .def_ro("horizon", &Shape::horizon, "H, at least 1.")
        .def_prop_ro("pairs", &Shape::pairs, "Number of state-action pairs.")
        .def(nb::self == nb::self, nb::sig("def __eq__(self, arg: object, /) -> bool"))
        .def("__hash__",
             [](const Shape& s) { return nb::hash(nb::make_tuple(s.states, s.actions, s.horizon)); })
        .def(
            "__iter__",
            [](const Shape& s) { return nb::iter(nb::make_tuple(s.states, s.actions, s.horizon)); },
            nb::sig("def __iter__(self) -> collections.abc.Iterator[int]"))
        .def("__repr__", [](const Shape& s) {
            return fmt::format("Shape(states={}, actions={}, horizon={})", s.states, s.actions, s.horizon);
        });
    nb::class_<Interval>(m, "Interval", "The claim that a quantity lies in [lower, upper].")
        .def(nb::init<double, double>(), "lower"_a, "upper"_a)
        .def_ro("lower", &Interval::lower)
        .def_ro("upper", &Interval::upper)
        .def("__contains__", [](const Interval& i, double x) { return i.lower <= x && x <= i.upper; })
        .def(
            "__iter__", [](const Interval& i) { return nb::iter(nb::make_tuple(i.lower, i.upper)); },
            nb::sig("def __iter__(self) -> collections.abc.Iterator[float]"))
        .def("__repr__", [](const Interval& i) { return fmt::format("[{:.6g}, {:.6g}]", i.lower, i.upper); });
    nb::class_<StartLaw>(m, "StartLaw", "The known law of the first state.")
        .def(
            "__init__", [](StartLaw* self, nb::handle law) { new (self) StartLaw(start_of(law)); }, "law"_a,
            "A state, a dictionary {state: probability}, or an array of one probability a state.")
        .def_prop_ro(
            "atoms",
            [](const StartLaw& law) {
                return std::vector<std::pair<State, double>>(law.atoms().begin(), law.atoms().end());
            },
            "Pairs of a state and its probability, by state.")
        .def(
            "to_array",
            [](const StartLaw& law, Index states) {
                law.validate(states);
                std::vector<double> probabilities(at(states), 0.0);
                for (const auto& [state, probability] : law.atoms()) probabilities[at(state)] = probability;
                return own(std::move(probabilities), {at(states)});
            },
            "states"_a, "One probability a state.")
        .def(nb::self == nb::self, nb::sig("def __eq__(self, arg: object, /) -> bool"))
        .def("__repr__", [](const StartLaw& law) {
            if (law.atoms().size() == 1) return fmt::format("StartLaw({})", law.atoms()[0].first);
            return fmt::format("StartLaw(of {} states)", law.atoms().size());
        });
}

void bind_successors(nb::module_& m) {
    nb::class_<SuccessorMap>(
        m, "SuccessorMap",
        "Where each state-action pair can lead: compressed sparse rows, row s*A+a. Immutable; the arrays are "
        "views.")
        .def(
            "__init__",
            [](SuccessorMap* self, Index states, Index actions, nb::handle offsets, nb::handle targets) {
                const auto wide = integers(targets, "targets");
                new (self) SuccessorMap(states, actions, copied(integers(offsets, "offsets")),
                                        std::vector<std::int32_t>(wide.data(), wide.data() + wide.size()));
            },
            "states"_a, "actions"_a, "offsets"_a, "targets"_a)
        .def_prop_ro("states", &SuccessorMap::states)
        .def_prop_ro("actions", &SuccessorMap::actions)
        .def_prop_ro("entries", &SuccessorMap::entries, "How many (state, action, successor) there are.")
        .def_prop_ro(
            "offsets",
            [](nb::handle self) {
                const auto& map = nb::cast<const SuccessorMap&>(self);
                return view(map.offsets(), {at(map.pairs() + 1)}, self);
            },
            "S*A+1 positions into ``targets``; a view.")
        .def_prop_ro(
            "targets",
            [](nb::handle self) {
                const auto& map = nb::cast<const SuccessorMap&>(self);
                return view(map.targets(), {at(map.entries())}, self);
            },
            "Next state of every entry; a view.")
        .def("__repr__", [](const SuccessorMap& map) {
            return fmt::format("<successors of {} states and {} actions: {} entries>", map.states(),
                               map.actions(), map.entries());
        });
}

std::shared_ptr<const FeatureMap> from_base_kernels(nb::handle kernels, nb::handle names,
                                                    const std::string& layout, nb::handle states,
                                                    bool normalise) {
    nb::object rows = nb::borrow(kernels);
    if (layout != "sas") {
        nb::list ordered;
        const nb::object reorder = nb::module_::import_("alidade._layouts").attr("rows_from");
        for (const nb::handle kernel : kernels) ordered.append(reorder(kernel, layout));
        rows = ordered;
    }
    return std::make_shared<const FeatureMap>(features_of(kernels_of(rows, names, states, normalise)));
}

std::shared_ptr<const FeatureMap> from_features(nb::handle values, nb::handle offsets, nb::handle targets,
                                                Index states, double norm_bound) {
    const auto numbers = doubles(values, "values");
    expects(numbers.ndim() == 2, "values has shape {}; must be (entries, features)", shape_text(numbers));
    SignedFeatures data{.states = states, .features = static_cast<Index>(numbers.shape(1))};
    data.offsets = copied(integers(offsets, "offsets"));
    data.targets = copied(integers(targets, "targets"));
    expects(states >= 1, "states is {}; must be at least 1", states);
    data.actions = (std::ssize(data.offsets) - 1) / states;
    data.values = copied(numbers);
    data.norm_bound = norm_bound;
    return std::make_shared<const FeatureMap>(FeatureMap::from_features(data));
}

/// An array that the library reads where it lies; it must be of that very type, since a copy is not wanted.
template <class T>
Contiguous<T> adopted(nb::handle array, const char* what, const char* type, std::vector<nb::object>& kept) {
    Contiguous<T> numbers;
    expects(nb::try_cast(array, numbers, false), "{} must be a contiguous NumPy array of {}", what, type);
    if (nb::hasattr(array, "setflags"))
        array.attr("setflags")("write"_a = false);  // nobody is to change it now
    kept.push_back(nb::borrow(array));
    return numbers;
}

std::shared_ptr<const FeatureMap> from_table(nb::handle values, nb::handle offsets, nb::handle targets,
                                             Index states, nb::handle names,
                                             std::optional<double> norm_bound) {
    std::vector<nb::object> kept;
    const auto numbers = adopted<double>(values, "values", "float64", kept);
    const auto places = adopted<std::int64_t>(offsets, "offsets", "int64", kept);
    const auto successors = adopted<std::int32_t>(targets, "targets", "int32", kept);
    expects(numbers.ndim() == 2, "values has shape {}; must be (entries, features)", shape_text(numbers));
    expects(states >= 1 && places.size() >= 2,
            "states is {}, with {} offsets; must be at least 1, and states*actions + 1", states,
            places.size());
    FeatureTable table;
    table.states = states;
    table.actions = (static_cast<Index>(places.size()) - 1) / states;
    table.features = static_cast<Index>(numbers.shape(1));
    table.offsets = {places.data(), places.size()};
    table.targets = {successors.data(), successors.size()};
    table.values = {numbers.data(), numbers.size()};
    if (norm_bound) {
        table.kind = FeatureKind::general;
        table.norm_bound = *norm_bound;
    }
    if (!names.is_none())
        for (const nb::handle name : names) table.names.push_back(nb::cast<std::string>(name));
    table.owner = keep(nb::cast(kept));
    const nb::gil_scoped_release unlocked;
    return std::make_shared<const FeatureMap>(FeatureMap::from_table(table));
}

void bind_features(nb::module_& m) {
    nb::class_<FeatureMap, SuccessorMap>(
        m, "FeatureMap", "phi(s,a,s'): d numbers for each entry of a map of successors. Immutable.")
        .def_static(
            "from_base_kernels", from_base_kernels, "kernels"_a, nb::kw_only(), "names"_a = nb::none(),
            "layout"_a = "sas", "states"_a = nb::none(), "normalise"_a = false,
            nb::sig("def from_base_kernels(kernels: collections.abc.Iterable[typing.Any], *, names: "
                    "collections.abc.Iterable[str] | None = None, layout: str = 'sas', states: int | "
                    "None = None, normalise: bool = False) -> FeatureMap"),
            "From d base models over the same states and actions.\n\n"
            "Each is an array of shape (S, A, S), a SciPy sparse matrix or an array of shape (S*A, S) "
            "with row s*A+a, or the tuple (data, indices, indptr) of one (then ``states`` is needed). "
            "With ``layout='ass'``: (A, S, S), or a list of A matrices of shape (S, S). Rows must sum "
            "to 1 within 1e-9 (rows of float32: within 1e-5, and they are scaled); ``normalise`` "
            "divides any row by its sum.")
        .def_static("from_features", from_features, "values"_a, "offsets"_a, "targets"_a, "states"_a,
                    "norm_bound"_a,
                    nb::sig("def from_features(values: numpy.typing.ArrayLike, offsets: "
                            "numpy.typing.ArrayLike, targets: numpy.typing.ArrayLike, states: int, "
                            "norm_bound: float) -> FeatureMap"),
                    "From signed features: d numbers for each entry, shape (entries, d).")
        .def_static(
            "from_table", from_table, "values"_a, "offsets"_a, "targets"_a, "states"_a, nb::kw_only(),
            "names"_a = nb::none(), "norm_bound"_a = nb::none(),
            nb::sig("def from_table(values: numpy.typing.NDArray[numpy.float64], offsets: "
                    "numpy.typing.NDArray[numpy.int64], targets: numpy.typing.NDArray[numpy.int32], states: "
                    "int, *, "
                    "names: collections.abc.Iterable[str] | None = None, norm_bound: float | None = None) -> "
                    "FeatureMap"),
            "Adopts arrays that lie as the map has them, without a copy: values (entries, d), offsets "
            "(S*A+1), targets "
            "(entries), ascending within a pair. They become read-only, and must not be changed through "
            "others. Rows of "
            "base models must sum to one up to rounding; with ``norm_bound`` the features are signed.")
        .def_prop_ro("features", &FeatureMap::features, "d.")
        .def_prop_ro(
            "kind",
            [](const FeatureMap& map) {
                return map.kind() == FeatureKind::base_models ? "base-models" : "general";
            },
            "'base-models' or 'general'.")
        .def_prop_ro("norm_bound", &FeatureMap::norm_bound, "B; one for base models.")
        .def_prop_ro("names", &FeatureMap::names)
        .def_prop_ro(
            "values",
            [](nb::handle self) {
                const auto& map = nb::cast<const FeatureMap&>(self);
                return view(map.values(), {at(map.entries()), at(map.features())}, self);
            },
            "All features, shape (entries, d); a view.")
        .def(
            "base_kernel",
            [](const FeatureMap& map, Index feature) {
                expects(feature >= 0 && feature < map.features(), "base model {}; must be 0 to {}", feature,
                        map.features() - 1);
                BaseKernel kernel = map.base_kernel(feature);
                const std::size_t size = kernel.targets.size(), rows = kernel.offsets.size();
                return nb::make_tuple(own(std::move(kernel.probabilities), {size}),
                                      own(std::move(kernel.targets), {size}),
                                      own(std::move(kernel.offsets), {rows}));
            },
            "feature"_a,
            nb::sig("def base_kernel(self, feature: int) -> tuple[numpy.typing.NDArray[numpy.float64], "
                    "numpy.typing.NDArray[numpy.int64], numpy.typing.NDArray[numpy.int64]]"),
            "One base model as (data, indices, indptr), as scipy.sparse.csr_matrix takes it.")
        .def("__repr__", [](const FeatureMap& map) {
            return fmt::format("<{} {} over {} states and {} actions: {} entries>", map.features(),
                               map.kind() == FeatureKind::base_models ? "base models" : "features",
                               map.states(), map.actions(), map.entries());
        });
    nb::class_<PairFeatures, SuccessorMap>(m, "PairFeatures", "phi(s,a) of a linear MDP. Immutable.")
        .def(
            "__init__",
            [](PairFeatures* self, nb::handle values, nb::handle successors,
               std::optional<double> norm_bound) {
                const auto phi = doubles(values, "values");
                expects(phi.ndim() == 3, "values has shape {}; must be (states, actions, features)",
                        shape_text(phi));
                const auto states = static_cast<Index>(phi.shape(0)),
                           actions = static_cast<Index>(phi.shape(1));
                const auto d = static_cast<Index>(phi.shape(2));
                SuccessorMap map = successors.is_none() ? all_successors(states, actions)
                                                        : nb::cast<const SuccessorMap&>(successors);
                new (self) PairFeatures(std::move(map), d, copied(phi),
                                        norm_bound.value_or(std::sqrt(static_cast<double>(d))));
            },
            "values"_a, "successors"_a = nb::none(), "norm_bound"_a = nb::none(),
            nb::sig("def __init__(self, values: numpy.typing.ArrayLike, successors: SuccessorMap | None = "
                    "None, norm_bound: float | None = None) -> None"))
        .def_prop_ro("features", &PairFeatures::features)
        .def_prop_ro("norm_bound", &PairFeatures::norm_bound)
        .def_prop_ro(
            "values",
            [](nb::handle self) {
                const auto& map = nb::cast<const PairFeatures&>(self);
                return view(map.values(), {at(map.states()), at(map.actions()), at(map.features())}, self);
            },
            "Shape (S, A, d); a view.");
}

/// Whether a thing is a list of kernels, one a step, and not one kernel.
bool is_one_a_step(nb::handle object) {
    if (nb::isinstance<nb::list>(object)) return true;
    return nb::hasattr(object, "ndim") && integer_of(nb::object(object.attr("ndim"))) == 4;
}

TransitionModel known_model(nb::handle transitions, Index horizon, const StartLaw& start, bool normalise) {
    if (!is_one_a_step(transitions)) {
        const KernelRows rows(transitions, "transitions", 0, normalise);
        expects(rows.columns() >= 1 && rows.rows() % rows.columns() == 0,
                "transitions: shape is ({}, {}); must be (states*actions, states)", rows.rows(),
                rows.columns());
        return TransitionModel::from_kernel(rows.kernel(), rows.rows() / rows.columns(), horizon, start);
    }
    nb::list names;
    for (std::size_t h = 0; h < nb::len(transitions); ++h) names.append(fmt::format("step {}", h));
    const std::vector<KernelRows> steps = kernels_of(transitions, names, nb::none(), normalise);
    expects(std::ssize(steps) == horizon, "transitions of {} steps; must be {} (the horizon)", steps.size(),
            horizon);
    const FeatureMap united = features_of(steps);
    std::vector<double> probabilities(united.values().size());
    const std::size_t entries = at(united.entries()), count = steps.size();
    for (std::size_t e = 0; e < entries; ++e)
        for (std::size_t h = 0; h < count; ++h)
            probabilities[h * entries + e] = united.values()[e * count + h];
    return {std::make_shared<const SuccessorMap>(static_cast<const SuccessorMap&>(united)), horizon, start,
            std::move(probabilities)};
}

nb::object probabilities_at(nb::handle self, Step step) {
    const auto& model = nb::cast<const TransitionModel&>(self);
    expects(step >= 0 && step < model.shape().horizon, "step {}; must be 0 to {}", step,
            model.shape().horizon - 1);
    const std::size_t entries = at(model.successors().entries());
    const auto kept = model.kept_probabilities(step);
    if (!kept.empty()) return nb::cast(view(kept, {entries}, self));
    return nb::cast(own(model.all_probabilities(step), {entries}));
}

void bind_transitions(nb::module_& m) {
    nb::class_<TransitionModel>(
        m, "TransitionModel",
        "A finite-horizon decision process without rewards: ``P_h(s'|s,a)`` and a known start. Immutable.")
        .def(
            "__init__",
            [](TransitionModel* self, nb::handle transitions, Index horizon, nb::handle start,
               bool normalise) {
                new (self) TransitionModel(known_model(transitions, horizon, start_of(start), normalise));
            },
            "transitions"_a, "horizon"_a, "start"_a = 0, "normalise"_a = false,
            nb::sig("def __init__(self, transitions: typing.Any, horizon: int, start: typing.Any = 0, "
                    "normalise: bool = False) -> None"),
            "A known model: one kernel as FeatureMap.from_base_kernels takes them, or H of them (a list, or "
            "an "
            "array of shape (H, S, A, S)).\n\n"
            ">>> import alidade, numpy as np\n"
            ">>> stay_or_go = np.array([[[1, 0], [0.2, 0.8]], [[0, 1], [0.8, 0.2]]])\n"
            ">>> alidade.TransitionModel(stay_or_go, horizon=3)\n"
            "<transition model: 2 states, 2 actions, horizon 3, homogeneous>\n")
        .def_prop_ro("shape", &TransitionModel::shape)
        .def_prop_ro("start", &TransitionModel::start)
        .def_prop_ro("homogeneous", &TransitionModel::homogeneous, "One kernel for all of several steps.")
        .def_prop_ro("successors", [](const TransitionModel& model) { return model.shared_successors(); })
        .def("probabilities", probabilities_at, "step"_a,
             nb::sig("def probabilities(self, step: int) -> numpy.typing.NDArray[numpy.float64]"),
             "Of every entry at a step; a view where the model keeps them (up to 64 MiB), else computed.")
        .def(
            "to_arrays", in_python("alidade._layouts", "to_arrays"),
            nb::sig("def to_arrays(self, layout: str = 'sas', step: int | None = None) -> typing.Any"),
            "The transitions as planners want them.\n\n"
            "'sas': (S, A, S); 'ass': (A, S, S); 'sas_csr': SciPy CSR of shape (S*A, S) with row s*A+a, "
            "whose "
            "data are a view; 'ass_csr': a list of A such matrices of shape (S, S); 'julia': T[s', a, s]. A "
            "model "
            "that depends on time gives a list of H, or one of them with ``step``; with ``layout='layered'`` "
            "one model with H*S+1 states, the last of which is the end.")
        .def("__repr__", [](const TransitionModel& model) {
            const Shape& s = model.shape();
            return fmt::format("<transition model: {} states, {} actions, horizon {}{}>", s.states, s.actions,
                               s.horizon, model.homogeneous() ? ", homogeneous" : "");
        });
    nb::class_<MixtureModel, TransitionModel>(m, "MixtureModel",
                                              "A transition model that features and weights make.")
        .def(
            "__init__",
            [](MixtureModel* self, std::shared_ptr<const FeatureMap> features, Index horizon,
               nb::handle start, nb::handle weights) {
                new (self) MixtureModel(std::move(features), horizon, start_of(start),
                                        matrix_of(weights, "weights"));
            },
            "features"_a, "horizon"_a, "start"_a, "weights"_a,
            nb::sig("def __init__(self, features: FeatureMap, horizon: int, start: typing.Any, weights: "
                    "numpy.typing.ArrayLike) -> None"))
        .def_prop_ro("features", [](const MixtureModel& model) { return model.shared_features(); })
        .def_prop_ro(
            "weights",
            [](nb::handle self) { return rows_of(nb::cast<const MixtureModel&>(self).weights(), self); },
            nb::sig("def weights(self) -> numpy.typing.NDArray[numpy.float64]"),
            "A row a step, or one row if homogeneous; a view.");
}

}  // namespace

void bind_model(nb::module_& m) {
    bind_shape(m);
    bind_successors(m);
    bind_features(m);
    bind_transitions(m);
}

}  // namespace alidade::python
