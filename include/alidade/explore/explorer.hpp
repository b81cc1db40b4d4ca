#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "alidade/certify/knowledge.hpp"
#include "alidade/explore/constants.hpp"
#include "alidade/explore/schedule.hpp"
#include "alidade/model/counts.hpp"
#include "alidade/model/policy.hpp"

namespace alidade {

/// One experiment: a policy and how many episodes to run it for.
struct Deployment {
    std::shared_ptr<const Policy> policy;
    std::int64_t episodes = 1;  ///< fewer may be run, never more
};

/// Named arrays: how an explorer's memory is written down and read back.
struct Snapshot {
    std::map<std::string, std::vector<double>> numbers;
    std::map<std::string, std::vector<std::int64_t>> integers;
    std::map<std::string, std::vector<std::uint8_t>> bytes;

    bool operator==(const Snapshot&) const = default;
};

/// Options that every explorer understands.
struct ExplorerOptions {
    double delta = 0.1;      ///< failure probability of everything claimed, in (0, 1)
    std::uint64_t seed = 0;  ///< of the explorer's own draws (ties)
    Schedule schedule;       ///< when to replan
    int threads = 1;         ///< at least one; results do not depend on it
    Constants constants;     ///< of the regression
};

/// Decides where to look next. Ask for a deployment, run it, tell what was counted. Which experiments
/// it chooses is a matter of taste; what `knowledge` claims is not.
class Explorer {
public:
    virtual ~Explorer() = default;

    /// The next experiment. Asking twice without telling gives the same one. Throws ModelContradiction if the
    /// data leave no model to plan with.
    virtual Deployment ask() = 0;
    /// The last policy once more, for those who go on although `ask` finds the model contradicted. Throws
    /// InvalidArgument if there was none.
    virtual Deployment repeat() const = 0;
    /// What the experiment showed: counts of the deployment asked for, and of nothing else. They are taken up
    /// whatever they show; `ask` and `knowledge` judge them.
    virtual void tell(const Counts& counts) = 0;
    /// The learned model and its certificate now. Throws ModelContradiction if the data rule out the
    /// model. Does not change what is asked next.
    virtual Knowledge knowledge() = 0;

    virtual std::int64_t episodes() const = 0;  ///< told so far
    virtual std::int64_t replans() const = 0;   ///< policies computed, the first included
    /// At least `replans`, known from the data, the schedule and the number of batches that were cut short
    /// (where a run was extended) alone [theory §3e].
    virtual std::int64_t replan_bound() const = 0;

    /// What `knowledge` rests on, and nothing more: the catalogue recomputes it from this.
    virtual Snapshot evidence() const = 0;
    /// Everything: an explorer restored from it goes on as this one would.
    virtual Snapshot memory() const = 0;
    /// Takes up a memory. Throws InvalidArgument if it does not fit.
    virtual void restore(const Snapshot& memory) = 0;
};

}  // namespace alidade
