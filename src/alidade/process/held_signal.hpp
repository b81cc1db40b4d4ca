#pragma once

#include <signal.h>

#include <ctime>

namespace alidade::detail {

/// Holds a signal back that a write of this thread may raise, and forgets it if one came: the write says what
/// happened.
class HeldSignal {
public:
    explicit HeldSignal(int signal) {
        sigemptyset(&only_);
        sigaddset(&only_, signal);
        waiting_ = pending(signal);
        pthread_sigmask(SIG_BLOCK, &only_, &before_);
        signal_ = signal;
    }
    ~HeldSignal() {
        constexpr timespec now{};
        // One that came from elsewhere and waited already stays.
        if (!waiting_ && pending(signal_)) sigtimedwait(&only_, nullptr, &now);
        pthread_sigmask(SIG_SETMASK, &before_, nullptr);
    }
    HeldSignal(const HeldSignal&) = delete;
    HeldSignal& operator=(const HeldSignal&) = delete;

private:
    static bool pending(int signal) {
        sigset_t set;
        sigemptyset(&set);
        sigpending(&set);
        return sigismember(&set, signal) == 1;
    }

    int signal_ = 0;
    sigset_t only_{}, before_{};
    bool waiting_ = false;
};

}  // namespace alidade::detail
