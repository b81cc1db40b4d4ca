#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "alidade/spec/printable_text.hpp"
#include "chart.hpp"
#include "html.hpp"
#include "names.hpp"
#include "ticks.hpp"

namespace alidade::report::detail {
namespace {

constexpr double font = 12, letter = 6.6, gap = 10;
constexpr double right_margin = 14, top_margin = 8, bottom_margin = 46;
constexpr std::size_t longest_label = 24;
constexpr std::size_t many_marks = 300;

/// A picture as it grows.
struct Picture {
    const Chart& chart;
    bool alone;  ///< a file, not a part of a page
    std::string text = {};

    std::string colour(std::size_t place) const {
        place %= palette().size();
        return alone ? palette()[place] : fmt::format("var(--c{})", place);
    }
    std::string ink() const { return alone ? "#222222" : "var(--ink)"; }
    std::string on_cells() const { return alone ? "#ffffff" : "var(--mark)"; }
    std::string pale() const { return alone ? "#dddddd" : "var(--rule)"; }

    void write(double x, double y, const std::string& what, std::string_view more = {}) {
        text += fmt::format(R"(<text x="{:.1f}" y="{:.1f}" fill="{}"{}>{}</text>)", x, y, ink(), more,
                            escaped(what));
    }
    void draw_line(double x1, double y1, double x2, double y2, const std::string& stroke, double width,
                   bool dashed = false) {
        text += fmt::format(
            R"(<line x1="{:.1f}" y1="{:.1f}" x2="{:.1f}" y2="{:.1f}" stroke="{}" stroke-width="{}"{}/>)", x1,
            y1, x2, y2, stroke, width, dashed ? R"( stroke-dasharray="6 4")" : "");
    }
};

bool over_cells(const Chart& chart) {
    return chart.colours || !chart.categories.empty();
}

struct Extent {
    double least = std::numeric_limits<double>::infinity();
    double largest = -std::numeric_limits<double>::infinity();

    void add(double value) {
        if (!std::isfinite(value)) return;
        least = std::min(least, value);
        largest = std::max(largest, value);
    }
    void settle() {
        if (!(least <= largest)) least = 0, largest = 1;
    }
};

bool shown(const Point& point) {
    return point.slice <= 0;
}

void add_extents(const Panel& panel, Extent& x, Extent& y) {
    const bool sideways = panel.y.scale == Scale::bands;
    for (const Layer& layer : panel.layers)
        for (const Point& point : layer.points) {
            if (!shown(point)) continue;
            if (layer.mark == Mark::interval) {
                Extent& along = sideways ? x : y;
                along.add(point.low);
                along.add(point.high);
                (sideways ? y : x).add(sideways ? point.y : point.x);
                continue;
            }
            if (layer.mark == Mark::bar) x.add(0);
            if (layer.mark != Mark::level) x.add(point.x);
            y.add(point.y);
        }
    x.settle();
    y.settle();
}

std::string cut(const std::string& label) {
    return shortened(label, longest_label);
}

/// Space that the labels of an upright axis need.
double left_margin(const Panel& panel) {
    std::size_t longest = 6;
    for (const std::string& band : panel.y.bands) longest = std::max(longest, display_width(cut(band)));
    return static_cast<double>(longest) * letter + 34;
}

double panel_height(const Panel& panel) {
    return panel.height + top_margin + bottom_margin + (panel.title.empty() ? 0 : 20);
}

void draw_axes(Picture& picture, const Panel& panel, const PlacedAxis& x, const PlacedAxis& y, double left,
               double top) {
    const double bottom = top + panel.height, right = left + panel.width;
    for (const Tick& tick : y.ticks(static_cast<std::size_t>(panel.height / 18) + 1)) {
        const double at = y.at(tick.position);
        if (panel.y.scale != Scale::bands) picture.draw_line(left, at, right, at, picture.pale(), 1);
        picture.write(left - 6, at + 4, cut(tick.label), R"( text-anchor="end")");
    }
    std::size_t widest = 5;
    for (const std::string& band : panel.x.bands) widest = std::max(widest, display_width(cut(band)));
    const auto room = static_cast<double>(widest + 2) * letter;
    for (const Tick& tick : x.ticks(static_cast<std::size_t>(panel.width / room) + 1)) {
        const double at = x.at(tick.position);
        picture.draw_line(at, bottom, at, bottom + 4, picture.ink(), 1);
        picture.write(at, bottom + 17, cut(tick.label), R"( text-anchor="middle")");
    }
    picture.draw_line(left, bottom, right, bottom, picture.ink(), 1);
    picture.draw_line(left, top, left, bottom, picture.ink(), 1);
    picture.write((left + right) / 2, bottom + 36, panel.x.title, R"( text-anchor="middle")");
    picture.write(0, 0, panel.y.title,
                  fmt::format(R"~( text-anchor="middle" transform="translate({:.1f} {:.1f}) rotate(-90)")~",
                              left - left_margin(panel) + 12, (top + bottom) / 2));
}

/// Cells of one colour are one path, and neighbours in a row one rectangle: a tenth of the size, or less.
void draw_cells(Picture& picture, const Layer& layer, const PlacedAxis& x, const PlacedAxis& y) {
    const Chart& chart = picture.chart;
    const bool categories = !chart.categories.empty();
    const auto place_of = [&](const Point& point) {
        if (!categories) return shade_of(chart.colours.value_or(Colours{}), point.value);
        return static_cast<std::size_t>(std::ranges::find(chart.categories, point.label) -
                                        chart.categories.begin());
    };
    std::vector<const Point*> cells;
    for (const Point& point : layer.points)
        if (shown(point)) cells.push_back(&point);
    std::vector<std::string> paths(categories ? chart.categories.size() + 1 : shades().size());
    const double width = x.band(), height = y.band();
    for (std::size_t i = 0; i < cells.size();) {
        const std::size_t place = place_of(*cells[i]);
        std::size_t next = i + 1;
        while (next < cells.size() && cells[next]->y == cells[i]->y &&
               cells[next]->x == cells[next - 1]->x + 1 && place_of(*cells[next]) == place)
            ++next;
        paths[place] += fmt::format("M{:.1f} {:.1f}h{:.1f}v{:.1f}H{:.1f}z", x.at(cells[i]->x) - width / 2,
                                    y.at(cells[i]->y) - height / 2, width * static_cast<double>(next - i),
                                    height, x.at(cells[i]->x) - width / 2);
        i = next;
    }
    if (categories) paths.pop_back();
    for (std::size_t i = 0; i < paths.size(); ++i)
        if (!paths[i].empty())
            picture.text += fmt::format(R"(<path d="{}" fill="{}"/>)", paths[i],
                                        categories ? picture.colour(i) : shades()[i]);
}

void draw_path(Picture& picture, const Layer& layer, const std::string& colour, const PlacedAxis& x,
               const PlacedAxis& y) {
    std::string path;
    for (const Point& point : layer.points)
        if (shown(point))
            path += fmt::format("{}{:.1f} {:.1f}", path.empty() ? "M" : "L", x.at(point.x), y.at(point.y));
    if (path.empty()) return;
    if (layer.mark == Mark::polygon) path += "z";
    picture.text += fmt::format(R"(<path d="{}" fill="none" stroke="{}" stroke-width="2"{}/>)", path, colour,
                                layer.dashed ? R"( stroke-dasharray="6 4")" : "");
}

void draw_point(Picture& picture, const Layer& layer, const Point& point, const std::string& colour,
                const Panel& panel, const PlacedAxis& x, const PlacedAxis& y) {
    const double px = x.at(point.x), py = y.at(point.y);
    switch (layer.mark) {
        case Mark::point:
            picture.text +=
                fmt::format(R"(<circle cx="{:.1f}" cy="{:.1f}" r="3" fill="{}"/>)", px, py, colour);
            return;
        case Mark::cross:
            picture.text += fmt::format(
                R"(<path d="M{:.1f} {:.1f}h8m-4 -4v8" fill="none" stroke="{}" stroke-width="2.5"/>)", px - 4,
                py, colour);
            return;
        case Mark::interval:
            if (panel.y.scale == Scale::bands)
                picture.draw_line(x.at(point.low), py, x.at(point.high), py, colour, 6);
            else
                picture.draw_line(px, y.at(point.low), px, y.at(point.high), colour, 6);
            return;
        case Mark::bar: {
            const double from = x.at(0), height = std::min(22.0, y.band() * 0.7);
            picture.text += fmt::format(
                R"(<rect x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}" fill="{}"/>)",
                std::min(from, px), py - height / 2, std::max(0.5, std::abs(px - from)), height, colour);
            return;
        }
        case Mark::text:
            picture.text += fmt::format(
                R"(<text x="{:.1f}" y="{:.1f}" fill="{}" text-anchor="middle" font-size="15" font-weight="bold">{}</text>)",
                px, py + 5, colour, escaped(point.label));
            return;
        default:
            return;
    }
}

/// Many marks over cells: neighbours in a row are one stroke.
void draw_strokes(Picture& picture, const Layer& layer, const PlacedAxis& x, const PlacedAxis& y) {
    std::string path;
    const std::vector<Point>& points = layer.points;
    for (std::size_t i = 0; i < points.size();) {
        std::size_t next = i + 1;
        while (next < points.size() && points[next].y == points[i].y &&
               points[next].x == points[next - 1].x + 1)
            ++next;
        path += fmt::format("M{:.1f} {:.1f}h{:.1f}", x.at(points[i].x) - 2, y.at(points[i].y),
                            x.at(points[next - 1].x) - x.at(points[i].x) + 4);
        i = next;
    }
    picture.text +=
        fmt::format(R"(<path d="{}" fill="none" stroke="{}" stroke-width="1"/>)", path, picture.on_cells());
}

void draw_layer(Picture& picture, const Layer& layer, const Panel& panel, const PlacedAxis& x,
                const PlacedAxis& y, double left) {
    const auto name = std::ranges::find(picture.chart.names, layer.name);
    std::string colour = picture.colour(
        static_cast<std::size_t>(name == picture.chart.names.end() ? 0 : name - picture.chart.names.begin()));
    if (over_cells(picture.chart)) colour = picture.on_cells();
    if (layer.mark == Mark::cell) return draw_cells(picture, layer, x, y);
    if (layer.mark == Mark::line || layer.mark == Mark::polygon)
        return draw_path(picture, layer, colour, x, y);
    if (layer.mark == Mark::point && over_cells(picture.chart) && !picture.chart.slices &&
        layer.points.size() > many_marks)
        return draw_strokes(picture, layer, x, y);
    for (const Point& point : layer.points) {
        if (!shown(point)) continue;
        if (layer.mark == Mark::level)
            picture.draw_line(left, y.at(point.y), left + panel.width, y.at(point.y), colour, 1.5,
                              layer.dashed);
        else
            draw_point(picture, layer, point, colour, panel, x, y);
    }
}

void draw_panel(Picture& picture, const Panel& panel, double left, double top) {
    top += top_margin;
    left += left_margin(panel);
    if (!panel.title.empty()) {
        picture.write(left, top + 8, panel.title, R"( font-weight="bold")");
        top += 20;
    }
    Extent horizontal, vertical;
    add_extents(panel, horizontal, vertical);
    const PlacedAxis x(panel.x, horizontal.least, horizontal.largest, left, left + panel.width);
    // Bands are read from the top, numbers grow upwards.
    const bool bands = panel.y.scale == Scale::bands;
    const PlacedAxis y(panel.y, vertical.least, vertical.largest, bands ? top : top + panel.height,
                       bands ? top + panel.height : top);
    draw_axes(picture, panel, x, y, left, top);
    for (const Layer& layer : panel.layers) draw_layer(picture, layer, panel, x, y, left);
}

/// One entry of a legend after the other, in lines as wide as the picture; returns the height.
double draw_legend(Picture& picture, double top, double width) {
    const Chart& chart = picture.chart;
    double x = gap, y = top + 14;
    if (chart.colours && chart.categories.empty()) {
        const Colours& colours = *chart.colours;
        picture.write(x, y, fmt::format("{}: 0", colours.title));
        x += static_cast<double>(display_width(colours.title) + 5) * letter;
        for (const std::string& shade : shades()) {
            picture.text += fmt::format(R"(<rect x="{:.1f}" y="{:.1f}" width="16" height="11" fill="{}"/>)",
                                        x, y - 10, shade);
            x += 16;
        }
        picture.write(x + 6, y, fmt::format("{:.4g}", colours.upper));
        return 24;
    }
    const std::vector<std::string>& names = chart.categories.empty() ? chart.names : chart.categories;
    if (names.size() < 2) return 0;
    for (std::size_t i = 0; i < names.size(); ++i) {
        const std::string name = shortened(names[i], 60);
        const double needed = static_cast<double>(display_width(name)) * letter + 34;
        if (x + needed > width && x > gap) {
            x = gap;
            y += 18;
        }
        picture.text += fmt::format(R"(<rect x="{:.1f}" y="{:.1f}" width="12" height="12" fill="{}"/>)", x,
                                    y - 10, picture.colour(i));
        picture.write(x + 17, y, name);
        x += needed;
    }
    return y - top + 10;
}

}  // namespace

std::string draw_svg(const Chart& chart, const std::string& title, bool alone) {
    Picture picture{chart, alone};
    const auto columns = static_cast<std::size_t>(std::max<Index>(1, chart.columns));
    double width = 0, top = alone ? 28 : 0;
    if (chart.slices && chart.slices->values.size() > 1) {
        picture.write(gap, top + 12, fmt::format("{} {}", chart.slices->title, chart.slices->values.front()));
        top += 18;
    }
    for (std::size_t first = 0; first < chart.panels.size(); first += columns) {
        double left = 0, height = 0;
        for (std::size_t i = first; i < std::min(first + columns, chart.panels.size()); ++i) {
            const Panel& panel = chart.panels[i];
            draw_panel(picture, panel, left, top);
            left += left_margin(panel) + panel.width + right_margin;
            height = std::max(height, panel_height(panel));
        }
        width = std::max(width, left);
        top += height;
    }
    top += draw_legend(picture, top, width);
    std::string text = fmt::format(
        R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {:.0f} {:.0f}" width="{:.0f}" height="{:.0f}" {} font-family="system-ui, sans-serif" font-size="{:.0f}">)",
        width, top, width, top,
        alone ? fmt::format(R"(role="img" aria-label="{}")", escaped(title)) : R"(aria-hidden="true")", font);
    if (alone) {
        text += fmt::format(R"(<title>{}</title><rect width="100%" height="100%" fill="white"/>)",
                            escaped(title));
        text += fmt::format(R"(<text x="{:.0f}" y="18" font-weight="bold" fill="#222222">{}</text>)", gap,
                            escaped(title));
    }
    return text + picture.text + "</svg>";
}

}  // namespace alidade::report::detail
