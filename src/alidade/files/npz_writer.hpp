#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "archive_file.hpp"
#include "npz.hpp"

namespace alidade::detail {

/// Writes an .npz file array by array and piece by piece, in bounded memory.
class NpzWriter {
public:
    NpzWriter(const std::filesystem::path& path, NpzCompression compression)
        : out_(path, compression == NpzCompression::stored ? Packing::zip_stored : Packing::zip_deflated) {}

    /// Starts an array of `dtype` ("<f8", "<i8", "<i4"); its elements are pushed in C order.
    void begin(const std::string& name, std::string_view dtype, const std::vector<std::int64_t>& shape);
    void push(double value) { out_.write(&value, sizeof value); }
    /// As 32 or 64 bits, whichever the array has.
    void push_integer(std::int64_t value) {
        const auto narrow = static_cast<std::int32_t>(value);
        narrow_ ? out_.write(&narrow, sizeof narrow) : out_.write(&value, sizeof value);
    }
    void push(std::span<const double> values) { out_.write(values.data(), values.size_bytes()); }
    void end() { out_.end(); }

    /// A whole array.
    void add(const std::string& name, const NpyArray& array);
    /// An array whose elements were spooled.
    void add(const std::string& name, std::string_view dtype, const std::vector<std::int64_t>& shape,
             Spool& spool);
    void close() { out_.close(); }

private:
    ArchiveWriter out_;
    bool narrow_ = false;
};

}  // namespace alidade::detail
