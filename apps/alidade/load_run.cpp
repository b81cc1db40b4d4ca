#include "load_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <thread>

#include "alidade/explore/exploration.hpp"
#include "alidade/formats/problem_folder.hpp"
#include "alidade/problem/catalogue.hpp"
#include "alidade/spec/printable_text.hpp"
#include "alidade/spec/request.hpp"
#include "numbers.hpp"
#include "run_advice.hpp"
#include "user_error.hpp"

namespace alidade::app {

namespace {

/// Whether the problem is usable but for rows that do not sum to 1.
bool normalising_helps(const std::string& source) {
    try {
        load_problem(source, {.normalise = true});
        return true;
    } catch (const InvalidArgument&) {
        return false;
    }
}

/// What to do about a problem that cannot be loaded.
Context problem_context(const std::string& source, std::optional<bool> normalise) {
    Context context{fmt::format("problem '{}'", source),
                    "every bound assumes a well-formed problem: base models that are probability "
                    "distributions and sizes that agree",
                    "correct the file that is named; docs/formats.md says what it holds"};
    std::error_code ignored;
    const std::filesystem::path path = source;
    if (is_builtin(source)) {
        context.why = "a family or parameter that is guessed would be another problem than the one meant";
        context.fix = "alidade problem list shows the families, alidade problem list NAME the parameters";
    } else if (!std::filesystem::exists(path, ignored) ||
               (std::filesystem::is_directory(path, ignored) &&
                !std::filesystem::exists(path / "problem.toml", ignored))) {
        context.why = "there is nothing to load";
        context.fix =
            "name a folder with a problem.toml; alidade problem make builtin:inventory -o FOLDER writes one, "
            "alidade problem list shows what is built in";
    } else if (normalise != true && normalising_helps(source)) {
        context.why =
            "a row that does not sum to 1 is no probability distribution, which every bound assumes";
        context.fix = normalise ? "correct the file, or add --normalise, which divides such rows by their sum"
                                : "correct the file; alidade check --normalise accepts it";
    }
    return context;
}

}  // namespace

Problem load_problem_argument(const std::string& source, std::optional<bool> normalise) {
    try {
        return load_problem(source, {.normalise = normalise.value_or(false)});
    } catch (const InvalidArgument& error) {
        throw UserError(error.what(), problem_context(source, normalise));
    }
}

Run open_run_to_keep(const std::string& folder) {
    return explaining_run(folder, keeping_use(), [&] { return Run::open(folder); });
}

Run open_run(const std::string& folder) {
    return explaining_run(folder, reading_use(), [&] { return Run::open(folder, Access::read); });
}

std::optional<std::int64_t> planned_episodes(const RunOptions& options) {
    // Only the paper's constants take the parameter, and never without it.
    for (const Request& source : parse_requests(options.confidence))
        if (const auto told = source.given.find("episodes"); told != source.given.end())
            return parse_count(told->second, "episodes", 1, most_episodes);
    return std::nullopt;
}

std::string constants_of(const RunOptions& options) {
    for (const Request& source : parse_requests(options.confidence))
        if (const auto asked = source.given.find("constants"); asked != source.given.end())
            return asked->second;
    return "sharp";
}

LoadedRun load_run(const Run& run, Threads threads, const AssumedError& assumed) {
    const std::string folder = run.folder().string();
    std::optional<LoadedRun> loaded;
    try {
        loaded = explaining_run(folder, reading_use(), [&] { return run.load(threads, assumed); });
    } catch (const ModelContradiction& error) {
        if (assumed == AssumedError{}) throw;
        throw Contradiction(error.what(),
                            {fmt::format("run folder '{}'", folder),
                             "what is assumed of the truth is refuted by the run's data, so no bound would hold",
                             "a larger --misspecification that you would have believed before the data; "
                             "alidade certify RUN --sensitivity shows what each would give"});
    }
    if (loaded && !(assumed == AssumedError{})) loaded->result.reset();
    if (loaded) return std::move(*loaded);
    throw UserError(
        "the run has stored no episodes yet",
        {fmt::format("run folder '{}'", folder), "without data there is nothing to plan on or to certify",
         fmt::format("alidade explore {} -o {} goes on with it; if it is running, wait "
                     "until it has stored some",
                     shell_path(run.source()), shell_path(folder))});
}

double delta_of(const std::optional<double>& flag, const Problem& problem) {
    constexpr double default_delta = 0.1;
    const double delta = flag.value_or(problem.target().delta.value_or(default_delta));
    if (delta > 0 && delta < 1) return delta;
    throw UserError(
        fmt::format("--delta is {}; must lie strictly between 0 and 1", delta),
        {"the command line",
         "delta is the probability that the bounds may fail: 0 cannot be had and 1 claims nothing",
         "--delta 0.1"});
}

Threads thread_count(int wanted) {
    if (wanted > 0) return wanted;
    if (wanted < 0)
        throw UserError(fmt::format("--threads is {}; must be 0 (all cores) or more", wanted),
                        {"the command line", "work needs at least one thread", "--threads 0"});
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

}  // namespace alidade::app
