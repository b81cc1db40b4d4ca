#include "interruption.hpp"

#include <csignal>

namespace alidade::app {
namespace {

// The one thing a signal handler may touch; there is no other way to reach it from there.
volatile std::sig_atomic_t signal_seen = 0;

// How many exist: what one inside another notes, the outer one is to see too.
int nested = 0;

extern "C" void note_signal(int) {
    signal_seen = 1;
}

void install(void (*handler)(int), int flags) {
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = flags;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
}

}  // namespace

Interruption::Interruption() {
    if (nested++ > 0) return;
    signal_seen = 0;
    install(note_signal, static_cast<int>(SA_RESETHAND) | SA_RESTART);
}

Interruption::~Interruption() {
    if (--nested == 0) install(SIG_DFL, 0);
}

bool Interruption::requested() const noexcept {
    return signal_seen != 0;
}

}  // namespace alidade::app
