#include <algorithm>

#include "alidade/error.hpp"
#include "experiment_desk.hpp"

namespace alidade::detail {

namespace {

/// The rate is that of so many answers.
constexpr std::size_t recent_answers = 50;

void add_rate(std::vector<std::pair<std::int64_t, std::int64_t>> answers, LedgerStatus& status) {
    std::ranges::sort(answers);
    if (answers.size() > recent_answers)
        answers.erase(answers.begin(), answers.end() - static_cast<std::ptrdiff_t>(recent_answers));
    if (answers.size() < 2) return;
    status.recent_seconds = static_cast<double>(answers.back().first - answers.front().first);
    // The first one took some time that nobody knows.
    for (std::size_t i = 1; i < answers.size(); ++i) status.recent_episodes += answers[i].second;
}

void add_experiments(const std::vector<ExperimentRecord>& experiments, LedgerStatus& status) {
    std::vector<std::pair<std::int64_t, std::int64_t>> answers;
    for (const ExperimentRecord& record : experiments) {
        status.told += record.told;
        for (const ToldPart& part : record.parts) {
            answers.emplace_back(part.at, part.episodes);
            status.broken_off += part.broken_off;
            if (part.taken) status.taken += part.episodes;
            if (part.aside) status.aside += part.episodes;
        }
        if (record.kind != ExperimentKind::asked) continue;
        if (record.state == ExperimentState::open) status.open.push_back(record);
        status.failed += record.state == ExperimentState::failed ? 1 : 0;
        const bool given_up =
            record.state == ExperimentState::failed || record.state == ExperimentState::told;
        // An attempt whose deployment is over without it is missing as well.
        const bool late = record.state == ExperimentState::open && record.deployment < status.deployment;
        if (given_up || late) status.missing += record.episodes - record.told;
    }
    add_rate(std::move(answers), status);
}

void add_certificate(const std::optional<RunCheckpoint>& checkpoint, LedgerStatus& status) {
    if (!checkpoint) return;
    const auto& numbers = checkpoint->memory.numbers;
    const auto& integers = checkpoint->memory.integers;
    if (!numbers.contains("best_bound") || !integers.contains("certified_at")) return;
    status.certificate = numbers.at("best_bound").at(0);
    status.certified_at = integers.at("certified_at").at(0);
}

}  // namespace

LedgerStatus ExperimentDesk::status() const {
    LedgerStatus status;
    store_->inspect([&](const sqlite::Database& database) {
        require_ledger(database);
        const ledger::Settings settings = ledger::read_settings(database);
        status.seeded = settings.goal.seeded;
        status.budget = settings.goal.episodes;
        status.target = settings.goal.target;
        status.deployment = settings.deployment;
        status.ended = settings.ended;
        if (const auto row = ledger::deployment(database, settings.deployment))
            status.deployment_episodes = row->episodes;
        add_experiments(ledger::experiments(database), status);
        status.repeated = ledger::repeated(database);
        add_certificate(store_->checkpoint_in(database), status);
    });
    return status;
}

std::vector<ExperimentRecord> ExperimentDesk::log() const {
    std::vector<ExperimentRecord> found;
    store_->inspect([&](const sqlite::Database& database) {
        require_ledger(database);
        found = ledger::experiments(database);
    });
    return found;
}

void ExperimentDesk::visit(const std::function<void(const StoredEpisode&)>& each) const {
    store_->inspect([&](const sqlite::Database& database) {
        require_ledger(database);
        ledger::check_episodes(database);
        const bool seeded = ledger::read_settings(database).goal.seeded;
        StoredEpisode stored;
        for (const ExperimentRecord& record : ledger::experiments(database)) {
            stored.experiment = record.id;
            stored.kind = record.kind;
            stored.number = record.first_episode;
            const bool has_seed = seeded && record.kind == ExperimentKind::asked;
            for (const ToldPart& part : record.parts) {
                stored.part = part.part;
                stored.source = part.source;
                stored.worker = part.worker;
                stored.at = part.at;
                ledger::visit_part(database, record.id, part.part, [&](const LoggedEpisode& episode) {
                    stored.episode = episode;
                    stored.seed.reset();
                    if (has_seed) stored.seed = seed_of_episode(store_->options().seed, stored.number);
                    each(stored);
                    stored.number += episode.times;
                });
            }
        }
    });
}

}  // namespace alidade::detail
