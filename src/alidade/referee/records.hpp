#pragma once

#include <vector>

#include "sets.hpp"

namespace alidade::referee::detail {

/// Throws InvalidArgument unless all arrays have the sizes that they must have.
void require_sizes(const Case& given);

class Subject;
/// The start law is one.
void require_start(Subject& subject, const Setting& setting);
/// Whoever enters a state leaves it at the next step; all begin where the start law allows. `whole`: no
/// episode was cut short.
void require_flow(Subject& subject, const Facts& facts, const Transitions& seen, bool whole);
/// Whether the evidence can be had from what was counted.
Finding examine_evidence(const Case& given, const Facts& facts);

/// What must hold between stored numbers, whatever the certificate says: one finding a subject.
std::vector<Finding> examine_records(const Case& given, const Facts& facts);

}  // namespace alidade::referee::detail
