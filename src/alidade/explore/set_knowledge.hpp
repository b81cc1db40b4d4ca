#pragma once

#include <cstdint>
#include <vector>

#include "alidade/certify/knowledge.hpp"
#include "alidade/confidence/confidence_set.hpp"
#include "alidade/explore/task.hpp"
#include "alidade/width/width.hpp"

namespace alidade::detail {

/// What confidence sets of base models' weights support: the model, and the least of all certificates. They
/// hold together with probability 1 - delta. Throws InvalidArgument where `likelihood_refusal` says why.
Knowledge knowledge_of(const Task& task, std::vector<ConfidenceSet> sets, double delta,
                       const WidthOptions& effort, int threads, std::int64_t episodes);

}  // namespace alidade::detail
