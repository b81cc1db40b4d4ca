#pragma once

#include <optional>
#include <string>
#include <vector>

#include "alidade/types.hpp"

/// What a figure shows, once: `vega_lite` makes of it what the page's script draws, `draw_svg` a picture.
namespace alidade::report::detail {

enum class Scale {
    linear,
    logarithmic,  ///< of numbers above zero
    bands,        ///< one place for each of `Axis::bands`; a position is an index into them
};

struct Axis {
    std::string field;  ///< what it is called in the data
    std::string title;
    Scale scale = Scale::linear;
    std::vector<std::string> bands = {};           ///< of Scale::bands, in their order; no two the same
    std::optional<double> lower = {}, upper = {};  ///< ends; none: of the data
};

enum class Mark {
    line,      ///< through its points, in their order
    point,     ///<
    cross,     ///< a point of another shape, for what is known otherwise
    interval,  ///< from `low` to `high`, along the axis that has no bands; along y if neither has
    level,     ///< across the whole panel at `y`
    bar,       ///< from zero to `x`, in the band `y`
    cell,      ///< of two axes of bands, coloured by `value`, or by `label` where the chart has categories
    polygon,   ///< closed and filled
    text,      ///< `label` itself
};

struct Point {
    double x = 0, y = 0;
    double low = 0, high = 0;  ///< of an interval
    double value = 0;          ///< of a cell
    std::string label = {};    ///< of a text, or the category of a cell
    Index slice = -1;          ///< which of the chart's slices it belongs to; -1: all of them
};

struct Layer {
    Mark mark = Mark::line;
    std::string name;  ///< in the legend; layers of one name have one colour
    std::vector<Point> points;
    bool dashed = false;
};

/// A picture with axes; a chart has one or several.
struct Panel {
    std::string title = {};
    Axis x, y;
    std::vector<Layer> layers;
    double width = 620, height = 260;  ///< of the drawing area, without axes
};

/// Which slice is shown is chosen by a slider; the first is shown where there is none.
struct Slices {
    std::string field;                ///< what it is called in the data
    std::string title;                ///< "step"
    std::vector<std::string> values;  ///< what each is called
};

/// How cells are coloured by numbers.
struct Colours {
    std::string field, title;
    double exponent = 1;  ///< below one, small numbers are told apart as well
    double upper = 1;     ///< of the scale; it begins at zero
};

struct Chart {
    std::vector<Panel> panels;
    Index columns = 1;  ///< of panels
    std::optional<Slices> slices = {};
    std::optional<Colours> colours = {};       ///< of cells
    std::vector<std::string> categories = {};  ///< of cells, in the palette's order, instead of `colours`
    std::vector<std::string> names = {};       ///< of layers in the legend, in the palette's order

    bool empty() const noexcept { return panels.empty(); }
};

/// The specification as JSON. `alone`: with colours of its own, for those who draw it elsewhere; in the page
/// they come from the style sheet.
std::string vega_lite(const Chart& chart, const std::string& title, bool alone);

/// The picture. `alone`: a file, with a white ground and colours of its own; else part of a page, whose style
/// sheet has the colours.
std::string draw_svg(const Chart& chart, const std::string& title, bool alone);

/// Colours that people with colour-blindness tell apart, each readable on white.
const std::vector<std::string>& palette();
/// The colour of a share of a scale, dark to bright; nine of them.
const std::vector<std::string>& shades();
/// Which of them a number has.
std::size_t shade_of(const Colours& colours, double value);

}  // namespace alidade::report::detail
