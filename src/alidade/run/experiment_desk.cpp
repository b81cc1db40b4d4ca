#include "experiment_desk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <tuple>
#include <utility>

#include "../explore/likelihood_source.hpp"
#include "alidade/error.hpp"
#include "alidade/random/stream.hpp"
#include "run_contents.hpp"

namespace alidade::detail {

namespace {

/// A sixteenth of a deployment: enough experiments for a handful of workers, few enough to be looked at.
constexpr std::int64_t usual_chunks = 16;

bool closed(const ExperimentRecord& record) {
    return record.state == ExperimentState::told || record.state == ExperimentState::failed;
}

}  // namespace

std::optional<Snapshot> carried_from(const std::optional<RunCheckpoint>& checkpoint) {
    if (!checkpoint) return std::nullopt;
    Snapshot carried;
    carried.add("memory.", checkpoint->memory);
    carried.add("counts.", likelihood_evidence(checkpoint->counts));
    return carried;
}

ExperimentDesk::ExperimentDesk(std::shared_ptr<RunStore> store)
    : clock([] { return static_cast<std::int64_t>(std::time(nullptr)); }), store_(std::move(store)) {
    if (store_->writable()) store_->synchronise();
}

void ExperimentDesk::require_ledger(const sqlite::Database& database) const {
    expects(ledger::exists(database),
            "{}: the run has no experiments to be asked for: it was made to simulate, or of logs",
            store_->folder().string());
}

void ExperimentDesk::prepare(const AskGoal& goal) {
    expects(goal.episodes >= 1 && goal.episodes <= most_episodes, "episodes is {}; must be 1 to {}",
            goal.episodes, most_episodes);
    expects(!goal.target || *goal.target > 0, "target is {}; must be greater than 0",
            goal.target.value_or(0));
    const auto checkpoint = store_->checkpoint();
    store_->transact([&](sqlite::Database& database) {
        if (!ledger::exists(database)) {
            ledger::create(database, {.goal = goal}, carried_from(checkpoint));
            return;
        }
        ledger::Settings settings = ledger::read_settings(database);
        // Whether an answer that comes twice is one experiment or two depends on it.
        expects(settings.goal.seeded == goal.seeded || settings.deployment == 0,
                "{}: the run's system {}; that cannot be changed", store_->folder().string(),
                settings.goal.seeded ? "has seeds" : "has no seeds");
        if (settings.goal == goal) return;
        settings.goal = goal;
        ledger::write_settings(database, settings);
    });
}

AskGoal ExperimentDesk::goal() const {
    AskGoal goal;
    store_->inspect([&](const sqlite::Database& database) {
        require_ledger(database);
        goal = ledger::read_settings(database).goal;
    });
    return goal;
}

Asked ExperimentDesk::ask(const AskOptions& options) {
    expects(options.experiments >= 0 && options.chunk >= 0 && options.lease_seconds >= 1,
            "{} experiments of {} episodes for {} seconds; must be at least 0, 0 and 1", options.experiments,
            options.chunk, options.lease_seconds);
    while (true) {
        std::optional<Asked> asked;
        store_->transact([&](sqlite::Database& database) {
            require_ledger(database);
            asked = hand_out(database, options);
        });
        if (asked) return std::move(*asked);
        advance(options);
    }
}

std::optional<Asked> ExperimentDesk::hand_out(sqlite::Database& database, const AskOptions& options) const {
    const ledger::Settings settings = ledger::read_settings(database);
    if (settings.deployment == 0) return std::nullopt;
    const ledger::DeploymentRow row = ledger::known_deployment(database, settings.deployment);
    if (row.episodes == 0) {
        // The end, unless there is a new goal, or there are new data.
        AskGoal reached = row.goal;
        reached.seeded = settings.goal.seeded;
        if (!(reached == settings.goal) || !ledger::untaken(database).empty()) return std::nullopt;
        return Asked{.experiments = {}, .ended = settings.ended};
    }
    Asked asked;
    bool complete = true;
    const std::vector<ledger::Attempt> all = ledger::attempts(database, settings.deployment);
    for (std::size_t first = 0; first < all.size();) {
        std::size_t end = first;
        bool done = false;
        for (; end < all.size() && all[end].chunk == all[first].chunk; ++end)
            done = done || closed(all[end].record);
        const ledger::Attempt& last = all[end - 1];
        first = end;
        if (done) continue;
        complete = false;
        if (std::ssize(asked.experiments) >= options.experiments) continue;
        if (auto lent = lend(database, last, settings.goal.seeded, options)) {
            asked.experiments.push_back(std::move(*lent));
            continue;
        }
        ++asked.with_others;
        if (asked.next_due == 0 || last.record.due < asked.next_due) asked.next_due = last.record.due;
    }
    if (complete) return std::nullopt;
    return asked;
}

std::optional<Experiment> ExperimentDesk::lend(sqlite::Database& database, const ledger::Attempt& last,
                                               bool seeded, const AskOptions& options) const {
    const std::int64_t now = clock(), due = now + options.lease_seconds;
    ExperimentRecord record = last.record;
    if (record.state == ExperimentState::open && !(options.own_again && record.worker == options.worker)) {
        // A clock that was set back says nothing of the time that went by: better too early than never.
        if (now < record.due && now >= record.asked) return std::nullopt;
        if (!seeded) {
            // Without a seed a second attempt is another experiment: if both are told, both count.
            record.attempt += 1;
            record.episodes -= record.told;
            record.told = 0;
            ledger::Settings settings = ledger::read_settings(database);
            record.first_episode = settings.next_episode;
            settings.next_episode += record.episodes;
            ledger::write_settings(database, settings);
            record.id = ledger::add_experiment(database, record, last.chunk);
        }
    }
    ledger::lend(database, record.id, options.worker, now, due);
    return complete(database, *ledger::experiment(database, record.id), seeded);
}

Experiment ExperimentDesk::complete(const sqlite::Database& database, const ExperimentRecord& record,
                                    bool seeded) const {
    Experiment experiment;
    experiment.id = record.id;
    experiment.deployment = record.deployment;
    experiment.attempt = record.attempt;
    experiment.first_episode = record.first_episode;
    experiment.episodes = record.episodes;
    experiment.told = record.told;
    for (const ToldPart& part : record.parts) experiment.parts = std::max(experiment.parts, part.part + 1);
    if (seeded) experiment.seed = store_->options().seed;
    experiment.aim = ledger::known_deployment(database, record.deployment).aim;
    experiment.policy =
        std::make_shared<const Policy>(ledger::policy(database, record.deployment, problem().shape()));
    experiment.due = record.due;
    return experiment;
}

Experiment ExperimentDesk::experiment(std::int64_t id) const {
    Experiment found;
    store_->inspect([&](const sqlite::Database& database) {
        require_ledger(database);
        const auto record = ledger::experiment(database, id);
        expects(record.has_value(), "there is no experiment {} in this run", id);
        expects(record->kind == ExperimentKind::asked, "experiment {} has no policy: nobody asked for it",
                id);
        found = complete(database, *record, ledger::read_settings(database).goal.seeded);
    });
    return found;
}

std::string ExperimentDesk::unasked_refusal() const {
    for (const Request& request : parse_requests(store_->options().confidence))
        if (std::string refusal =
                find_source(request.name).unasked_refusal(task_of(problem(), store_->options()), request);
            !refusal.empty())
            return refusal;
    return {};
}

/// An answer that was read and checked, on its way into the run.
struct ExperimentDesk::Answer {
    EpisodeSpool spool;
    std::int64_t off_policy = 0;
    std::optional<RunContradiction> found;
};

ExperimentDesk::Answer ExperimentDesk::read_answer(const EpisodeSource& episodes,
                                                   const Policy* policy) const {
    Answer answer{EpisodeSpool(store_->folder())};
    // Counted for the checks that counting makes.
    Counts counts(problem().shared_successors(), problem().shape().horizon,
                  task_of(problem(), store_->options()).elsewhere());
    if (!episodes) return answer;
    episodes([&](const LoggedEpisode& episode) {
        validate(episode, problem().shape(), problem().start());
        expects(episode.times <= most_episodes - answer.spool.episodes(), "more than {} episodes in all",
                most_episodes);
        try {
            counts.add(episode.states, episode.actions, episode.times);
        } catch (const ImpossibleTransition& error) {
            // It was seen, so it is kept; that nothing can count it is what the run has to say.
            if (!answer.found)
                answer.found = impossible_transition(error, answer.spool.episodes() + episode.times);
        }
        if (policy != nullptr && policy->is_deterministic())
            for (std::size_t h = 0; h < episode.actions.size(); ++h)
                answer.off_policy +=
                    policy->action(static_cast<Step>(h), episode.states[h]) != episode.actions[h] ? 1 : 0;
        answer.spool.add(episode);
    });
    answer.spool.finish();
    return answer;
}

Told ExperimentDesk::tell(std::int64_t id, const EpisodeSource& episodes, const TellOptions& options) {
    expects(options.part >= 0, "part {}; must not be negative", options.part);
    const Experiment asked = experiment(id);
    Answer answer = read_answer(episodes, asked.policy.get());
    const std::int64_t count = answer.spool.episodes();
    expects(count > 0 || !options.failed.empty(),
            "no episodes for experiment {}; if there will be none, say why it failed", id);
    Told told{.id = id,
              .episodes = count,
              .transitions = answer.spool.transitions(),
              .off_policy = answer.off_policy,
              .contradiction = answer.found};
    ToldPart part{.part = options.part,
                  .episodes = count,
                  .broken_off = answer.spool.broken_off(),
                  .digest = answer.spool.digest(),
                  .source = options.source,
                  .worker = options.worker,
                  .at = clock()};
    const bool late_is_aside = !unasked_refusal().empty();
    std::string different;
    store_->transact([&](sqlite::Database& database) {
        const auto record = ledger::experiment(database, id);
        if (const auto before = ledger::part(database, id, options.part); before && count > 0) {
            told.repeated = true;
            const bool same = before->digest == part.digest;
            ledger::add_late(database, id, part, same);
            if (!same) different = before->digest;
            return;
        }
        expects(count > 0 || record->state != ExperimentState::told,
                "experiment {} is told already, so it did not fail", id);
        part.aside = late_is_aside && ledger::known_deployment(database, record->deployment).taken;
        told.aside = part.aside;
        if (count > 0) ledger::add_part(database, id, part, answer.spool);
        expects(ledger::count_told(database, id, count, options.whole, options.failed),
                "{} episodes for experiment {}, which wants {} and has been told {}; tell what it wants, and "
                "the rest as episodes that nobody asked for",
                count, id, record->episodes, record->told);
        if (answer.found) write_contradiction(database, *answer.found);
    });
    expects(
        different.empty(),
        "experiment {} was told before, and not the same (digest {}, now {}); the first answer stays, and "
        "this one is only noted",
        id, different, part.digest);
    return told;
}

Told ExperimentDesk::tell_unasked(const EpisodeSource& episodes, const TellOptions& options) {
    const std::string refusal = unasked_refusal();
    expects(refusal.empty(), "{}", refusal);
    Answer answer = read_answer(episodes, nullptr);
    const std::int64_t count = answer.spool.episodes();
    expects(count > 0, "no episodes to tell");
    Told told{
        .id = 0, .episodes = count, .transitions = answer.spool.transitions(), .contradiction = answer.found};
    store_->transact([&](sqlite::Database& database) {
        require_ledger(database);
        const ForeignEpisodes entry{options.kind, options.source, options.worker, clock(), {}};
        std::tie(told.id, told.repeated) = add_foreign(database, entry, answer.spool);
        if (answer.found && !told.repeated) write_contradiction(database, *answer.found);
    });
    return told;
}

std::pair<std::int64_t, bool> add_foreign(sqlite::Database& database, const ForeignEpisodes& entry,
                                          EpisodeSpool& episodes) {
    ToldPart part{.part = 0,
                  .episodes = episodes.episodes(),
                  .broken_off = episodes.broken_off(),
                  .digest = episodes.digest(),
                  .source = entry.source,
                  .worker = entry.worker,
                  .at = entry.at,
                  .taken = entry.taken};
    if (const auto before = ledger::log_of_digest(database, part.digest)) {
        ledger::add_late(database, *before, part, true);
        return {*before, true};
    }
    ExperimentRecord record;
    record.kind = entry.kind;
    record.state = ExperimentState::open;
    record.episodes = episodes.episodes();
    record.worker = entry.worker;
    const std::int64_t id = ledger::add_experiment(database, record, 0);
    ledger::add_part(database, id, part, episodes);
    ledger::count_told(database, id, record.episodes, true, {});
    return {id, false};
}

void ExperimentDesk::add_chunks(sqlite::Database& database, const ledger::DeploymentRow& row,
                                const AskOptions& options) const {
    const std::int64_t size =
        options.chunk > 0 ? options.chunk : (row.episodes + usual_chunks - 1) / usual_chunks;
    std::int64_t chunk = 0;
    for (std::int64_t first = 0; first < row.episodes; first += size) {
        ExperimentRecord record;
        record.deployment = row.number;
        record.first_episode = row.first_episode + first;
        record.episodes = std::min(size, row.episodes - first);
        ledger::add_experiment(database, record, chunk++);
    }
}

}  // namespace alidade::detail
