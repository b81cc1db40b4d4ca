#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sections.hpp"

namespace alidade::report::detail {
namespace {

constexpr std::size_t most_pairs = 6;
constexpr Index most_slices = 60;
constexpr int half_turn = 12;  // directions, each taken both ways
constexpr const char* region_name = "both weights lie in here";
constexpr const char* learned_name = "learned weights";
constexpr const char* truth_name = "true weights (simulated system)";

struct Corner {
    double x, y;
};

/// What of a polygon lies where a x + b y <= most.
std::vector<Corner> cut_off(const std::vector<Corner>& polygon, double a, double b, double most) {
    std::vector<Corner> kept;
    for (std::size_t i = 0; i < polygon.size(); ++i) {
        const Corner& p = polygon[i];
        const Corner& q = polygon[(i + 1) % polygon.size()];
        const double at_p = a * p.x + b * p.y - most, at_q = a * q.x + b * q.y - most;
        if (at_p <= 0) kept.push_back(p);
        if ((at_p < 0 && at_q > 0) || (at_p > 0 && at_q < 0)) {
            const double share = at_p / (at_p - at_q);
            kept.push_back({p.x + share * (q.x - p.x), p.y + share * (q.y - p.y)});
        }
    }
    return kept;
}

/// The shadow of a set on two of its weights, from outside: cut by its support in many directions.
std::vector<Corner> shadow(const ConfidenceSet& set, Index first, Index second) {
    std::vector<Corner> polygon{{-2, -2}, {3, -2}, {3, 3}, {-2, 3}};
    std::vector<double> direction(static_cast<std::size_t>(set.features()), 0.0);
    for (int k = 0; k < half_turn; ++k) {
        const double angle = std::numbers::pi * k / half_turn;
        const double a = std::cos(angle), b = std::sin(angle);
        direction[static_cast<std::size_t>(first)] = a;
        direction[static_cast<std::size_t>(second)] = b;
        const Interval range = set.range(direction);
        polygon = cut_off(polygon, a, b, range.upper);
        polygon = cut_off(polygon, -a, -b, -range.lower);
    }
    return polygon;
}

struct BasePair {
    Index first, second;
    double width;  ///< how uncertain both are
};

/// Those whose weights are least known, in the order of the base models.
std::vector<BasePair> pairs_shown(const LearnedMixture& learned) {
    const Index bases = learned.model().features().features();
    std::vector<double> widths(static_cast<std::size_t>(bases), 0.0);
    for (const ConfidenceSet& set : learned.sets())
        for (Index i = 0; i < bases; ++i) {
            std::vector<double> direction(static_cast<std::size_t>(bases), 0.0);
            direction[static_cast<std::size_t>(i)] = 1;
            const Interval range = set.range(direction);
            widths[static_cast<std::size_t>(i)] += range.upper - range.lower;
        }
    std::vector<BasePair> pairs;
    for (Index i = 0; i < bases; ++i)
        for (Index j = i + 1; j < bases; ++j)
            pairs.push_back(
                {i, j, widths[static_cast<std::size_t>(i)] * widths[static_cast<std::size_t>(j)]});
    std::ranges::stable_sort(pairs, std::greater{}, &BasePair::width);
    if (pairs.size() > most_pairs) pairs.resize(most_pairs);
    std::ranges::sort(pairs, [](const BasePair& p, const BasePair& q) {
        return std::pair(p.first, p.second) < std::pair(q.first, q.second);
    });
    return pairs;
}

Panel region_panel(const RunFacts& facts, const LearnedMixture& learned, const BasePair& pair,
                   DataTable& table) {
    const std::string x_name = facts.names.bases[static_cast<std::size_t>(pair.first)];
    const std::string y_name = facts.names.bases[static_cast<std::size_t>(pair.second)];
    const std::optional<Matrix> truth = facts.true_weights();
    Layer region{Mark::polygon, region_name, {}}, points{Mark::point, learned_name, {}},
        exact{Mark::cross, truth_name, {}};
    for (Index k = 0; k < std::min(most_slices, std::ssize(learned.sets())); ++k) {
        const ConfidenceSet& set = learned.sets()[static_cast<std::size_t>(k)];
        std::string corners;
        for (const Corner& corner : shadow(set, pair.first, pair.second)) {
            region.points.push_back({.x = corner.x, .y = corner.y, .slice = k});
            corners += fmt::format("{}({:.4f}, {:.4f})", corners.empty() ? "" : " ", corner.x, corner.y);
        }
        points.points.push_back(
            {.x = set.weights()[pair.first], .y = set.weights()[pair.second], .slice = k});
        if (truth) {
            const Index row = truth->rows() == 1 ? 0 : k;
            exact.points.push_back(
                {.x = (*truth)(row, pair.first), .y = (*truth)(row, pair.second), .slice = k});
        }
        table.rows.push_back(
            {fmt::format("{} and {}", x_name, y_name), step_name(facts, k),
             fmt::format("({:.4f}, {:.4f})", set.weights()[pair.first], set.weights()[pair.second]),
             corners});
    }
    return {.title = {},
            .x = {"first", x_name},
            .y = {"second", y_name},
            .layers = {std::move(region), std::move(points), std::move(exact)},
            .width = 250,
            .height = 200};
}

}  // namespace

std::optional<Figure> regions_figure(const RunFacts& facts) {
    const LearnedMixture& learned = *facts.mixture();
    if (learned.model().features().features() < 2 || learned.sets().empty()) return std::nullopt;
    Figure figure{
        "regions",
        "regions-figure",
        "Two weights at a time",
        "With the probability of the certificate the true weights lie inside. A long thin region "
        "means that the data tell the sum of two weights better than their difference: those two base "
        "models are hard to tell apart.",
        {},
        {}};
    figure.table.columns = {{"base models"}, {"step", true}, {"learned"}, {"corners of the region"}};
    for (const BasePair& pair : pairs_shown(learned))
        figure.chart.panels.push_back(region_panel(facts, learned, pair, figure.table));
    figure.chart.columns = figure.chart.panels.size() > 1 ? 2 : 1;
    figure.chart.names = {region_name, learned_name};
    if (facts.true_weights()) figure.chart.names.emplace_back(truth_name);
    if (learned.sets().size() > 1) {
        figure.chart.slices = Slices{"set", "step", {}};
        for (Index k = 0; k < std::min(most_slices, std::ssize(learned.sets())); ++k)
            figure.chart.slices->values.push_back(step_name(facts, k));
    }
    return figure;
}

}  // namespace alidade::report::detail
