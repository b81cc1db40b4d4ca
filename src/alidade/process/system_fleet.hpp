#pragma once

#include <poll.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "episode_order.hpp"
#include "system_worker.hpp"

namespace alidade::detail {

/// The children of a system, and who does what.
class SystemFleet {
public:
    using Accept = std::function<void(std::span<const SystemEpisode>)>;
    using Stop = std::function<bool()>;

    /// Starts the first child and waits until it has said what it is.
    SystemFleet(const Task& task, CommandSystemOptions options);
    ~SystemFleet();
    SystemFleet(const SystemFleet&) = delete;
    SystemFleet& operator=(const SystemFleet&) = delete;

    const Shape& shape() const noexcept { return setting_.shape; }
    const SystemInfo& info() const noexcept { return *info_; }
    std::int64_t restarts() const noexcept { return restarts_; }
    std::int64_t run(const Policy& policy, std::int64_t first, std::int64_t count, const Accept& accept,
                     const Stop& stop);

private:
    using Clock = SystemWorker::Clock;

    /// A worker, and what the fleet thinks of it.
    struct Member {
        SystemWorker worker;
        int failures = 0;              // in a row
        Clock::time_point not_before;  // it is not started again earlier
        bool started = false;          // ever
        std::int64_t batch = 1;        // episodes that it gets at a time
        Heard heard = {};              // since it was last looked at
    };
    /// One call of run().
    struct Round {
        const Policy& policy;
        EpisodeOrder order;
        const Accept& accept;
        bool batches = false;                         // it may be asked for batches
        bool twice = false;                           // the first episode is still to be run a second time
        std::optional<Clock::time_point> leave = {};  // stopped: nothing is waited for after this
        std::optional<Clock::time_point> ready_since = {};
        std::int64_t accepted = 0;
    };

    void start(Member& member);
    void greet(const SystemInfo& info) const;
    bool turn(Round& round, const Stop& stop);
    void give_out(Round& round, Clock::time_point now);
    void wait(const Round& round, Clock::time_point now);
    void react(Round& round, Member& member, WorkerNews news);
    void take(Round& round, Member& member, std::vector<SystemEpisode> episodes);
    void broke_off(Round& round, Member& member, const std::string& why, bool died);
    void run_again(Round& round, const SystemWorker& worker, const std::string& why);
    void hand_over(Round& round, Clock::time_point now, bool all);
    void leave_orderly(Round& round);
    void abandon(const std::string& why);
    std::int64_t share(const Round& round, const Member& member) const;
    [[noreturn]] void give_up(const SystemWorker& worker, const std::string& what) const;

    SystemSetting setting_;
    SystemLog log_;
    std::vector<Member> members_;
    std::optional<SystemInfo> info_;
    std::int64_t restarts_ = 0;
    bool run_twice_ = false;  // that the seeds work has been seen
    std::vector<pollfd> waiting_;
};

}  // namespace alidade::detail
