#pragma once

#include <string_view>

#include "../files/npz.hpp"
#include "alidade/formats/model_npz.hpp"

namespace alidade::detail {

/// What read_tabular_npz makes of a file, from its arrays; `file` is what messages call them.
TabularModel tabular_from_arrays(NpzArrays arrays, std::string_view file);

}  // namespace alidade::detail
