#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "alidade/model/base_kernel.hpp"
#include "alidade/model/successor_map.hpp"
#include "alidade/types.hpp"

namespace alidade {

/// The part of a truth that need not be a mixture of the base models: the true law of a pair is (1 - share)
/// of the mixture and `share` of this, the same at all steps. It leads only where some base model leads.
struct ForeignPart {
    double share = 0;         ///< in (0, 1]
    std::vector<double> law;  ///< one number an entry of the problem's map of successors; each row is a law

    bool operator==(const ForeignPart&) const = default;
};

/// Foreign laws that can be asked for by name.
enum class ForeignLaw {
    random,   ///< of each pair a law of its own, drawn evenly from all on its successors
    uniform,  ///< every successor of the pair alike
    shared,   ///< one law of states for all pairs, drawn evenly, cut to the pair's successors
    lowest,   ///< the successor with the lowest number
};
/// "random", "uniform", "shared" or "lowest".
std::string to_string(ForeignLaw law);
/// The law of such a name. Throws InvalidArgument for another.
ForeignLaw parse_foreign_law(std::string_view name);

/// A foreign part on the successors of a problem. Throws InvalidArgument unless 0 < share <= 1.
ForeignPart foreign_part(const SuccessorMap& successors, double share, ForeignLaw law = ForeignLaw::random,
                         std::uint64_t seed = 1);

/// The same of a kernel. Throws InvalidArgument, too, unless it has a row a pair and leads only where the map
/// does.
ForeignPart foreign_part(const SuccessorMap& successors, double share, const BaseKernel& kernel);

}  // namespace alidade
