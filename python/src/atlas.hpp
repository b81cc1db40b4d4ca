#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <string>

#include "alidade/certify/atlas_mixture.hpp"
#include "alidade/files/atlas_file.hpp"
#include "alidade/run/run.hpp"
#include "atlas_arguments.hpp"

namespace alidade::python {

namespace nb = nanobind;

/// An atlas as Python holds it, with what it is of.
struct AtlasObject {
    std::shared_ptr<const AtlasRecord> record;
};

/// One of the policies of an atlas.
struct AtlasPolicyObject {
    std::shared_ptr<const AtlasRecord> record;
    std::size_t index = 0;

    const AtlasPolicy& policy() const { return record->atlas.policies[index]; }
};

/// What an atlas says of one weighting.
struct AtlasAnswerObject {
    std::shared_ptr<const AtlasRecord> record;
    AtlasAnswer answer;
};

/// A mixture of its policies for targets.
struct AtlasMixtureObject {
    std::shared_ptr<const AtlasRecord> record;
    AtlasMixture mixture;
};

/// What computing an atlas again has found.
struct AtlasCheck {
    bool follows = false;
    double excess = 0;
    std::int64_t episodes = 0, atlas_episodes = 0;
};

/// Makes an atlas beside the interpreter. Ctrl-C ends the round and hands over a valid one; once more, and it
/// is a KeyboardInterrupt. `problem`: its hash. `observe`, `interrupted`: callables or None.
AtlasObject make_atlas_object(const Knowledge& knowledge, AtlasWanted wanted, std::string problem,
                              nb::handle observe, nb::handle interrupted);
/// The same, written into the run's folder as the command line does.
AtlasObject keep_atlas(const Run& run, const Knowledge& knowledge, AtlasWanted wanted);

}  // namespace alidade::python
