#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "atlas_picture_parts.hpp"
#include "pareto_plane.hpp"

namespace alidade::app {
namespace {

/// One pair of objectives: where it is drawn, and which values, in rewards, its sides stand for. Better is to
/// the right and up, whichever way the objective's own unit goes.
struct FrontPanel {
    std::size_t across = 0, up = 1;  ///< the objectives
    Frame plot;
    Interval range_across, range_up;

    Point place(const Values& values) const {
        return {
            plot.x +
                plot.width * (values.across - range_across.lower) / (range_across.upper - range_across.lower),
            plot.bottom() - plot.height * (values.up - range_up.lower) / (range_up.upper - range_up.lower)};
    }
    std::vector<Point> places(const std::vector<Values>& all) const {
        std::vector<Point> points;
        for (const Values& values : all) points.push_back(place(values));
        return points;
    }
};

/// From the least lower value of a plan to the largest that is not excluded or is some plan's upper one.
Interval range_of(const Atlas& atlas, std::size_t objective) {
    const auto horizon = static_cast<double>(atlas.horizon);
    double lower = horizon, upper = 0, most = horizon;
    for (const AtlasPolicy& policy : atlas.policies) {
        lower = std::min(lower, policy.values[objective].lower);
        upper = std::max(upper, policy.values[objective].upper);
    }
    for (const AtlasOuter& outer : atlas.outer)
        if (outer.weights[objective] > 0)
            most = std::min(most, outer.optimal_upper / outer.weights[objective]);
    upper = std::max(upper, most);
    const double margin = std::max(0.06 * (upper - lower), 1e-6 * horizon);
    return {lower - margin, upper + margin};
}

/// Values are not negative: what a weighting says of all objectives, it says of two of them.
std::vector<HalfPlane> half_planes(const Atlas& atlas, const FrontPanel& panel) {
    const auto horizon = static_cast<double>(atlas.horizon);
    std::vector<HalfPlane> all{{1, 0, horizon}, {0, 1, horizon}};
    for (const AtlasOuter& outer : atlas.outer)
        all.push_back({outer.weights[panel.across], outer.weights[panel.up], outer.optimal_upper});
    return all;
}

/// Corners of the true front, from the best of `up` to the best of `across`: plans of the truth at the
/// weights at which two corners found tie, round by round, until nothing is found that a picture could show,
/// or after `most` plans.
std::vector<Values> true_front(const MixtureModel& truth, const Reward& across, const Reward& up, int most) {
    const Objectives both({across, up});
    const auto best_at = [&](double weight) {
        const std::vector<double> weights{weight, 1 - weight};
        const Policy policy = backward_induction(truth, both.weighted(weights)).policy;
        return Values{evaluate(truth, policy, across).value, evaluate(truth, policy, up).value};
    };
    constexpr double nearly_all = 1 - 1e-7;  // ties are broken by the other objective
    std::vector<Values> front{best_at(1 - nearly_all), best_at(nearly_all)};
    const double width = front[1].across - front[0].across, height = front[0].up - front[1].up;
    if (!(width > 0 && height > 0)) return front;
    std::vector<bool> straight{false};  // whether nothing lies beyond the way from a corner to the next
    for (int solved = 2;
         solved < most && std::find(straight.begin(), straight.end(), false) != straight.end();) {
        std::vector<Values> finer;
        std::vector<bool> done;
        for (std::size_t i = 0; i + 1 < front.size(); ++i) {
            const double gain = front[i + 1].across - front[i].across, cost = front[i].up - front[i + 1].up;
            finer.push_back(front[i]);
            done.push_back(true);
            if (straight[i] || solved >= most || !(gain > 0 && cost > 0)) continue;
            const Values found = best_at(cost / (gain + cost));
            ++solved;
            const double beyond = cost * (found.across - front[i].across) + gain * (found.up - front[i].up);
            if (beyond <= 1e-3 * std::hypot(cost * width, gain * height)) continue;
            finer.push_back(found);
            done.back() = false;
            done.push_back(false);
        }
        finer.push_back(front.back());
        front = std::move(finer);
        straight = std::move(done);
    }
    return front;
}

std::string tooltip_of(const AtlasRecord& record, std::size_t plan) {
    const AtlasPolicy& policy = record.atlas.policies[plan];
    std::string text = fmt::format("plan {}", plan + 1);
    for (std::size_t i = 0; i < record.objectives.size(); ++i) {
        const Interval values = record.objectives[i].in_unit(policy.values[i]);
        text += fmt::format("{} {} {:.4g} to {:.4g}", i == 0 ? ":" : ",",
                            shortened(record.objectives[i].name, 30), values.lower, values.upper);
    }
    return text;
}

/// `width` pixels are there for it.
std::string axis_title(const AtlasObjective& objective, double width) {
    const std::string better = fmt::format("({}{} →)", objective.sense == Sense::minimise ? "less" : "more",
                                           width > 250 ? " is better" : "");
    const auto columns = static_cast<std::size_t>(width / 7);
    return shortened(objective.name, std::max<std::size_t>(8, columns - 8)) + " " + better;
}

void draw_axes(SvgCanvas& canvas, const AtlasRecord& record, const FrontPanel& panel) {
    const Frame& plot = panel.plot;
    const int count = plot.width > 400 ? 8 : 5;
    const AtlasObjective &across = record.objectives[panel.across], &up = record.objectives[panel.up];
    const Interval values_across = across.in_unit(panel.range_across), values_up = up.in_unit(panel.range_up);
    for (const Tick& tick : round_numbers(values_across.lower, values_across.upper, count)) {
        const double x = panel.place({across.in_rewards(tick.value), 0}).x;
        canvas.line({x, plot.y}, {x, plot.bottom()}, R"(class="grid")");
        canvas.text({x, plot.bottom() + 14}, tick.text, R"(class="soft small" text-anchor="middle")");
    }
    for (const Tick& tick : round_numbers(values_up.lower, values_up.upper, count)) {
        const double y = panel.place({0, up.in_rewards(tick.value)}).y;
        canvas.line({plot.x, y}, {plot.right(), y}, R"(class="grid")");
        canvas.text({plot.x - 5, y + 4}, tick.text, R"(class="soft small" text-anchor="end")");
    }
    canvas.rectangle(plot, R"(class="axis")");
    canvas.text({plot.x + plot.width / 2, plot.bottom() + 31}, axis_title(across, plot.width),
                R"(class="label" text-anchor="middle")");
    const Point side{plot.x - 38, plot.y + plot.height / 2};
    canvas.text(side, axis_title(up, plot.height),
                fmt::format(R"svg(class="label" text-anchor="middle" transform="rotate(-90 {} {})")svg",
                            coordinate(side.x), coordinate(side.y)));
}

/// The number of a plan, beside its point where there is room; false if there is none.
bool draw_number(SvgCanvas& canvas, LabelSpace& space, const Point& point, std::size_t plan) {
    const std::string number = std::to_string(plan + 1);
    for (const double distance : {13.0, 20.0, 30.0, 42.0, 56.0})
        for (const double degrees : {45, 70, 20, 95, -5, 120, -30, 225, 200, 250, 160, 290}) {
            const double angle = degrees * std::numbers::pi / 180;
            const Point centre{point.x + distance * std::cos(angle), point.y - distance * std::sin(angle)};
            const Frame frame = label_frame(centre, number.size(), 11);
            if (!space.free(frame)) continue;
            space.occupy(frame);
            if (distance > 14) {
                const double stop = distance - 6;
                canvas.line(point, {point.x + stop * std::cos(angle), point.y - stop * std::sin(angle)},
                            R"(class="leader")");
            }
            canvas.text({centre.x, centre.y + 4}, number, R"(class="plan" text-anchor="middle")");
            return true;
        }
    return false;
}

/// Boxes, points and numbers of the plans; how many numbers found no room.
std::size_t draw_plans(SvgCanvas& canvas, const AtlasRecord& record, const FrontPanel& panel,
                       const std::vector<Colour>& colours) {
    LabelSpace space(panel.plot);
    std::vector<Point> points;
    for (std::size_t plan = 0; plan < record.atlas.policies.size(); ++plan) {
        const AtlasPolicy& policy = record.atlas.policies[plan];
        const Interval &across = policy.values[panel.across], &up = policy.values[panel.up];
        const Point corner = panel.place({across.lower, up.upper}),
                    opposite = panel.place({across.upper, up.lower});
        canvas.rectangle({corner.x, corner.y, opposite.x - corner.x, opposite.y - corner.y},
                         fmt::format(R"(class="box" data-plan="{}" fill="{}")", plan + 1, css(colours[plan])),
                         tooltip_of(record, plan));
        points.push_back(panel.place({policy.model_values[panel.across], policy.model_values[panel.up]}));
        space.occupy({points.back().x - 3, points.back().y - 3, 6, 6});
    }
    std::size_t left_out = 0;
    for (std::size_t plan = 0; plan < points.size(); ++plan) {
        canvas.circle(points[plan], 1.8, R"(class="dot")", tooltip_of(record, plan));
        if (!draw_number(canvas, space, points[plan], plan)) ++left_out;
    }
    return left_out;
}

/// A panel; how many plans' numbers found no room.
std::size_t draw_panel(SvgCanvas& canvas, const AtlasRecord& record, const std::optional<MixtureModel>& truth,
                       const FrontPanel& panel, const std::vector<Colour>& colours) {
    canvas.open_group(fmt::format(R"(class="panel" data-objectives="{} {}")", panel.across, panel.up));
    const Values low{panel.range_across.lower, panel.range_up.lower},
        high{panel.range_across.upper, panel.range_up.upper};
    const std::vector<Point> open = panel.places(not_excluded(half_planes(record.atlas, panel), low, high));
    canvas.polygon(open, R"(class="open")");
    std::vector<Values> lower_corners;
    for (const AtlasPolicy& policy : record.atlas.policies)
        lower_corners.push_back({policy.values[panel.across].lower, policy.values[panel.up].lower});
    const std::vector<Point> inner = panel.places(guaranteed(lower_corners, low));
    // What is under it would show through.
    canvas.polygon(inner, R"(class="ground")");
    canvas.polygon(inner, R"(class="guaranteed")");
    draw_axes(canvas, record, panel);
    if (truth) {
        // Many panels are small ones.
        const auto pairs = static_cast<int>(record.objectives.size() * (record.objectives.size() - 1) / 2);
        const std::vector<Values> front =
            true_front(*truth, record.objectives[panel.across].reward, record.objectives[panel.up].reward,
                       std::max(16, 128 / pairs));
        canvas.polyline(panel.places(from_corner(front, low)), R"(class="truth")");
    }
    const std::size_t left_out = draw_plans(canvas, record, panel, colours);
    canvas.close_group();
    return left_out;
}

std::vector<FrontPanel> panels_of(const AtlasRecord& record) {
    const std::size_t count = record.objectives.size(), columns = count == 2 ? 1 : count <= 4 ? 2 : 3;
    const double width = picture_width / static_cast<double>(columns),
                 height = count == 2 ? 480 : 0.94 * width;
    std::vector<FrontPanel> panels;
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t j = i + 1; j < count; ++j) {
            const auto column = static_cast<double>(panels.size() % columns),
                       row = static_cast<double>(panels.size() / columns);
            panels.push_back({i,
                              j,
                              {column * width + 56, 44 + row * height, width - 70, height - 44},
                              range_of(record.atlas, i),
                              range_of(record.atlas, j)});
        }
    return panels;
}

struct LegendEntry {
    std::string_view kind;  ///< class of its sign, "plan" for a box with a point
    std::string text;
};

std::vector<LegendEntry> legend_of(const AtlasRecord& record, bool truth, bool left_out) {
    std::vector<LegendEntry> entries{
        {"guaranteed",
         "guaranteed: can be had, with one plan or by drawing one of the plans at the start of each "
         "episode"},
        {"open", "not excluded: whether some policy gets here is not known yet"},
        {"excluded", "excluded: no policy at all gets here"},
        {"plan",
         "plan 1, and so on: its true value lies in this box (often no larger than the point, its value in "
         "the "
         "learned model)"}};
    if (truth) entries.push_back({"truth", "the true front, known because the system is simulated"});
    if (left_out)
        entries.push_back({"", "Some numbers of plans found no room; point at a box to read its number."});
    if (record.objectives.size() > 2)
        entries.push_back({"",
                           "One panel for each pair; better is to the right and up. Plans inside the green "
                           "are good at what the "
                           "panel does not show."});
    entries.push_back({"", promise_of(record.atlas)});
    return entries;
}

/// Returns where it ends.
double draw_legend(SvgCanvas& canvas, const std::vector<LegendEntry>& entries, const Frame& within,
                   const Colour& colour) {
    double y = within.y;
    for (const LegendEntry& entry : entries) {
        const Frame sign{within.x, y, 24, 13};
        if (entry.kind == "plan") {
            canvas.rectangle({sign.x + 4, sign.y, 16, 13},
                             fmt::format(R"(class="box" fill="{}")", css(colour)));
            canvas.circle({sign.x + 12, sign.y + 6.5}, 1.8, R"(class="dot")");
        } else if (entry.kind == "truth") {
            canvas.line({sign.x, sign.y + 6.5}, {sign.right(), sign.y + 6.5}, R"(class="truth")");
        } else if (entry.kind == "excluded") {
            canvas.rectangle(sign, R"(class="axis" stroke-width="0.7")");
        } else if (!entry.kind.empty()) {
            canvas.rectangle(sign, fmt::format(R"(class="{}")", entry.kind));
        }
        const double indent = entry.kind.empty() ? 0 : 32;
        const auto columns = static_cast<std::size_t>((within.width - indent) / 6.3);
        for (const std::string& line : in_lines(entry.text, columns)) {
            canvas.text({within.x + indent, y + 11}, line);
            y += 16;
        }
        y += 5;
    }
    return y;
}

}  // namespace

std::string front_picture(const AtlasRecord& record, const std::optional<MixtureModel>& truth) {
    SvgCanvas canvas;
    const std::vector<Colour> colours = plan_colours(record.atlas);
    canvas.text({16, 26}, "What can be had, and what cannot: expected totals of one episode",
                R"(class="heading")");
    const std::vector<FrontPanel> panels = panels_of(record);
    std::size_t left_out = 0;
    for (const FrontPanel& panel : panels) left_out += draw_panel(canvas, record, truth, panel, colours);
    const std::vector<LegendEntry> entries = legend_of(record, truth.has_value(), left_out > 0);
    const FrontPanel& last = panels.back();
    const double bottom = last.plot.bottom() + 44;
    // Of three objectives the fourth place is free.
    const bool beside = record.objectives.size() == 3;
    const Frame room = beside ? Frame{picture_width / 2 + 24, last.plot.y + 4, picture_width / 2 - 40, 0}
                              : Frame{24, bottom + 4, picture_width - 48, 0};
    const double end = draw_legend(canvas, entries, room, colours.front());
    const std::string names = names_of(record);
    return canvas.document(
        picture_width, std::max(bottom, end + 8), fmt::format("Front of {}", names),
        fmt::format(
            "Values of {} plans in {}: a box for each, the region that is guaranteed and the region that is "
            "not excluded. {}",
            record.atlas.policies.size(), names, promise_of(record.atlas)));
}

}  // namespace alidade::app
