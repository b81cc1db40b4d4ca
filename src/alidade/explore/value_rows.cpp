#include "value_rows.hpp"

#include <vector>

#include "../model/seen_pairs.hpp"

namespace alidade::detail {

namespace {

/// [paper, Alg. 1 lines 6-9] with V in [0,1] instead of [0,H]: the range H-1-h multiplies the bonus, not the
/// feature, so that the noise is 1/2 at every step [theory §3c]. All visits of a batch share V, so n rows are
/// one: n x x' and x times the sum of the targets, each less theta_0 . phi_V
/// [docs/algorithms/hoeffding.md, Data are told as counts].
class RowOfPair {
public:
    RowOfPair(const FeatureMap& features, const TangentFeatures& coordinates, const ValueOf& value)
        : features_(features),
          coordinates_(coordinates),
          value_(value),
          psi_(at(coordinates.space.dimension())) {}

    /// `elsewhere`: visits that led to where no base model does, which V does not reach: it is 0 there.
    ValueRow operator()(const RowPlace& place, std::span<const SeenEntry> seen, std::int64_t elsewhere = 0) {
        const Index pair = place.pair;
        const Index p = coordinates_.space.dimension(), first = features_.first_entry(pair);
        feature_.assign(at(p), 0.0);
        double predicted = 0, hits = 0;
        std::int64_t visits = elsewhere;
        for (Index j = 0; j < features_.successors(pair); ++j) {
            const Index entry = first + j;
            const bool here = !seen.empty() && seen.front().entry == entry;
            const std::int64_t count = here ? seen.front().count : 0;
            if (here) seen = seen.subspan(1);
            visits += count;
            const double value = value_(place, j);
            if (value == 0) continue;
            hits += value * static_cast<double>(count);
            predicted += value * coordinates_.centre(entry);
            coordinates_.psi(entry, psi_.data());
            for (Index i = 0; i < p; ++i) feature_[at(i)] += value * psi_[at(i)];
        }
        // Less what the prior centre predicts: the regression is of zeta, about theta_0 [theory §3d].
        return {place, feature_, visits, hits - static_cast<double>(visits) * predicted};
    }

private:
    const FeatureMap& features_;
    const TangentFeatures& coordinates_;
    const ValueOf& value_;
    std::vector<double> feature_, psi_;
};

}  // namespace

void visit_value_rows(const Task& task, const TangentFeatures& coordinates, const Counts& batch,
                      const ValueOf& value, const std::function<void(const ValueRow&)>& visit) {
    const FeatureMap& features = *task.features;
    RowOfPair row(features, coordinates, value);
    for (Step h = 0; h < task.shape().learned_steps(); ++h) {
        const Index set = task.homogeneous ? 0 : h;
        for_each_seen_pair(features, batch.seen(h), [&](Index pair, std::span<const SeenEntry> seen) {
            // Pooled steps feed one set: V in [0,1] has one noise whatever the step [theory §3j]. Any order
            // will do, as all rows of a batch were fixed before it.
            visit(row({h, set, pair}, seen));
        });
        // Targets are off by the misspecification at most, wherever its mass goes [theory §1.1].
        for (const SeenEntry& seen : batch.elsewhere(h)) visit(row({h, set, seen.entry}, {}, seen.count));
    }
}

}  // namespace alidade::detail
