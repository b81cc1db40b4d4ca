#include "alidade/report/chart.hpp"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "alidade/report/ticks.hpp"

namespace alidade::testing::report_chart {
namespace {

using namespace alidade::report::detail;
using nlohmann::json;

Chart line_of(std::size_t points) {
    Layer line{Mark::line, "a line", {}};
    for (std::size_t i = 0; i < points; ++i)
        line.points.push_back({.x = static_cast<double>(i + 1), .y = 0.1 * static_cast<double>(i * i)});
    Chart chart;
    chart.names = {"a line"};
    chart.panels = {{.x = {"episodes", "episodes"}, .y = {"loss", "loss"}, .layers = {line}}};
    return chart;
}

// Few points are written as rows and many as columns: the same numbers.
TEST(VegaLite, HoldsTheNumbersOfTheChart) {
    for (const std::size_t points : {3U, 59U, 60U, 200U}) {
        const json layer = json::parse(vega_lite(line_of(points), "t", false)).at("layer").at(0);
        const json& values = layer.at("data").at("values");
        for (std::size_t i = 0; i < points; ++i) {
            const bool rows = points < 60;
            const json& x = rows ? values.at(i).at("episodes") : values.at(0).at("episodes").at(i);
            const json& y = rows ? values.at(i).at("loss") : values.at(0).at("loss").at(i);
            EXPECT_EQ(x.get<double>(), static_cast<double>(i + 1));
            EXPECT_NEAR(y.get<double>(), 0.1 * static_cast<double>(i * i), 1e-9 * static_cast<double>(i * i));
        }
        EXPECT_EQ(layer.contains("transform"), points >= 60);
    }
}

TEST(VegaLite, NamesBandsAndFiltersSlices) {
    Layer cells{
        Mark::cell, "", {{.x = 0, .y = 1, .value = 7, .slice = 0}, {.x = 1, .y = 0, .value = 9, .slice = 1}}};
    Chart chart;
    chart.panels = {{.x = {"column", "c", Scale::bands, {"left", "right"}},
                     .y = {"row", "r", Scale::bands, {"top", "bottom"}},
                     .layers = {cells}}};
    chart.colours = Colours{"visits", "visits", 0.5, 9};
    chart.slices = Slices{"step", "step", {"0", "1"}};
    const json spec = json::parse(vega_lite(chart, "t", false));
    EXPECT_EQ(spec.at("params").at(0).at("name"), "slice");
    const json& layer = spec.at("layer").at(0);
    EXPECT_EQ(layer.at("data").at("values").at(1),
              (json{{"column", "right"}, {"row", "top"}, {"visits", 9}, {"step", 1}}));
    EXPECT_EQ(layer.at("transform").at(0).at("filter"), "datum['step'] == slice");
    EXPECT_EQ(layer.at("encoding").at("x").at("scale").at("domain"), (json{"left", "right"}));
}

// Names of rows are long, and come once a row.
TEST(VegaLite, WritesManyCellsRowByRow) {
    Layer cells{Mark::cell, "", {}};
    std::vector<std::string> columns, rows;
    for (int x = 0; x < 30; ++x) columns.push_back(fmt::format("c{}", x));
    for (int y = 0; y < 5; ++y) {
        rows.push_back(fmt::format("row {}", y));
        for (int x = 0; x < 30; ++x)
            cells.points.push_back({.x = 1.0 * x, .y = 1.0 * y, .value = 100.0 * y + x});
    }
    Chart chart;
    chart.panels = {{.x = {"column", "c", Scale::bands, columns},
                     .y = {"row", "r", Scale::bands, rows},
                     .layers = {cells}}};
    chart.colours = Colours{"visits", "visits", 1, 500};
    const json layer = json::parse(vega_lite(chart, "t", false)).at("layer").at(0);
    EXPECT_EQ(layer.at("transform").at(0).at("flatten"), (json{"column", "visits"}));
    const json& values = layer.at("data").at("values");
    ASSERT_EQ(values.size(), 5U);
    for (std::size_t y = 0; y < 5; ++y) {
        EXPECT_EQ(values.at(y).at("row"), rows[y]);
        for (std::size_t x = 0; x < 30; ++x) {
            EXPECT_EQ(values.at(y).at("column").at(x), columns[x]);
            EXPECT_EQ(values.at(y).at("visits").at(x), 100 * y + x);
        }
    }
}

TEST(VegaLite, OfAFileOfItsOwnHasColoursOfItsOwn) {
    EXPECT_FALSE(json::parse(vega_lite(line_of(3), "t", false)).contains("config"));
    EXPECT_TRUE(json::parse(vega_lite(line_of(3), "t", true)).contains("config"));
}

TEST(VegaLite, WritesNoNumberThatIsNone) {
    Chart chart = line_of(2);
    chart.panels[0].layers[0].points[1].y = std::numeric_limits<double>::infinity();
    EXPECT_TRUE(json::parse(vega_lite(chart, "t", false))
                    .at("layer")
                    .at(0)
                    .at("data")
                    .at("values")
                    .at(1)
                    .at("loss")
                    .is_null());
}

TEST(Axes, PutNumbersWhereTheyBelong) {
    const Axis linear{"x", "x"}, logarithmic{"x", "x", Scale::logarithmic},
        bands{"x", "x", Scale::bands, {"a", "b"}};
    EXPECT_DOUBLE_EQ(PlacedAxis(linear, 0, 10, 100, 200).at(2.5), 125);
    EXPECT_DOUBLE_EQ(PlacedAxis(linear, 0, 10, 200, 100).at(2.5), 175);
    EXPECT_NEAR(PlacedAxis(logarithmic, 1, 100, 0, 100).at(10), 50, 1e-9);
    EXPECT_DOUBLE_EQ(PlacedAxis(bands, 0, 1, 0, 100).at(1), 75);
    EXPECT_DOUBLE_EQ(PlacedAxis(bands, 0, 1, 0, 100).band(), 50);
    // Outside the ends, and of one number alone, it stays on the paper.
    EXPECT_DOUBLE_EQ(PlacedAxis(linear, 0, 10, 0, 100).at(11), 100);
    EXPECT_DOUBLE_EQ(PlacedAxis(linear, 5, 5, 0, 100).at(5), 50);
}

TEST(Axes, HaveRoundTicks) {
    std::vector<std::string> labels;
    for (const Tick& tick : PlacedAxis({"x", "x"}, 0.0, 1.0, 0, 100).ticks(5)) labels.push_back(tick.label);
    EXPECT_EQ(labels, (std::vector<std::string>{"0", "0.2", "0.4", "0.6", "0.8", "1"}));
    labels.clear();
    for (const Tick& tick : PlacedAxis({"x", "x", Scale::logarithmic}, 1, 1e6, 0, 100).ticks(10))
        labels.push_back(tick.label);
    EXPECT_EQ(labels, (std::vector<std::string>{"1", "10", "100", "1,000", "10,000", "100,000", "1e+06"}));
}

TEST(Shades, GrowWithTheNumber) {
    const Colours colours{"v", "v", 0.3, 300'000};
    EXPECT_EQ(shade_of(colours, 0), 0U);
    EXPECT_EQ(shade_of(colours, 300'000), shades().size() - 1);
    for (double value = 0; value < 3e5; value += 1000)
        EXPECT_LE(shade_of(colours, value), shade_of(colours, value + 1000));
}

// 1.05 + luminance, relative to white, as the guidelines for accessible pages have it: 3 to 1 for graphics.
TEST(Palette, StandsOutFromWhite) {
    for (const std::string& colour : palette()) {
        double luminance = 0;
        for (const auto& [place, weight] : {std::pair{1, 0.2126}, {3, 0.7152}, {5, 0.0722}}) {
            const double part =
                std::stoi(colour.substr(static_cast<std::size_t>(place), 2), nullptr, 16) / 255.0;
            luminance += weight * (part <= 0.04045 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4));
        }
        EXPECT_GE(1.05 / (luminance + 0.05), 3.0) << colour;
    }
}

/// The area that the paths of a picture's cells cover, by their rectangles.
double area_of(const std::string& svg) {
    double area = 0;
    for (std::size_t at = svg.find('h'); at != std::string::npos; at = svg.find('h', at + 1)) {
        double width = 0, height = 0;
        if (std::sscanf(svg.c_str() + at, "h%lfv%lf", &width, &height) == 2) area += width * height;
    }
    return area;
}

// Neighbours of one colour are one rectangle; together they are all cells, whatever their colours.
TEST(Svg, CoversEveryCell) {
    for (const double steps : {1.0, 3.0, 9.0}) {
        Layer cells{Mark::cell, "", {}};
        for (int y = 0; y < 4; ++y)
            for (int x = 0; x < 10; ++x)
                cells.points.push_back({.x = 1.0 * x, .y = 1.0 * y, .value = std::fmod(x * y, steps)});
        Chart chart;
        chart.panels = {{.x = {"c", "c", Scale::bands, std::vector<std::string>(10, "a")},
                         .y = {"r", "r", Scale::bands, std::vector<std::string>(4, "b")},
                         .layers = {cells},
                         .width = 200,
                         .height = 80}};
        chart.colours = Colours{"v", "v", 1, 8};
        EXPECT_NEAR(area_of(draw_svg(chart, "t", true)), 200 * 80, 1e-6);
    }
}

TEST(Svg, DrawsEveryPointOnce) {
    Chart chart = line_of(4);
    chart.panels[0].layers[0].mark = Mark::point;
    const std::string svg = draw_svg(chart, "a <title>", true);
    std::size_t circles = 0;
    for (std::size_t at = svg.find("<circle"); at != std::string::npos; at = svg.find("<circle", at + 1))
        ++circles;
    EXPECT_EQ(circles, 4U);
    EXPECT_NE(svg.find("a &lt;title&gt;"), std::string::npos);
    EXPECT_EQ(svg.find("var(--"), std::string::npos) << "a file has no style sheet";
    EXPECT_NE(draw_svg(chart, "t", false).find("var(--c0)"), std::string::npos);
}

}  // namespace
}  // namespace alidade::testing::report_chart
