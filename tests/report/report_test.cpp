#include "alidade/report/report.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "alidade/error.hpp"
#include "alidade/problem/catalogue.hpp"
#include "support/files.hpp"

namespace alidade::testing::report_page {
namespace {

using nlohmann::json;

constexpr const char* warehouse = "builtin:inventory?capacity=4";

std::vector<std::string> all_between(const std::string& text, const std::string& before,
                                     const std::string& after) {
    std::vector<std::string> found;
    for (std::size_t at = text.find(before); at != std::string::npos; at = text.find(before, at)) {
        at += before.size();
        found.push_back(text.substr(at, text.find(after, at) - at));
    }
    return found;
}

class ReportPage : public ::testing::Test {
protected:
    using Run = alidade::Run;  // the test class has a Run of its own
    Run explored(const std::string& name, Problem problem, std::int64_t episodes) {
        Run run = Run::create(folder_ / name, problem, warehouse,
                              {.algorithm = "likelihood", .confidence = "likelihood"});
        run.explore({.episodes = episodes});
        return run;
    }
    std::vector<Run> one(std::int64_t episodes = 2000) {
        std::vector<Run> runs;
        runs.push_back(explored("run", make_builtin(warehouse), episodes));
        return runs;
    }
    TemporaryFolder folder_;
};

TEST_F(ReportPage, HasItsSectionsInOrder) {
    const std::string page = report::page(one()).html;
    EXPECT_EQ(all_between(page, "<section id=\"", "\""),
              (std::vector<std::string>{"verdict", "certificate", "weights", "coverage", "experiments",
                                        "rewards", "sensitivity", "policy", "checks", "cost", "data"}));
}

TEST_F(ReportPage, EveryFigureHasASpecificationAPictureAndATable) {
    const std::string page = report::page(one()).html;
    const std::vector<std::string> figures = all_between(page, "<figure id=\"", "</figure>");
    EXPECT_GE(figures.size(), 12U);
    for (const std::string& figure : figures) {
        const std::string id = figure.substr(0, figure.find('"'));
        EXPECT_EQ(all_between(figure, "<svg ", ">").size(), 1U) << id;
        EXPECT_GE(all_between(figure, "<tr>", "\n").size(), 2U) << id;
        const std::vector<std::string> specs = all_between(figure, "-spec\">", "</script>");
        ASSERT_EQ(specs.size(), 1U) << id;
        EXPECT_NO_THROW(json::parse(specs[0])) << id;
    }
    const std::vector<std::string> ids = all_between(page, " id=\"", "\"");
    EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), ids.size());
}

TEST_F(ReportPage, DataAreThoseOfTheRun) {
    const std::vector<Run> runs = one();
    const json data = json::parse(report::data(runs));
    const json& run = data.at("runs").at(0);
    const Knowledge knowledge = runs[0].load()->knowledge;
    EXPECT_EQ(run.at("certificate").at("reward_free"), knowledge.certificate.bound);
    EXPECT_EQ(run.at("certificate").at("method"), knowledge.certificate.method);
    EXPECT_EQ(run.at("episodes"), 2000);
    EXPECT_EQ(run.at("plans").size(), runs[0].problem().rewards().size());
    for (const json& plan : run.at("plans")) {
        EXPECT_LE(plan.at("value_lower"), plan.at("true_value"));
        EXPECT_GE(plan.at("value_upper"), plan.at("true_value"));
        EXPECT_LE(plan.at("true_loss"), plan.at("loss_bound"));
    }
    for (const report::FigureKind& kind : report::figure_kinds()) {
        const auto format = report::FigureFormat::vega_lite;
        EXPECT_NO_THROW(json::parse(report::figure(runs[0], kind.name, format))) << kind.name;
        EXPECT_TRUE(report::figure(runs[0], kind.name, report::FigureFormat::svg).starts_with("<svg "))
            << kind.name;
    }
}

TEST_F(ReportPage, LoadsNothingAndMakesNoCodeOfText) {
    const std::string page = report::page(one()).html;
    const std::vector<std::string> policies =
        all_between(page, "http-equiv=\"Content-Security-Policy\" content=\"", "\"");
    ASSERT_EQ(policies.size(), 1U);
    EXPECT_TRUE(policies[0].starts_with("default-src &#39;none&#39;"));
    EXPECT_EQ(policies[0].find("unsafe"), std::string::npos);
    EXPECT_EQ(policies[0].find("connect-src"), std::string::npos);
    // The script has such words, and may not use them.
    const std::string rest = page.substr(0, page.find("<footer>"));
    for (const char* word : {" src=\"http", "@import", "url(", "<link"})
        EXPECT_EQ(rest.find(word), std::string::npos) << word;
}

TEST_F(ReportPage, HostileNamesAreOnlyNames) {
    ProblemDescription parts = make_builtin(warehouse).description();
    const std::string evil = "</script><script>alert(1)</script>\"'<img src=x onerror=alert(2)>";
    parts.name = evil;
    for (std::string& name : parts.state_names) name = evil + name;
    parts.state_names[0] =
        "\xe2\x80\xae"
        "right to left";
    parts.state_names[1] = std::string(10'000, 'w');
    parts.state_names[2] = "🚚 \"quoted\" 'twice' & more";
    for (std::string& name : parts.action_names) name += evil;
    parts.rewards[0].name = evil;
    std::vector<Run> runs;
    runs.push_back(explored("run", Problem(parts), 500));
    const std::string page = report::page(runs).html;
    EXPECT_EQ(page.find("<script>alert"), std::string::npos);
    EXPECT_EQ(page.find("<img src=x"), std::string::npos);
    EXPECT_EQ(page.find("\xe2\x80\xae"), std::string::npos);
    EXPECT_EQ(page.find(std::string(200, 'w')), std::string::npos);
    for (const std::string& spec : all_between(page, "type=\"application/json\" id=\"", "</script>"))
        EXPECT_NO_THROW(json::parse(spec.substr(spec.find('>') + 1)));
}

TEST_F(ReportPage, SeveralRunsAreCompared) {
    std::vector<Run> runs;
    for (const char* name : {"a", "b", "c"}) runs.push_back(explored(name, make_builtin(warehouse), 300));
    const std::string page = report::page(runs).html;
    EXPECT_EQ(all_between(page, "<section id=\"", "\""),
              (std::vector<std::string>{"verdict", "certificate", "rewards", "cost"}));
    const json data = json::parse(report::data(runs));
    EXPECT_EQ(data.at("runs").size(), 3U);
    EXPECT_EQ(data.at("figures").at("certificate-figure").at("layer").size(), 3U);
}

TEST_F(ReportPage, OfARunThatHasNotBegunSaysSo) {
    std::vector<Run> runs;
    runs.push_back(Run::create(folder_ / "run", make_builtin(warehouse), warehouse,
                               {.algorithm = "likelihood", .confidence = "likelihood"}));
    EXPECT_NE(report::page(runs).html.find("Nothing certified yet"), std::string::npos);
}

TEST_F(ReportPage, OfAContradictedRunWarnsFirst) {
    std::vector<Run> runs = one(200);
    runs[0].note({.kind = ContradictionKind::model_check, .what = "an impossible thing", .episodes = 200});
    const std::string page = report::page(runs).html;
    EXPECT_NE(page.find("Do not rely on any bound"), std::string::npos);
    EXPECT_NE(page.find("an impossible thing"), std::string::npos);
    EXPECT_LT(page.find("Do not rely on any bound"), page.find("<section id=\"certificate\""));
    EXPECT_EQ(report::page(runs).contradiction->what, "an impossible thing");
}

TEST_F(ReportPage, OfALinearMdpDoesWithoutWeights) {
    const Problem linear = one_hot_linear(make_builtin("builtin:inventory?capacity=3&horizon=3"));
    std::vector<Run> runs;
    runs.push_back(
        Run::create(folder_ / "run", linear, "linear", {.algorithm = "lsvi", .confidence = "linear"}));
    runs[0].explore({.episodes = 200});
    const std::string page = report::page(runs).html;
    EXPECT_NE(page.find("not weights of base models"), std::string::npos);
}

TEST_F(ReportPage, FiguresThatAreNotThereAreRefusedByName) {
    const std::vector<Run> runs = one(100);
    EXPECT_THROW(report::figure(runs[0], "pie", report::FigureFormat::svg), InvalidArgument);
    EXPECT_THROW(report::figure(runs[0], "weights", report::FigureFormat::svg, 5), InvalidArgument);
    EXPECT_THROW(report::page({}), InvalidArgument);
}

TEST_F(ReportPage, AnAtlasIsShownAndABrokenOneIsSaid) {
    const std::vector<Run> runs = one(100);
    folder_.write(
        "run/atlas/atlas.json",
        R"({"delta":0.1,"episodes":100,"loss_bound":0.5,"objectives":[{"name":"<b>"},{"name":"cost"}],
                      "policies":[{"made_for":[1,0],"share":1,"loss_bound":0.25,"value_lower":[1,2],"value_upper":[3,4]}]})");
    folder_.write("run/atlas/front.svg",
                  "<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>");
    std::string page = report::page(runs).html;
    EXPECT_NE(page.find("<section id=\"atlas\""), std::string::npos);
    EXPECT_NE(page.find("data:image/svg+xml;base64,"), std::string::npos);
    EXPECT_EQ(page.find("<script>alert"), std::string::npos);
    folder_.write("run/atlas/atlas.json", "{\"delta\":");
    page = report::page(runs).html;
    EXPECT_NE(page.find("atlas.json cannot be read"), std::string::npos);
}

}  // namespace
}  // namespace alidade::testing::report_page
