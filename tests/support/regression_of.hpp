#pragma once

#include "alidade/explore/explorer.hpp"
#include "alidade/explore/regression_source.hpp"

namespace alidade::support {

/// The regression that an explorer's certificates rest on, which must be its first source.
inline const detail::RegressionSource& regression_of(const Explorer& explorer) {
    return dynamic_cast<const detail::RegressionSource&>(*explorer.sources().front());
}

}  // namespace alidade::support
