#pragma once

#include <vector>

#include "alidade/model/shape.hpp"
#include "alidade/run/run_record.hpp"
#include "sqlite.hpp"

// Plans that are kept with a run, as rows of the tables `kept` and `kept_arrays`. Keys are NAME/what, and
// NAME/methods/POSITION/METHOD for the loss bounds by their names.
namespace alidade::detail {

/// Throws InvalidArgument naming what is wrong with a plan that is to be kept.
void require_keepable(const KeptPlan& plan, const Shape& shape);

/// Replaces all plans; must happen inside a transaction.
void write_kept_plans(sqlite::Database& database, const std::vector<KeptPlan>& plans);
/// In the order of their names. Throws sqlite::Error (SQLITE_CORRUPT) if the rows are not those written.
std::vector<KeptPlan> read_kept_plans(const sqlite::Database& database, const Shape& shape);

}  // namespace alidade::detail
