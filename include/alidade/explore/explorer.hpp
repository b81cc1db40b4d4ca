#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "alidade/certify/knowledge.hpp"
#include "alidade/explore/schedule.hpp"
#include "alidade/explore/snapshot.hpp"
#include "alidade/model/counts.hpp"
#include "alidade/model/policy.hpp"
#include "alidade/model/task.hpp"
#include "alidade/model/threads.hpp"
#include "alidade/width/width.hpp"

namespace alidade {

namespace detail {
class Behaviour;
class SetSource;
struct ExplorerParts;
}  // namespace detail

/// One experiment: a policy and how many episodes to run it for.
struct Deployment {
    std::shared_ptr<const Policy> policy;
    std::int64_t episodes = 1;  ///< fewer may be run, never more
};

/// How to explore, and what to claim afterwards.
struct ExplorerOptions {
    /// "NAME" or "NAME?parameter=value&..." of behaviours(); empty: the task's default.
    std::string algorithm = {};
    /// The sets that certificates rest on, of set_sources(), with commas between; empty: the algorithm's own.
    /// Several share delta evenly. To be said before any data are seen.
    std::string confidence = {};
    double delta = 0.1;      ///< failure probability of everything claimed, in (0, 1)
    std::uint64_t seed = 0;  ///< of the behaviour's own draws (ties)
    Schedule schedule = {};  ///< when to replan
    Threads threads;         ///< results do not depend on them
};

/// The same options with algorithm and confidence spelled out in one way: defaults are named, parameters that
/// say no more than the defaults are left out. Equal explorations have equal texts. Throws InvalidArgument
/// naming what is unknown.
ExplorerOptions canonical(ExplorerOptions options, const Task& task);

/// Decides where to look next and says what is known: one behaviour and any number of sources of confidence
/// sets. Ask for a deployment, run it, tell what was counted.
class Explorer {
public:
    /// By the catalogues. Throws InvalidArgument naming what is wrong, or why a task is refused.
    Explorer(const Task& task, const ExplorerOptions& options);
    Explorer(Explorer&&) noexcept;
    Explorer& operator=(Explorer&&) noexcept;
    ~Explorer();

    /// The next experiment. Asking twice without telling gives the same one. Throws ModelContradiction if the
    /// data leave no model to plan with.
    Deployment ask();
    /// The last policy once more, for those who go on although `ask` finds the model contradicted. Throws
    /// InvalidArgument if there was none.
    Deployment repeat() const;
    /// What the experiment showed: counts of the deployment asked for, and of nothing else. They are taken up
    /// whatever they show; `ask` and `knowledge` judge them.
    void tell(const Counts& counts);
    /// Data that nobody asked for, or that come when their experiment is over. Throws InvalidArgument where
    /// unasked_refusal() says why.
    void tell_unasked(const Counts& counts);
    /// Why such data would void the bounds of these sets; empty if they would not.
    std::string unasked_refusal() const;
    /// The learned model and its certificate now. Throws ModelContradiction if the data rule out the
    /// model. Does not change what is asked next.
    Knowledge knowledge() const;
    /// The learned model now, without a certificate: much cheaper for some sources. Throws as `knowledge`
    /// does.
    SharedLearned learned() const;

    std::int64_t episodes() const;  ///< told so far
    std::int64_t replans() const;   ///< policies computed, the first included
    /// At least `replans`, known from the data, the schedule and the number of batches that were cut short
    /// (where a run was extended) alone [theory §3e].
    std::int64_t replan_bound() const;
    /// Whether the best of a run's certificates is handed over, not the last.
    bool keeps_best() const;

    const ExplorerOptions& options() const noexcept { return options_; }

    /// What `knowledge` rests on, and nothing more.
    Snapshot evidence() const;
    /// The knowledge that an explorer's evidence supports, with more effort than there is on the way.
    Knowledge recompute(const Snapshot& evidence) const;
    /// Everything: an explorer restored from it goes on as this one would.
    Snapshot memory() const;
    /// Takes up a memory. Throws InvalidArgument if it does not fit.
    void restore(const Snapshot& memory);

private:
    friend struct detail::ExplorerParts;  // tests look at sources_

    void require_own(const Counts& counts) const;
    Knowledge combine(const WidthOptions& effort, std::vector<Knowledge> parts) const;
    /// All sources by name: those that certificates rest on, and the one that the behaviour plans with.
    std::vector<std::pair<std::string, detail::SetSource*>> all_sources() const;

    Task task_;
    ExplorerOptions options_;
    std::vector<std::string> names_;  // of sources_
    std::vector<std::shared_ptr<detail::SetSource>> sources_;
    std::string own_;  // name of the behaviour's source
    std::unique_ptr<detail::Behaviour> behaviour_;
};

/// The knowledge that evidence supports, without an explorer to hand: Explorer(task, options).recompute.
Knowledge recompute(const Task& task, const Snapshot& evidence, const ExplorerOptions& options);

/// The algorithm whose sets hold for data that somebody else collected: likelihood for base models, lsvi for
/// linear MDPs.
std::string offline_algorithm(const Task& task);

/// What counts teach, whoever collected them and however: a model, and sets that hold for any data
/// [likelihood §7; docs/algorithms/lsvi.md, Theorem 1]. Throws InvalidArgument where that algorithm refuses
/// the task.
Knowledge learn(const Task& task, const Counts& counts, double delta = 0.1);

}  // namespace alidade
