#include "report_file.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <ctime>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include "user_error.hpp"

namespace alidade::app {
namespace {

constexpr std::string_view report_marker = "<!-- Written by alidade. -->";

}  // namespace

void require_replaceable(const std::filesystem::path& file, const std::string& command) {
    std::error_code ignored;
    if (!std::filesystem::exists(file, ignored)) return;
    const std::string another = command + " -o ANOTHER.html";
    if (!std::filesystem::is_regular_file(file))
        throw UserError(fmt::format("'{}' is not a file", file.string()),
                        {"the file that the report goes to", "a report is written as a file", another});
    std::ifstream stream(file);
    std::string doctype, line;
    std::getline(stream, doctype);
    std::getline(stream, line);
    if (line == report_marker) return;
    throw UserError(fmt::format("'{}' exists and is not a report of alidade's", file.string()),
                    {"the file that the report goes to", "writing it would destroy what is there", another});
}

report::ReportOptions report_options(Threads threads, const std::optional<double>& target) {
    report::ReportOptions options;
    options.threads = threads;
    options.target = target;
    options.program = "alidade " ALIDADE_VERSION;
    options.written = fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr)));
    return options;
}

void write_whole(const std::filesystem::path& file, const std::string& text) {
    const std::filesystem::path aside = file.string() + fmt::format(".{}", getpid());
    std::ofstream stream(aside, std::ios::binary);
    stream << text;
    stream.close();
    std::error_code problem;
    if (stream) std::filesystem::rename(aside, file, problem);
    if (stream && !problem) return;
    std::error_code ignored;
    std::filesystem::remove(aside, ignored);
    throw std::runtime_error(fmt::format("'{}' cannot be written", file.string()));
}

std::optional<RunContradiction> write_report_file(const std::filesystem::path& file,
                                                  std::span<const Run> runs, Threads threads,
                                                  const std::optional<double>& target) {
    const report::Page page = report::page(runs, report_options(threads, target));
    write_whole(file, page.html);
    return page.contradiction;
}

}  // namespace alidade::app
