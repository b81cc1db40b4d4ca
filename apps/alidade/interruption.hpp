#pragma once

namespace alidade::app {

/// While one exists, the first Ctrl-C (or SIGTERM) is only noted, so that the work can be stored; a second
/// one ends the program at once. One inside another shares what it notes.
class Interruption {
public:
    Interruption();
    ~Interruption();
    Interruption(const Interruption&) = delete;
    Interruption& operator=(const Interruption&) = delete;

    bool requested() const noexcept;
};

}  // namespace alidade::app
