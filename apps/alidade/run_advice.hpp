#pragma once

#include <string>
#include <utility>

#include "alidade/run/run_record.hpp"
#include "user_error.hpp"

namespace alidade::app {

/// What a command wants with a run's folder, as far as it matters for what to advise.
struct RunUse {
    bool writes = false;
    bool may_overwrite = false;  ///< --overwrite exists, and is not given already
    std::string another;         ///< what to type to be given another folder, like "-o ANOTHER_FOLDER"
};

/// Of plan, certify, audit and export.
RunUse reading_use();
/// Of explore and learn.
RunUse writing_use(bool overwrite);

/// Of plan --keep, which writes into a run that there is.
RunUse keeping_use();

/// Where it went wrong, why it matters, and what to type: something that works for this fault and this use.
Context run_context(const std::string& folder, RunFault fault, const RunUse& use);

/// Runs `action`, which opens, makes or removes a run; what is wrong with its folder becomes a UserError.
template <class Action>
auto explaining_run(const std::string& folder, const RunUse& use, Action&& action) {
    try {
        return std::forward<Action>(action)();
    } catch (const RunRefused& error) {
        throw UserError(error.what(), run_context(folder, error.fault(), use));
    } catch (const InvalidArgument& error) {
        throw UserError(error.what(), {"run folder '" + folder + "'", "a run needs a folder of its own",
                                       "name a new or empty folder: " + use.another});
    }
}

}  // namespace alidade::app
