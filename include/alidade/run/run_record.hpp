#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "alidade/certify/reward_certificate.hpp"
#include "alidade/error.hpp"
#include "alidade/explore/exploration.hpp"
#include "alidade/explore/run_contradiction.hpp"
#include "alidade/explore/schedule.hpp"
#include "alidade/explore/snapshot.hpp"
#include "alidade/files/reward_file.hpp"
#include "alidade/model/counts.hpp"
#include "alidade/model/policy.hpp"
#include "alidade/problem/problem.hpp"

/// What a run holds, and why a folder does not.
namespace alidade {

/// What a run was asked to do. Two runs of one problem with equal options are the same run.
struct RunOptions {
    std::string algorithm = "hoeffding";    ///< canonical, as ExplorerOptions has it
    std::string confidence = "regression";  ///< likewise
    double delta = 0.1;
    std::uint64_t seed = 0;
    Schedule schedule;
    std::string system =
        "simulated";  ///< what runs its experiments: the name in systems(), without parameters
    AssumedError assumed = {};  ///< how far the truth may be off, where not as the problem says

    bool operator==(const RunOptions&) const = default;
};

/// What a run explores: the problem's task, under what the run assumes.
Task task_of(const Problem& problem, const RunOptions& options);

/// Where a run stands: enough to go on as if it had never stopped.
struct RunCheckpoint {
    Snapshot memory;  ///< of the exploration: loop and explorer
    Counts counts;    ///< all transitions counted
    /// That the data contradict the model. Once saved it stays: saving none, or another, keeps the first.
    std::optional<RunContradiction> contradiction = {};
};

/// What the last call left behind: the knowledge that is handed over and how it came about.
struct RunResult {
    Snapshot evidence;          ///< of the best iterate; its knowledge is recomputed from this
    std::int64_t episodes = 0;  ///< run in all
    std::int64_t replans = 0;
    double reward_free = 0;                                  ///< the certificate that was reported
    std::string method;                                      ///< the candidate that gave it
    std::vector<std::pair<std::string, double>> candidates;  ///< not clipped at H
    std::string stopped;  ///< "target", "budget" or "interrupted"; "logs": not explored
    Timings timings;
};

/// A plan that is kept with its run, and what was certain of it when it was made. The certificate goes on to
/// hold when the run goes on: its event is about all times at once.
struct KeptPlan {
    std::string name;               ///< as is_plan_name allows; no two of a run have the same
    std::string reward_name;        ///< how the reward was asked for
    ScaledReward reward;            ///< what was planned for, and its unit
    std::string planner;            ///< how the planner was asked for
    Policy policy;                  ///< the plan
    RewardCertificate certificate;  ///< in rewards of [0, 1]
    std::int64_t episodes = 0;      ///< that the certificate rests on
};

/// Whether a plan can be kept under that name: 1 to 100 letters, digits, '.', '_' or '-', not a '.' first.
bool is_plan_name(std::string_view name);

/// How a run is opened.
enum class Access {
    /// Takes no lock, makes and changes no file, never waits for the writer; sees what it has saved so far.
    /// Needs
    /// permission to read and nothing else; each call takes a copy of the run in memory.
    read,
    /// The one writer, for as long as the store lives.
    write,
    /// One of several who ask and tell: every change is a transaction of its own. Waits for others, half a
    /// minute at most,
    /// the one writer among them.
    share,
};

/// 32 hexadecimal digits that tell problems apart for exploration: FNV-1a (128 bits) over the features,
/// the start, the horizon, whether the weights are homogeneous and the misspecification, if any. Names,
/// truth, rewards and target do not enter: a run stays valid when they change. Features of more than 64 MiB
/// enter number by number instead of byte by byte.
std::string problem_hash(const Problem& problem);

/// What is wrong with a folder that is named as a run. What to do about it depends on this.
enum class RunFault {
    missing,    ///< no such folder, or nothing called run.sqlite in it
    foreign,    ///< run.sqlite is no run: of another program, or its first bytes are damaged
    damaged,    ///< a run, but not as it was written
    unknown,    ///< a run of a format that this version does not read
    busy,       ///< another process is writing it
    replaced,   ///< it changed under a reader: another run took its place, or it never held still
    forbidden,  ///< the file system does not let it be read, or be written
    taken,      ///< a new run was to be made where there is one
};

/// A folder that cannot be used as the run that was asked for.
class RunRefused : public InvalidArgument {
public:
    RunRefused(RunFault fault, const std::string& message) : InvalidArgument(message), fault_(fault) {}
    RunFault fault() const noexcept { return fault_; }

private:
    RunFault fault_;
};

}  // namespace alidade
