#pragma once

#include <string>

#include "alidade/explore/snapshot.hpp"
#include "run_store.hpp"

// Runs of format 1, which had options in a language of their own and stored an explorer's memory in one
// piece. They are read, and rewritten when they are explored further.
namespace alidade::detail::format_1 {

/// The options of a run, `algorithm` and `constants` as they were stored: "hoeffding" and "sharp without
/// hull,span, width l1, ties first, confidence regression,likelihood". What a behaviour's regression was
/// asked to leave out while another source certified has no place any more: it steered, no more. Throws
/// InvalidArgument for what was never written.
void read_method(const std::string& algorithm, const std::string& constants, RunOptions& options);

/// The memory of an exploration.
Snapshot memory(const Snapshot& stored, const RunOptions& options);

/// The evidence of a run's knowledge.
Snapshot evidence(const Snapshot& stored, const RunOptions& options);

}  // namespace alidade::detail::format_1
