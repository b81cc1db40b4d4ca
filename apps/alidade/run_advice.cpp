#include "run_advice.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "alidade/spec/printable_text.hpp"

namespace alidade::app {
namespace {

std::string reason_for(RunFault fault, const RunUse& use) {
    switch (fault) {
        case RunFault::missing:
            break;
        case RunFault::foreign:
            return "nothing but a run is read as one, gone on with, or replaced: the file may be somebody's";
        case RunFault::damaged:
            return "numbers from data that are not those stored would be no bounds";
        case RunFault::unknown:
            return "what is not understood is not guessed at";
        case RunFault::busy:
            return "a run has one writer at a time, so that none undoes what another has stored";
        case RunFault::replaced:
            return "data of two different runs must not be mixed: the bounds would not hold";
        case RunFault::forbidden:
            return use.writes
                       ? "what is learned must be stored, and what is there must be read to go on with it"
                       : "plans and certificates rest on what a run has stored";
        case RunFault::taken:
            return "data of two different runs must not be mixed: the bounds would not hold";
    }
    return use.writes ? "a run needs a folder of its own"
                      : "plans and certificates rest on what a run has stored";
}

bool is_file(const std::string& folder) {
    std::error_code ignored;
    return std::filesystem::exists(folder, ignored) && !std::filesystem::is_directory(folder, ignored);
}

std::string advice_for(const std::string& folder, RunFault fault, const RunUse& use) {
    const std::string& another = use.another;
    const std::string or_overwrite = use.may_overwrite ? ", or replace the run there with --overwrite" : "";
    switch (fault) {
        case RunFault::missing:
            // Where a file has the folder's name, no run can be made.
            return use.writes || is_file(folder)
                       ? another
                       : fmt::format("alidade explore PROBLEM -o {}", shell_path(folder));
        case RunFault::foreign:
            return use.writes ? fmt::format(
                                    "{}; or, if run.sqlite is in the way there, move it and any "
                                    "run.sqlite-* elsewhere, then type the same again",
                                    another)
                              : fmt::format(
                                    "name the folder of a run, or restore this one from a copy; {} makes one",
                                    another);
        case RunFault::damaged:
            return use.writes ? fmt::format("restore the folder from a copy, or {}{}", another, or_overwrite)
                              : fmt::format("restore the folder from a copy, or explore again: {}", another);
        case RunFault::unknown:
            return use.writes ? fmt::format("use the version of alidade that wrote it, or {}{}", another,
                                            or_overwrite)
                              : fmt::format("use the version of alidade that wrote it, or {}", another);
        case RunFault::busy:
            return fmt::format("wait until the other command ends, or {}", another);
        case RunFault::replaced:
            return "type the same again";
        case RunFault::forbidden:
            return use.writes ? fmt::format("{}; or work on a copy of your own: cp -r {} COPY", another,
                                            shell_path(folder))
                              : fmt::format("ask its owner to let you read it: chmod -R a+rX {}",
                                            shell_path(folder));
        case RunFault::taken:
            break;
    }
    return another + or_overwrite;
}

}  // namespace

RunUse reading_use() {
    return {.writes = false, .may_overwrite = false, .another = "alidade explore PROBLEM -o ANOTHER_FOLDER"};
}

RunUse writing_use(bool overwrite) {
    return {.writes = true, .may_overwrite = !overwrite, .another = "choose another folder with -o"};
}

RunUse keeping_use() {
    return {.writes = true, .another = "name the folder of a run"};
}

Context run_context(const std::string& folder, RunFault fault, const RunUse& use) {
    return {fmt::format("run folder '{}'", folder), reason_for(fault, use), advice_for(folder, fault, use)};
}

}  // namespace alidade::app
