#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "alidade/certify/knowledge.hpp"
#include "alidade/explore/schedule.hpp"
#include "alidade/explore/snapshot.hpp"
#include "alidade/model/counts.hpp"
#include "alidade/model/task.hpp"
#include "alidade/model/threads.hpp"
#include "alidade/spec/request.hpp"
#include "alidade/width/width.hpp"

namespace alidade::detail {

/// What every source of confidence sets is told.
struct SourceSetting {
    Task task;
    double delta = 0.1;  ///< failure probability of its sets, all together, in (0, 1)
    Schedule schedule;   ///< when what is fixed beforehand is fixed anew
    Threads threads;     ///< results do not depend on them
};

/// Turns what was counted into confidence sets. Its sets hold for any behaviour, so it does not matter who
/// chooses the experiments [theory §3g; likelihood §2]; some sources must only fix something before each of
/// them (what is regressed on, what is predicted): `refresh`.
class SetSource {
public:
    virtual ~SetSource() = default;

    /// Whether the schedule asks for a refresh before the next experiment; so it does before the first.
    virtual bool due() const = 0;
    /// Fixes anew what must be fixed before data are seen. Throws ModelContradiction if the data leave no
    /// model to do that with.
    virtual void refresh() = 0;
    /// Takes up the counts of one experiment, whatever they show; `refresh` and `knowledge` judge them.
    virtual void absorb(const Counts& batch) = 0;
    virtual std::int64_t episodes() const = 0;  ///< taken up so far
    /// The learned model and its certificate now. Throws ModelContradiction if the data rule out the model.
    virtual Knowledge knowledge() const = 0;
    /// The learned model alone: cheaper where a certificate takes most of the time.
    virtual SharedLearned learned() const { return knowledge().learned; }
    /// The knowledge that evidence of such a source supports, with more effort than there is on the way.
    virtual Knowledge recompute(const Snapshot& evidence) const = 0;

    /// How widths are computed.
    virtual WidthMethod width() const = 0;
    /// Whether the best of a run's certificates is handed over, not the last.
    virtual bool keeps_best() const { return true; }
    /// Refreshes at most, the first included, if the data bound them.
    virtual std::optional<std::int64_t> refresh_bound() const { return std::nullopt; }

    /// What `knowledge` rests on, and nothing more.
    virtual Snapshot evidence() const = 0;
    /// Everything: a source restored from it goes on as this one would.
    virtual Snapshot memory() const = 0;
    /// Takes up a memory. Throws InvalidArgument if it does not fit.
    virtual void restore(const Snapshot& memory) = 0;
};

/// The source of "NAME" or "NAME?parameter=value&...". Throws InvalidArgument as RequestArguments does, and
/// where the entry refuses the task.
std::unique_ptr<SetSource> make_source(const Request& request, const SourceSetting& setting);

}  // namespace alidade::detail
