#include "svg.hpp"

#include <fmt/format.h>

#include <cmath>

#include "alidade/spec/printable_text.hpp"

namespace alidade::app {
namespace {

/// Bytes of the character of valid UTF-8 that begins here.
std::size_t bytes_of_character(char lead) {
    const auto byte = static_cast<unsigned char>(lead);
    return byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
}

/// A text as XML may hold it, between tags or quotes. XML has two characters of UTF-8 less than there are.
std::string escaped(std::string_view text) {
    const std::string shown = printable(text);
    std::string safe;
    for (std::size_t i = 0; i < shown.size(); i += bytes_of_character(shown[i])) {
        const std::string_view character = std::string_view(shown).substr(i, bytes_of_character(shown[i]));
        if (character == "&")
            safe += "&amp;";
        else if (character == "<")
            safe += "&lt;";
        else if (character == ">")
            safe += "&gt;";
        else if (character == "\"")
            safe += "&quot;";
        else if (character == "'")
            safe += "&#39;";
        else if (character == "\xef\xbf\xbe" || character == "\xef\xbf\xbf")
            safe += "?";
        else
            safe += character;
    }
    return safe;
}

// What some programs do not know (the dark ground) they leave out, and the rest stands.
constexpr std::string_view style = R"(
text { font-family: system-ui, "Segoe UI", "DejaVu Sans", Arial, sans-serif; font-size: 12px; fill: #1b1f24 }
.heading { font-size: 16px; font-weight: 600 }
.label { font-size: 13px }
.soft { fill: #57606a }
.small { font-size: 10.5px }
.plan { font-size: 11px; font-weight: 600 }
.on-colour { fill: #111; stroke: #fff; stroke-opacity: .75; stroke-width: 2.5px; paint-order: stroke }
.ground { fill: #fff }
.axis { stroke: #57606a; fill: none }
.grid { stroke: #57606a; stroke-opacity: .15; fill: none }
.guaranteed { fill: #009e73; fill-opacity: .3 }
.open { fill: #e69f00; fill-opacity: .4 }
.box { stroke: #1b1f24; stroke-width: .8; fill-opacity: .55 }
.dot { fill: #1b1f24 }
.leader { stroke: #57606a; stroke-width: .6 }
.truth { stroke: #1b1f24; stroke-width: 1.3; stroke-dasharray: 5 3; fill: none }
.asked { stroke: #1b1f24; stroke-width: 1; stroke-dasharray: 2 3; fill: none }
.bound { stroke: #1b1f24; stroke-width: 1.4; fill: none; stroke-linejoin: round }
.border { stroke: #1b1f24; stroke-width: 1; fill: none; stroke-linecap: round }
.unasked { fill: #57606a; fill-opacity: .12; stroke: none }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 }
.soft { fill: #9da7b3 }
.on-colour { fill: #111 }
.ground { fill: #15191f }
.axis, .grid, .leader { stroke: #9da7b3 }
.box, .truth, .asked, .bound { stroke: #e6edf3 }
.dot { fill: #e6edf3 }
.unasked { fill: #9da7b3 }
.frame { stroke: #9da7b3 }
}
)";

}  // namespace

std::string shortened(std::string_view text, std::size_t columns) {
    const std::string shown = printable(text);
    if (display_width(shown) <= columns) return shown;
    std::size_t kept = 0;
    while (kept < shown.size()) {
        const std::size_t next = kept + bytes_of_character(shown[kept]);
        if (display_width(std::string_view(shown).substr(0, next)) + 1 > columns) break;
        kept = next;
    }
    return shown.substr(0, kept) + "…";
}

std::vector<std::string> in_lines(std::string_view text, std::size_t columns) {
    std::vector<std::string> lines;
    while (!text.empty()) {
        const std::string_view word = text.substr(0, text.find(' '));
        text.remove_prefix(std::min(text.size(), word.size() + 1));
        if (!lines.empty() && display_width(lines.back()) + 1 + display_width(word) <= columns)
            lines.back() += " " + std::string(word);
        else
            lines.emplace_back(word);
    }
    return lines;
}

std::string coordinate(double value) {
    std::string text = fmt::format("{:.2f}", value);
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
    return text == "-0" ? "0" : text;
}

void SvgCanvas::open_group(std::string_view attributes) {
    body_ += fmt::format("<g {}>\n", attributes);
}

void SvgCanvas::close_group() {
    body_ += "</g>\n";
}

void SvgCanvas::shape(std::string_view element, std::string_view attributes, std::string_view tooltip) {
    if (tooltip.empty())
        body_ += fmt::format("<{} {}/>\n", element, attributes);
    else
        body_ += fmt::format("<{0} {1}><title>{2}</title></{0}>\n", element, attributes, escaped(tooltip));
}

void SvgCanvas::rectangle(const Frame& frame, std::string_view attributes, std::string_view tooltip) {
    shape("rect",
          fmt::format(R"(x="{}" y="{}" width="{}" height="{}" {})", coordinate(frame.x), coordinate(frame.y),
                      coordinate(frame.width), coordinate(frame.height), attributes),
          tooltip);
}

void SvgCanvas::circle(const Point& centre, double radius, std::string_view attributes,
                       std::string_view tooltip) {
    shape("circle",
          fmt::format(R"(cx="{}" cy="{}" r="{}" {})", coordinate(centre.x), coordinate(centre.y),
                      coordinate(radius), attributes),
          tooltip);
}

void SvgCanvas::line(const Point& from, const Point& to, std::string_view attributes) {
    shape("line",
          fmt::format(R"(x1="{}" y1="{}" x2="{}" y2="{}" {})", coordinate(from.x), coordinate(from.y),
                      coordinate(to.x), coordinate(to.y), attributes),
          {});
}

void SvgCanvas::points(std::string_view element, std::span<const Point> points, std::string_view attributes) {
    std::string places;
    for (const Point& point : points)
        places += fmt::format("{}{},{}", places.empty() ? "" : " ", coordinate(point.x), coordinate(point.y));
    shape(element, fmt::format(R"(points="{}" {})", places, attributes), {});
}

void SvgCanvas::polygon(std::span<const Point> corners, std::string_view attributes) {
    points("polygon", corners, attributes);
}

void SvgCanvas::polyline(std::span<const Point> places, std::string_view attributes) {
    points("polyline", places, attributes);
}

void SvgCanvas::path(std::string_view data, std::string_view attributes, std::string_view tooltip) {
    shape("path", fmt::format(R"(d="{}" {})", data, attributes), tooltip);
}

void SvgCanvas::text(const Point& place, std::string_view text, std::string_view attributes) {
    body_ += fmt::format("<text x=\"{}\" y=\"{}\" {}>{}</text>\n", coordinate(place.x), coordinate(place.y),
                         attributes, escaped(text));
}

std::string SvgCanvas::document(double width, double height, std::string_view title,
                                std::string_view description) const {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
        "role=\"img\" aria-labelledby=\"title description\">\n"
        "<title id=\"title\">{2}</title>\n<desc id=\"description\">{3}</desc>\n<style>{4}</style>\n"
        "<rect class=\"ground\" width=\"{0}\" height=\"{1}\"/>\n{5}</svg>\n",
        coordinate(width), coordinate(height), escaped(title), escaped(description), style, body_);
}

}  // namespace alidade::app
