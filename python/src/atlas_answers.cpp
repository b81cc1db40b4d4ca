#include <fmt/format.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "alidade/audit/atlas_audit.hpp"
#include "atlas.hpp"
#include "bindings.hpp"

namespace alidade::python {

namespace {

/// By name, in the unit that the objective was given in.
nb::dict by_objective(const AtlasRecord& record, const std::vector<Interval>& values) {
    nb::dict all;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const AtlasObjective& objective = record.objectives[i];
        all[nb::str(objective.name.c_str())] = nb::cast(objective.in_unit(values[i]));
    }
    return all;
}

void bind_atlas_parts(nb::module_& m) {
    nb::class_<AtlasProgress>(m, "AtlasProgress", "Where a search for an atlas stands.")
        .def_ro("certificates", &AtlasProgress::certificates)
        .def_ro("cells", &AtlasProgress::cells, "Done.")
        .def_ro("open", &AtlasProgress::open, "Cells that have no policy yet.")
        .def_ro("floor", &AtlasProgress::floor, "Of the corners so far.");
    nb::class_<AtlasObjective>(m, "AtlasObjective", "One objective of an atlas.")
        .def_ro("name", &AtlasObjective::name)
        .def_prop_ro("minimised",
                     [](const AtlasObjective& objective) { return objective.sense == Sense::minimise; })
        .def_prop_ro("scale", [](const AtlasObjective& objective) { return objective.scale.scale; })
        .def_prop_ro("offset", [](const AtlasObjective& objective) { return objective.scale.offset; })
        .def_ro("reward", &AtlasObjective::reward,
                "What the atlas maximises: the reward that was given, or 1 less it.")
        .def("__repr__", [](const AtlasObjective& objective) {
            return fmt::format("<objective {}{}>", objective.name,
                               objective.sense == Sense::minimise ? ", minimised" : "");
        });
    nb::class_<AtlasCell>(m, "AtlasCell", "A simplex of weights with one policy for all of it.")
        .def_ro("corners", &AtlasCell::corners, "Rows of Atlas.corners.")
        .def_ro("policy", &AtlasCell::policy, "Of Atlas.policies, from 0.")
        .def_ro("bounds", &AtlasCell::bounds, "At each corner, what the policy loses at most.")
        .def_ro("loss_bound", &AtlasCell::loss_bound, "The largest of them.")
        .def("__repr__", [](const AtlasCell& cell) {
            return fmt::format("<cell of policy {}: loss at most {:.4g}>", cell.policy, cell.loss_bound);
        });
    nb::class_<AtlasOuter>(m, "AtlasOuter",
                           "No policy at all has values v with weights . v above this, on the real system.")
        .def_ro("weights", &AtlasOuter::weights)
        .def_ro("optimal_upper", &AtlasOuter::optimal_upper);
    nb::class_<AtlasCheck>(m, "AtlasCheck", "What computing an atlas again has found.")
        .def_ro("follows", &AtlasCheck::follows, "Every bound follows from the knowledge.")
        .def_ro("excess", &AtlasCheck::excess,
                "The largest excess of a bound computed again over the stored one; 0 or less if all follow.")
        .def_ro("episodes", &AtlasCheck::episodes, "Of the knowledge.")
        .def_ro("atlas_episodes", &AtlasCheck::atlas_episodes, "That the atlas was made of.")
        .def("__repr__", [](const AtlasCheck& found) {
            return fmt::format("<atlas check: bounds {}, largest excess {:.3g}>",
                               found.follows ? "follow" : "DO NOT FOLLOW", found.excess);
        });
    nb::class_<AtlasAudit>(m, "AtlasAudit", "What comparing an atlas with the truth found.")
        .def_ro("checks", &AtlasAudit::checks)
        .def_ro("violations", &AtlasAudit::violations, "Zero unless the confidence event failed.")
        .def_ro("worst_loss", &AtlasAudit::worst_loss, "The largest true loss.")
        .def_ro("truth_in_confidence_set", &AtlasAudit::truth_in_confidence_set)
        .def("__repr__", [](const AtlasAudit& found) {
            return fmt::format("<audit of {} weightings: largest true loss {:.4g}, {} violations>",
                               found.checks, found.worst_loss, found.violations);
        });
}

void bind_atlas_policies(nb::module_& m) {
    nb::class_<AtlasPolicyObject>(m, "AtlasPolicy", "A policy of an atlas, and what is certain of it.")
        .def_prop_ro("policy", [](const AtlasPolicyObject& self) { return self.policy().policy; })
        .def_prop_ro(
            "made_for", [](const AtlasPolicyObject& self) { return self.policy().made_for; },
            "The weights that it is optimal for in the model.")
        .def_prop_ro(
            "share", [](const AtlasPolicyObject& self) { return self.policy().share; },
            "Of the volume of all weights asked for, 0 to 1.")
        .def_prop_ro(
            "loss_bound", [](const AtlasPolicyObject& self) { return self.policy().loss_bound; },
            "The largest of its cells.")
        .def_prop_ro(
            "values",
            [](const AtlasPolicyObject& self) { return by_objective(*self.record, self.policy().values); },
            nb::sig("def values(self) -> dict[str, Interval]"),
            "Contain the true values, in the unit of each objective.")
        .def_prop_ro(
            "model_values",
            [](const AtlasPolicyObject& self) {
                nb::dict all;
                for (std::size_t i = 0; i < self.record->objectives.size(); ++i) {
                    const AtlasObjective& objective = self.record->objectives[i];
                    const double value = self.policy().model_values[i];
                    all[nb::str(objective.name.c_str())] = objective.in_unit({value, value}).lower;
                }
                return all;
            },
            nb::sig("def model_values(self) -> dict[str, float]"), "The same in the learned model.")
        .def("__repr__", [](const AtlasPolicyObject& self) {
            return fmt::format("<policy {} of the atlas: {:.1f} % of the weights, loss at most {:.4g}>",
                               self.index, 100 * self.policy().share, self.policy().loss_bound);
        });
    nb::class_<AtlasAnswerObject>(m, "AtlasAnswer", "What an atlas says of one weighting.")
        .def_prop_ro(
            "index", [](const AtlasAnswerObject& self) { return self.answer.policy; },
            "Of Atlas.policies, from 0; the command line counts plans from 1.")
        .def_prop_ro("policy",
                     [](const AtlasAnswerObject& self) {
                         return self.record->atlas.policies[at(self.answer.policy)].policy;
                     })
        .def_prop_ro("cell", [](const AtlasAnswerObject& self) { return self.answer.cell; })
        .def_prop_ro(
            "loss_bound", [](const AtlasAnswerObject& self) { return self.answer.loss_bound; },
            "Of that policy under that weighting, in its unit.")
        .def("__repr__", [](const AtlasAnswerObject& self) {
            return fmt::format("<policy {} of {}: loss at most {:.4g}>", self.answer.policy,
                               self.record->atlas.policies.size(), self.answer.loss_bound);
        });
    nb::class_<AtlasMixtureObject>(
        m, "AtlasMixture",
        "Policies of an atlas of which one is drawn at the start of each episode. (Drawing anew at each step "
        "would be another policy, of which nothing is known.)")
        .def_prop_ro(
            "shares", [](const AtlasMixtureObject& self) { return self.mixture.shares; },
            "Pairs of a place in Atlas.policies and a probability.")
        .def_prop_ro(
            "values",
            [](const AtlasMixtureObject& self) { return by_objective(*self.record, self.mixture.values); },
            nb::sig("def values(self) -> dict[str, Interval]"),
            "Contain the true expected values, in the unit of each objective.")
        .def_prop_ro(
            "margin", [](const AtlasMixtureObject& self) { return self.mixture.margin; },
            "The least over the targets of what is guaranteed less what is wanted, in rewards.")
        .def_prop_ro("guaranteed", [](const AtlasMixtureObject& self) { return self.mixture.guaranteed(); })
        .def_prop_ro(
            "excluded_by", [](const AtlasMixtureObject& self) { return self.mixture.excluded_by; },
            "Weights under which no policy at all can have what is wanted; empty if nothing excludes it.")
        .def_prop_ro("excluded", [](const AtlasMixtureObject& self) { return self.mixture.excluded(); })
        .def("__repr__", [](const AtlasMixtureObject& self) {
            return fmt::format("<mixture of {} policies: targets {}>", self.mixture.shares.size(),
                               self.mixture.guaranteed() ? "guaranteed"
                               : self.mixture.excluded() ? "excluded for every policy"
                                                         : "neither guaranteed nor excluded");
        });
}

}  // namespace

void bind_atlas_answers(nb::module_& m) {
    bind_atlas_parts(m);
    bind_atlas_policies(m);
}

}  // namespace alidade::python
