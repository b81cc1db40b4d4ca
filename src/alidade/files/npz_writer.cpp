#include "npz_writer.hpp"

#include "npy_header.hpp"

namespace alidade::detail {

void NpzWriter::begin(const std::string& name, std::string_view dtype,
                      const std::vector<std::int64_t>& shape) {
    const std::string prefix = format_npy_prefix(dtype, shape);
    auto size = static_cast<std::int64_t>(parse_dtype(dtype, name).size);
    for (const std::int64_t extent : shape) size *= extent;
    narrow_ = dtype == "<i4";
    out_.begin(name + ".npy", static_cast<std::int64_t>(prefix.size()) + size);
    out_.write(prefix.data(), prefix.size());
}

void NpzWriter::add(const std::string& name, const NpyArray& array) {
    out_.add(name + ".npy", format_npy(array));
}

void NpzWriter::add(const std::string& name, std::string_view dtype, const std::vector<std::int64_t>& shape,
                    Spool& spool) {
    begin(name, dtype, shape);
    out_.copy(spool);
    out_.end();
}

}  // namespace alidade::detail
