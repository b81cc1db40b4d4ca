#pragma once

#include <cstddef>

namespace alidade::detail {

/// What can be computed from the features again is kept up to this size: 64 MiB. Beyond, a model that fits
/// into memory once would not fit twice [docs/large-models.md].
constexpr std::size_t most_kept_bytes = std::size_t{64} << 20;

/// Whether so many numbers are kept.
constexpr bool is_kept(double numbers) {
    return numbers * sizeof(double) <= static_cast<double>(most_kept_bytes);
}

}  // namespace alidade::detail
