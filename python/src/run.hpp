#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <memory>

#include "alidade/run/ask_tell.hpp"
#include "alidade/run/run.hpp"
#include "calling_thread.hpp"

namespace alidade::python {

/// A run as Python holds it. Calls take turns: one that was interrupted may still be at it.
class RunObject {
public:
    explicit RunObject(Run opened) : run_(std::make_shared<Run>(std::move(opened))) {}

    /// The run, when the last call has ended; a callback of that very call need not wait.
    const std::shared_ptr<Run>& settled() const {
        if (last_ && !last_->is_over() && !last_->is_present()) last_->wait_until_over();
        if (last_ && !last_->is_over() && last_->is_gone()) last_->wait_until_over();
        if (!run_) throw InvalidArgument("the run is closed");
        return run_;
    }
    /// The run, for a call that begins now. Throws InvalidArgument within a callback of another call.
    const std::shared_ptr<Run>& begin(const std::shared_ptr<CallingThread>& caller) {
        const std::shared_ptr<Run>& run = settled();
        expects(!last_ || last_->is_over(), "the run is being explored: this is one of its callbacks");
        last_ = caller;
        return run;
    }
    void close() {
        settled();
        run_.reset();
    }
    bool is_closed() const noexcept { return run_ == nullptr; }
    bool is_busy() const { return last_ && !last_->is_over(); }

private:
    std::shared_ptr<Run> run_;
    std::shared_ptr<CallingThread> last_;
};

}  // namespace alidade::python
