#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace alidade::detail {

/// What makes the certificates of Algorithm 1 sharper than the printed ones, each of them safe on its own and
/// each to be left out, to see what it buys [theory §3].
struct Sharpenings {
    bool projection = true;  ///< radius sqrt(beta^2 - r^2) about the projection, not 2 beta [theory §3a]
    bool log_det = true;     ///< the log-determinant itself, not its bound by the observations [theory §3b]
    bool ranges = true;      ///< values at the next step lie in [0, H-1-h], not [0, H] [theory §3c]
    bool bias = true;        ///< a bias that vanishes with data, not sqrt(lambda) B [theory §3d]
    bool hull = true;        ///< regression in the affine hull, not in R^d [theory §3k]
    bool delta = true;       ///< all of delta for the confidence event, not half [theory §3b]
    bool best_iterate = true;  ///< the best model so far is handed over, not the last [theory §3m]
    bool coupling = true;      ///< the certificate `coupling` as well as `model`
    bool span = true;          ///< the certificate `span` as well [theory §3l]
    bool divergences = true;  ///< `trajectory-kl`, `hybrid` and `ltv` as well [docs/algorithms/likelihood.md]
    bool chains = true;       ///< `optimal-span` and `two-chain` as well [docs/algorithms/two-chains.md]

    bool operator==(const Sharpenings&) const = default;
};

/// One sharpening by its name.
struct SharpeningEntry {
    std::string name;     ///< as typed: "best-iterate"
    std::string meaning;  ///< one sentence
    bool Sharpenings::*element;
};

/// All of them, in the order above.
const std::vector<SharpeningEntry>& sharpenings();

/// Everything but the named ones ("hull,span"; none if empty). Throws InvalidArgument with the names there
/// are.
Sharpenings sharpenings_without(std::string_view names);
/// The names that are left out, as above.
std::string names_left_out(const Sharpenings& chosen);

}  // namespace alidade::detail
