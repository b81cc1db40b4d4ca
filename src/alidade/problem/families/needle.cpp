#include <algorithm>
#include <cmath>

#include "drawing.hpp"
#include "families.hpp"
#include "garnet.hpp"
#include "parameters.hpp"

namespace alidade::detail {
namespace {

constexpr Index needle_successors = 10;

std::vector<bool> draw_informative(const FamilyArguments& arguments, Index pairs) {
    const double wanted = std::round(arguments.real("fraction") * static_cast<double>(pairs));
    const Index count = std::clamp<Index>(static_cast<Index>(wanted), 1, pairs);
    std::vector<bool> informative(static_cast<std::size_t>(pairs), false);
    Stream random = instance_stream(arguments, Draw::informative, 0);
    for (Index pair : SubsetSampler(pairs).draw(random, count))
        informative[static_cast<std::size_t>(pair)] = true;
    return informative;
}

}  // namespace

Family needle_family() {
    std::vector<FamilyParameter> parameters = garnet_parameters(50, 4, 5, 10, needle_successors);
    parameters.insert(parameters.end() - 1,
                      real_parameter("fraction", "0.02", 0, 1,
                                     "Share of the pairs on which the base models differ; at least one "
                                     "pair, rounded to the nearest."));
    const auto make = [](const FamilyArguments& arguments) {
        const auto some = [&arguments](Index pairs) { return draw_informative(arguments, pairs); };
        return make_garnet("needle", arguments, some, needle_successors);
    };
    return {"needle",
            "A garnet whose base models differ on a few random pairs only: what is to be learned must be "
            "found first.",
            std::move(parameters), make};
}

}  // namespace alidade::detail
