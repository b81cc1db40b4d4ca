#pragma once

#include <memory>
#include <vector>

#include "alidade/explore/explorer.hpp"
#include "alidade/explore/set_source.hpp"

namespace alidade::detail {

/// What an explorer is made of.
struct ExplorerParts {
    static const std::vector<std::shared_ptr<detail::SetSource>>& sources(const Explorer& explorer) {
        return explorer.sources_;
    }
};

}  // namespace alidade::detail

namespace alidade::support {

/// The sources that an explorer's certificates rest on.
inline const std::vector<std::shared_ptr<detail::SetSource>>& sources_of(const Explorer& explorer) {
    return detail::ExplorerParts::sources(explorer);
}

}  // namespace alidade::support
