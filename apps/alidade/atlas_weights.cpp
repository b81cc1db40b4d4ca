#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "atlas_picture_parts.hpp"
#include "numbers.hpp"
#include "weight_face.hpp"

namespace alidade::app {
namespace {

using Face = std::array<std::size_t, 3>;

/// Returns where the text ends.
double draw_sentences(SvgCanvas& canvas, const std::vector<std::string>& sentences, double y) {
    for (const std::string& sentence : sentences) {
        for (const std::string& line : in_lines(sentence, 108)) {
            canvas.text({24, y}, line);
            y += 16;
        }
        y += 5;
    }
    return y;
}

/// Where objectives have units of their own, what a weight of 1 weighs.
std::string unit_sentence(const AtlasRecord& record) {
    const bool rescaled = std::any_of(record.objectives.begin(), record.objectives.end(),
                                      [](const AtlasObjective& o) { return !(o.scale == RewardScale{}); });
    return rescaled ? "Weights are of the objectives after each was scaled to run from 0 to 1 a step." : "";
}

std::string unasked_sentence(const AtlasRecord& record) {
    return of_part(record.atlas) ? "Grey ground: weightings that were not asked for." : "";
}

/// Paler to darker, with what it stands for.
void draw_scale(SvgCanvas& canvas, const Point& place, const Atlas& atlas) {
    const double step = 14;
    for (int level = 0; level < FaceMap::levels; ++level)
        canvas.rectangle(
            {place.x + step * level, place.y, step, 12},
            fmt::format(R"(fill="{}")", css(shaded({128, 128, 128}, level / (FaceMap::levels - 1.0)))));
    canvas.text({place.x - 6, place.y + 10}, "the plan loses at most 0", R"(text-anchor="end")");
    canvas.text({place.x + step * FaceMap::levels + 6, place.y + 10}, upper_bound(atlas.loss_bound));
}

/// The number of the plan in each region that has room for it; false if some have none.
bool draw_plan_numbers(SvgCanvas& canvas, const FaceMap& map) {
    bool all = true;
    for (const FaceMap::Region& region : map.regions()) {
        const std::string number = std::to_string(region.plan + 1);
        const double size = region.clearance > 13 ? 15 : region.clearance > 8.5 ? 12 : 9.5;
        const Frame frame = label_frame(region.centre, number.size(), size);
        if (region.clearance < 0.4 * std::max(frame.width, frame.height)) {
            all = false;
            continue;
        }
        canvas.text(
            {region.centre.x, region.centre.y + 0.36 * size}, number,
            fmt::format(R"(class="plan on-colour" style="font-size:{}px" text-anchor="middle")", size));
    }
    return all;
}

/// "only service-level", "only low cost": what counts at an end of the weights.
std::string only(const AtlasObjective& objective, std::size_t columns) {
    return fmt::format("only {}{}", objective.sense == Sense::minimise ? "low " : "",
                       shortened(objective.name, columns));
}

/// A corner's objective, and that all weight is on it there.
void label_corners(SvgCanvas& canvas, const AtlasRecord& record, const Face& face,
                   const std::array<Point, 3>& places) {
    const double side = places[1].x - places[0].x;
    const auto columns = static_cast<std::size_t>(std::max(8.0, side / 14));
    const auto name = [&](std::size_t i) { return only(record.objectives[face.at(i)], columns); };
    canvas.text({places[0].x, places[0].y + 17}, name(0), R"(class="label" text-anchor="start")");
    canvas.text({places[1].x, places[1].y + 17}, name(1), R"(class="label" text-anchor="end")");
    canvas.text({places[2].x, places[2].y - 8}, name(2), R"(class="label" text-anchor="middle")");
}

/// False if some regions have no room for their number.
bool draw_face(SvgCanvas& canvas, const AtlasRecord& record, const Face& face, const Frame& frame,
               const std::vector<Colour>& colours) {
    const std::array<Point, 3> places{
        {{frame.x, frame.bottom()}, {frame.right(), frame.bottom()}, {frame.x + frame.width / 2, frame.y}}};
    canvas.open_group(fmt::format(R"(class="face" data-objectives="{} {} {}")", face[0], face[1], face[2]));
    canvas.polygon(places, R"(class="unasked")");
    const FaceMap map(record.atlas, face, places);
    const std::vector<FaceTriangle>& triangles = map.triangles();
    for (std::size_t i = 0; i < triangles.size();) {
        std::string data;
        const Index policy = triangles[i].policy;
        const int level = triangles[i].level;
        for (; i < triangles.size() && triangles[i].policy == policy && triangles[i].level == level; ++i) {
            const auto& [a, b, c] = triangles[i].places;
            data += fmt::format("M{} {}L{} {}L{} {}z", coordinate(a.x), coordinate(a.y), coordinate(b.x),
                                coordinate(b.y), coordinate(c.x), coordinate(c.y));
        }
        // The stroke closes the seams between cells that viewers leave.
        const std::string colour = css(shaded(colours[at(policy)], level / (FaceMap::levels - 1.0)));
        canvas.path(
            data,
            fmt::format(R"(data-plan="{0}" fill="{1}" stroke="{1}" stroke-width=".4")", policy + 1, colour),
            fmt::format("plan {}", policy + 1));
    }
    std::string borders;
    for (const auto& [from, to] : map.borders())
        borders += fmt::format("M{} {}L{} {}", coordinate(from.x), coordinate(from.y), coordinate(to.x),
                               coordinate(to.y));
    canvas.path(borders, R"(class="border")");
    canvas.polygon(places, R"(class="border frame")");
    const bool numbered = draw_plan_numbers(canvas, map);
    label_corners(canvas, record, face, places);
    canvas.close_group();
    return numbered;
}

/// All faces of three objectives, those of which the data leave most open first; at most `most`.
std::vector<Face> faces_of(const Atlas& atlas, std::size_t most) {
    std::vector<std::pair<double, Face>> all;
    const std::size_t count = at(atlas.objectives);
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t j = i + 1; j < count; ++j)
            for (std::size_t k = j + 1; k < count; ++k) {
                const double floor = face_floor(atlas, {i, j, k});
                if (floor >= 0) all.push_back({floor, {i, j, k}});
            }
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<Face> faces;
    for (std::size_t i = 0; i < std::min(most, all.size()); ++i) faces.push_back(all[i].second);
    return faces;
}

std::string others_sentence(const AtlasRecord& record, const Face& face) {
    std::string names;
    for (std::size_t i = 0; i < record.objectives.size(); ++i)
        if (std::find(face.begin(), face.end(), i) == face.end())
            names += (names.empty() ? "" : ", ") + shortened(record.objectives[i].name, 18);
    return fmt::format("weight of {}: 0", names);
}

/// What has been drawn of three and more objectives.
struct Faces {
    double bottom = 560;   ///< where it ends
    bool numbered = true;  ///< whether all regions have their number
    std::string chosen;    ///< which faces these are, where it must be said
};

Faces draw_several(SvgCanvas& canvas, const AtlasRecord& record, const std::vector<Colour>& colours) {
    const std::vector<Face> faces = faces_of(record.atlas, 4);
    Faces drawn;
    drawn.bottom = 40;
    const double width = picture_width / 2, height = 330;
    for (std::size_t i = 0; i < faces.size(); ++i) {
        const double x = width * static_cast<double>(i % 2), y = 40 + height * static_cast<double>(i / 2);
        const std::string others = others_sentence(record, faces[i]);
        canvas.text({x + width / 2, y + 14}, shortened(others, 52), R"(class="soft" text-anchor="middle")");
        const Frame frame{x + 30, y + 40, width - 60, 0.866 * (width - 60)};
        if (!draw_face(canvas, record, faces[i], frame, colours)) drawn.numbered = false;
        drawn.bottom = y + height;
    }
    const std::size_t count = record.objectives.size(), all = count * (count - 1) * (count - 2) / 6;
    if (faces.empty())
        drawn.chosen =
            "All weightings asked for are of more than three objectives at once: no triangle shows them.";
    else if (faces.size() < all)
        drawn.chosen =
            fmt::format("Of {} choices of three objectives, the {} at which the data leave most open.", all,
                        faces.size());
    return drawn;
}

std::string triangle_pictures(const AtlasRecord& record) {
    SvgCanvas canvas;
    const std::vector<Colour> colours = plan_colours(record.atlas);
    canvas.text({16, 26}, "Which plan for which weighting", R"(class="heading")");
    Faces drawn;
    if (record.objectives.size() == 3)
        drawn.numbered = draw_face(canvas, record, {0, 1, 2}, {80, 62, 560, 485}, colours);
    else
        drawn = draw_several(canvas, record, colours);
    draw_scale(canvas, {180, drawn.bottom + 24}, record.atlas);
    std::vector<std::string> sentences{
        "Every point is a weighting: at a corner all weight is on that objective, in the middle all three "
        "count the same. The number is the plan for it; darker: it may lose more. A colour may come again in "
        "another place."};
    // Cells of many objectives meet a face in many ways.
    if (record.objectives.size() > 4)
        sentences.emplace_back("Where several plans are certified for one point, one of them is shown.");
    if (!drawn.numbered)
        sentences.emplace_back("Where there is no room for a number, point at the region to read it.");
    for (const std::string& further :
         {drawn.chosen, unasked_sentence(record), unit_sentence(record), promise_of(record.atlas)})
        if (!further.empty()) sentences.push_back(further);
    const double end = draw_sentences(canvas, sentences, drawn.bottom + 60);
    return canvas.document(
        picture_width, end, fmt::format("Plans for the weightings of {}", names_of(record)),
        fmt::format("A triangle of weightings, divided among {} plans; darker where a plan may lose more. {}",
                    record.atlas.policies.size(), promise_of(record.atlas)));
}

/// A cell of two objectives: the weight of the first at its ends, and the bounds there.
struct Stretch {
    double from = 0, to = 0, bound_from = 0, bound_to = 0;
    Index policy = 0;
};

std::vector<Stretch> stretches_of(const Atlas& atlas) {
    std::vector<Stretch> stretches;
    for (const AtlasCell& cell : atlas.cells) {
        Stretch stretch{atlas.corners[at(cell.corners[0])][0], atlas.corners[at(cell.corners[1])][0],
                        cell.bounds[0], cell.bounds[1], cell.policy};
        if (stretch.from > stretch.to) {
            std::swap(stretch.from, stretch.to);
            std::swap(stretch.bound_from, stretch.bound_to);
        }
        stretches.push_back(stretch);
    }
    std::sort(stretches.begin(), stretches.end(),
              [](const Stretch& a, const Stretch& b) { return a.from < b.from; });
    return stretches;
}

/// The plan's number below the stretches that it has side by side.
void draw_band(SvgCanvas& canvas, const std::vector<Stretch>& stretches, const Frame& band,
               const std::vector<Colour>& colours) {
    LabelSpace space(band);
    for (std::size_t i = 0; i < stretches.size();) {
        const Index policy = stretches[i].policy;
        const double from = stretches[i].from;
        double to = from;
        for (; i < stretches.size() && stretches[i].policy == policy; ++i) to = stretches[i].to;
        const Frame frame{band.x + band.width * from, band.y, band.width * (to - from), band.height};
        canvas.rectangle(frame, fmt::format(R"(fill="{}")", css(shaded(colours[at(policy)], 0.4))),
                         fmt::format("plan {}: weights {:.4g} to {:.4g}", policy + 1, from, to));
        canvas.line({frame.right(), frame.y}, {frame.right(), frame.bottom()}, R"(stroke="#fff")");
        const std::string number = std::to_string(policy + 1);
        const Frame label =
            label_frame({frame.x + frame.width / 2, frame.y + frame.height / 2}, number.size(), 11);
        if (label.width > frame.width || !space.free(label)) continue;
        space.occupy(label);
        canvas.text({frame.x + frame.width / 2, label.y + 10}, number,
                    R"(class="plan on-colour" text-anchor="middle")");
    }
}

/// The weight of the first objective from left to right, the bound upwards.
struct StripPlot {
    Frame frame{70, 52, 620, 250};
    double most = 1;  ///< the bound at the top

    Point place(double weight, double bound) const {
        return {frame.x + frame.width * weight, frame.bottom() - frame.height * bound / most};
    }
};

void draw_bounds(SvgCanvas& canvas, const StripPlot& plot, const std::vector<Stretch>& stretches,
                 const std::vector<Colour>& colours) {
    for (const auto& [from, to] :
         {std::pair(0.0, stretches.front().from), std::pair(stretches.back().to, 1.0)}) {
        const Point corner = plot.place(from, plot.most);
        if (to > from)
            canvas.rectangle({corner.x, corner.y, plot.place(to, 0).x - corner.x, plot.frame.height},
                             R"(class="unasked")");
    }
    std::vector<Point> curve;
    for (const Stretch& s : stretches) {
        const std::vector<Point> area{plot.place(s.from, 0), plot.place(s.from, s.bound_from),
                                      plot.place(s.to, s.bound_to), plot.place(s.to, 0)};
        const std::string colour = css(shaded(colours[at(s.policy)], 0.4));
        canvas.polygon(area, fmt::format(R"(fill="{0}" stroke="{0}" stroke-width=".4" data-plan="{1}")",
                                         colour, s.policy + 1));
        curve.insert(curve.end(), {area[1], area[2]});
    }
    canvas.polyline(curve, R"(class="bound")");
}

void draw_strip_axes(SvgCanvas& canvas, const StripPlot& plot, const AtlasRecord& record, double below) {
    const Frame& frame = plot.frame;
    for (const Tick& tick : round_numbers(0, plot.most, 6)) {
        const double y = plot.place(0, tick.value).y;
        canvas.line({frame.x, y}, {frame.right(), y}, R"(class="grid")");
        canvas.text({frame.x - 6, y + 4}, tick.text, R"(class="soft small" text-anchor="end")");
    }
    canvas.rectangle(frame, R"(class="axis")");
    const double asked = record.atlas.asked;
    if (asked > 0) {
        const double y = plot.place(0, asked).y;
        canvas.line({frame.x, y}, {frame.right(), y}, R"(class="asked")");
        canvas.text({frame.right() - 6, y - 5}, fmt::format("asked for: {:.4g}", asked),
                    R"(text-anchor="end")");
    }
    const Point side{20, frame.y + frame.height / 2};
    canvas.text(side, "the plan loses at most",
                fmt::format(R"svg(class="label" text-anchor="middle" transform="rotate(-90 {} {})")svg",
                            coordinate(side.x), coordinate(side.y)));
    canvas.text({frame.x - 6, below - 8}, "plan", R"(class="soft" text-anchor="end")");
    for (const Tick& tick : round_numbers(0, 1, 5))
        canvas.text({plot.place(tick.value, 0).x, below + 15}, tick.text,
                    R"(class="soft small" text-anchor="middle")");
    canvas.text({frame.x, below + 34}, "← " + only(record.objectives[1], 30), R"(class="label")");
    canvas.text({frame.right(), below + 34}, only(record.objectives[0], 30) + " →",
                R"(class="label" text-anchor="end")");
    canvas.text({frame.x + frame.width / 2, below + 52},
                fmt::format("weight of {}; the rest is on {}", shortened(record.objectives[0].name, 30),
                            shortened(record.objectives[1].name, 30)),
                R"(class="label" text-anchor="middle")");
}

std::string strip_picture(const AtlasRecord& record) {
    SvgCanvas canvas;
    const Atlas& atlas = record.atlas;
    const std::vector<Colour> colours = plan_colours(atlas);
    StripPlot plot;
    plot.most = 1.12 * std::max(atlas.loss_bound, atlas.asked);
    if (!(plot.most > 0)) plot.most = 1;
    const Frame band{plot.frame.x, plot.frame.bottom() + 6, plot.frame.width, 22};
    canvas.text({16, 26}, "Which plan for which weighting, and what it may lose", R"(class="heading")");
    const std::vector<Stretch> stretches = stretches_of(atlas);
    draw_bounds(canvas, plot, stretches, colours);
    draw_strip_axes(canvas, plot, record, band.bottom());
    draw_band(canvas, stretches, band, colours);
    std::vector<std::string> sentences{
        "At 0 the plan is proved best. Towards weightings where the next plan takes over, it may lose more."};
    for (const std::string& further : {unasked_sentence(record), unit_sentence(record), promise_of(atlas)})
        if (!further.empty()) sentences.push_back(further);
    const double end = draw_sentences(canvas, sentences, band.bottom() + 82);
    return canvas.document(
        picture_width, end, fmt::format("Plans for the weightings of {}", names_of(record)),
        fmt::format("What the plan may lose, over the weight of {}, and the number of the plan. {}",
                    shortened(record.objectives[0].name, 30), promise_of(atlas)));
}

}  // namespace

std::string weights_picture(const AtlasRecord& record) {
    return record.objectives.size() == 2 ? strip_picture(record) : triangle_pictures(record);
}

}  // namespace alidade::app
