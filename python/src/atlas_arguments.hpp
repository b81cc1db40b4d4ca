#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "alidade/certify/knowledge.hpp"
#include "alidade/files/atlas_file.hpp"
#include "alidade/problem/problem.hpp"

namespace alidade::python {

namespace nb = nanobind;

/// What Python says of an atlas: objects, or None.
struct AtlasArguments {
    nb::handle objectives;         ///< {name: reward}, or names of a problem's rewards
    nb::handle minimise;           ///< names of those to minimise
    nb::handle at_least, at_most;  ///< of weights: {name: number}, or one number an objective
};

/// The atlas that is wanted.
struct AtlasWanted {
    std::vector<AtlasObjective> objectives;
    AtlasOptions options;
};

/// Takes up what Python says. `problem` may be null: then no reward can be named. Throws InvalidArgument
/// naming what cannot be.
AtlasWanted atlas_wanted(const AtlasArguments& given, const Shape& shape, const Problem* problem, double loss,
                         int threads);
/// The same of an atlas that is to end an exploration; nothing where none is asked for.
std::optional<AtlasWanted> atlas_to_stop_at(const AtlasArguments& given, const Problem& problem,
                                            std::optional<double> until_loss, std::optional<double> target,
                                            int threads);
/// The question whether what is known is enough for it; none for none.
std::function<bool(const Knowledge&)> enough_for(const std::optional<AtlasWanted>& wanted);

/// Numbers of objectives, by their names or in their order; nothing for those that are not named. `what` is
/// what messages call them.
std::vector<std::optional<double>> numbers_by_objective(nb::handle given, const char* what,
                                                        const std::vector<AtlasObjective>& objectives);

}  // namespace alidade::python
