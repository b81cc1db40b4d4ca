#pragma once

#include <string>
#include <vector>

#include "chart.hpp"

namespace alidade::report::detail {

/// A place on an axis, and what is written there.
struct Tick {
    double position = 0;  ///< in the axis' own unit; of bands their index
    std::string label;
};

/// An axis that has been given its ends and a length on paper.
class PlacedAxis {
public:
    /// `least`, `largest`: of the data; `begin`, `end`: on paper, which may run downwards.
    PlacedAxis(const Axis& axis, double least, double largest, double begin, double end);

    /// Where a number is on paper; of bands the middle of one.
    double at(double position) const;
    /// How wide a band is on paper.
    double band() const;
    /// No more than so many, of round numbers.
    std::vector<Tick> ticks(std::size_t most) const;

private:
    const Axis* axis_;
    double lower_, upper_, begin_, end_;
};

}  // namespace alidade::report::detail
