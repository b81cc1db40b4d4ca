#include "system_fleet.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <system_error>
#include <utility>

#include "../environment/draws.hpp"
#include "alidade/error.hpp"
#include "held_signal.hpp"

namespace alidade::detail {
namespace {

using namespace std::chrono_literals;
using Stage = SystemWorker::Stage;

/// How often `stop` is asked at least.
constexpr std::chrono::milliseconds glance = 50ms;
/// Episodes that run when a stop is asked for are waited for that long.
constexpr std::chrono::seconds leave_patience = 5s;
/// What is ready is handed over after this; meanwhile more may come, and one transaction serves for all.
constexpr std::chrono::milliseconds hand_over_delay = 20ms;
constexpr std::size_t most_ready = 4096;
/// Children that are told to go have that long.
constexpr std::chrono::seconds farewell_patience = 1s;
/// Failures in a row of one worker, after which the system is given up.
constexpr int most_failures = 5;
/// Attempts to begin an episode of which nothing is ever seen.
constexpr int most_attempts = 3;
/// A batch should take this long: short against a timeout, long against what a request costs.
constexpr std::chrono::milliseconds long_batch = 200ms, short_batch = 50ms;
constexpr std::int64_t most_batch = 4096;

SystemWorker::Clock::duration back_off(double first, int failures) {
    constexpr double most = 10;
    const std::chrono::duration<double> pause(std::min(most, std::ldexp(first, std::min(failures - 1, 10))));
    return std::chrono::duration_cast<SystemWorker::Clock::duration>(pause);
}

void expect_names(const std::vector<std::string>& theirs, const std::vector<std::string>& ours,
                  std::string_view what) {
    if (theirs.empty() || ours.empty()) return;
    for (std::size_t i = 0; i < ours.size(); ++i)
        expects(theirs[i] == ours[i],
                "{} {} is called '{}' by the system and '{}' by the problem; must be the same", what, i,
                theirs[i], ours[i]);
}

}  // namespace

SystemFleet::SystemFleet(const Task& task, CommandSystemOptions options)
    : setting_{task, task.shape(), std::move(options)}, log_(setting_.options.log) {
    const CommandSystemOptions& given = setting_.options;
    expects(given.command.find_first_not_of(" \t\n") != std::string::npos,
            "the system's command is empty; it must start a program");
    expects(given.workers >= 1 && given.workers <= 1024, "workers is {}; must be 1 to 1024", given.workers);
    expects(given.timeout > 0 && std::isfinite(given.timeout), "timeout is {} s; must be greater than 0",
            given.timeout);
    expects(given.back_off >= 0 && std::isfinite(given.back_off), "back_off is {} s; must be at least 0",
            given.back_off);
    members_.reserve(static_cast<std::size_t>(given.workers));
    for (int i = 0; i < given.workers; ++i) members_.push_back({SystemWorker(i, setting_, log_)});
    const HeldSignal held(SIGPIPE);
    try {
        const Policy no_policy = Policy::uniform({1, 1, 1});
        const Accept no_accept;
        Round round{no_policy, EpisodeOrder(0, 0), no_accept};
        Member& first = members_.front();
        start(first);
        while (!info_) {
            wait(round, Clock::now());
            react(round, first, first.worker.look(Clock::now(), first.heard));
        }
    } catch (const ProtocolBroken& error) {
        give_up(members_.front().worker, error.what());
    }
}

SystemFleet::~SystemFleet() {
    // All at once: they go together.
    for (Member& member : members_) member.worker.close_input();
    const auto deadline = Clock::now() + farewell_patience;
    for (Member& member : members_)
        member.worker.end(std::max(Clock::duration::zero(), deadline - Clock::now()), {});
}

void SystemFleet::give_up(const SystemWorker& worker, const std::string& what) const {
    throw SystemFailed(fmt::format("{}\nThe system's command: {}\nThe last it wrote to stderr:\n{}", what,
                                   setting_.options.command, worker.last_words()));
}

void SystemFleet::start(Member& member) {
    try {
        member.worker.start();
    } catch (const std::system_error& error) {
        give_up(member.worker, error.what());
    }
    if (std::exchange(member.started, true)) ++restarts_;
}

/// Whether a child is the system that the problem is about, and the same as the others.
void SystemFleet::greet(const SystemInfo& info) const {
    const Shape& shape = setting_.shape;
    expects(info.states == shape.states && info.actions == shape.actions,
            "the system has {} states and {} actions, the problem {} and {}; must be the same", info.states,
            info.actions, shape.states, shape.actions);
    expects(!info.horizon || *info.horizon == shape.horizon,
            "the system says that an episode has {} steps, the problem {}; must be the same, or left out",
            info.horizon.value_or(0), shape.horizon);
    expect_names(info.state_names, setting_.options.state_names, "state");
    expect_names(info.action_names, setting_.options.action_names, "action");
    expects(!info_ || *info_ == info,
            "the system says something else of itself than before; all of its processes must say "
            "the same");
}

std::int64_t SystemFleet::run(const Policy& policy, std::int64_t first, std::int64_t count,
                              const Accept& accept, const Stop& stop) {
    expect_system_shape(setting_.shape, policy.shape(), "policy");
    expects(first >= 0 && count >= 0, "{} episodes from episode {}; neither may be negative", count, first);
    const HeldSignal held(SIGPIPE);
    Round round{policy, EpisodeOrder(first, count), accept};
    // Of a batch nothing is seen before its end: what dies with it must come back the same. And we draw the
    // actions.
    round.batches = info_->batches && info_->seeded && policy.is_deterministic();
    round.twice = info_->seeded && !run_twice_ && first == 0;
    try {
        while (turn(round, stop)) {
        }
        leave_orderly(round);
    } catch (const SystemFailed&) {
        leave_orderly(round);
        throw;
    } catch (...) {
        abandon("given up in the middle of an episode");
        throw;
    }
    return round.accepted;
}

/// One turn of the wheel; false when it is over.
bool SystemFleet::turn(Round& round, const Stop& stop) {
    const auto now = Clock::now();
    hand_over(round, now, false);
    if (round.order.complete()) return false;
    if (!round.leave && stop && stop()) round.leave = now + leave_patience;
    const bool busy =
        std::ranges::any_of(members_, [](const Member& member) { return member.worker.busy(); });
    if (round.leave && (!busy || now >= *round.leave)) return false;
    if (!round.leave) give_out(round, now);
    wait(round, now);
    for (Member& member : members_) {
        try {
            react(round, member, member.worker.look(Clock::now(), member.heard));
        } catch (const ProtocolBroken& error) {
            give_up(member.worker, error.what());
        }
    }
    return true;
}

std::int64_t SystemFleet::share(const Round& round, const Member& member) const {
    if (!round.batches || round.twice) return 1;
    const std::int64_t fair = (round.order.open() + std::ssize(members_) - 1) / std::ssize(members_);
    return std::clamp<std::int64_t>(fair, 1, member.batch);
}

/// Work for those who are idle; and as many more are started as have something to do.
void SystemFleet::give_out(Round& round, Clock::time_point now) {
    std::int64_t coming = 0;
    for (Member& member : members_) {
        if (member.worker.stage() == Stage::greeting) ++coming;
        if (member.worker.stage() != Stage::idle) continue;
        auto assignment = round.order.next(share(round, member));
        if (!assignment) return;
        assignment->stepwise = assignment->stepwise || !round.batches;
        member.worker.give(std::move(*assignment), round.policy);
    }
    for (Member& member : members_) {
        if (coming >= round.order.open()) return;
        if (member.worker.stage() != Stage::down || now < member.not_before) continue;
        start(member);
        ++coming;
    }
}

void SystemFleet::wait(const Round& round, Clock::time_point now) {
    waiting_.clear();
    auto until = now + glance;
    if (round.ready_since) until = std::min(until, *round.ready_since + hand_over_delay);
    for (const Member& member : members_) {
        if (const LineChild* child = member.worker.child()) {
            waiting_.push_back({child->output(), POLLIN, 0});
            if (child->talk() >= 0) waiting_.push_back({child->talk(), POLLIN, 0});
            if (child->sending()) waiting_.push_back({child->input(), POLLOUT, 0});
            if (member.worker.owes()) until = std::min(until, member.worker.deadline());
        } else if (member.not_before > now) {
            until = std::min(until, member.not_before);
        }
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - now).count();
    poll(waiting_.data(), waiting_.size(), static_cast<int>(std::max<std::int64_t>(left, 0)));
    auto place = waiting_.begin();
    for (Member& member : members_) {
        member.heard = {};
        const LineChild* child = member.worker.child();
        if (child == nullptr) continue;
        member.heard.answer = (place++)->revents != 0;
        if (child->talk() >= 0) member.heard.talk = (place++)->revents != 0;
        if (child->sending()) ++place;
    }
}

void SystemFleet::react(Round& round, Member& member, WorkerNews news) {
    switch (news.kind) {
        case WorkerNews::Kind::nothing:
            return;
        case WorkerNews::Kind::greeted:
            try {
                greet(member.worker.info());
            } catch (const InvalidArgument& error) {
                give_up(member.worker, fmt::format("{}: {}", member.worker.place(), error.what()));
            }
            info_ = member.worker.info();
            return;
        case WorkerNews::Kind::finished:
            take(round, member, std::move(news.episodes));
            return;
        case WorkerNews::Kind::declined:
            broke_off(round, member, news.why, false);
            return;
        case WorkerNews::Kind::failed:
            broke_off(round, member, news.why, true);
            return;
    }
}

void SystemFleet::take(Round& round, Member& member, std::vector<SystemEpisode> episodes) {
    member.failures = 0;
    const Assignment& given = member.worker.assignment();
    if (!given.stepwise) {
        if (member.worker.last_batch() < short_batch) member.batch = std::min(most_batch, 2 * member.batch);
        if (member.worker.last_batch() > long_batch)
            member.batch = std::max<std::int64_t>(1, member.batch / 2);
    }
    // That seeds are accepted and ignored is a fault that nothing else would show.
    if (round.twice && episodes.front().complete && !given.finished) {
        round.twice = false;
        round.order.again(
            {.first = given.first, .stepwise = true, .seen = std::move(episodes.front()), .finished = true});
        return;
    }
    if (given.finished) {
        if (episodes.front() != given.seen)
            give_up(
                member.worker,
                fmt::format(
                    "the system says that it is seeded, but episode {} ended elsewhere when it was run again",
                    given.first));
        run_twice_ = true;
    }
    for (SystemEpisode& episode : episodes) round.order.done(std::move(episode));
    if (!round.ready_since && !round.order.ready().empty()) round.ready_since = Clock::now();
}

/// A worker died, was killed, or declined.
void SystemFleet::broke_off(Round& round, Member& member, const std::string& why, bool died) {
    SystemWorker& worker = member.worker;
    const std::string what = fmt::format("{}: the system's command {}", worker.place(), why);
    if (!info_) give_up(worker, what);
    ++member.failures;
    const bool working = worker.busy() || !died;
    if (working) run_again(round, worker, what);
    if (died) {
        worker.end({}, {});
        member.not_before = Clock::now() + back_off(setting_.options.back_off, member.failures);
    }
    if (member.failures > most_failures)
        give_up(worker, fmt::format("{}, {} times in a row", what, member.failures));
}

/// What is to become of episodes that a worker did not finish.
void SystemFleet::run_again(Round& round, const SystemWorker& worker, const std::string& why) {
    Assignment given = worker.assignment();
    if (!given.stepwise) {
        // One of them may be what kills it: step by step we see which, and how far it comes.
        for (std::int64_t i = 0; i < given.count; ++i)
            round.order.again({.first = given.first + i, .stepwise = true});
        return;
    }
    const SystemEpisode& seen = worker.episode();
    if (!given.finished && seen.states.size() >= given.seen.states.size()) given.seen = seen;
    ++given.failures;
    // All that is ever seen of an episode: what follows the last action is not recorded.
    const bool whole = given.finished || std::ssize(given.seen.actions) == setting_.shape.horizon;
    const bool again = info_->seeded ? given.failures < 2 : false;
    if (!whole && (again || (given.seen.states.empty() && given.failures < most_attempts))) {
        round.order.again(std::move(given));
        return;
    }
    if (given.seen.states.empty())
        give_up(worker,
                fmt::format("{}; nothing was seen of the episode in {} attempts", why, given.failures));
    given.seen.complete = whole && (given.finished ? given.seen.complete : true);
    round.order.done(std::move(given.seen));
    if (!round.ready_since && !round.order.ready().empty()) round.ready_since = Clock::now();
}

void SystemFleet::hand_over(Round& round, Clock::time_point now, bool all) {
    std::vector<SystemEpisode>& ready = round.order.ready();
    const bool due = all || round.order.complete() || ready.size() >= most_ready ||
                     (round.ready_since && now >= *round.ready_since + hand_over_delay);
    if (!due || ready.empty()) return;
    round.ready_since.reset();
    round.accept(ready);
    round.accepted += std::ssize(ready);
    ready.clear();
}

/// The end of a call, whatever it was: what is done is handed over. What is half done comes back the same if
/// it is run again with its seed; without seeds it is an experiment that was made, and counts as far as it
/// was seen.
void SystemFleet::leave_orderly(Round& round) {
    hand_over(round, Clock::now(), true);
    std::vector<SystemEpisode> begun;
    if (!info_->seeded)
        for (Member& member : members_)
            if (member.worker.busy() && !member.worker.episode().states.empty()) {
                begun.push_back(member.worker.episode());
                begun.back().complete = false;
            }
    abandon("stopped in the middle of an episode");
    if (info_->seeded) return;
    begun = round.order.close_gaps(std::move(begun));
    if (begun.empty()) return;
    round.accept(begun);
    round.accepted += std::ssize(begun);
}

/// Those who are in the middle of something cannot be asked for anything else.
void SystemFleet::abandon(const std::string& why) {
    for (Member& member : members_)
        if (member.worker.busy()) member.worker.end({}, why);
}

}  // namespace alidade::detail
