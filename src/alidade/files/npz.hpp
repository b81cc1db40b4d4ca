#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "npy.hpp"

namespace alidade::detail {

/// The arrays of an .npz file by name.
using NpzArrays = std::map<std::string, NpyArray, std::less<>>;

/// How the members of an .npz file are packed; NumPy reads both.
enum class NpzCompression {
    stored,    ///< numpy.savez
    deflated,  ///< numpy.savez_compressed
};

/// Reads every array of an .npz file: a zip archive of .npy members; other members are ignored. Throws
/// InvalidArgument, starting with the path, for a file that is missing, truncated or damaged (checksums
/// are verified), for two arrays of one name, for an array that parse_npy refuses, and for members of
/// more than 16 GiB.
NpzArrays read_npz(const std::filesystem::path& path);
/// The same from memory; `file` is what messages call it.
NpzArrays parse_npz(std::string_view bytes, std::string_view file);

/// Writes an .npz file that numpy.load reads. The same arrays give the same bytes.
void write_npz(const std::filesystem::path& path, const NpzArrays& arrays,
               NpzCompression compression = NpzCompression::deflated);
/// The same to memory.
std::string format_npz(const NpzArrays& arrays, NpzCompression compression = NpzCompression::deflated);

/// The array called `name`. Throws InvalidArgument with the names that exist if there is none.
const NpyArray& find_array(const NpzArrays& arrays, std::string_view name, std::string_view file);

}  // namespace alidade::detail
