#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "alidade/explore/exploration.hpp"

namespace alidade::python {

/// The certificates on the way as a table: episodes, bound, replans.
nanobind::object trace_table(const std::vector<TracePoint>& trace);

}  // namespace alidade::python
