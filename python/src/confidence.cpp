#include <fmt/format.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "alidade/confidence/learned_linear.hpp"
#include "alidade/confidence/learned_mixture.hpp"
#include "alidade/confidence/learned_rows.hpp"
#include "alidade/error.hpp"
#include "arrays.hpp"
#include "bindings.hpp"

namespace alidade::python {

namespace {

using namespace nb::literals;

/// The model of a learned model, as long as either is in use.
nb::object model_of(const std::shared_ptr<LearnedModel>& learned) {
    if (const LearnedMixture* mixture = learned->mixture())
        return nb::cast(std::shared_ptr<const MixtureModel>(learned, &mixture->model()));
    return nb::cast(std::shared_ptr<const TransitionModel>(learned, &learned->model()));
}

Vector vector_of(nb::handle object, const char* what, Index size) {
    const auto array = doubles(object, what);
    expects(array.ndim() == 1 && array.shape(0) == at(size), "{} has shape {}; must be ({},)", what,
            shape_text(array), size);
    return Eigen::Map<const Vector>(array.data(), size);
}

void bind_set(nb::module_& m) {
    nb::class_<ConfidenceSet>(m, "ConfidenceSet",
                              "The weights of one step that the data leave possible. Immutable.")
        .def_prop_ro(
            "weights", [](const ConfidenceSet& set) { return own_vector(set.weights()); },
            nb::sig("def weights(self) -> numpy.typing.NDArray[numpy.float64]"),
            "The member that is handed over as the model: d numbers.")
        .def_prop_ro(
            "estimated_weights", [](const ConfidenceSet& set) { return own_vector(set.estimated_weights()); },
            nb::sig("def estimated_weights(self) -> numpy.typing.NDArray[numpy.float64]"),
            "The estimate, which need not be possible.")
        .def_prop_ro("radius", &ConfidenceSet::radius, "About the estimate.")
        .def_prop_ro("refined_radius", &ConfidenceSet::refined_radius, "About ``weights``.")
        .def_prop_ro(
            "precision",
            [](const ConfidenceSet& set) {
                const Matrix& basis = set.parameters().space().basis;
                return own_rows(basis * set.estimate().precision * basis.transpose());
            },
            nb::sig("def precision(self) -> numpy.typing.NDArray[numpy.float64]"),
            "d x d, of the metric: directions in which weights cannot move have none.")
        .def(
            "contains",
            [](const ConfidenceSet& set, nb::handle weights) {
                return set.contains(vector_of(weights, "weights", set.features()));
            },
            "weights"_a, nb::sig("def contains(self, weights: numpy.typing.ArrayLike) -> bool"))
        .def(
            "depth",
            [](const ConfidenceSet& set, nb::handle weights) {
                return set.depth(vector_of(weights, "weights", set.features()));
            },
            "weights"_a, nb::sig("def depth(self, weights: numpy.typing.ArrayLike) -> float"),
            "Distance from the estimate, in radii: at most one inside.")
        .def(
            "range",
            [](const ConfidenceSet& set, nb::handle direction) {
                const Vector along = vector_of(direction, "direction", set.features());
                return set.range({along.data(), at(along.size())});
            },
            "direction"_a, nb::sig("def range(self, direction: numpy.typing.ArrayLike) -> Interval"),
            "Bounds of weights . direction over all members.")
        .def_prop_ro(
            "vertices",
            [](const ConfidenceSet& set) -> nb::object {
                if (set.vertices() == nullptr) return nb::none();
                return nb::object(own_rows(Matrix(set.vertices()->vertices().transpose())));
            },
            nb::sig("def vertices(self) -> numpy.typing.NDArray[numpy.float64] | None"),
            "(vertices, d): the members are in their hull, of a set by bets; None of other sets.")
        .def(
            "intervals",
            [](const ConfidenceSet& set) {
                Matrix ends(set.features(), 2);
                for (Index i = 0; i < set.features(); ++i) {
                    const Vector along = Vector::Unit(set.features(), i);
                    const Interval range = set.range({along.data(), at(along.size())});
                    ends(i, 0) = range.lower;
                    ends(i, 1) = range.upper;
                }
                return own_rows(std::move(ends));
            },
            nb::sig("def intervals(self) -> numpy.typing.NDArray[numpy.float64]"),
            "Least and largest value of each weight: (d, 2).")
        .def("__repr__", [](const ConfidenceSet& set) {
            return fmt::format("<confidence set about {} weights: radius {:.4g}>", set.features(),
                               set.radius());
        });
}

}  // namespace

void bind_confidence(nb::module_& m) {
    bind_set(m);
    nb::class_<LearnedModel>(
        m, "LearnedModel",
        "What exploration leaves behind: a model, and what is uncertain about it. Immutable.")
        .def_prop_ro("model", model_of, nb::sig("def model(self) -> TransitionModel"),
                     "What is planned with.")
        .def_prop_ro("shape", &LearnedModel::shape)
        .def_prop_ro("homogeneous", &LearnedModel::homogeneous)
        .def_prop_ro("delta", &LearnedModel::delta)
        .def_prop_ro("uncertain_steps", &LearnedModel::uncertain_steps)
        .def(
            "variations",
            [](const LearnedModel& learned) {
                const Shape& s = learned.shape();
                return own(learned.variations(),
                           {at(learned.uncertain_steps()), at(s.states), at(s.actions)});
            },
            "Upper bounds of the total variation between the learned law and every possible one: (uncertain "
            "steps, S, A).")
        .def(
            "contains",
            [](const LearnedModel& learned, nb::handle truth) {
                if (nb::isinstance<MixtureModel>(truth))
                    return learned.contains(nb::cast<const MixtureModel&>(truth));
                return learned.contains(nb::cast<const TransitionModel&>(truth));
            },
            "truth"_a, nb::sig("def contains(self, truth: TransitionModel) -> bool"),
            "Whether a truth is left possible.")
        .def(
            "depth",
            [](const LearnedModel& learned, nb::handle truth) {
                if (nb::isinstance<MixtureModel>(truth))
                    return learned.depth(nb::cast<const MixtureModel&>(truth));
                return learned.depth(nb::cast<const TransitionModel&>(truth));
            },
            "truth"_a, nb::sig("def depth(self, truth: TransitionModel) -> float"))
        .def("__repr__", [](const LearnedModel& learned) {
            const Shape& s = learned.shape();
            return fmt::format("<learned model: {} states, {} actions, horizon {}, delta {}>", s.states,
                               s.actions, s.horizon, learned.delta());
        });
    nb::class_<LearnedMixture, LearnedModel>(m, "LearnedMixture", "Weights in confidence sets.")
        .def_prop_ro("sets", &LearnedMixture::sets, "One a learned step (H-1), or one if homogeneous.")
        .def_prop_ro("misspecification", &LearnedMixture::misspecification)
        .def_prop_ro(
            "weights",
            [](nb::handle self) {
                return rows_of(nb::cast<const LearnedMixture&>(self).model().weights(), self);
            },
            nb::sig("def weights(self) -> numpy.typing.NDArray[numpy.float64]"),
            "A row a step, or one if homogeneous; a view.");
    nb::class_<LearnedRows, LearnedModel>(m, "LearnedRows", "Rows in total-variation balls.")
        .def_prop_ro("radii", [](const LearnedRows& learned) {
            const Shape& s = learned.shape();
            return own(learned.variations(), {at(learned.uncertain_steps()), at(s.states), at(s.actions)});
        });
    nb::class_<LearnedLinear, LearnedRows>(m, "LearnedLinear", "A linear MDP learned by regression.");
}

}  // namespace alidade::python
