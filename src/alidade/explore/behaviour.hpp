#pragma once

#include <cstdint>
#include <memory>

#include "alidade/explore/explorer.hpp"
#include "alidade/explore/schedule.hpp"
#include "alidade/explore/snapshot.hpp"
#include "alidade/model/counts.hpp"
#include "alidade/model/policy.hpp"
#include "alidade/model/task.hpp"
#include "alidade/model/threads.hpp"
#include "set_source.hpp"

namespace alidade::detail {

/// Chooses experiments. Which ones is a matter of taste: no bound depends on it.
class Behaviour {
public:
    Behaviour(const Shape& shape, Schedule schedule);
    virtual ~Behaviour() = default;

    /// The next experiment. Asking twice without telling gives the same one. Throws ModelContradiction if the
    /// data leave no model to plan with.
    Deployment ask();
    /// The last policy once more. Throws InvalidArgument if there was none.
    Deployment repeat() const;
    /// What the experiment showed.
    void tell(const Counts& batch);
    /// What was seen without its asking.
    void tell_unasked(const Counts& batch);

    std::int64_t episodes() const noexcept { return episodes_; }
    std::int64_t replans() const noexcept { return replans_; }
    /// At least `replans`, known from the data, the schedule and the number of batches that were cut short
    /// (where a run was extended) alone [theory §3e].
    std::int64_t replan_bound() const;
    /// The source that it plans with and refreshes itself; none if it needs none.
    virtual SetSource* source() const noexcept { return nullptr; }

    Snapshot memory() const;
    void restore(const Snapshot& memory);

protected:
    const Shape& shape() const noexcept { return shape_; }
    /// How many states are worth a chunk when actions are chosen, which takes some nanoseconds a pair.
    Index states_a_chunk() const noexcept { return 1 + 4096 / shape_.actions; }

private:
    /// Whether a new policy is due.
    virtual bool due() const = 0;
    /// The next policy. The source, if there is one, must not be due afterwards.
    virtual Policy choose() = 0;

    Shape shape_;
    Schedule schedule_;
    std::int64_t episodes_ = 0, replans_ = 0, cut_ = 0;  // cut_: batches told that were cut short
    std::shared_ptr<const Policy> policy_;
};

/// What every behaviour is told.
struct BehaviourSetting {
    Task task;
    std::uint64_t seed = 0;  ///< of its own draws (ties)
    Schedule schedule;       ///< when to replan
    Threads threads;         ///< results do not depend on them
};

}  // namespace alidade::detail
