#pragma once

#include <nanobind/nanobind.h>

#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <type_traits>
#include <utility>

#include "alidade/environment/system.hpp"

/// Long work beside the interpreter. The library computes on a thread of its own; the thread that called
/// waits without the GIL, looks for signals (Ctrl-C) fifty times a second, and runs whatever is Python:
/// callbacks, environments, planners. So Python code only ever runs on the thread that called, an
/// interruption is seen at once even while the library plans, and no result depends on any of it.
namespace alidade::python {

namespace nb = nanobind;

/// Python raised something: what the library does is to end, and everything that it was told is to be kept,
/// which is what it does with a system that cannot go on.
class PythonRaised final : public SystemFailed {
public:
    PythonRaised() : SystemFailed("a Python exception ended it") {}
};

/// The thread that called, as the one that computes sees it.
class CallingThread {
public:
    /// Runs `task` on the thread that called, with the GIL, and waits for it. What Python raises in it is
    /// kept for the caller, and PythonRaised is thrown here; so it is at once when the caller is gone.
    void run(const std::function<void()>& task);
    /// The same, but nothing is thrown: the work is asked to end instead.
    void run_quietly(const std::function<void()>& task) noexcept;
    /// Whether the work is asked to end. Cheap, and called from any thread.
    bool ending() const;
    /// Whether the caller is the present thread.
    bool is_present() const noexcept { return std::this_thread::get_id() == caller_; }

    /// On the calling thread with the GIL: keeps what Python raised, and asks the work to end.
    void raised(nb::python_error error);
    /// On the calling thread with the GIL: looks for signals; whether the work is to end.
    bool interrupted();

    /// The calling thread's part: begins `work` on a thread of its own and waits for its end, or for 0.1 s
    /// after Ctrl-C: then the work ends when it can, stores what it has, and this returns. Throws what Python
    /// raised, else what the work has thrown.
    static void wait_for(const std::shared_ptr<CallingThread>& caller, std::function<void()> work);
    /// Whether the caller has left, interrupted, while the work goes on.
    bool is_gone() const;
    /// Whether the work has ended.
    bool is_over() const;
    /// Waits, with signals looked for, until the work is over; for who must not begin something else before.
    void wait_until_over();

private:
    void serve();
    void finish(std::exception_ptr failure);

    const std::thread::id caller_ = std::this_thread::get_id();
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    const std::function<void()>* task_ = nullptr;  // wanted of the caller, until it has run
    std::exception_ptr task_failure_;
    bool ending_ = false, gone_ = false, over_ = false;
    std::exception_ptr failure_;             // of the work
    std::optional<nb::python_error> error_;  // with the GIL only
};

/// A Python object that may be let go on any thread.
using Kept = std::shared_ptr<nb::object>;
Kept keep(nb::object object);

/// Waits for work that went on after its caller was interrupted; at the interpreter's end. Ctrl-C ends the
/// process.
void wait_for_abandoned_work();

/// What `work` returns, computed on a thread of its own while signals are looked for. It must own what it
/// reads: when it is interrupted it goes on to its end, unheard.
template <class Work>
auto patiently(Work work) {
    using Result = std::invoke_result_t<Work&>;
    const auto result = std::make_shared<std::optional<Result>>();
    CallingThread::wait_for(std::make_shared<CallingThread>(),
                            [result, work = std::move(work)]() mutable { result->emplace(work()); });
    return std::move(**result);
}

/// The same where that is worth a thread; else here, without the GIL. `operations` is a guess.
template <class Work>
auto patiently(double operations, Work work) {
    constexpr double quick = 2e7;  // some 20 ms
    if (operations > quick) return patiently(std::move(work));
    const nb::gil_scoped_release unlocked;
    return work();
}

}  // namespace alidade::python
