#include "interruption.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace alidade::app {
namespace {

using Clock = std::chrono::steady_clock;

// When a signal came, by the clock's own count; 0: none did. The one thing a signal handler may touch; there
// is no other way to reach it from there.
std::atomic<Clock::rep> signal_at = 0;
static_assert(std::atomic<Clock::rep>::is_always_lock_free);

// How many exist: what one inside another notes, the outer one is to see too.
int nested = 0;

constexpr std::array stopping{SIGINT, SIGTERM, SIGHUP};

extern "C" void note_signal(int) {
    signal_at = Clock::now().time_since_epoch().count();
}

/// Under nohup the end of the terminal is none of our business.
bool ignored_from_outside(int signal) {
    struct sigaction now = {};
    return signal == SIGHUP && sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

void install(void (*handler)(int), int flags) {
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigemptyset(&action.sa_mask);
    for (const int signal : stopping)
        if (!ignored_from_outside(signal)) sigaction(signal, &action, nullptr);
}

}  // namespace

Interruption::Interruption() {
    if (nested++ > 0) return;
    signal_at = 0;
    install(note_signal, static_cast<int>(SA_RESETHAND) | SA_RESTART);
}

Interruption::~Interruption() {
    if (--nested == 0) install(SIG_DFL, 0);
}

bool Interruption::requested() const noexcept {
    return signal_at != 0;
}

Clock::time_point Interruption::since() const noexcept {
    return Clock::time_point(Clock::duration(signal_at.load()));
}

PromptStop::PromptStop(const Interruption& interruption, std::function<void()> farewell)
    : interruption_(interruption),
      farewell_(std::move(farewell)),
      watcher_([this](const std::stop_token& over) { watch(over); }) {}

PromptStop::~PromptStop() = default;

void PromptStop::all_is_stored() {
    const std::lock_guard lock(mutex_);
    stored_ = true;
}

void PromptStop::not_all_is_stored() {
    const std::lock_guard lock(mutex_);
    stored_ = false;
}

void PromptStop::all_can_be_repeated() {
    const std::lock_guard lock(mutex_);
    repeatable_ = true;
}

// The lock is held from the decision to the end: what would begin something new waits for it. Time is taken
// from the signal's own: where the machine is busy glances come late, and as many as fit into the patience of
// a calm one took nine seconds.
void PromptStop::watch(const std::stop_token& over) {
    constexpr std::chrono::milliseconds glance{50};
    std::unique_lock lock(mutex_);
    while (!over.stop_requested()) {
        woken_.wait_for(lock, over, glance, [] { return false; });
        if (over.stop_requested()) return;
        if (!interruption_.requested()) continue;
        const auto waited = Clock::now() - interruption_.since();
        const bool may_end = stored_ ? waited >= patience : repeatable_ && waited >= longest;
        if (!may_end) continue;
        farewell_();
        std::_Exit(130);
    }
}

void report_failed_writes() {
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
}

namespace {

extern "C" void report_lost_page(int) {
    constexpr std::string_view text =
        "error: a file of the problem was cut short, or could not be read, while it was used\n"
        "why:   large features are used where they lie in their files, not copied\n"
        "fix:   mend the file, or the disk, and type the same again; what was stored before is intact\n";
    // Nothing else may be called here; if it cannot be said, there is nobody to say it to.
    static_cast<void>(!write(STDERR_FILENO, text.data(), text.size()));
    _exit(2);
}

}  // namespace

void report_lost_pages() {
    std::signal(SIGBUS, report_lost_page);
}

}  // namespace alidade::app
