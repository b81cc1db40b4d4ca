#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "chart.hpp"

namespace alidade::report::detail {
namespace {

using nlohmann::ordered_json;

/// From this many points on data are written as columns: a third of the size.
constexpr std::size_t many_points = 60;

/// A number to read: no one sees more than nine digits in a picture, and they would be most of the page.
ordered_json brief(double value) {
    if (!std::isfinite(value)) return nullptr;
    if (value == std::floor(value) && std::abs(value) < 1e15) return static_cast<std::int64_t>(value);
    const double unit = std::pow(10, std::floor(std::log10(std::abs(value))) - 8);
    return unit > 0 ? ordered_json(std::stod(fmt::format("{:.9g}", value))) : ordered_json(0);
}

/// One column of a layer's data.
struct Column {
    std::string field;
    std::function<ordered_json(const Point&, std::size_t)> value;
};

std::function<ordered_json(const Point&, std::size_t)> position_on(const Axis& axis, double Point::*where) {
    if (axis.scale != Scale::bands)
        return [where](const Point& point, std::size_t) { return brief(point.*where); };
    return [where, &axis](const Point& point, std::size_t) {
        return ordered_json(axis.bands.at(static_cast<std::size_t>(point.*where)));
    };
}

bool along_x(const Panel& panel) {
    return panel.y.scale == Scale::bands;
}

std::vector<Column> columns_of(const Layer& layer, const Panel& panel, const Chart& chart) {
    std::vector<Column> columns;
    const bool interval = layer.mark == Mark::interval;
    if (layer.mark != Mark::level && !(interval && along_x(panel)))
        columns.push_back({panel.x.field, position_on(panel.x, &Point::x)});
    if (!(interval && !along_x(panel))) columns.push_back({panel.y.field, position_on(panel.y, &Point::y)});
    if (interval) {
        columns.push_back({"from", [](const Point& point, std::size_t) { return brief(point.low); }});
        columns.push_back({"to", [](const Point& point, std::size_t) { return brief(point.high); }});
    }
    const bool categories = !chart.categories.empty();
    if (layer.mark == Mark::cell && chart.colours && !categories)
        columns.push_back(
            {chart.colours->field, [](const Point& point, std::size_t) { return brief(point.value); }});
    if (layer.mark == Mark::text || (layer.mark == Mark::cell && categories))
        columns.push_back(
            {"label", [](const Point& point, std::size_t) { return ordered_json(point.label); }});
    if (layer.mark == Mark::line || layer.mark == Mark::polygon)
        columns.push_back({"order", [](const Point&, std::size_t i) { return ordered_json(i); }});
    if (chart.slices && std::ranges::any_of(layer.points, [](const Point& p) { return p.slice >= 0; }))
        columns.push_back(
            {chart.slices->field, [](const Point& point, std::size_t) { return ordered_json(point.slice); }});
    return columns;
}

/// Points that stand row by row, with the same name of the row in each: it is written once a row.
ordered_json rows_of_columns(const Layer& layer, const std::vector<Column>& columns,
                             const std::string& row_field) {
    ordered_json values = ordered_json::array();
    for (std::size_t i = 0; i < layer.points.size(); ++i) {
        const bool begins = i == 0 || layer.points[i].y != layer.points[i - 1].y;
        if (begins) values.push_back(ordered_json::object());
        for (const Column& column : columns) {
            ordered_json value = column.value(layer.points[i], i);
            if (column.field != row_field)
                values.back()[column.field].push_back(std::move(value));
            else if (begins)
                values.back()[column.field] = std::move(value);
        }
    }
    return values;
}

/// Puts data, and what unpacks and filters them, into a layer.
void put_data(ordered_json& object, const Layer& layer, const Panel& panel, const Chart& chart) {
    const std::vector<Column> columns = columns_of(layer, panel, chart);
    ordered_json values = ordered_json::array(), transforms = ordered_json::array();
    if (layer.points.size() < many_points) {
        for (std::size_t i = 0; i < layer.points.size(); ++i) {
            ordered_json row;
            for (const Column& column : columns) row[column.field] = column.value(layer.points[i], i);
            values.push_back(std::move(row));
        }
    } else if (panel.y.scale == Scale::bands && (layer.mark == Mark::cell || layer.mark == Mark::point)) {
        ordered_json fields = ordered_json::array();
        for (const Column& column : columns)
            if (column.field != panel.y.field) fields.push_back(column.field);
        values = rows_of_columns(layer, columns, panel.y.field);
        transforms.push_back({{"flatten", std::move(fields)}});
    } else {
        ordered_json row, fields = ordered_json::array();
        for (const Column& column : columns) {
            ordered_json& list = row[column.field] = ordered_json::array();
            for (std::size_t i = 0; i < layer.points.size(); ++i)
                list.push_back(column.value(layer.points[i], i));
            fields.push_back(column.field);
        }
        values.push_back(std::move(row));
        transforms.push_back({{"flatten", std::move(fields)}});
    }
    if (chart.slices && !columns.empty() && columns.back().field == chart.slices->field)
        transforms.push_back({{"filter", "datum['" + chart.slices->field + "'] == slice"}});
    object["data"] = {{"values", std::move(values)}};
    if (!transforms.empty()) object["transform"] = std::move(transforms);
}

ordered_json axis_object(const Axis& axis) {
    ordered_json object{{"field", axis.field}};
    if (axis.scale == Scale::bands) {
        object["type"] = "ordinal";
        object["sort"] = nullptr;
        object["scale"] = {{"domain", axis.bands}};
        object["axis"] = {{"labelOverlap", true}, {"labelLimit", 190}, {"labelAngle", 0}};
    } else {
        object["type"] = "quantitative";
        ordered_json scale{{"zero", false}, {"nice", !axis.lower && !axis.upper}};
        if (axis.scale == Scale::logarithmic) scale = {{"type", "log"}, {"nice", false}};
        if (axis.lower) scale["domainMin"] = *axis.lower;
        if (axis.upper) scale["domainMax"] = *axis.upper;
        object["scale"] = std::move(scale);
        if (axis.scale == Scale::logarithmic) object["axis"] = {{"format", "~g"}, {"labelOverlap", true}};
    }
    object["title"] = axis.title;
    return object;
}

ordered_json mark_object(const Layer& layer) {
    ordered_json object;
    switch (layer.mark) {
        case Mark::line:
            object = {
                {"type", "line"}, {"strokeWidth", 2}, {"point", !layer.dashed && layer.points.size() < 60}};
            break;
        case Mark::point:
            object = {{"type", "point"}, {"filled", true}, {"size", layer.points.size() < 300 ? 26 : 5}};
            break;
        case Mark::cross:
            object = {{"type", "point"}, {"shape", "cross"}, {"filled", true}, {"size", 40}};
            break;
        case Mark::interval:
            object = {{"type", "rule"}, {"strokeWidth", 9}, {"opacity", 0.55}};
            break;
        case Mark::level:
            object = {{"type", "rule"}, {"strokeWidth", 1.5}};
            break;
        case Mark::bar:
            object = {{"type", "bar"}};
            break;
        case Mark::cell:
            object = {{"type", "rect"}};
            break;
        case Mark::polygon:
            object = {
                {"type", "line"}, {"interpolate", "linear-closed"}, {"filled", false}, {"strokeWidth", 2}};
            break;
        case Mark::text:
            object = {{"type", "text"}, {"fontSize", 15}, {"fontWeight", "bold"}};
            break;
    }
    if (layer.dashed) object["strokeDash"] = {6, 4};
    object["tooltip"] = layer.mark != Mark::text;
    return object;
}

ordered_json colour_of(const Layer& layer, const Chart& chart) {
    const bool over_cells = chart.colours || !chart.categories.empty();
    if (layer.mark == Mark::text || (layer.mark == Mark::point && over_cells)) return nullptr;
    if (layer.mark != Mark::cell) {
        ordered_json object{{"datum", layer.name}, {"type", "nominal"}};
        object["scale"] = {{"domain", chart.names}};
        object["legend"] =
            chart.names.size() > 1
                ? ordered_json{{"title", nullptr}, {"orient", "bottom"}, {"columns", 3}, {"labelLimit", 260}}
                : ordered_json();
        return object;
    }
    if (!chart.categories.empty()) {
        ordered_json legend{{"orient", "bottom"}, {"columns", 4}, {"labelLimit", 260}};
        return {{"field", "label"},
                {"type", "nominal"},
                {"title", nullptr},
                {"scale", {{"domain", chart.categories}}},
                {"legend", std::move(legend)}};
    }
    const Colours colours = chart.colours.value_or(Colours{"value", "value"});
    ordered_json scale{{"scheme", "viridis"}, {"domain", {0, brief(colours.upper)}}};
    if (colours.exponent != 1) {
        scale["type"] = "pow";
        scale["exponent"] = colours.exponent;
    }
    return {{"field", colours.field},
            {"type", "quantitative"},
            {"title", colours.title},
            {"scale", std::move(scale)}};
}

ordered_json layer_object(const Layer& layer, const Panel& panel, const Chart& chart) {
    ordered_json object;
    put_data(object, layer, panel, chart);
    object["mark"] = mark_object(layer);
    ordered_json encoding, x = axis_object(panel.x), y = axis_object(panel.y);
    const bool interval = layer.mark == Mark::interval, sideways = along_x(panel);
    if (interval) {
        ordered_json& along = sideways ? x : y;
        along["field"] = "from";
        encoding[sideways ? "x2" : "y2"] = {{"field", "to"}};
    }
    if (layer.mark != Mark::level) encoding["x"] = std::move(x);
    encoding["y"] = std::move(y);
    if (layer.mark == Mark::line || layer.mark == Mark::polygon)
        encoding["order"] = {{"field", "order"}, {"type", "quantitative"}};
    if (layer.mark == Mark::text) encoding["text"] = {{"field", "label"}, {"type", "nominal"}};
    if (ordered_json colour = colour_of(layer, chart); !colour.is_null())
        encoding["color"] = std::move(colour);
    object["encoding"] = std::move(encoding);
    return object;
}

ordered_json panel_object(const Panel& panel, const Chart& chart) {
    ordered_json object;
    if (!panel.title.empty()) object["title"] = panel.title;
    object["width"] = panel.width;
    object["height"] = panel.height;
    object["layer"] = ordered_json::array();
    for (const Layer& layer : panel.layers)
        if (!layer.points.empty()) object["layer"].push_back(layer_object(layer, panel, chart));
    return object;
}

}  // namespace

std::string vega_lite(const Chart& chart, const std::string& title, bool alone) {
    ordered_json object{{"$schema", "https://vega.github.io/schema/vega-lite/v6.json"}};
    object["description"] = title;
    if (alone) {
        object["title"] = title;
        object["background"] = "white";
        object["config"] = {{"range", {{"category", palette()}}}};
    }
    if (chart.slices) object["params"] = {{{"name", "slice"}, {"value", 0}}};
    if (chart.slices && alone)
        object["params"][0]["bind"] = {{"input", "range"},
                                       {"min", 0},
                                       {"max", chart.slices->values.size() - 1},
                                       {"step", 1},
                                       {"name", chart.slices->title}};
    if (chart.panels.size() == 1) {
        object.update(panel_object(chart.panels.front(), chart));
    } else {
        object["columns"] = chart.columns;
        object["concat"] = ordered_json::array();
        for (const Panel& panel : chart.panels) object["concat"].push_back(panel_object(panel, chart));
    }
    return object.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace alidade::report::detail
