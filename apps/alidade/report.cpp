#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "alidade/spec/printable_text.hpp"
#include "commands.hpp"
#include "contradiction_view.hpp"
#include "load_run.hpp"
#include "numbers.hpp"
#include "report_file.hpp"
#include "user_error.hpp"

namespace alidade::app {
namespace {

struct ReportArguments {
    std::vector<std::string> folders;
    std::string output = "report.html";
    std::optional<double> target;
    int threads = 0;
    bool despite = false;
};

/// Four significant digits would do; a target that is none would show nothing.
void require_target(const std::optional<double>& target) {
    if (!target || *target > 0) return;
    throw UserError(fmt::format("--target is {}; must be above 0", *target),
                    {"the command line", "it is the largest loss that is acceptable", "--target 0.5"});
}

int report(const ReportArguments& given, const Console& console) {
    require_target(given.target);
    const auto began = std::chrono::steady_clock::now();
    if (!console.json()) require_replaceable(given.output, "alidade report RUN");
    std::vector<Run> runs;
    for (const std::string& folder : given.folders) runs.push_back(open_run(folder));
    const Threads threads = thread_count(given.threads);
    if (console.json()) {
        const auto object =
            nlohmann::ordered_json::parse(alidade::report::data(runs, report_options(threads, given.target)));
        console.object(object);
        const bool contradicted = std::ranges::any_of(
            object.at("runs"), [](const auto& each) { return each.at("contradicted").template get<bool>(); });
        return contradicted && !given.despite ? 4 : 0;
    }
    const Standing standing{.fit = {},
                            .contradiction = write_report_file(given.output, runs, threads, given.target),
                            .despite = given.despite};
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    console.result(fmt::format(
        "{} of {} written in {}: open it in a browser.\n", printable(given.output),
        memory_size(static_cast<std::int64_t>(std::filesystem::file_size(given.output))), duration(seconds)));
    if (!alidade::report::has_script())
        console.say("Its pictures are fixed: this program was built without Node. Every number is there.");
    insist(standing, console);
    return standing.exit_code(0);
}

}  // namespace

void add_report(CLI::App& app, Chosen& chosen) {
    CLI::App* command =
        app.add_subcommand("report", "One HTML page that says what a run found; several runs are compared");
    const auto given = std::make_shared<ReportArguments>();
    command->add_option("RUN", given->folders, "Folders of runs")->required();
    command->add_option("-o,--output", given->output, "The page; only a report of ours is replaced")
        ->capture_default_str();
    command->add_option("--target", given->target, "A loss to compare with [the run's, or the problem's]");
    command->add_option("--threads", given->threads, "0: all cores; results do not depend on it")
        ->capture_default_str();
    command->add_flag(
        "--despite-contradiction", given->despite,
        "Do not exit with 4 though the data contradict the model; the page says so all the same");
    add_output_flags(*command, chosen);
    command->footer(
        "The page is one file: no network, no other file. --json prints the data and every figure's\n"
        "specification instead, and writes no page. Reads the run beside a writer; changes nothing.");
    command->callback(
        [=, &chosen] { chosen.work = [given](const Console& console) { return report(*given, console); }; });
}

}  // namespace alidade::app
