#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "alidade/model/threads.hpp"
#include "alidade/report/report.hpp"
#include "alidade/run/run.hpp"

namespace alidade::app {

/// Throws UserError if the file exists and is not a report of ours; `command`: what to type with another one.
void require_replaceable(const std::filesystem::path& file, const std::string& command);

/// What every page says of who wrote it, and when.
report::ReportOptions report_options(Threads threads, const std::optional<double>& target);

/// Writes the page of these runs, and returns what contradicts their models, if anything does.
std::optional<RunContradiction> write_report_file(const std::filesystem::path& file,
                                                  std::span<const Run> runs, Threads threads,
                                                  const std::optional<double>& target);

/// Writes a file, whole or not at all. Throws std::runtime_error if it cannot be written.
void write_whole(const std::filesystem::path& file, const std::string& text);

}  // namespace alidade::app
