#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "plain_xml.hpp"
#include "svg.hpp"

/// What a picture of an atlas shows, read from nothing but the picture.
namespace alidade::testing {

using app::Frame;
using app::Point;

/// All numbers in a text, whatever is between them.
inline std::vector<double> numbers_in(std::string text) {
    for (char& c : text)
        if (std::string_view("0123456789.-").find(c) == std::string_view::npos) c = ' ';
    std::istringstream stream(text);
    std::vector<double> numbers;
    for (double number = 0; stream >> number;) numbers.push_back(number);
    return numbers;
}

inline std::vector<Point> points_of(const XmlElement& element, const std::string& attribute = "points") {
    const std::vector<double> numbers = numbers_in(element.attributes.at(attribute));
    std::vector<Point> points;
    for (std::size_t i = 0; i + 1 < numbers.size(); i += 2) points.push_back({numbers[i], numbers[i + 1]});
    return points;
}

inline double number_of(const XmlElement& element, const std::string& attribute) {
    return numbers_in(element.attributes.at(attribute)).at(0);
}

inline bool has_class(const XmlElement& element, const std::string& name) {
    const auto found = element.attributes.find("class");
    return found != element.attributes.end() && found->second == name;
}

inline double signed_area_of(const std::vector<Point>& corners) {
    double sum = 0;
    for (std::size_t i = 0; i < corners.size(); ++i) {
        const Point &a = corners[i], &b = corners[(i + 1) % corners.size()];
        sum += a.x * b.y - b.x * a.y;
    }
    return sum / 2;
}

/// How far inside of a convex polygon a point lies, in pixels; negative: outside.
inline double depth(const std::vector<Point>& corners, const Point& point) {
    const double direction = signed_area_of(corners) > 0 ? 1 : -1;
    double least = 1e9;
    for (std::size_t i = 0; i < corners.size(); ++i) {
        const Point &a = corners[i], &b = corners[(i + 1) % corners.size()];
        const double length = std::hypot(b.x - a.x, b.y - a.y);
        if (length < 0.1) continue;  // its direction is rounded away
        least = std::min(
            least, direction * ((b.x - a.x) * (point.y - a.y) - (b.y - a.y) * (point.x - a.x)) / length);
    }
    return least;
}

inline double distance_to(const Point& from, const Point& to, const Point& place) {
    const double x = to.x - from.x, y = to.y - from.y, square = x * x + y * y;
    const double t =
        square > 0 ? std::clamp(((place.x - from.x) * x + (place.y - from.y) * y) / square, 0.0, 1.0) : 0;
    return std::hypot(place.x - from.x - t * x, place.y - from.y - t * y);
}

/// A straight line through what an axis says of itself: the place of a value.
struct Axis {
    std::vector<double> values, places;

    double place(double value) const {
        const double slope = (places.back() - places.front()) / (values.back() - values.front());
        return places.front() + slope * (value - values.front());
    }
};

/// What is in one panel of front.svg.
struct Panel {
    std::size_t across = 0, up = 0;
    Axis horizontal, vertical;
    std::map<std::size_t, Frame> boxes;  ///< by plan, counted from 1
    std::vector<Point> open, guaranteed, truth;
};

inline Panel panel_of(const std::vector<XmlElement>& elements, std::ptrdiff_t group) {
    Panel panel;
    const std::vector<double> pair =
        numbers_in(elements[static_cast<std::size_t>(group)].attributes.at("data-objectives"));
    panel.across = static_cast<std::size_t>(pair.at(0));
    panel.up = static_cast<std::size_t>(pair.at(1));
    for (std::size_t i = 0; i < elements.size(); ++i) {
        const XmlElement& element = elements[i];
        if (element.parent != group) continue;
        if (has_class(element, "grid")) {  // its number comes next
            const bool upright = element.attributes.at("x1") == element.attributes.at("x2");
            Axis& axis = upright ? panel.horizontal : panel.vertical;
            axis.places.push_back(number_of(element, upright ? "x1" : "y1"));
            axis.values.push_back(numbers_in(elements[i + 1].text).at(0));
        }
        if (has_class(element, "box"))
            panel.boxes[static_cast<std::size_t>(number_of(element, "data-plan"))] = {
                number_of(element, "x"), number_of(element, "y"), number_of(element, "width"),
                number_of(element, "height")};
        if (has_class(element, "open")) panel.open = points_of(element);
        if (has_class(element, "guaranteed")) panel.guaranteed = points_of(element);
        if (has_class(element, "truth")) panel.truth = points_of(element);
    }
    return panel;
}

inline std::vector<Panel> panels_in(const std::string& svg) {
    const PlainXml xml(svg);
    std::vector<Panel> panels;
    for (std::size_t i = 0; i < xml.elements().size(); ++i)
        if (has_class(xml.elements()[i], "panel"))
            panels.push_back(panel_of(xml.elements(), static_cast<std::ptrdiff_t>(i)));
    return panels;
}

}  // namespace alidade::testing
