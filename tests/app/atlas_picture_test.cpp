#include "atlas_picture.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "alidade/problem/catalogue.hpp"
#include "pareto_plane.hpp"
#include "picture_reading.hpp"
#include "support/learned_models.hpp"

namespace alidade::app::atlas_picture_test {
namespace {

using testing::Axis;
using testing::depth;
using testing::distance_to;
using testing::has_class;
using testing::number_of;
using testing::numbers_in;
using testing::Panel;
using testing::panels_in;
using testing::PlainXml;
using testing::points_of;
using testing::signed_area_of;
using testing::XmlElement;

const support::RandomSizes sizes{.shape = {6, 3, 5}, .features = 3, .successors = 4};
const std::vector<std::string> hostile{"<script>alert('1')</script>", "a \"quoted\" & <b>",
                                       "\x1b[31m red \x01\xff\xef\xbf\xbf", std::string(5000, 'x'),
                                       "]]>&amp;"};

struct Setting {
    MixtureModel truth;
    AtlasRecord record;
};

/// The first objective is to be minimised, in a unit of its own.
Setting setting_of(std::size_t count, AtlasOptions options = {.loss = 0.2}, double information = 300) {
    MixtureModel truth = support::random_model(count, sizes);
    const Knowledge knowledge = support::knowledge_about(truth, count, information);
    Stream random = support::test_stream(count, 11);
    std::vector<Reward> rewards;
    std::vector<AtlasObjective> objectives;
    for (std::size_t i = 0; i < count; ++i) {
        const Reward given = support::random_reward(random, sizes.shape);
        rewards.push_back(i == 0 ? complement(given) : given);
        objectives.push_back({hostile.at(i), i == 0 ? Sense::minimise : Sense::maximise,
                              i == 0 ? RewardScale{.scale = 20, .offset = -5} : RewardScale{},
                              rewards.back()});
    }
    options.certificates = 1000;
    return {std::move(truth),
            {make_atlas(knowledge, Objectives(std::move(rewards)), options), std::move(objectives), "abc"}};
}

TEST(AtlasPictures, AreWholeXmlWhateverTheObjectivesAreCalled) {
    for (std::size_t count = 2; count <= 5; ++count) {
        const Setting setting = setting_of(count);
        for (const auto& [name, svg] : atlas_pictures(setting.record, setting.truth)) {
            const PlainXml xml(svg);
            EXPECT_EQ(xml.elements()[0].name, "svg");
            EXPECT_EQ(xml.elements()[1].name, "title");
            EXPECT_EQ(xml.elements()[2].name, "desc");
            for (const XmlElement& element : xml.elements()) {
                EXPECT_NE(element.name, "script");
                EXPECT_LT(element.text.size(), 3000u) << element.name;
                for (const auto& [attribute, value] : element.attributes)
                    EXPECT_FALSE(attribute.starts_with("on") || attribute.find("href") != std::string::npos);
            }
            EXPECT_EQ(svg.find("url("), std::string::npos);
            EXPECT_EQ(svg.find("@import"), std::string::npos);
            EXPECT_LT(svg.size(), 200'000u) << name;
        }
    }
}

TEST(AtlasPictures, SayWhatIsPromised) {
    const Setting good = setting_of(3);
    for (const auto& [name, svg] : atlas_pictures(good.record, std::nullopt)) {
        const std::string description = PlainXml(svg).elements()[2].text;
        EXPECT_NE(description.find("probability 0.9"), std::string::npos);
        EXPECT_NE(
            description.find(fmt::format("{:.4f}", std::ceil(good.record.atlas.loss_bound * 1e4) / 1e4)),
            std::string::npos)
            << description;
        EXPECT_EQ(svg.find("true front"), std::string::npos) << "no truth was given";
    }
    AtlasRecord vacuous = good.record;
    vacuous.atlas.loss_bound = static_cast<double>(vacuous.atlas.horizon);
    for (const auto& [name, svg] : atlas_pictures(vacuous, std::nullopt))
        EXPECT_NE(PlainXml(svg).elements()[2].text.find("say nothing"), std::string::npos);
}

// By what the axes themselves say, in the unit of each objective.
TEST(Front, HasABoxForEveryPlanAtItsValues) {
    for (const std::size_t count : {2U, 3U, 4U}) {
        const Setting setting = setting_of(count);
        const std::vector<Panel> panels =
            panels_in(atlas_pictures(setting.record, setting.truth).at("front.svg"));
        EXPECT_EQ(panels.size(), count * (count - 1) / 2);
        for (const Panel& panel : panels) {
            ASSERT_GE(panel.horizontal.values.size(), 2u);
            ASSERT_GE(panel.vertical.values.size(), 2u);
            ASSERT_EQ(panel.boxes.size(), setting.record.atlas.policies.size());
            for (const auto& [plan, box] : panel.boxes) {
                const std::vector<Interval>& values = setting.record.atlas.policies[plan - 1].values;
                const Interval across = setting.record.objectives[panel.across].in_unit(values[panel.across]),
                               up = setting.record.objectives[panel.up].in_unit(values[panel.up]);
                const auto [left, right] =
                    std::minmax({panel.horizontal.place(across.lower), panel.horizontal.place(across.upper)});
                const auto [top, bottom] =
                    std::minmax({panel.vertical.place(up.lower), panel.vertical.place(up.upper)});
                EXPECT_NEAR(box.x, left, 0.05);
                EXPECT_NEAR(box.right(), right, 0.05);
                EXPECT_NEAR(box.y, top, 0.05);
                EXPECT_NEAR(box.bottom(), bottom, 0.05);
            }
            // Less of the first objective is better, and better is to the right.
            const Axis& axis = panel.horizontal;
            EXPECT_EQ(axis.place(1) > axis.place(0), panel.across != 0);
        }
    }
}

// The truth is in the confidence sets here: what is guaranteed is below the true front, which is not
// excluded.
TEST(Front, GuaranteesNothingThatIsExcluded) {
    for (const std::size_t count : {2U, 3U, 4U, 5U}) {
        for (const double information : {10.0, 300.0}) {
            const Setting setting = setting_of(count, {.loss = 0.3}, information);
            for (const Panel& panel :
                 panels_in(atlas_pictures(setting.record, setting.truth).at("front.svg"))) {
                for (const Point& corner : panel.guaranteed) EXPECT_GT(depth(panel.open, corner), -0.02);
                for (const auto& [plan, box] : panel.boxes)
                    EXPECT_GT(depth(panel.guaranteed, {box.x, box.bottom()}), -0.02);
                for (const Point& point : panel.truth) {
                    EXPECT_GT(depth(panel.open, point), -0.02);
                    EXPECT_LT(depth(panel.guaranteed, point), 0.02);
                }
                // Between its corners the front is drawn straight, which it nearly is.
                for (std::size_t i = 0; i + 1 < panel.truth.size(); ++i)
                    EXPECT_LT(depth(panel.guaranteed, {(panel.truth[i].x + panel.truth[i + 1].x) / 2,
                                                       (panel.truth[i].y + panel.truth[i + 1].y) / 2}),
                              1);
            }
        }
    }
}

/// Two plans that are optimal for one objective each, all values known: one cell for each half of the
/// weights.
AtlasRecord known_record(const MixtureModel& truth, const Reward& first, const Reward& second) {
    const auto horizon = static_cast<double>(first.shape().horizon);
    AtlasRecord record{.atlas = {}, .objectives = {}, .problem = "abc"};
    record.objectives = {{"first", Sense::maximise, {}, first}, {"second", Sense::maximise, {}, second}};
    Atlas& atlas = record.atlas;
    atlas.objectives = 2;
    atlas.horizon = first.shape().horizon;
    atlas.at_least = {0, 0};
    atlas.at_most = {1, 1};
    atlas.corners = {{1, 0}, {0, 1}, {0.5, 0.5}};
    atlas.tree = {{.split = {0, 1, 2}, .children = {1, 2}}, {.cell = 0}, {.cell = 1}};
    atlas.cells = {{{2, 1}, 1, {horizon, 0}, horizon}, {{0, 2}, 0, {0, horizon}, horizon}};
    atlas.loss_bound = horizon;
    for (const Reward* own : {&first, &second}) {
        const OptimalPlan plan = backward_induction(truth, *own);
        const double one = evaluate(truth, plan.policy, first).value,
                     other = evaluate(truth, plan.policy, second).value;
        const std::vector<double> weights{own == &first ? 1.0 : 0.0, own == &first ? 0.0 : 1.0};
        atlas.policies.push_back(
            {plan.policy, weights, 0.5, horizon, {one, other}, {{one, one}, {other, other}}});
        atlas.outer.push_back({weights, plan.value});
    }
    return record;
}

// A front of many corners: where plans may be few, they must be spread over all of it.
TEST(Front, DrawsTheTrueOneToAPixel) {
    const Problem problem = make_builtin("builtin:inventory");
    const MixtureModel truth = problem.true_model();
    const Shape shape = problem.shape();
    std::vector<double> idle(at(shape.states * shape.actions), 0.0);
    for (State s = 0; s < shape.states; ++s) idle[at(shape.pair(s, 0))] = 1;
    const Reward &service = problem.rewards()[0].reward, no_order(shape, idle);
    const Panel panel =
        panels_in(atlas_pictures(known_record(truth, service, no_order), truth).at("front.svg")).at(0);
    const Objectives both({service, no_order});
    for (int i = 1; i < 60; ++i) {
        const std::vector<double> weights{i / 60.0, 1 - i / 60.0};
        const Policy best = backward_induction(truth, both.weighted(weights)).policy;
        const Point place{panel.horizontal.place(evaluate(truth, best, service).value),
                          panel.vertical.place(evaluate(truth, best, no_order).value)};
        double distance = 1e9;
        for (std::size_t j = 0; j + 1 < panel.truth.size(); ++j)
            distance = std::min(distance, distance_to(panel.truth[j], panel.truth[j + 1], place));
        EXPECT_LT(distance, 1) << weights[0];
    }
}

/// Areas of the plans in a triangle of weights.svg, by plan, and the corners of the whole.
struct FaceAreas {
    std::map<std::size_t, double> of_plan;
    double whole = 0;
};

std::vector<FaceAreas> faces_in(const std::string& svg) {
    const PlainXml xml(svg);
    std::map<std::ptrdiff_t, FaceAreas> faces;
    for (const XmlElement& element : xml.elements()) {
        if (has_class(element, "unasked"))
            faces[element.parent].whole = std::abs(signed_area_of(points_of(element)));
        if (element.name != "path" || !element.attributes.contains("data-plan")) continue;
        const std::vector<Point> corners = points_of(element, "d");
        for (std::size_t i = 0; i + 2 < corners.size(); i += 3)
            faces[element.parent].of_plan[static_cast<std::size_t>(number_of(element, "data-plan"))] +=
                std::abs(signed_area_of({corners[i], corners[i + 1], corners[i + 2]}));
    }
    std::vector<FaceAreas> all;
    for (const auto& [group, areas] : faces) all.push_back(areas);
    return all;
}

TEST(WeightsMap, GivesEveryPlanItsShareOfTheTriangle) {
    for (const AtlasOptions& options :
         {AtlasOptions{.loss = 0.1}, AtlasOptions{.loss = 0.1, .at_least = {0.2, 0, 0.1}}}) {
        const Setting setting = setting_of(3, options);
        const std::vector<FaceAreas> faces = faces_in(atlas_pictures(setting.record, {}).at("weights.svg"));
        ASSERT_EQ(faces.size(), 1u);
        // Weights above their least ones fill a smaller triangle.
        const double asked = options.at_least.empty() ? 1 : 0.7 * 0.7;
        for (std::size_t plan = 0; plan < setting.record.atlas.policies.size(); ++plan)
            EXPECT_NEAR(faces[0].of_plan.at(plan + 1) / faces[0].whole,
                        asked * setting.record.atlas.policies[plan].share, 1e-3);
    }
}

TEST(WeightsMap, CoversEveryFaceOfFourObjectivesOnce) {
    const Setting setting = setting_of(4);
    const std::vector<FaceAreas> faces = faces_in(atlas_pictures(setting.record, {}).at("weights.svg"));
    EXPECT_EQ(faces.size(), 4u);
    for (const FaceAreas& face : faces) {
        double sum = 0;
        for (const auto& [plan, area] : face.of_plan) sum += area;
        EXPECT_NEAR(sum / face.whole, 1, 1e-3);
    }
}

TEST(WeightsMap, OfTwoObjectivesShowsWhatTheAtlasAnswers) {
    const Setting setting = setting_of(2, {.loss = 0.05});
    const PlainXml xml(atlas_pictures(setting.record, {}).at("weights.svg"));
    Axis bounds;
    Frame plot;
    std::vector<Point> curve;
    for (std::size_t i = 0; i < xml.elements().size(); ++i) {
        const XmlElement& element = xml.elements()[i];
        if (has_class(element, "grid")) {
            bounds.places.push_back(number_of(element, "y1"));
            bounds.values.push_back(numbers_in(xml.elements()[i + 1].text).at(0));
            plot.x = number_of(element, "x1");
            plot.width = number_of(element, "x2") - plot.x;
        }
        if (has_class(element, "bound")) curve = points_of(element);
    }
    ASSERT_GE(bounds.values.size(), 2u);
    ASSERT_GE(curve.size(), 4u);
    int compared = 0;
    for (std::size_t i = 0; i + 1 < curve.size(); i += 2) {  // a cell each
        const double middle = (curve[i].x + curve[i + 1].x) / 2, weight = (middle - plot.x) / plot.width;
        if (curve[i + 1].x - curve[i].x < 1) continue;
        const std::vector<double> weights{weight, 1 - weight};
        EXPECT_NEAR((curve[i].y + curve[i + 1].y) / 2,
                    bounds.place(setting.record.atlas.at(weights).loss_bound), 0.1);
        ++compared;
    }
    EXPECT_GE(compared, 2);
}

// A point is in the region if no weighting tells it from the best of the points.
TEST(ParetoPlane, RegionsAreThoseOfTheirDefinitions) {
    Stream random = support::test_stream(5, 21);
    for (int trial = 0; trial < 28; ++trial) {
        std::vector<Values> points;
        std::vector<HalfPlane> planes;
        for (int i = 0; i < 1 + trial % 7; ++i) {
            points.push_back({sample_uniform(random), sample_uniform(random)});
            planes.push_back({sample_uniform(random), sample_uniform(random), 0.2 + sample_uniform(random)});
        }
        const auto as_points = [](const std::vector<Values>& region) {
            std::vector<Point> corners;
            for (const Values& v : region) corners.push_back({1000 * v.across, 1000 * v.up});
            return corners;
        };
        const std::vector<Point> inner = as_points(guaranteed(points, {0, 0})),
                                 outer = as_points(not_excluded(planes, {0, 0}, {1, 1}));
        for (int i = 0; i < 200; ++i) {
            const Values tried{sample_uniform(random), sample_uniform(random)};
            double margin = 1e9, slack = 1e9;
            for (int step = 0; step <= 2000; ++step) {
                const double angle = step / 2000.0 * std::acos(0.0), c = std::cos(angle), s = std::sin(angle);
                double best = 0;
                for (const Values& point : points) best = std::max(best, c * point.across + s * point.up);
                margin = std::min(margin, best - c * tried.across - s * tried.up);
            }
            for (const HalfPlane& plane : planes)
                slack = std::min(slack, plane.most - plane.across * tried.across - plane.up * tried.up);
            if (std::abs(margin) > 2e-3) {
                EXPECT_EQ(depth(inner, {1000 * tried.across, 1000 * tried.up}) > 0, margin > 0);
            }
            if (std::abs(slack) > 1e-9) {
                EXPECT_EQ(depth(outer, {1000 * tried.across, 1000 * tried.up}) > 0, slack > 0);
            }
        }
    }
}

TEST(Names, AreShortenedBetweenCharacters) {
    EXPECT_EQ(shortened("service-level", 13), "service-level");
    EXPECT_EQ(shortened("service-level", 8), "service…");
    EXPECT_EQ(shortened("größer als", 4), "grö…");
    EXPECT_EQ(shortened("a\nb", 10), "a\\x0ab");
    EXPECT_EQ(in_lines("one two three", 7), (std::vector<std::string>{"one two", "three"}));
}

}  // namespace
}  // namespace alidade::app::atlas_picture_test
