#include <fmt/format.h>

#include <cmath>
#include <filesystem>

#include "alidade/spec/printable_text.hpp"
#include "alidade/spec/readable_number.hpp"
#include "sections.hpp"

namespace alidade::report::detail {
namespace {

std::vector<std::string> again_commands(const RunFacts& facts, const std::string& folder) {
    const RunOptions& options = facts.run->options();
    const std::string source = shell_path(facts.run->source());
    if (facts.result && facts.result->stopped == stopped_at_logs)
        return {
            fmt::format("alidade learn {} --episodes YOUR_LOGS --delta {} -o AGAIN", source, options.delta)};
    std::string command =
        fmt::format("alidade explore {} {}", source, shell_flag("--algorithm", options.algorithm));
    command += fmt::format(" {} --delta {} --seed {} --replan {} --episodes {} -o AGAIN",
                           shell_flag("--confidence", options.confidence), options.delta, options.seed,
                           to_string(options.schedule), facts.episodes());
    if (options.system != "simulated") command += " --system THE_SYSTEM";
    if (options.assumed.misspecification)
        command += fmt::format(" --misspecification {}", *options.assumed.misspecification);
    return {command, fmt::format("alidade certify {}", folder),
            fmt::format("alidade check-certificate {}", folder)};
}

}  // namespace

Section cost_section(const RunFacts& facts) {
    Section section{"cost", "Cost"};
    if (!facts.checkpoint) return section;
    DataTable table{{{"what"}, {"amount", true}}, {}, {}};
    const auto add = [&](const std::string& what, const std::string& amount) {
        table.rows.push_back({what, amount});
    };
    add("Episodes", with_commas(facts.episodes()));
    add("Transitions counted", with_commas(facts.checkpoint->counts.transitions()));
    std::error_code problem;
    if (const auto bytes = std::filesystem::file_size(facts.run->folder() / "run.sqlite", problem); !problem)
        add("Size of the run on disk", memory_size(static_cast<std::int64_t>(bytes)));
    if (facts.result) {
        const Timings& seconds = facts.result->timings;
        add("Policies computed", with_commas(facts.result->replans));
        add("Time in all, of the last call", duration(seconds.total));
        add("of this: running experiments", duration(seconds.simulate));
        add("of this: planning and counting", duration(seconds.plan));
        add("of this: certifying", duration(seconds.certify));
        if (seconds.total > 0)
            add("Episodes a second",
                with_commas(std::llround(static_cast<double>(facts.result->episodes) / seconds.total)));
    }
    section.blocks.push_back(TitledTable{"What it took", std::move(table)});
    return section;
}

Section repeat_section(const RunFacts& facts, const ReportOptions& options) {
    Section section{"data", "Data, and how to repeat this"};
    const std::string folder = shell_path(facts.run->folder().string());
    section.blocks.push_back(
        Paragraph{"Every number on this page comes from the run's folder. The certificate is computed again "
                  "from the stored statistics "
                  "each time, and a second program that shares no code with the first can check it. The same "
                  "seed gives the same run:"});
    section.blocks.push_back(Commands{again_commands(facts, folder)});
    section.blocks.push_back(
        Paragraph{"The data behind the page, every figure's specification included, as one JSON object:"});
    section.blocks.push_back(Downloads{});
    section.blocks.push_back(Commands{{fmt::format("alidade report {} --json", folder)}});
    if (!options.program.empty())
        section.blocks.push_back(Paragraph{fmt::format(
            "Written by {}{}.", options.program, options.written.empty() ? "" : ", " + options.written)});
    return section;
}

}  // namespace alidade::report::detail
