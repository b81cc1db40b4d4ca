#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "alidade/explore/experiment_aim.hpp"
#include "alidade/explore/run_contradiction.hpp"
#include "alidade/model/policy.hpp"
#include "alidade/types.hpp"

/// Experiments that somebody else runs, and what becomes of them.
namespace alidade {

/// One experiment: a policy, and how many episodes of it are wanted. Everything but the deadline is fixed
/// before anybody runs it.
struct Experiment {
    std::int64_t id = 0;
    std::int64_t deployment = 0;     ///< whose part it is; all of one are of one policy
    std::int64_t attempt = 1;        ///< counted from 1; more where an earlier one was late
    std::int64_t first_episode = 0;  ///< number of its first episode in the run
    std::int64_t episodes = 0;       ///< wanted, those told already included
    std::int64_t told = 0;           ///< episodes told so far, the first ones
    std::int64_t parts = 0;          ///< that they were told in; the number of the next part
    std::optional<std::uint64_t>
        seed;  ///< the run's, of a system with seeds: seed_of_episode() has those of episodes
    std::optional<ExperimentAim> aim;  ///< what it is for
    std::shared_ptr<const Policy> policy;
    std::int64_t due =
        0;  ///< Unix time after which it may be given to somebody else; an answer is welcome later, too
};

/// The seed of an episode by its number in the run: below 2^53, and the one that a child process is told.
std::uint64_t seed_of_episode(std::uint64_t run_seed, std::int64_t episode);

/// What became of an experiment.
enum class ExperimentState {
    waiting,  ///< nobody has it yet
    open,     ///< somebody has it
    told,     ///< all its episodes are told
    failed,   ///< closed with a reason; what was told of it counts
};
std::string to_string(ExperimentState state);

/// How an experiment came about.
enum class ExperimentKind {
    asked,    ///< `ask` gave it out
    unasked,  ///< somebody told episodes of their own
    log,      ///< a file that `learn` read
};
std::string to_string(ExperimentKind kind);

/// One telling: what is kept of it beside its episodes.
struct ToldPart {
    std::int64_t part = 0;
    std::int64_t episodes = 0;
    std::int64_t broken_off = 0;  ///< of these, those that broke off: they count up to the last state seen
    std::string digest;           ///< of the episodes: 32 hexadecimal digits
    std::string source;           ///< the file, or whatever ran them
    std::string worker;           ///< who told it
    std::int64_t at = 0;          ///< Unix time
    std::optional<std::int64_t>
        taken;           ///< the deployment after which the explorer took it up; none: not yet, or never
    bool aside = false;  ///< kept, but the sets must not count it: it came after its deployment
};

/// A line of a run's log.
struct ExperimentRecord {
    std::int64_t id = 0;
    ExperimentKind kind = ExperimentKind::asked;
    ExperimentState state = ExperimentState::waiting;
    std::int64_t deployment = 0, attempt = 1;
    std::int64_t first_episode = 0, episodes = 0, told = 0;
    std::string reason;               ///< why it failed
    std::string worker;               ///< who had it last
    std::int64_t asked = 0, due = 0;  ///< Unix times; 0: never
    std::vector<ToldPart> parts;
};

/// An answer that came again: it is not counted, and this is what is kept of it.
struct RepeatedAnswer {
    std::int64_t experiment = 0, part = 0;
    bool same = true;  ///< as the first one
    std::string worker;
    std::int64_t at = 0;
};

/// How a run's experiments stand.
struct LedgerStatus {
    bool seeded = false;
    std::int64_t budget = 0;
    std::optional<double> target;
    std::int64_t deployment = 0;           ///< the present one; 0: none was made
    std::int64_t deployment_episodes = 0;  ///< wanted in it
    std::int64_t told = 0;                 ///< episodes in all
    std::int64_t taken = 0;                ///< of these, those that the explorer has taken up
    std::int64_t aside = 0;                ///< kept, but not to be counted by these sets
    std::int64_t broken_off = 0;           ///< episodes that broke off; they count up to the last state seen
    std::int64_t failed = 0;               ///< experiments
    std::int64_t missing = 0;  ///< episodes wanted of experiments that failed or were given out again
    std::vector<ExperimentRecord> open;    ///< with somebody now
    std::vector<RepeatedAnswer> repeated;  ///< answers that came twice
    std::string ended;                     ///< "target" or "budget" if no experiment is left to ask for
    std::optional<double> certificate;     ///< the best on the way, not clipped at H
    std::int64_t certified_at = 0;         ///< episodes it rests on
    double recent_seconds = 0;             ///< over which...
    std::int64_t recent_episodes = 0;      ///< ...so many episodes were told last
};

}  // namespace alidade
