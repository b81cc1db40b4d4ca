#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "alidade/report/report.hpp"
#include "alidade/spec/printable_text.hpp"
#include "commands.hpp"
#include "load_run.hpp"
#include "report_file.hpp"
#include "user_error.hpp"

namespace alidade::app {
namespace {

struct PlotArguments {
    std::string folder, kind, output;
    std::optional<double> target;
    Index number = 0;
    int threads = 0;
};

/// Runs a program that is looked for in PATH; -1 if it cannot be started.
int exit_code_of(std::vector<std::string> words) {
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t child = 0;
    if (posix_spawnp(&child, arguments.front(), nullptr, nullptr, arguments.data(), environ) != 0) return -1;
    int status = 0;
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
    // Some systems say so only after the program was to begin.
    return WEXITSTATUS(status) == 127 ? -1 : WEXITSTATUS(status);
}

/// Twice the size in points, which is enough for print.
void write_png(const std::string& output, const std::string& svg) {
    const std::string picture = output + fmt::format(".{}.svg", getpid());
    write_whole(picture, svg);
    const std::string made = output + fmt::format(".{}.png", getpid());
    const int code = exit_code_of({"rsvg-convert", "--zoom=2", "--output=" + made, "--", picture});
    std::error_code ignored;
    std::filesystem::remove(picture, ignored);
    if (code == 0) {
        std::filesystem::rename(made, output);
        return;
    }
    std::filesystem::remove(made, ignored);
    throw UserError(code < 0 ? "rsvg-convert, which makes PNG of SVG, is not there" : "rsvg-convert failed",
                    {"-o " + output, "the picture is drawn as SVG, and another program makes pixels of it",
                     "apt install librsvg2-bin, or -o FILE.svg"});
}

int plot(const PlotArguments& given, const Console& console) {
    const std::string ending = std::filesystem::path(given.output).extension().string();
    if (ending != ".svg" && ending != ".png" && ending != ".json")
        throw UserError(
            fmt::format("-o is '{}'; must end in .svg, .png or .json", given.output),
            {"the command line", "the ending says what is written: a picture, or the Vega-Lite specification",
             "-o figure.svg"});
    const Run run = open_run(given.folder);
    const auto format = ending == ".json" ? report::FigureFormat::vega_lite : report::FigureFormat::svg;
    const std::string figure =
        explaining({"the command line", "nothing was drawn", "alidade plot --help lists the figures"}, [&] {
            return report::figure(run, given.kind, format, given.number,
                                  report_options(thread_count(given.threads), given.target));
        });
    if (ending == ".png")
        write_png(given.output, figure);
    else
        write_whole(given.output, figure + "\n");
    if (console.json())
        console.object({{"figure", given.kind}, {"file", given.output}});
    else
        console.result(fmt::format("{} written.\n", printable(given.output)));
    return 0;
}

}  // namespace

void add_plot(CLI::App& app, Chosen& chosen) {
    CLI::App* command = app.add_subcommand("plot", "One figure of a run's report, as SVG, PNG or Vega-Lite");
    const auto given = std::make_shared<PlotArguments>();
    std::string kinds = "The figures:\n";
    for (const report::FigureKind& kind : report::figure_kinds())
        kinds += fmt::format("  {:<12} {}\n", kind.name, kind.summary);
    command->add_option("RUN", given->folder, "Folder of a run")->required();
    command->add_option("KIND", given->kind, "Which figure; they are listed below")->required();
    command
        ->add_option("-o,--output", given->output, "FILE.svg, FILE.png or FILE.json; replaced if it exists")
        ->required();
    command->add_option("--number", given->number, "Which, where a run has several of a kind, from 0")
        ->capture_default_str();
    command->add_option("--target", given->target, "A loss to compare with [the run's, or the problem's]");
    command->add_option("--threads", given->threads, "0: all cores; results do not depend on it")
        ->capture_default_str();
    add_output_flags(*command, chosen);
    command->footer(
        kinds +
        "Pictures are drawn by this program itself, for the first step where the page has a slider; PNG\n"
        "needs rsvg-convert. The JSON is the specification that the page shows, with its data.");
    command->callback(
        [=, &chosen] { chosen.work = [given](const Console& console) { return plot(*given, console); }; });
}

}  // namespace alidade::app
