#pragma once

#include <vector>

#include "sets.hpp"

namespace alidade::referee::detail {

/// Throws InvalidArgument unless all arrays have the sizes that they must have.
void require_sizes(const Case& given);

/// What must hold between stored numbers, whatever the certificate says: one finding a subject.
std::vector<Finding> examine_records(const Case& given, const Facts& facts);

}  // namespace alidade::referee::detail
