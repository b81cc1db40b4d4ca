#pragma once

#include <optional>
#include <vector>

#include "experiment_desk.hpp"

namespace alidade::detail {

/// What there is to be taken up when a deployment has ended.
struct ExperimentDesk::Intake {
    std::optional<RunCheckpoint> checkpoint;
    Timings spent;  ///< up to the last result
    ledger::Settings settings;
    std::optional<ledger::DeploymentRow> row;  ///< the present deployment
    std::vector<ledger::UntakenPart> parts;
    Counts asked, unasked;                  ///< of the present deployment; of everything else
    std::optional<RunContradiction> found;  ///< in either
};

}  // namespace alidade::detail
