#pragma once

#include <deque>
#include <vector>

#include "alidade/certify/atlas.hpp"
#include "alidade/certify/knowledge.hpp"
#include "alidade/certify/weighting.hpp"

namespace alidade {

/// Whether what is known is enough for an atlas of a given loss: to stop an exploration by, which itself sees
/// no reward. It may be asked at all times: confidence sets hold at all times at once, so that stopping at
/// the first good atlas costs no probability.
class AtlasGoal {
public:
    /// `options.loss` > 0 is what is to be met. Throws InvalidArgument if it is 0.
    AtlasGoal(Objectives objectives, AtlasOptions options);

    /// Where it was not enough before is looked at first, so that most answers take a few certificates.
    bool met(const Knowledge& knowledge);

private:
    bool still_open(const Knowledge& knowledge, const std::vector<double>& weights) const;

    Objectives objectives_;
    AtlasOptions options_;
    std::deque<std::vector<double>> failed_;  // weights, the latest first
};

}  // namespace alidade
