#pragma once

#include <string>

#include "alidade/error.hpp"

namespace alidade {

/// What is wrong with a folder that is named as a run. What to do about it depends on this.
enum class RunFault {
    missing,    ///< no such folder, or nothing called run.sqlite in it
    foreign,    ///< run.sqlite is no run: of another program, or its first bytes are damaged
    damaged,    ///< a run, but not as it was written
    unknown,    ///< a run of a format that this version does not read
    busy,       ///< another process is writing it
    replaced,   ///< it changed under a reader: another run took its place, or it never held still
    forbidden,  ///< the file system does not let it be read, or be written
    taken,      ///< a new run was to be made where there is one
};

/// A folder that cannot be used as the run that was asked for.
class RunRefused : public InvalidArgument {
public:
    RunRefused(RunFault fault, const std::string& message) : InvalidArgument(message), fault_(fault) {}
    RunFault fault() const noexcept { return fault_; }

private:
    RunFault fault_;
};

}  // namespace alidade
