#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "alidade/environment/deployment.hpp"
#include "alidade/explore/experiment_aim.hpp"
#include "alidade/explore/explorer.hpp"
#include "alidade/explore/run_contradiction.hpp"
#include "alidade/model/task.hpp"

namespace alidade {

/// Why an exploration ended.
enum class Stopped { target, budget, interrupted };
std::string to_string(Stopped stopped);

/// A certificate on the way.
struct TracePoint {
    std::int64_t episodes = 0;
    double bound = 0;  ///< the least candidate, not clipped at H
    std::int64_t replans = 0;
    std::optional<ExperimentAim> aim = {};  ///< what the policy that was tried next was for, if it is known

    bool operator==(const TracePoint&) const = default;
};

/// The certificates on the way that an exploration's memory holds (Exploration::memory).
std::vector<TracePoint> trace_of(const Snapshot& memory);

/// Where a running exploration stands.
struct Progress {
    std::int64_t episodes = 0;
    std::int64_t replans = 0;
    double certificate = 0;  ///< the best so far, at most H
    double seconds = 0;      ///< since this call of run()
};

/// The largest budget, 2^53: counts are added up as doubles, and beyond this they would not be whole.
inline constexpr std::int64_t most_episodes = std::int64_t{1} << 53;

struct ExploreOptions {
    std::int64_t episodes = 100'000;    ///< budget, 1 to most_episodes: stop after this many in any case
    std::optional<double> target;       ///< stop at the first reward-free certificate of at most this
    std::function<bool()> interrupted;  ///< asked before every batch; true stops the run
    std::function<void()>
        ending;  ///< told when no batch will follow, before the last certificate is computed
    std::function<void(const Progress&)> observe;  ///< told after every batch; must be quick
    /// Go on when the data contradict the model: `contradiction` tells, and no bound is to be relied on. An
    /// explorer that cannot plan any more repeats its last policy.
    bool despite_contradiction = false;
    /// Asked at every new policy with what is known by then, model and sets without a certificate: true ends
    /// the run as a target does, and what was enough is what is handed over. The explorer is told nothing of
    /// it. While somebody is asked, certificates are computed at the end alone.
    std::function<bool(const Knowledge&)> enough = {};
};

/// Seconds spent, by kind of work.
struct Timings {
    double total = 0;     ///< of run(), everything included
    double simulate = 0;  ///< running deployments
    double plan = 0;      ///< computing policies and taking up counts
    double certify = 0;   ///< computing certificates
};

/// An explorer with certificates on the way, which keeps the best iterate: ask, tell, conclude, and `run`,
/// the ready-made loop of these. It can be written down between batches and taken up again, and then equals
/// one that was never stopped.
class Exploration {
public:
    Exploration(const Task& task, const ExplorerOptions& options);

    /// The next experiment, of no more episodes than the budget has left; nothing if the target is met or the
    /// budget is spent. Computes the policy, and the certificate where one is due. Asking twice without
    /// telling gives the same one. Throws ModelContradiction if the data contradict the model, and
    /// InvalidArgument for options out of range.
    std::optional<Deployment> ask(const ExploreOptions& options);
    /// What the experiment asked for showed, and nothing else. `found`: a transition that no base model can
    /// produce, whose episode is among the counted ones without its transitions.
    void tell(const Counts& batch, const std::optional<RunContradiction>& found = {});
    /// Data that nobody asked for, or that come when their experiment is over. Throws InvalidArgument where
    /// the sets do not hold for such data: Explorer::unasked_refusal says why.
    void tell_unasked(const Counts& batch, const std::optional<RunContradiction>& found = {});
    /// Asks options.enough of what is known now; false if there is nobody to ask. `conclude` goes by the last
    /// answer.
    bool is_enough(const ExploreOptions& options);
    /// The certificate at the end: reported, but not remembered, so that who goes on cannot tell that there
    /// was an end. Throws as `ask` does. Whether target or budget ended it; else it was interrupted.
    Stopped conclude(const ExploreOptions& options);

    /// The ready-made loop. Runs until the target, the budget or an interruption; may be called again with a
    /// larger budget or a smaller target. Throws ModelContradiction if the data contradict the model, after
    /// all that was seen has been counted: explorer, counts and memory belong together, and `contradiction`
    /// says what it was. An episode with a transition that no base model can produce is counted as one
    /// without transitions. What a system throws that cannot go on comes out likewise, after what it has
    /// reported before has been counted.
    Stopped run(Deployer& system, const ExploreOptions& options);

    const Explorer& explorer() const noexcept { return explorer_; }
    /// All transitions counted.
    const Counts& counts() const noexcept { return counts_; }
    /// What contradicted the model first, since this object was made or took up a memory.
    const std::optional<RunContradiction>& contradiction() const noexcept { return contradiction_; }
    /// The learned model with the smallest certificate so far (ties: the latest).
    /// Computed before the first episode too.
    const Knowledge& best();
    /// What the best knowledge rests on.
    const Snapshot& best_evidence();
    const std::vector<TracePoint>& trace() const noexcept { return trace_; }
    /// The best of the certificates on the way, if this object has computed it; it is not computed for this.
    const Knowledge* certified() const noexcept {
        return scheduled_.knowledge ? &*scheduled_.knowledge : nullptr;
    }
    const Timings& timings() const noexcept { return timings_; }

    /// Everything needed to go on: loop and explorer.
    Snapshot memory();
    /// Takes up a memory and the counts that go with it.
    void restore(const Snapshot& memory, Counts counts);

private:
    /// A candidate for what is handed over.
    struct Iterate {
        bool made = false;                   // there is one
        std::optional<Knowledge> knowledge;  // of one that was restored it is computed when it is asked for
        Snapshot evidence;
        // The least candidate, not clipped at H; none yet.
        double bound = std::numeric_limits<double>::infinity();
    };

    bool met(double bound, const ExploreOptions& options) const;
    bool certificate_due(const std::optional<double>& target) const;
    /// At how many episodes, where there is a certificate already.
    double next_certificate(const std::optional<double>& target) const;
    /// How many episodes a batch may have.
    std::int64_t until_certificate(const std::optional<double>& target) const;
    void take_if_better(Iterate& iterate, Knowledge knowledge);
    /// Does something that may find the model contradicted, and notes that; whether it did not.
    template <class Action>
    bool judged(bool despite, const Action& action);
    Deployment next(bool despite);
    /// `next`: the policy that will be tried; nothing if none is known.
    void certify(bool despite, const Policy* next);
    void advance(Deployer& system, const Deployment& deployment, std::int64_t episodes, bool despite);
    void note(const std::optional<RunContradiction>& found);
    void finish(bool despite);
    Iterate& handed_over();

    Task task_;
    Explorer explorer_;
    Counts counts_, batch_;
    Iterate scheduled_;               // the best of the certificates that the schedule asked for
    std::optional<Iterate> final_;    // and of the one at the end of run()
    std::int64_t certified_at_ = -1;  // episodes at the last scheduled certificate
    bool enough_ = false;             // the last answer of who was asked
    std::vector<TracePoint> trace_;
    std::optional<RunContradiction> contradiction_;
    Timings timings_;
};

}  // namespace alidade
