#pragma once

#include "alidade/certify/atlas.hpp"

namespace alidade::detail {

/// check_cover of an atlas whose policies are not there yet.
void check_cells(const Atlas& atlas);

}  // namespace alidade::detail
