#include "alidade/report/sections.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "alidade/plan/backward_induction.hpp"
#include "alidade/plan/evaluation.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/spec/readable_number.hpp"
#include "support/effort.hpp"
#include "support/files.hpp"
#include "support/members.hpp"

namespace alidade::testing::report_sections {
namespace {

using namespace alidade::report::detail;

constexpr const char* garnet = "builtin:garnet?states=5&actions=3&features=3&horizon=4&successors=4&seed=5";

class ReportSections : public ::testing::Test {
protected:
    using Run = alidade::Run;  // the test class has a Run of its own
    Run explored(const std::string& source, std::int64_t episodes) {
        Run run = Run::create(folder_ / "run", make_builtin(source), source,
                              {.algorithm = "likelihood", .confidence = "likelihood"});
        run.explore({.episodes = episodes});
        return run;
    }
    static const Figure& figure_in(const Section& section, const std::string& kind) {
        for (const Block& block : section.blocks)
            if (const auto* figure = std::get_if<Figure>(&block); figure != nullptr && figure->kind == kind)
                return *figure;
        throw std::runtime_error("there is no figure " + kind);
    }
    TemporaryFolder folder_;
};

/// Whether a point is in a convex polygon, whichever way round it goes; within rounding.
bool inside(const std::vector<Point>& corners, double x, double y) {
    int left = 0, right = 0;
    for (std::size_t i = 0; i < corners.size(); ++i) {
        const Point& p = corners[i];
        const Point& q = corners[(i + 1) % corners.size()];
        const double side = (q.x - p.x) * (y - p.y) - (q.y - p.y) * (x - p.x);
        left += side > 1e-9 ? 1 : 0;
        right += side < -1e-9 ? 1 : 0;
    }
    return left == 0 || right == 0;
}

// Members of the sets lie in every shadow, wherever they are in the sets.
TEST_F(ReportSections, RegionsHoldAllMembersOfTheSets) {
    const Run run = explored(garnet, 3000);
    const RunFacts facts = facts_of(run, {});
    const std::optional<Figure> figure = regions_figure(facts);
    ASSERT_TRUE(figure);
    ASSERT_EQ(figure->chart.panels.size(), 3U);
    const std::vector<std::pair<Index, Index>> pairs{{0, 1}, {0, 2}, {1, 2}};
    Stream random(7, Purpose::instance, {});
    for (int draw = 0; draw < 200; ++draw) {
        const MixtureModel member = support::random_member(*facts.mixture(), random, draw % 2 == 0);
        for (std::size_t i = 0; i < pairs.size(); ++i)
            for (Index k = 0; k < 3; ++k) {
                std::vector<Point> corners;
                for (const Point& corner : figure->chart.panels[i].layers[0].points)
                    if (corner.slice == k) corners.push_back(corner);
                ASSERT_GE(corners.size(), 3U);
                EXPECT_TRUE(inside(corners, member.weights()(k, pairs[i].first),
                                   member.weights()(k, pairs[i].second)));
            }
    }
}

// Where the page says that the action is proved to be the best, it is, whatever member of the sets is the
// truth.
TEST_F(ReportSections, ActionsThatAreProvedAreTheBestUnderEveryMember) {
    const Run run = explored(garnet, 20'000);
    const RunFacts facts = facts_of(run, {});
    const LearnedMixture& learned = *facts.mixture();
    const Shape& shape = learned.shape();
    Stream random(3, Purpose::instance, {});
    std::int64_t proved = 0, open = 0;
    for (int trial = 0; trial < 5; ++trial) {
        std::vector<double> values(static_cast<std::size_t>(shape.horizon * shape.pairs()));
        for (double& value : values) value = sample_uniform(random);
        const Reward reward(shape, values);
        const Policy policy = backward_induction(learned.model(), reward).policy;
        const std::vector<bool> marks = open_actions(learned, reward, policy, {});
        for (int draw = 0; draw < 20; ++draw) {
            const MixtureModel truth = support::random_member(learned, random, draw % 2 == 0);
            const Matrix best = backward_induction(truth, reward).values;
            for (Step h = 0; h < shape.horizon; ++h) {
                std::vector<double> next(static_cast<std::size_t>(shape.states));
                for (State s = 0; s < shape.states; ++s) next[static_cast<std::size_t>(s)] = best(h + 1, s);
                for (State s = 0; s < shape.states; ++s) {
                    const bool is_open = marks[static_cast<std::size_t>(h * shape.states + s)];
                    (is_open ? open : proved) += 1;
                    if (is_open) continue;
                    const Action a = policy.action(h, s);
                    const double later = h + 1 < shape.horizon ? truth.expect(h, shape.pair(s, a), next) : 0;
                    EXPECT_NEAR(reward.at(h, s, a) + later, best(h, s), 1e-8);
                }
            }
        }
    }
    // The test says something about both.
    EXPECT_GT(proved, open);
    EXPECT_GT(open, 0);
}

TEST_F(ReportSections, EveryTransitionIsInTheVisits) {
    const Run run = explored(garnet, 500);
    const RunFacts facts = facts_of(run, {});
    const Section section = coverage_section(facts);
    double sum = 0;
    for (const Point& cell : figure_in(section, "visits").chart.panels[0].layers[0].points) sum += cell.value;
    EXPECT_EQ(sum, 500.0 * 3);
    // What still matters is all of the coupling certificate but for its slack.
    double amounts = 0;
    for (const Contribution& part : facts.contributions) amounts += part.amount;
    double drawn = 0;
    for (const Point& cell : figure_in(section, "matters").chart.panels[0].layers[0].points)
        drawn += cell.value;
    EXPECT_NEAR(drawn, amounts, 1e-12);
}

TEST_F(ReportSections, PoliciesAreShownWithWhatTheyWereFor) {
    const Run run = explored(garnet, 3000);
    RunFacts facts = facts_of(run, {});
    const auto table = [&] {
        for (const Block& block : experiments_section(facts).blocks)
            if (const auto* titled = std::get_if<TitledTable>(&block)) return titled->table;
        throw std::runtime_error("there is no table");
    };
    const DataTable shown = table();
    ASSERT_GE(shown.rows.size(), 10U);
    std::size_t row = 0;
    for (const TracePoint& point : facts.trace)
        if (row < shown.rows.size() && shown.rows[row][0] == with_commas(point.episodes)) {
            ASSERT_TRUE(point.aim);
            EXPECT_EQ(shown.rows[row][3],
                      facts.names.place(point.aim->step, point.aim->state, point.aim->action));
            EXPECT_LE(point.aim->share, point.bound);
            ++row;
        }
    EXPECT_EQ(row, shown.rows.size());
    // A run of before has kept nothing of it, and a place that is none is not shown.
    facts.trace[0].aim.reset();
    facts.trace[1].aim->state = facts.shape().states;
    const DataTable without = table();
    EXPECT_EQ(without.rows[0][3], "-");
    EXPECT_EQ(without.rows[1][3], "-");
    EXPECT_NE(without.note.find("not kept"), std::string::npos);
}

TEST_F(ReportSections, PredictedSharesAreThoseOfTheLearnedModel) {
    const Run run = explored(garnet, 2000);
    const RunFacts facts = facts_of(run, {});
    const Figure figure = figure_in(checks_section(facts), "calibration");
    // By plain loops: for each transition that was possible, its probability times the visits of its pair.
    const Counts& counts = facts.checkpoint->counts;
    std::vector<double> chances(10), expected(10), seen(10);
    for (Step h = 0; h < 3; ++h)
        for (Index pair = 0; pair < 15; ++pair) {
            const Law law = facts.knowledge->learned->model().probabilities(h, pair);
            for (std::size_t j = 0; j < law.size(); ++j) {
                const auto bin = std::min<std::size_t>(9, static_cast<std::size_t>(10 * law[j]));
                const auto visits = static_cast<double>(counts.visits(h, pair));
                chances[bin] += visits;
                expected[bin] += visits * law[j];
                seen[bin] += static_cast<double>(
                    counts.count(h, counts.successors().first_entry(pair) + static_cast<Index>(j)));
            }
        }
    std::size_t shown = 0;
    const std::vector<Point>& points = figure.chart.panels[0].layers[1].points;
    for (std::size_t bin = 0; bin < 10; ++bin) {
        if (chances[bin] == 0) continue;
        ASSERT_LT(shown, points.size());
        EXPECT_NEAR(points[shown].x, expected[bin] / chances[bin], 1e-12);
        EXPECT_NEAR(points[shown].y, seen[bin] / chances[bin], 1e-12);
        ++shown;
    }
    EXPECT_EQ(shown, points.size());
}

TEST_F(ReportSections, TheVerdictSaysWhatIsCertain) {
    const Run run = explored(garnet, 20'000);
    RunFacts facts = facts_of(run, {.target = 0.0001});
    EXPECT_EQ(verdict_in_brief(facts), "Target not met yet");
    const std::string sentence = quotable_sentence(facts);
    EXPECT_NE(sentence.find("at least 90 %"), std::string::npos) << sentence;
    EXPECT_NE(sentence.find(upper_bound(run.load()->knowledge.certificate.bound)), std::string::npos)
        << sentence;
    // Certificates fall as the root: a quarter takes sixteen times the episodes.
    facts.target = best_so_far(facts).back().y / 4;
    EXPECT_NEAR(*episodes_at_target(facts), 16 * 20'000, 1e-6);
    facts.target = 3.9;
    EXPECT_EQ(verdict_in_brief(facts), "Target met");
    facts.contradiction = RunContradiction{.what = "a lie"};
    EXPECT_EQ(verdict_in_brief(facts), "The data contradict the model");
    EXPECT_NE(quotable_sentence(facts).find("Do not rely"), std::string::npos);
}

TEST_F(ReportSections, AVacuousBoundIsNoVerdict) {
    const Run run =
        explored("builtin:garnet?states=20&actions=4&features=5&horizon=5&successors=8&seed=11", 2);
    const RunFacts facts = facts_of(run, {});
    ASSERT_TRUE(facts.knowledge->certificate.vacuous);
    EXPECT_EQ(verdict_in_brief(facts), "No statement yet");
    EXPECT_NE(quotable_sentence(facts).find("nothing can be promised"), std::string::npos);
}

}  // namespace
}  // namespace alidade::testing::report_sections
