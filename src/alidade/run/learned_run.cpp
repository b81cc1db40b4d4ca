#include <chrono>
#include <ctime>
#include <map>
#include <utility>

#include "../explore/likelihood_source.hpp"
#include "alidade/error.hpp"
#include "alidade/explore/catalogue.hpp"
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

ReadLog read_log(const EpisodeLog& log, const Problem& problem, Elsewhere elsewhere,
                 const std::filesystem::path& room) {
    ReadLog read{detail::EpisodeSpool(room),
                 Counts(problem.shared_successors(), problem.shape().horizon, elsewhere)};
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

/// Whether the run has the episodes already.
bool has_log(const detail::RunStore& store, const std::string& digest) {
    bool found = false;
    store.inspect([&](const detail::sqlite::Database& database) {
        found = detail::ledger::exists(database) && detail::ledger::log_of_digest(database, digest);
    });
    return found;
}

/// What a run of logs is asked to do.
RunOptions offline_options(const Problem& problem, double delta, const AssumedError& assumed) {
    RunOptions options;
    options.assumed = assumed;
    options.algorithm = offline_algorithm(task_of(problem));
    options.confidence.clear();  // the algorithm's own
    options.delta = delta;
    const ExplorerOptions spelled = canonical(explorer_options(options, 1), task_of(problem, options));
    options.algorithm = spelled.algorithm;
    options.confidence = spelled.confidence;
    return options;
}

void require_of_logs(const Run& run, const Problem& problem) {
    expects(run.problem_hash() == problem_hash(problem), "{}: the run is of another problem",
            run.folder().string());
    const auto before = run.checkpoint();
    RunOptions wanted = offline_options(problem, run.options().delta, run.options().assumed);
    // An earlier run goes on as it was begun.
    wanted.confidence = to_string(
        continued_sources(find_behaviour(parse_request(wanted.algorithm, wanted.algorithm).name).source,
                          run.options().confidence));
    expects((!before || before->memory == Snapshot{}) && run.options().algorithm == wanted.algorithm &&
                run.options().confidence == wanted.confidence,
            "{}: the run is one that is explored; logs are told to it as episodes that nobody asked for",
            run.folder().string());
}

}  // namespace

LearnedRun Run::learn(const std::filesystem::path& folder, const Problem& problem, const std::string& source,
                      double delta, std::span<const EpisodeLog> logs, const LearnOptions& options) {
    const auto begin = std::chrono::steady_clock::now();
    RunOptions asked = offline_options(problem, delta, options.assumed);
    std::optional<Run> run;
    if (exists(folder) && !options.replace) {
        run = open(folder);
        require_of_logs(*run, problem);
        asked = run->options();
    }
    const Elsewhere elsewhere = task_of(problem, asked).elsewhere();
    std::vector<ReadLog> read;
    for (const EpisodeLog& log : logs) read.push_back(read_log(log, problem, elsewhere, room_for(folder)));
    const auto before = run ? run->checkpoint() : std::nullopt;
    // Which of them are new is known before anything is computed.
    Counts counts(problem.shared_successors(), problem.shape().horizon, elsewhere);
    if (before) counts += before->counts;
    std::vector<std::string> known;
    std::map<std::string, std::size_t> fresh;  // by digest
    for (std::size_t i = 0; i < read.size(); ++i) {
        const std::string digest = read[i].spool.digest();
        if ((run && has_log(*run->store_, digest)) || !fresh.emplace(digest, i).second)
            known.push_back(logs[i].name);
        else
            counts += read[i].counts;
    }
    Snapshot evidence = detail::likelihood_evidence(counts);
    // As it is computed when the run is loaded, to the last bit.
    Knowledge knowledge =
        recompute(task_of(problem, asked), evidence, explorer_options(asked, options.threads));
    RunResult result = detail::result_of(knowledge, std::move(evidence), std::string(stopped_at_logs));
    result.timings.total = result.timings.certify =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (!run) {
        if (options.replace) detail::RunStore::remove(folder);
        run = create(folder, problem, source, asked);
    }
    if (fresh.empty() && before) return {std::move(*run), std::move(knowledge), std::move(result), known};
    run->store_->synchronise();
    run->store_->save({{}, counts}, &result, [&](detail::sqlite::Database& database) {
        if (!detail::ledger::exists(database))
            detail::ledger::create(database, {}, detail::carried_from(before));
        const auto now = static_cast<std::int64_t>(std::time(nullptr));
        for (std::size_t i = 0; i < read.size(); ++i)
            if (const auto place = fresh.find(read[i].spool.digest());
                place != fresh.end() && place->second == i)
                detail::add_foreign(database, {ExperimentKind::log, logs[i].name, options.worker, now, 0},
                                    read[i].spool);
    });
    return {std::move(*run), std::move(knowledge), std::move(result), std::move(known)};
}

}  // namespace alidade
