#pragma once

#include <string_view>

#include "alidade/formats/explicit_model.hpp"
#include "alidade/model/base_kernel.hpp"

namespace alidade::detail {

/// A valid point model as a base kernel: choice k of each state is action k. Every state must have the same
/// number of choices; a state labelled `start` behind all others, to which nothing leads, is left out. Throws
/// InvalidArgument, starting with `where`, naming the state that differs from state 0.
BaseKernel base_kernel_of(const ExplicitModel& model, std::string_view where);

}  // namespace alidade::detail
