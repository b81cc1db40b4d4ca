#pragma once

#include "alidade/convex/projection.hpp"

namespace alidade::detail {

/// `project` for ParameterSetKind::polytope: cutting planes over the entries of the feature map.
Projection project_onto_polytope(const ParameterSet& parameters, const Vector& coordinates,
                                 const Matrix& factor);

}  // namespace alidade::detail
