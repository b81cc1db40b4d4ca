#include "features_folder.hpp"

#include <fmt/format.h>

#include <array>
#include <fstream>

#include "alidade/error.hpp"
#include "mapped_file.hpp"
#include "npy.hpp"
#include "npy_header.hpp"
#include "pending_file.hpp"
#include "text_file.hpp"

namespace alidade::detail {
namespace {

namespace fs = std::filesystem;

/// The three large arrays, mapped.
struct Mappings {
    MappedFile offsets, targets, values;

    explicit Mappings(const fs::path& folder)
        : offsets(folder / "offsets.npy"), targets(folder / "targets.npy"), values(folder / "values.npy") {}

    void check_unchanged() const {
        offsets.check_unchanged();
        targets.check_unchanged();
        values.check_unchanged();
    }
};

Index read_size(const fs::path& path) {
    const NpyArray array = parse_npy(read_text(path), path.string());
    constexpr std::int64_t largest = 0x7fffffff;
    expects(array.kind() == NpyKind::integer && array.integers.size() == 1,
            "{}: has type '{}' and shape ({}); it must be one integer", path.string(), array.dtype,
            fmt::join(array.shape, ", "));
    expects(array.integers[0] >= 1 && array.integers[0] <= largest, "{}: is {}; it must be from 1 to {}",
            path.string(), array.integers[0], largest);
    return array.integers[0];
}

template <class T>
void write_array(const fs::path& path, const char* dtype, const std::vector<std::int64_t>& shape,
                 std::span<const T> elements) {
    PendingText file(path);
    file.buffer() += format_npy_prefix(dtype, shape);
    constexpr std::size_t piece = 1U << 13U;
    for (; !elements.empty(); elements = elements.subspan(std::min(piece, elements.size()))) {
        const auto bytes = std::as_bytes(elements.first(std::min(piece, elements.size())));
        file.buffer().append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
        file.relieve();
    }
    file.commit();
}

}  // namespace

FeatureTable map_features(const fs::path& folder) {
    std::error_code ignored;
    expects(fs::is_directory(folder, ignored),
            "{}: there is no such folder; it must have states.npy, actions.npy, offsets.npy, targets.npy and "
            "values.npy",
            folder.string());
    const auto files = std::make_shared<const Mappings>(folder);
    const auto name = [&](const char* file) { return (folder / file).string(); };
    FeatureTable table;
    table.states = read_size(folder / "states.npy");
    table.actions = read_size(folder / "actions.npy");
    const NpyView values = view_npy(files->values.bytes(), name("values.npy"));
    expects(values.shape.size() == 2 && values.shape[1] >= 1,
            "{}: has shape ({}); it must be (entries, features)", name("values.npy"),
            fmt::join(values.shape, ", "));
    table.features = values.shape[1];
    table.values = values.reals(name("values.npy"));
    table.offsets = view_npy(files->offsets.bytes(), name("offsets.npy")).wide_integers(name("offsets.npy"));
    table.targets =
        view_npy(files->targets.bytes(), name("targets.npy")).narrow_integers(name("targets.npy"));
    expects(values.shape[0] == std::ssize(table.targets),
            "{}: has {} rows, and targets.npy has {} elements; both must have one for each entry",
            name("values.npy"), values.shape[0], table.targets.size());
    table.owner = files;
    table.check_unchanged = [files] { files->check_unchanged(); };
    return table;
}

void write_features_folder(const fs::path& folder, const FeatureMap& features) {
    const auto size = [&](const char* file, Index number) {
        write_text(folder / file, format_npy(NpyArray::of_integers({}, {number})));
    };
    write_array(folder / "offsets.npy", "<i8", {features.pairs() + 1}, features.offsets());
    write_array(folder / "targets.npy", "<i4", {features.entries()}, features.targets());
    write_array(folder / "values.npy", "<f8", {features.entries(), features.features()}, features.values());
    size("states.npy", features.states());
    size("actions.npy", features.actions());
}

}  // namespace alidade::detail
