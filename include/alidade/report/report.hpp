#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "alidade/model/threads.hpp"
#include "alidade/run/run.hpp"

/// What a run says, as a page that a stranger understands, and as single figures [docs/report.md].
namespace alidade::report {

struct ReportOptions {
    Threads threads;               ///< results do not depend on them
    std::optional<double> target;  ///< a loss that is asked for; none: the run's, or the problem's
    double fit_level = 0.01;       ///< of the model check, in (0, 1); 0: none is made
    std::string program = {};      ///< name and version of what writes the page
    std::string written = {};      ///< when; empty: not said
    bool live = false;             ///< the page is served while the run goes on, and looks for news
};

/// A page, and what whoever hands it on should know.
struct Page {
    std::string html;
    /// That the data of a run contradict its model, of the first such run: then no bound on the page is to be
    /// relied on, as it says itself.
    std::optional<RunContradiction> contradiction = {};
};

/// One HTML file that needs nothing else: no network, no font, no file beside it. Several runs are compared.
/// Reads the runs, beside a writer too, and changes nothing. Throws InvalidArgument if there is no run.
Page page(std::span<const Run> runs, const ReportOptions& options = {});

/// The numbers behind the page as one JSON object: what each run says, and every figure's specification.
std::string data(std::span<const Run> runs, const ReportOptions& options = {});

/// A figure by its name.
struct FigureKind {
    std::string name;     ///< as typed: "certificate"
    std::string summary;  ///< one sentence
};
/// All that there are; a run need not have every one of them.
const std::vector<FigureKind>& figure_kinds();

enum class FigureFormat {
    svg,        ///< a picture on white ground
    vega_lite,  ///< the specification, data included, as JSON
};

/// One figure of a run, for a paper. `number`: which, where a run has several of a kind, from 0. Throws
/// InvalidArgument with the names there are if there is none of that name, and with the reason if this run
/// has none.
std::string figure(const Run& run, std::string_view kind, FigureFormat format, Index number = 0,
                   const ReportOptions& options = {});

/// Whether pages have the script that makes their charts answer to a pointer: it is built with Node.
bool has_script();

}  // namespace alidade::report
