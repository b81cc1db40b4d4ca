#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "alidade/model/task.hpp"
#include "alidade/process/command_system.hpp"
#include "episode_order.hpp"
#include "line_child.hpp"
#include "system_log.hpp"
#include "system_protocol.hpp"

namespace alidade::detail {

/// What all workers of a system share.
struct SystemSetting {
    Task task;
    Shape shape;
    CommandSystemOptions options;
};

/// What became of a worker since it was last asked.
struct WorkerNews {
    enum class Kind {
        nothing,
        greeted,   ///< it said what it is
        finished,  ///< `episodes` are done, and it is idle
        declined,  ///< it said that it cannot do what it was asked, and is idle
        failed,    ///< it died, or did not answer in time; it is down
    };
    Kind kind = Kind::nothing;
    std::vector<SystemEpisode> episodes = {};
    std::string why = {};  ///< it failed or declined
};

/// Where a child has written something, or has closed what it writes to.
struct Heard {
    bool answer = false;  ///< on stdout
    bool talk = false;    ///< on stderr
};

/// A child that breaks the rules of what is said: it cannot be trusted with another episode.
class ProtocolBroken : public std::runtime_error {
public:
    using std::runtime_error::runtime_error;
};

/// One child process of a system: what it was asked, what it has answered. Nothing here waits.
class SystemWorker {
public:
    using Clock = std::chrono::steady_clock;
    enum class Stage { down, greeting, idle, resetting, stepping, batching };

    SystemWorker(int number, const SystemSetting& setting, SystemLog& log)
        : number_(number), setting_(setting), log_(log) {}

    Stage stage() const noexcept { return stage_; }
    bool busy() const noexcept { return stage_ >= Stage::resetting; }
    /// Whether it owes an answer.
    bool owes() const noexcept { return stage_ != Stage::down && stage_ != Stage::idle; }
    /// By when it owes it.
    Clock::time_point deadline() const noexcept { return deadline_; }
    const LineChild* child() const noexcept { return child_.get(); }
    const SystemInfo& info() const noexcept { return info_; }
    const Assignment& assignment() const noexcept { return assignment_; }
    /// The episode that it is in: what was seen of it.
    const SystemEpisode& episode() const noexcept { return episode_; }
    /// How long the last batch took.
    Clock::duration last_batch() const noexcept { return last_batch_; }
    /// Where it is, in words: "worker 2, episode 17, step 3".
    std::string place() const;
    /// The last lines it wrote to stderr.
    std::string last_words() const;

    /// Starts the child and asks what it is.
    void start();
    /// Gives an idle one something to do; the policy must live until it is done.
    void give(Assignment assignment, const Policy& policy);
    /// Takes in what it has written. Throws ProtocolBroken.
    WorkerNews look(Clock::time_point now, const Heard& heard);
    /// Ends the child, after `patience` if it has not gone by itself. What it was doing stays to be asked
    /// for.
    void end(Clock::duration patience, const std::string& why);
    void close_input() noexcept {
        if (child_) child_->close_input();
    }

private:
    WorkerNews react(std::string_view line, Clock::time_point now);
    WorkerNews begin(State first);
    WorkerNews arrive(const StepAnswer& answer);
    WorkerNews finish_batch(std::string_view line, Clock::time_point now);
    /// What the last state leads to: the next step, or the end of the episode.
    WorkerNews proceed(EpisodeEnd end);
    WorkerNews finish(bool complete);
    void see(State state);
    void stay(SystemEpisode& episode) const;
    void check_start(State state) const;
    void hear();
    void ask(std::string_view request, Stage stage);
    Action action_at(const SystemEpisode& episode) const;
    std::size_t longest_answer() const;
    WorkerNews fail(const std::string& why, Clock::duration patience);

    int number_;
    const SystemSetting& setting_;
    SystemLog& log_;
    std::unique_ptr<LineChild> child_;
    Stage stage_ = Stage::down;
    Clock::time_point deadline_, asked_at_;
    Clock::duration last_batch_{};
    SystemInfo info_;
    Assignment assignment_;
    const Policy* policy_ = nullptr;
    SystemEpisode episode_;
    std::string words_, unended_;  // the last it said, and a line that is not whole yet
};

}  // namespace alidade::detail
