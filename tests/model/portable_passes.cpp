// The sources of the passes once more, for a compiler that has neither vectors nor several instruction sets,
// and under names of their own: one program has both, and a test compares their bits. A file alone, because
// of the macros.
#define ALIDADE_PORTABLE
#define PlanningPass PortablePlanningPass
#define FisherPass PortableFisherPass
// Their kernels, too, or the linker would take one of both for the other.
#define ByLanes PortableByLanes
#define AscentKernel PortableAscentKernel
#define CoordinateKernel PortableCoordinateKernel
#define BonusKernel PortableBonusKernel
#define BackupKernel PortableBackupKernel
#define SpreadKernel PortableSpreadKernel
#define widest_lanes portable_widest_lanes

#include "portable_passes.hpp"

#include "alidade/model/fisher_pass.cpp"
#include "alidade/model/planning_pass.cpp"

namespace alidade::portable {

std::vector<double> planning_pass(const FeatureMap& features, const TangentFeatures& tangent,
                                  const WidthPlanner::Step& step, detail::KeptTiles kept,
                                  std::vector<std::uint8_t>& witness) {
    detail::PortablePlanningPass pass(features, tangent, 1, kept);
    pass.take_witnesses(0, witness);
    std::vector<double> values(at(features.pairs()));
    pass.run(step, values);
    pass.witnesses(0, witness);
    return values;
}

FisherNumbers fisher_pass(const FeatureMap& features, const TangentFeatures& tangent, const Vector& weights,
                          const Matrix& factor, FisherBonus bonus, double allowance, double scale,
                          std::span<const double> next) {
    const detail::PortableFisherPass pass(features, tangent);
    FisherNumbers numbers{std::vector<double>(at(features.pairs())),
                          std::vector<double>(at(features.pairs()))};
    std::vector<double> scratch = pass.scratch();
    pass.bonuses({&weights, &factor, bonus, allowance}, pass.whole(), scratch, numbers.bonus);
    pass.backup(weights, scale, numbers.bonus, next, pass.whole(), scratch, numbers.values);
    return numbers;
}

bool without_vectors() {
    return detail::widest_lanes() == detail::LaneWidth::one;
}

}  // namespace alidade::portable
