#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "alidade/explore/schedule.hpp"
#include "alidade/run/run.hpp"

namespace alidade::app {

/// The line that a terminal shows while exploring: episodes, speed, certificate, time left. Drawn at most
/// ten times a second, wiped at the end.
class ProgressLine {
public:
    /// A certificate of `horizon` or more says nothing, and nothing is foretold from it.
    ProgressLine(bool shown, const RunGoal& goal, const Schedule& schedule, Index horizon);
    ~ProgressLine();
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;

    void update(const Progress& progress);
    /// Takes the line away, so that something else can be written.
    void wipe();

private:
    /// Episodes at which the run will end: the budget, or what the target seems to need.
    double expected_end(const Progress& progress) const;
    double seconds_left(const Progress& progress) const;
    std::string line(const Progress& progress) const;

    bool shown_;
    std::int64_t budget_;
    std::optional<double> target_;
    double horizon_;
    bool geometric_;  // batches grow with the episodes
    bool drawn_ = false;
    double last_drawn_ = -1;
    std::optional<Progress> reference_;  // speed is measured from here
    Progress latest_;
};

}  // namespace alidade::app
