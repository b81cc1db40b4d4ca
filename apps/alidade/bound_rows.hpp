#pragma once

#include <optional>
#include <string>
#include <vector>

#include "alidade/theory/bounds.hpp"

namespace alidade::app {

/// What the theorems are asked.
struct BoundQuestion {
    BoundSetting setting;
    double epsilon = 0;
    std::optional<Index> states;
    std::optional<double> episodes;
    bool base_models = true;
    bool pooled = false;   ///< the problem has one set of weights for all steps
    bool inexact = false;  ///< its truth may be off the mixture
};

/// One theorem's answer.
struct BoundRow {
    enum class Kind { sufficient, necessary, rate };
    std::string name;       ///< key in JSON
    std::string title;      ///< what a person reads
    std::string constants;  ///< whose they are: paper, cited, ours, none
    std::string assumes;
    Kind kind = Kind::sufficient;
    double episodes = 0;                  ///< demanded for epsilon
    std::optional<double> vacuous_below;  ///< K below which the guarantee is H or more
    std::optional<double> guarantee;      ///< epsilon after the given episodes
    std::optional<double> most;           ///< no loss exceeds it; none: H
};

/// A bound for linear MDPs by covering numbers, and up to where one that counts states is better.
struct CoveringBound {
    BoundRow row;
    double episodes = 0;  ///< what the meeting is after: as asked, or what the row demands
    LinearMdpMeeting meeting;
};

/// The bounds by covering numbers, with others' constants and with ours.
std::vector<CoveringBound> coverings_of(const BoundQuestion& asked);

/// Every theorem's answer, these among them.
std::vector<BoundRow> rows_of(const BoundQuestion& asked, const std::vector<CoveringBound>& coverings);

}  // namespace alidade::app
