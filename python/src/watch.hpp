#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <memory>

#include "alidade/explore/exploration.hpp"
#include "calling_thread.hpp"

namespace alidade::python {

/// Who watches an exploration from Python: a callback, a question whether to stop, a bar of tqdm.
class Watch {
public:
    /// `observe`, `interrupted`: callables or None. `progress`: true for a bar, where tqdm is installed.
    Watch(nb::handle observe, nb::handle interrupted, bool progress, std::int64_t episodes,
          std::shared_ptr<CallingThread> caller);

    /// Both are called by the thread that computes. The second throws PythonRaised when the caller has left.
    void operator()(const Progress& progress) const;
    bool stops() const;

    /// With the GIL, at the end: the bar ends.
    void close() const;

private:
    Kept observe_, interrupted_, bar_;
    std::shared_ptr<CallingThread> caller_;
};

}  // namespace alidade::python
