#include "tool.hpp"

namespace alidade::testing::app_report {
namespace {

class ReportCommands : public Tool {
protected:
    void explored(const std::string& name) const {
        ASSERT_EQ(run({"explore", "builtin:inventory?capacity=4", "--episodes", "500", "-o", name}).code, 0);
    }
};

TEST_F(ReportCommands, WriteAPageAndReplaceNothingOfOthers) {
    explored("run");
    write_text(path("report.html"), "precious\n");
    EXPECT_EQ(run({"report", "run"}).code, 2);
    EXPECT_EQ(text_of(path("report.html")), "precious\n");
    ASSERT_EQ(run({"report", "run", "-o", "page.html", "--target", "0.5"}).code, 0);
    const std::string page = text_of(path("page.html"));
    EXPECT_TRUE(page.starts_with("<!DOCTYPE html>"));
    EXPECT_NE(page.find("No loss above 0.5"), std::string::npos);
    EXPECT_EQ(run({"report", "run", "-o", "page.html"}).code, 0);
    EXPECT_EQ(run({"report", "run", "--target", "-1", "-o", "other.html"}).code, 2);
    EXPECT_EQ(run({"report", "nowhere", "-o", "other.html"}).code, 2);
    EXPECT_FALSE(std::filesystem::exists(path("other.html")));
}

TEST_F(ReportCommands, PrintTheDataInsteadOfAPage) {
    explored("a");
    explored("b");
    const Outcome printed = run({"report", "a", "b", "--json"});
    ASSERT_EQ(printed.code, 0) << printed.err;
    EXPECT_EQ(printed.object().at("runs").size(), 2U);
    EXPECT_FALSE(std::filesystem::exists(path("report.html")));
}

TEST_F(ReportCommands, PlotFiguresByTheirEnding) {
    explored("run");
    ASSERT_EQ(run({"plot", "run", "certificate", "-o", "f.svg"}).code, 0);
    EXPECT_TRUE(text_of(path("f.svg")).starts_with("<svg "));
    ASSERT_EQ(run({"plot", "run", "policy", "--number", "1", "-o", "f.json"}).code, 0);
    EXPECT_TRUE(json::parse(text_of(path("f.json"))).contains("$schema"));
    const Outcome unknown = run({"plot", "run", "pie", "-o", "g.svg"});
    EXPECT_EQ(unknown.code, 2);
    EXPECT_NE(unknown.err.find("certificate, weights"), std::string::npos) << unknown.err;
    EXPECT_EQ(run({"plot", "run", "weights", "-o", "g.gif"}).code, 2);
    // Pixels are made by another program, which may not be there: then it is named, and nothing is left
    // behind.
    const Outcome pixels = run({"plot", "run", "weights", "-o", "g.png"});
    if (pixels.code == 0)
        EXPECT_EQ(text_of(path("g.png")).substr(1, 3), "PNG");
    else
        EXPECT_NE(pixels.err.find("rsvg-convert"), std::string::npos) << pixels.err;
    for (const auto& file : std::filesystem::directory_iterator(path(".")))
        EXPECT_FALSE(file.path().filename().string().starts_with("g.png.")) << file.path();
}

}  // namespace
}  // namespace alidade::testing::app_report
