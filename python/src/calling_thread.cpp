#include "calling_thread.hpp"

#include <chrono>
#include <cstdlib>

namespace alidade::python {

namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds glance{20};     // between two looks for signals
constexpr std::chrono::milliseconds patience{100};  // with work that is asked to end

/// Works that are still at it, of all callers: the interpreter must not end before them.
struct Works {
    std::mutex mutex;
    std::condition_variable changed;
    int running = 0;
};
Works& works() {
    static Works all;  // never destroyed before the threads that use it: wait_for_abandoned_work
    return all;
}

}  // namespace

void CallingThread::run(const std::function<void()>& task) {
    if (is_present()) {  // within another task
        const nb::gil_scoped_acquire locked;
        return task();
    }
    std::unique_lock lock(mutex_);
    if (gone_) throw PythonRaised();
    task_ = &task;
    changed_.notify_all();
    changed_.wait(lock, [&] { return task_ == nullptr; });
    if (task_failure_) std::rethrow_exception(std::exchange(task_failure_, nullptr));
}

void CallingThread::run_quietly(const std::function<void()>& task) noexcept {
    try {
        run(task);
    } catch (...) {
        const std::lock_guard lock(mutex_);
        ending_ = true;
    }
}

bool CallingThread::ending() const {
    const std::lock_guard lock(mutex_);
    return ending_;
}

void CallingThread::raised(nb::python_error error) {
    if (!error_) error_.emplace(std::move(error));
    const std::lock_guard lock(mutex_);
    ending_ = true;
}

bool CallingThread::interrupted() {
    if (PyErr_CheckSignals() != 0) raised(nb::python_error());
    return ending();
}

void CallingThread::finish(std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    failure_ = std::move(failure);
    over_ = true;
    changed_.notify_all();
}

/// Serves until the work is over, or has been asked to end for too long.
void CallingThread::serve() {
    std::optional<Clock::time_point> asked_to_end;
    std::unique_lock lock(mutex_);
    while (!over_) {
        changed_.wait_for(lock, glance, [&] { return over_ || task_ != nullptr; });
        if (over_) break;
        const std::function<void()>* const task = task_;
        lock.unlock();
        std::exception_ptr failure;
        bool signalled = false;
        {
            const nb::gil_scoped_acquire locked;
            if (task != nullptr) {
                try {
                    (*task)();
                } catch (nb::python_error& error) {
                    raised(std::move(error));
                    failure = std::make_exception_ptr(PythonRaised());
                } catch (...) {
                    failure = std::current_exception();
                }
            }
            signalled = interrupted() && error_.has_value();
        }
        lock.lock();
        if (task != nullptr) {
            task_failure_ = std::move(failure);
            task_ = nullptr;
            changed_.notify_all();
            continue;
        }
        if (!signalled) continue;
        if (!asked_to_end) asked_to_end = Clock::now();
        if (Clock::now() - *asked_to_end >= patience) break;
    }
    gone_ = !over_;
    if (gone_ && task_ != nullptr) {  // wanted in the last moment
        task_failure_ = std::make_exception_ptr(PythonRaised());
        task_ = nullptr;
        changed_.notify_all();
    }
}

Kept keep(nb::object object) {
    return Kept(new nb::object(std::move(object)), [](nb::object* kept) {
        if (!nb::is_alive()) return;
        const nb::gil_scoped_acquire locked;
        delete kept;
    });
}

void CallingThread::wait_for(const std::shared_ptr<CallingThread>& caller, std::function<void()> work) {
    {
        const std::lock_guard lock(works().mutex);
        ++works().running;
    }
    std::thread([caller, work = std::move(work)]() mutable {
        std::exception_ptr failure;
        try {
            work();
        } catch (...) {
            failure = std::current_exception();
        }
        work = nullptr;  // what it owns goes before anybody can think that it is over
        caller->finish(std::move(failure));
        const std::lock_guard lock(works().mutex);
        --works().running;
        works().changed.notify_all();
    }).detach();
    {
        const nb::gil_scoped_release unlocked;
        caller->serve();
    }
    if (caller->error_) {
        nb::python_error error = std::move(*caller->error_);
        caller->error_.reset();
        throw error;
    }
    if (caller->failure_) std::rethrow_exception(caller->failure_);
}

bool CallingThread::is_gone() const {
    const std::lock_guard lock(mutex_);
    return gone_;
}

bool CallingThread::is_over() const {
    const std::lock_guard lock(mutex_);
    return over_;
}

void CallingThread::wait_until_over() {
    while (true) {
        {
            const nb::gil_scoped_release unlocked;
            std::unique_lock lock(mutex_);
            if (changed_.wait_for(lock, glance, [&] { return over_; })) return;
        }
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
    }
}

void wait_for_abandoned_work() {
    while (true) {
        {
            const nb::gil_scoped_release unlocked;
            std::unique_lock lock(works().mutex);
            if (works().changed.wait_for(lock, glance, [] { return works().running == 0; })) return;
        }
        // Ctrl-C once more: what a run has accepted is on disk, and threads at work outlive no tidy end.
        if (PyErr_CheckSignals() != 0) std::_Exit(130);
    }
}

}  // namespace alidade::python
