#pragma once

#include "alidade/explore/explorer.hpp"
#include "alidade/explore/regression_source.hpp"
#include "support/sources_of.hpp"

namespace alidade::support {

/// The regression that an explorer's certificates rest on, which must be its first source.
inline const detail::RegressionSource& regression_of(const Explorer& explorer) {
    return dynamic_cast<const detail::RegressionSource&>(*sources_of(explorer).front());
}

}  // namespace alidade::support
