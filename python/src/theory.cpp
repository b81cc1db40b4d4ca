#include <nanobind/nanobind.h>

#include "alidade/theory/bounds.hpp"
#include "bindings.hpp"

namespace alidade::python {

namespace {

using namespace nb::literals;

/// A formula of a setting and one more number.
template <auto formula>
void bind_formula(nb::module_& m, const char* name, const char* argument, const char* doc) {
    m.def(
        name,
        [](double value, Index features, Index horizon, double norm_bound, double delta) {
            return formula(BoundSetting{features, horizon, norm_bound, delta}, value);
        },
        nb::arg(argument), nb::kw_only(), "features"_a, "horizon"_a, "norm_bound"_a = 1.0, "delta"_a = 0.1,
        doc);
}

}  // namespace

void bind_theory(nb::module_& m) {
    m.def("base_model_norm_bound", base_model_norm_bound, "features"_a,
          "B of d base models, as the paper counts it.");
    bind_formula<hoeffding_radius>(m, "hoeffding_radius", "episodes", "The printed radius of Algorithm 1.");
    bind_formula<hoeffding_guarantee>(m, "hoeffding_guarantee", "episodes",
                                      "What Theorem 1 guarantees after so many episodes.");
    bind_formula<hoeffding_episodes>(m, "hoeffding_episodes", "epsilon", "Episodes that Theorem 1 asks for.");
    bind_formula<horizon_free_episodes>(
        m, "horizon_free_episodes", "epsilon",
        "Episodes that Zhang, Zhang and Gu (2023) ask for where rewards add up to "
        "at most 1.");
    bind_formula<[](const BoundSetting& s, double k) { return sharp_guarantee(s, k); }>(
        m, "sharp_guarantee", "episodes",
        "By when Algorithm 1 with sharp constants must have certified this.");
    bind_formula<[](const BoundSetting& s, double e) { return sharp_episodes(s, e); }>(
        m, "sharp_episodes", "epsilon", "Episodes after which the sharp guarantee is at most epsilon.");
    bind_formula<[](const BoundSetting& s, double k) {
        return bernstein_guarantee(s, k, BernsteinRadii::safe);
    }>(m, "bernstein_guarantee", "episodes", "What the repaired Theorem 2 guarantees.");
    bind_formula<[](const BoundSetting& s, double e) {
        return bernstein_episodes(s, e, BernsteinRadii::safe);
    }>(m, "bernstein_episodes", "epsilon", "Episodes that the repaired Theorem 2 asks for.");
    bind_formula<lower_bound_episodes>(m, "lower_bound_episodes", "epsilon",
                                       "Episodes that no algorithm can do without, on the hard instance.");
}

}  // namespace alidade::python
