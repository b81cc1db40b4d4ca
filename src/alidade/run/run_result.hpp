#pragma once

#include <string>

#include "alidade/explore/exploration.hpp"
#include "alidade/run/run.hpp"
#include "alidade/run/run_record.hpp"

namespace alidade::detail {

/// What is stored of knowledge that is handed over.
inline RunResult result_of(const Knowledge& knowledge, Snapshot evidence, std::string stopped) {
    const RewardFreeCertificate& certificate = knowledge.certificate;
    RunResult result;
    result.evidence = std::move(evidence);
    result.episodes = knowledge.episodes;
    result.reward_free = certificate.bound;
    result.method = certificate.method;
    result.candidates = certificate.candidates;
    result.stopped = std::move(stopped);
    return result;
}

/// The same of an exploration that has ended; `before`: seconds that were spent earlier.
inline RunResult result_of(Exploration& exploration, Stopped stopped, const Timings& before) {
    RunResult result = result_of(exploration.best(), exploration.best_evidence(), to_string(stopped));
    const Timings& now = exploration.timings();
    result.episodes = exploration.explorer().episodes();
    result.replans = exploration.explorer().replans();
    result.timings = {before.total + now.total, before.simulate + now.simulate, before.plan + now.plan,
                      before.certify + now.certify};
    return result;
}

/// What an exploration that has ended leaves behind.
inline ExploredRun explored_run(Exploration& exploration, Stopped stopped, RunResult result,
                                std::optional<RunContradiction> contradiction) {
    return {stopped,
            exploration.best(),
            std::move(result),
            exploration.trace(),
            exploration.explorer().replan_bound(),
            exploration.counts(),
            std::move(contradiction)};
}

}  // namespace alidade::detail
