#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace alidade::app {

/// While one exists, the first Ctrl-C (SIGINT), SIGTERM or SIGHUP is only noted, so that the work can be
/// stored; a second one ends the program at once. A SIGHUP that nohup ignores stays ignored. One inside
/// another shares what it notes.
class Interruption {
public:
    Interruption();
    ~Interruption();
    Interruption(const Interruption&) = delete;
    Interruption& operator=(const Interruption&) = delete;

    bool requested() const noexcept;
    /// When it was, if it was.
    std::chrono::steady_clock::time_point since() const noexcept;
};

/// Ends the program soon after an interruption even while a long computation runs, provided that nothing
/// would be lost: that everything is stored must have been said, and is taken back before anything new
/// begins. The computation itself need not know.
class PromptStop {
public:
    /// From the signal on; a computation that ends within this time is waited for.
    static constexpr std::chrono::milliseconds patience{500};
    /// What can be had again at no cost is waited for no longer than this.
    static constexpr std::chrono::milliseconds longest{850};

    /// `farewell` is called once, on another thread, before the program ends with code 130.
    PromptStop(const Interruption& interruption, std::function<void()> farewell);
    ~PromptStop();
    PromptStop(const PromptStop&) = delete;
    PromptStop& operator=(const PromptStop&) = delete;

    /// Everything that was paid for is on disk: the program may end at any moment.
    void all_is_stored();
    /// Something is being made or written that must not be lost.
    void not_all_is_stored();
    /// What is not stored can be had again at no cost, as simulated episodes can: the program may end without
    /// it.
    void all_can_be_repeated();

private:
    void watch(const std::stop_token& over);

    const Interruption& interruption_;
    std::function<void()> farewell_;
    std::mutex mutex_;
    std::condition_variable_any woken_;
    bool stored_ = true, repeatable_ = false;
    std::jthread watcher_;  // last: it sees the others
};

/// Lets a write to a closed pipe or beyond a limit of file size fail, and be reported, instead of killing.
void report_failed_writes();

/// Says so and ends the process when a page of a mapped file cannot be had, because the file was cut short.
void report_lost_pages();

}  // namespace alidade::app
