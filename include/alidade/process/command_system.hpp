#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "alidade/environment/system.hpp"
#include "alidade/model/task.hpp"
#include "alidade/types.hpp"

namespace alidade {

namespace detail {
class SystemFleet;
}

/// How to run a system that is another program.
struct CommandSystemOptions {
    std::string command;           ///< for /bin/sh; docs/own-system.md has what is said to it
    std::filesystem::path folder;  ///< where it is started; empty: where this program is
    std::uint64_t seed = 0;        ///< of the episodes' seeds and of the actions of stochastic policies
    Index workers = 1;             ///< children at once, 1 to 1024; what they report does not depend on them
    double timeout = 60;           ///< seconds that one answer may take, above 0
    double back_off =
        0.2;  ///< seconds before a child that failed is started again; doubles each time, up to 10
    std::filesystem::path log;  ///< gets what they write to stderr, behind what is there; empty: nothing does
    std::vector<std::string> state_names,
        action_names;  ///< must be theirs where both have names; empty: none
};

/// A system that is another program, run as child processes that answer one JSON object a line. A child that
/// dies or does not answer in time is started again, later and later. Its episode: if the system is seeded it
/// is run a second time, and if it breaks off again, or the system has no seeds, what was seen is reported,
/// as broken off. Where an episode terminates, the system stays in that state for the steps that are left;
/// every base model must say so too. The first episode of a seeded system is run twice, and must come out the
/// same. The children end with this object, and with the thread that started them.
class CommandSystem final : public System {
public:
    /// Starts one child and asks what it is. Throws InvalidArgument for options out of range, SystemFailed if
    /// it does not answer or is not the task's system.
    CommandSystem(const Task& task, CommandSystemOptions options);
    ~CommandSystem() override;
    CommandSystem(const CommandSystem&) = delete;
    CommandSystem& operator=(const CommandSystem&) = delete;

    const Shape& shape() const override;
    bool seeded() const override;
    /// Whether it runs deterministic policies for many episodes at a time.
    bool batches() const;
    /// Children that were started in place of one that failed.
    std::int64_t restarts() const;
    /// As System::run. When it is stopped, episodes that run are waited for, but at most 5 seconds; what is
    /// unfinished then is run again later if it is seeded, and otherwise reported as broken off.
    std::int64_t run(const Policy& policy, std::int64_t first, std::int64_t count,
                     const std::function<void(std::span<const SystemEpisode>)>& accept,
                     const std::function<bool()>& stop) override;

private:
    std::unique_ptr<detail::SystemFleet> fleet_;
};

}  // namespace alidade
