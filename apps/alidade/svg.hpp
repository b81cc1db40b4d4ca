#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace alidade::app {

/// A place in a picture, in pixels: x to the right, y downwards.
struct Point {
    double x = 0, y = 0;
};

/// A rectangle of a picture, in pixels.
struct Frame {
    double x = 0, y = 0, width = 0, height = 0;

    double right() const { return x + width; }
    double bottom() const { return y + height; }
};

/// A text that somebody else wrote, as a picture may show it: printable, and no more than `columns` wide, the
/// rest an ellipsis. Not escaped yet: that is what SvgCanvas does with every text.
std::string shortened(std::string_view text, std::size_t columns);

/// A text in lines of at most `columns`, broken between words.
std::vector<std::string> in_lines(std::string_view text, std::size_t columns);

/// A number as coordinates are written: two digits after the point at most.
std::string coordinate(double value);

/// A picture in the making. It has no font, script or image from elsewhere, and reads on light and on dark
/// ground. Attributes are taken as they are and must be the program's own words; texts may be anybody's.
class SvgCanvas {
public:
    void open_group(std::string_view attributes);
    void close_group();
    /// A tooltip is what a browser shows where the shape is pointed at; empty: none.
    void rectangle(const Frame& frame, std::string_view attributes, std::string_view tooltip = {});
    void circle(const Point& centre, double radius, std::string_view attributes,
                std::string_view tooltip = {});
    void line(const Point& from, const Point& to, std::string_view attributes);
    void polygon(std::span<const Point> corners, std::string_view attributes);
    void polyline(std::span<const Point> points, std::string_view attributes);
    /// `data` is what the attribute d holds.
    void path(std::string_view data, std::string_view attributes, std::string_view tooltip = {});
    void text(const Point& place, std::string_view text, std::string_view attributes = {});

    /// The whole file. Title and description are what screen readers read out.
    std::string document(double width, double height, std::string_view title,
                         std::string_view description) const;

private:
    void shape(std::string_view element, std::string_view attributes, std::string_view tooltip);
    void points(std::string_view element, std::span<const Point> points, std::string_view attributes);

    std::string body_;
};

}  // namespace alidade::app
