#include "system_worker.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "../environment/draws.hpp"
#include "alidade/error.hpp"
#include "last_words.hpp"

namespace alidade::detail {
namespace {

using Kind = WorkerNews::Kind;

constexpr std::size_t most_words = std::size_t{1} << 14;
/// A child whose answers have ended is about to end: its exit status is waited for that long.
constexpr std::chrono::milliseconds farewell{500};

}  // namespace

std::string SystemWorker::place() const {
    switch (stage_) {
        case Stage::batching:
            return fmt::format("worker {}, episodes {} to {}", number_, assignment_.first,
                               assignment_.first + assignment_.count - 1);
        case Stage::resetting:
            return fmt::format("worker {}, episode {}, reset", number_, assignment_.first);
        case Stage::stepping:
            return fmt::format("worker {}, episode {}, step {}", number_, assignment_.first,
                               std::max<Index>(std::ssize(episode_.actions) - 1, 0));
        case Stage::greeting:
            return fmt::format("worker {}, info", number_);
        default:
            return fmt::format("worker {}, between episodes", number_);
    }
}

std::string SystemWorker::last_words() const {
    return last_lines(words_ + unended_);
}

void SystemWorker::start() {
    words_.clear();
    unended_.clear();
    child_ = std::make_unique<LineChild>(setting_.options.command, setting_.options.folder);
    ask(info_request(setting_.shape), Stage::greeting);
}

void SystemWorker::ask(std::string_view request, Stage stage) {
    stage_ = stage;
    asked_at_ = Clock::now();
    const std::chrono::duration<double> limit(std::min(setting_.options.timeout, 1e9));
    deadline_ = asked_at_ + std::chrono::duration_cast<Clock::duration>(limit);
    child_->send(request);
}

void SystemWorker::give(Assignment assignment, const Policy& policy) {
    assignment_ = std::move(assignment);
    policy_ = &policy;
    episode_ = {};
    episode_.episode = assignment_.first;
    const std::uint64_t seed = setting_.options.seed;
    if (assignment_.stepwise) {
        ask(reset_request(assignment_.first, episode_seed(seed, assignment_.first)), Stage::resetting);
        return;
    }
    std::vector<std::uint64_t> seeds;
    for (std::int64_t i = 0; i < assignment_.count; ++i)
        seeds.push_back(episode_seed(seed, assignment_.first + i));
    ask(run_request(policy, assignment_.first, seeds), Stage::batching);
}

void SystemWorker::hear() {
    if (!child_ || child_->talk() < 0) return;
    const std::string talk = child_->take_talk();
    if (talk.empty()) return;
    unended_ += talk;
    // A line without an end is cut somewhere.
    const std::size_t end = unended_.size() > most_words ? unended_.size() : unended_.rfind('\n') + 1;
    if (end == 0) return;
    log_.add(number_, std::string_view(unended_).substr(0, end));
    words_.append(unended_, 0, end);
    unended_.erase(0, end);
    if (words_.size() > 2 * most_words) words_.erase(0, words_.size() - most_words);
}

std::size_t SystemWorker::longest_answer() const {
    constexpr std::size_t short_line = std::size_t{1} << 16, digits = 24;
    const auto horizon = static_cast<std::size_t>(setting_.shape.horizon);
    switch (stage_) {
        case Stage::batching:
            return short_line +
                   static_cast<std::size_t>(assignment_.count) * (horizon * digits + short_line / 64);
        case Stage::greeting:
            return short_line +
                   1024 * static_cast<std::size_t>(setting_.shape.states + setting_.shape.actions);
        default:
            return short_line;
    }
}

WorkerNews SystemWorker::look(Clock::time_point now, const Heard& heard) {
    if (!child_) return {};
    if (heard.talk) hear();
    if (child_->sending()) child_->flush();
    const bool open = !heard.answer || child_->receive();
    try {
        while (const auto line = child_->line()) {
            WorkerNews news = react(*line, now);
            if (news.kind != Kind::nothing) return news;
        }
        expects(child_->unread() <= longest_answer(),
                "the answer is longer than {} bytes and has no end; must be one line", longest_answer());
    } catch (const SystemDeclined& error) {
        const std::string why = fmt::format("says: {}", error.what());
        log_.add(number_, fmt::format("{}: {}", place(), why));
        // In the middle of an episode it is where it ends.
        if (stage_ == Stage::stepping) return finish(false);
        if (stage_ == Stage::greeting) throw ProtocolBroken(fmt::format("{}: the system {}", place(), why));
        stage_ = Stage::idle;
        return {.kind = Kind::declined, .why = why};
    } catch (const InvalidArgument& error) {
        throw ProtocolBroken(fmt::format("{}: {}", place(), error.what()));
    }
    if (!open) return fail({}, farewell);
    if (owes() && now >= deadline_)
        return fail(fmt::format("did not answer within {} s and was killed", setting_.options.timeout), {});
    return {};
}

WorkerNews SystemWorker::fail(const std::string& why, Clock::duration patience) {
    const std::string where = place();
    const LineChild::End ended = child_->end(patience);
    hear();
    WorkerNews news{.kind = Kind::failed};
    news.why = !why.empty()   ? why
               : ended.killed ? "closed its output and was killed"
                              : ending_in_words(ended.wait_status);
    log_.add(number_, unended_);
    log_.add(number_, fmt::format("[{}: the command {}]", where, news.why));
    child_.reset();
    // Where it was stays to be asked for: the stage says whether it had something to do.
    return news;
}

void SystemWorker::end(Clock::duration patience, const std::string& why) {
    if (child_) {
        child_->end(patience);
        hear();
        log_.add(number_, unended_);
        if (!why.empty()) log_.add(number_, fmt::format("[{}: {}]", place(), why));
        child_.reset();
    }
    stage_ = Stage::down;
}

WorkerNews SystemWorker::react(std::string_view line, Clock::time_point now) {
    switch (stage_) {
        case Stage::greeting:
            info_ = parse_info(line);
            stage_ = Stage::idle;
            return {.kind = Kind::greeted};
        case Stage::resetting:
            return begin(parse_reset(line, setting_.shape, assignment_.first));
        case Stage::stepping:
            return arrive(parse_step(line, setting_.shape, std::ssize(episode_.actions) - 1));
        case Stage::batching:
            return finish_batch(line, now);
        default:
            expects(false, "the system wrote '{}' though nothing was asked; it must answer each request once",
                    line.substr(0, 120));
    }
    return {};
}

WorkerNews SystemWorker::begin(State first) {
    check_start(first);
    see(first);
    return proceed(EpisodeEnd::none);
}

WorkerNews SystemWorker::arrive(const StepAnswer& answer) {
    // What follows the last action is not recorded, because no reward depends on it.
    if (std::ssize(episode_.actions) == setting_.shape.horizon) return finish(true);
    see(answer.state);
    return proceed(answer.end);
}

void SystemWorker::check_start(State state) const {
    const auto atoms = setting_.task.start.atoms();
    expects(
        std::ranges::any_of(atoms, [&](const auto& atom) { return atom.first == state && atom.second > 0; }),
        "the episode starts in state {}, where the problem's start law never starts", state);
}

/// Notes a state. An episode that is run again with its seed must be the same as far as it was seen.
void SystemWorker::see(State state) {
    const std::size_t h = episode_.states.size();
    const std::vector<State>& before = assignment_.seen.states;
    expects(h >= before.size() || before[h] == state,
            "the system says that it is seeded, but episode {} came out differently when it was run again: "
            "state {} at "
            "step {}, {} before; seed everything that is random with \"seed\", or say \"seeded\": false",
            assignment_.first, state, h, h < before.size() ? before[h] : 0);
    episode_.states.push_back(state);
}

Action SystemWorker::action_at(const SystemEpisode& episode) const {
    const auto h = std::ssize(episode.actions);
    // The same draw as when the system is stepped in this process [environment.hpp].
    Stream random(setting_.options.seed, Purpose::simulation, static_cast<std::uint64_t>(episode.episode),
                  static_cast<std::uint64_t>(h));
    return sample_action(random, *policy_, h, episode.states[static_cast<std::size_t>(h)]);
}

WorkerNews SystemWorker::proceed(EpisodeEnd end) {
    if (end == EpisodeEnd::truncated) return finish(false);
    if (end == EpisodeEnd::terminated) {
        stay(episode_);
        return finish(true);
    }
    const Action action = action_at(episode_);
    episode_.actions.push_back(action);
    ask(step_request(std::ssize(episode_.actions) - 1, action), Stage::stepping);
    return {};
}

/// The rest of an episode that has terminated: the system stays where it is. The base models must agree, or
/// transitions would be counted that nobody has seen.
void SystemWorker::stay(SystemEpisode& episode) const {
    const State state = episode.states.back();
    const SharedSuccessors map = setting_.task.successors();
    for (Action a = 0; a < setting_.shape.actions; ++a) {
        const Index pair = setting_.shape.pair(state, a);
        expects(map->first_entry(pair + 1) == map->first_entry(pair) + 1 && map->find_entry(pair, state) >= 0,
                "the system says that the episode terminated in state {}, but the base models do not stay "
                "there under "
                "action {}; give that state rows that stay in it with probability 1, or answer \"truncated\"",
                state, a);
    }
    while (std::ssize(episode.actions) < setting_.shape.horizon) {
        if (episode.actions.size() == episode.states.size()) episode.states.push_back(state);
        episode.actions.push_back(action_at(episode));
    }
}

WorkerNews SystemWorker::finish(bool complete) {
    episode_.complete = complete;
    stage_ = Stage::idle;
    WorkerNews news{.kind = Kind::finished};
    news.episodes.push_back(std::exchange(episode_, {}));
    return news;
}

WorkerNews SystemWorker::finish_batch(std::string_view line, Clock::time_point now) {
    std::vector<BatchEpisode> given = parse_run(line, *policy_, assignment_.first, assignment_.count);
    WorkerNews news{.kind = Kind::finished};
    news.episodes.reserve(given.size());
    for (BatchEpisode& batch : given) {
        SystemEpisode episode{.episode = assignment_.first + std::ssize(news.episodes),
                              .states = std::move(batch.states)};
        check_start(episode.states.front());
        const bool whole = std::ssize(episode.states) == setting_.shape.horizon;
        const auto taken = whole ? episode.states.size() : episode.states.size() - 1;
        episode.actions.reserve(static_cast<std::size_t>(setting_.shape.horizon));
        for (std::size_t h = 0; h < taken; ++h)
            episode.actions.push_back(policy_->action(static_cast<Step>(h), episode.states[h]));
        if (!whole && batch.end == EpisodeEnd::terminated) stay(episode);
        episode.complete = whole || batch.end == EpisodeEnd::terminated;
        news.episodes.push_back(std::move(episode));
    }
    last_batch_ = now - asked_at_;
    stage_ = Stage::idle;
    return news;
}

}  // namespace alidade::detail
