#pragma once

#include <cmath>
#include <limits>

#include "alidade/run/run_store.hpp"
#include "support/files.hpp"
#include "support/small_problem.hpp"

namespace alidade::testing {

inline RunOptions sample_options() {
    RunOptions options;
    options.algorithm = "uniform";
    options.confidence = "regression?constants=paper&episodes=100";
    options.delta = 1.0 / 3;
    options.seed = std::numeric_limits<std::uint64_t>::max() - 1;
    options.schedule = {Schedule::Kind::doubling, 0.3, 0.07};
    return options;
}

/// A checkpoint that says `episodes` in three places: the counts, their first entry and the memory.
inline RunCheckpoint sample_checkpoint(const Problem& problem, std::int64_t episodes) {
    RunCheckpoint checkpoint{{}, Counts(problem.shared_successors(), problem.shape().horizon)};
    std::int64_t next = episodes;
    for (Step h = 0; h < problem.shape().learned_steps(); ++h)
        for (Index e = 0; e < checkpoint.counts.successors().entries(); ++e)
            checkpoint.counts.add(h, e, next++);
    checkpoint.counts.add_episodes(episodes);
    checkpoint.memory.integers["episodes"] = {episodes};
    checkpoint.memory.integers["extremes"] = {std::numeric_limits<std::int64_t>::min(), -1,
                                              std::numeric_limits<std::int64_t>::max()};
    checkpoint.memory.numbers["precision"] = {0.1, -0.0, std::numeric_limits<double>::denorm_min(),
                                              std::numeric_limits<double>::infinity(),
                                              static_cast<double>(episodes)};
    checkpoint.memory.numbers["empty"] = {};
    checkpoint.memory.bytes["policy"] = {0, 255, 1};
    // One name for arrays of two kinds.
    checkpoint.memory.bytes["episodes"] = {7};
    return checkpoint;
}

inline RunResult sample_result(std::int64_t episodes) {
    RunResult result;
    result.evidence.numbers["theta"] = {1.0 / 3, 2.0 / 3, 1e-300};
    result.evidence.integers["episodes"] = {episodes};
    result.episodes = episodes;
    result.replans = 17;
    result.reward_free = 0.1 + 0.2;
    result.method = "coupling";
    result.candidates = {
        {"model", 5}, {"coupling", 0.1 + 0.2}, {"a", std::numeric_limits<double>::infinity()}};
    result.stopped = "interrupted";
    result.timings = {1.5, 0.25, 1e-9, 3};
    return result;
}

inline bool same(const RunCheckpoint& a, const RunCheckpoint& b) {
    bool signs = a.memory == b.memory && a.counts == b.counts;
    for (const auto& [name, values] : a.memory.numbers)
        for (std::size_t i = 0; signs && i < values.size(); ++i)
            signs = std::signbit(values[i]) == std::signbit(b.memory.numbers.at(name)[i]);
    return signs;
}

/// Whether two results agree in all but the seconds spent.
inline bool same(const RunResult& a, const RunResult& b) {
    return a.evidence == b.evidence && a.episodes == b.episodes && a.replans == b.replans &&
           a.reward_free == b.reward_free && a.method == b.method && a.candidates == b.candidates &&
           a.stopped == b.stopped;
}

inline Problem small_problem() {
    return Problem(small_description());
}

/// The bytes of a run of 5 episodes.
inline std::string sound_run() {
    const TemporaryFolder folder;
    const Problem problem = small_problem();
    detail::RunStore::create(folder.path(), problem, "p", sample_options())
        .save(sample_checkpoint(problem, 5), sample_result(5));
    return bytes_of(folder / "run.sqlite");
}

}  // namespace alidade::testing
