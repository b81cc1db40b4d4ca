#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <optional>
#include <string>

#include "alidade/model/task.hpp"
#include "alidade/problem/problem.hpp"

namespace alidade::python {

namespace nb = nanobind;

/// A problem, and how the user named it: problems are large and never change, so that all share one.
using SharedProblem = std::shared_ptr<const Problem>;

/// A Problem, or the address of one: a folder, or builtin:NAME?... What messages and runs call it is put into
/// `source`, unless that is said already.
SharedProblem problem_of(nb::handle object, std::string& source);
inline SharedProblem problem_of(nb::handle object) {
    std::string source;
    return problem_of(object, source);
}

/// What somebody assumes of the truth, where not as the problem or the run has it.
AssumedError assumed_of(std::optional<double> misspecification, const std::optional<std::string>& reach);

/// 0: all cores. Results do not depend on it.
Threads threads_of(int threads);

}  // namespace alidade::python
