#pragma once

#include <fmt/format.h>
#include <string>

#include "alidade/error.hpp"

namespace alidade::detail {

/// Runs `make` and puts `where` in front of what it refuses.
template <class Make>
auto at_place(const std::string& where, const Make& make) {
    try {
        return make();
    } catch (const InvalidArgument& problem) {
        throw InvalidArgument(fmt::format("{}: {}", where, problem.what()));
    }
}

}  // namespace alidade::detail
