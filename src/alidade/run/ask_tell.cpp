#include "alidade/run/ask_tell.hpp"

#include <utility>

#include "../process/system_protocol.hpp"
#include "experiment_desk.hpp"

namespace alidade {

std::string to_string(ExperimentState state) {
    switch (state) {
        case ExperimentState::waiting:
            return "waiting";
        case ExperimentState::open:
            return "open";
        case ExperimentState::told:
            return "told";
        case ExperimentState::failed:
            break;
    }
    return "failed";
}

std::string to_string(ExperimentKind kind) {
    switch (kind) {
        case ExperimentKind::asked:
            return "asked";
        case ExperimentKind::unasked:
            return "unasked";
        case ExperimentKind::log:
            break;
    }
    return "log";
}

std::uint64_t seed_of_episode(std::uint64_t run_seed, std::int64_t episode) {
    return detail::episode_seed(run_seed, episode);
}

AskTell::AskTell(const Run& run) : desk_(std::make_unique<detail::ExperimentDesk>(run.store_)) {}
AskTell::~AskTell() = default;
AskTell::AskTell(AskTell&&) noexcept = default;
AskTell& AskTell::operator=(AskTell&&) noexcept = default;

void AskTell::prepare(const AskGoal& goal) {
    desk_->prepare(goal);
}

AskGoal AskTell::goal() const {
    return desk_->goal();
}

Asked AskTell::ask(const AskOptions& options) {
    return desk_->ask(options);
}

Experiment AskTell::experiment(std::int64_t id) const {
    return desk_->experiment(id);
}

Told AskTell::tell(std::int64_t id, const EpisodeSource& episodes, const TellOptions& options) {
    return desk_->tell(id, episodes, options);
}

Told AskTell::tell_unasked(const EpisodeSource& episodes, const TellOptions& options) {
    return desk_->tell_unasked(episodes, options);
}

std::string AskTell::late_refusal() const {
    return desk_->unasked_refusal();
}

LedgerStatus AskTell::status() const {
    return desk_->status();
}

std::vector<ExperimentRecord> AskTell::log() const {
    return desk_->log();
}

void AskTell::visit(const std::function<void(const StoredEpisode&)>& each) const {
    desk_->visit(each);
}

Replay AskTell::replay(Threads threads) const {
    return desk_->replay(threads);
}

void AskTell::set_clock(std::function<std::int64_t()> clock) {
    desk_->clock = std::move(clock);
}

}  // namespace alidade
