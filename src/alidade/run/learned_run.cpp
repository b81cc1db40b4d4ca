#include <chrono>
#include <ctime>
#include <utility>

#include "../explore/likelihood_source.hpp"
#include "alidade/error.hpp"
#include "experiment_desk.hpp"
#include "run_result.hpp"
#include "run_store.hpp"

namespace alidade {

namespace {

/// A log that was read and counted, on its way into the run.
struct ReadLog {
    detail::EpisodeSpool spool;
    Counts counts;
};

ReadLog read_log(const EpisodeLog& log, const Problem& problem, const std::filesystem::path& room) {
    ReadLog read{detail::EpisodeSpool(room), Counts(problem.shared_successors(), problem.shape().horizon)};
    log.episodes([&](const LoggedEpisode& episode) {
        validate(episode, problem.shape(), problem.start());
        expects(episode.times <= most_episodes - read.counts.episodes(), "more than {} episodes in all",
                most_episodes);
        read.counts.add(episode.states, episode.actions, episode.times);
        read.spool.add(episode);
    });
    read.spool.finish();
    return read;
}

std::filesystem::path room_for(const std::filesystem::path& folder) {
    std::error_code ignored;
    return std::filesystem::is_directory(folder, ignored) ? folder : std::filesystem::temp_directory_path();
}

}  // namespace

LearnedRun Run::learn(const std::filesystem::path& folder, const Problem& problem, const std::string& source,
                      double delta, std::span<const EpisodeLog> logs, const LearnOptions& options) {
    const auto begin = std::chrono::steady_clock::now();
    std::vector<ReadLog> read;
    for (const EpisodeLog& log : logs) read.push_back(read_log(log, problem, room_for(folder)));
    RunOptions asked;
    asked.algorithm = offline_algorithm(task_of(problem));
    asked.confidence.clear();  // the algorithm's own
    asked.delta = delta;
    const bool goes_on = exists(folder) && !options.replace;
    std::optional<Run> run;
    if (goes_on) {
        run = open(folder);
        expects(run->problem_hash() == alidade::problem_hash(problem), "{}: the run is of another problem",
                folder.string());
        asked = run->options();
    }
    const auto before = run ? run->checkpoint() : std::nullopt;
    expects(!before || before->memory == Snapshot{},
            "{}: the run was explored; logs are told to it as episodes that nobody asked for",
            folder.string());
    // Which of them are new is known before anything is computed.
    Counts counts(problem.shared_successors(), problem.shape().horizon);
    if (before) counts += before->counts;
    std::vector<std::string> known;
    std::vector<std::size_t> fresh;
    for (std::size_t i = 0; i < read.size(); ++i) {
        bool seen = false;
        if (run && run->keeps_episodes())
            run->store_->inspect([&](const detail::sqlite::Database& database) {
                seen = detail::ledger::log_of_digest(database, read[i].spool.digest()).has_value();
            });
        for (const std::size_t other : fresh)
            seen = seen || read[other].spool.digest() == read[i].spool.digest();
        if (seen) {
            known.push_back(logs[i].name);
        } else {
            fresh.push_back(i);
            counts += read[i].counts;
        }
    }
    Snapshot evidence = detail::likelihood_evidence(counts);
    // As it is computed when the run is loaded, to the last bit.
    Knowledge knowledge = recompute(task_of(problem), evidence, explorer_options(asked, options.threads));
    RunResult result = detail::result_of(knowledge, std::move(evidence), std::string(stopped_at_logs));
    result.timings.total = result.timings.certify =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (!run) {
        if (options.replace) detail::RunStore::remove(folder);
        run = create(folder, problem, source, asked);
    }
    if (!fresh.empty() || !before) {
        run->store_->synchronise();
        run->store_->save({{}, counts}, &result, [&](detail::sqlite::Database& database) {
            if (!detail::ledger::exists(database))
                detail::ledger::create(database, {}, detail::carried_from(before));
            for (const std::size_t i : fresh)
                detail::add_foreign(database,
                                    {ExperimentKind::log, logs[i].name, options.worker,
                                     static_cast<std::int64_t>(std::time(nullptr)), 0},
                                    read[i].spool);
        });
    }
    return {std::move(*run), std::move(knowledge), std::move(result), std::move(known)};
}

}  // namespace alidade
