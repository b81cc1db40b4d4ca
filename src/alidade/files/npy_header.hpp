#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace alidade::detail {

/// An element type of a .npy file.
struct NpyDtype {
    char kind = 'f';       ///< f, i, u, b (boolean), S (bytes), U (code points)
    std::size_t size = 8;  ///< bytes of one element
};

/// The dictionary at the start of a .npy file.
struct NpyHeader {
    std::string descr;
    bool fortran_order = false;
    std::vector<std::int64_t> shape;
};

/// Reads "<f8", "|S3", ... Throws InvalidArgument, starting with `where`, for what we do not read.
NpyDtype parse_dtype(std::string_view descr, std::string_view where);

/// What comes before the data of a .npy file (format 1, C order).
std::string format_npy_prefix(std::string_view dtype, const std::vector<std::int64_t>& shape);

/// Reads "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }".
NpyHeader parse_npy_header(std::string_view text, std::string_view where);

}  // namespace alidade::detail
