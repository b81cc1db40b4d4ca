#include "features_folder.hpp"

#include <fmt/format.h>

#include <array>
#include <fstream>

#include "../model/parallel.hpp"
#include "../model/row_block.hpp"
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

/// An array whose length is known when all of it is written: the header comes last, into room that was left
/// for it.
class GrowingArray {
public:
    /// `most`: the longest it may become.
    GrowingArray(const fs::path& path, const char* dtype, Index most, Index columns = 0)
        : file_(path), dtype_(dtype), columns_(columns), room_(prefix(most).size()) {
        stream_.open(file_.path(), std::ios::binary | std::ios::trunc);
        stream_.seekp(static_cast<std::streamoff>(room_));
    }

    template <class T>
    void append(const std::vector<T>& elements) {
        const auto bytes = std::as_bytes(std::span(elements));
        stream_.write(reinterpret_cast<const char*>(bytes.data()),
                      static_cast<std::streamsize>(bytes.size()));
        check();
    }
    void finish(Index length) {
        const std::string header = prefix(length);
        ensures(header.size() == room_, "the header of {} needs {} bytes, not {}", file_.target().string(),
                header.size(), room_);
        stream_.seekp(0);
        stream_.write(header.data(), static_cast<std::streamsize>(header.size()));
        stream_.close();
        check();
    }
    void commit() { file_.commit(); }

private:
    std::string prefix(Index length) const {
        return columns_ > 0 ? format_npy_prefix(dtype_, {length, columns_})
                            : format_npy_prefix(dtype_, {length});
    }
    void check() const {
        expects(stream_.good(), "{}: cannot be written; check the folder, its permissions and the space left",
                file_.target().string());
    }

    PendingFile file_;
    std::ofstream stream_;
    const char* dtype_;
    Index columns_;
    std::size_t room_;
};

void write_sizes(const fs::path& folder, Index states, Index actions) {
    write_text(folder / "states.npy", format_npy(NpyArray::of_integers({}, {states})));
    write_text(folder / "actions.npy", format_npy(NpyArray::of_integers({}, {actions})));
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
    write_array(folder / "offsets.npy", "<i8", {features.pairs() + 1}, features.offsets());
    write_array(folder / "targets.npy", "<i4", {features.entries()}, features.targets());
    write_array(folder / "values.npy", "<f8", {features.entries(), features.features()}, features.values());
    write_sizes(folder, features.states(), features.actions());
}

void write_features_folder(const fs::path& folder, const RowSource& rows, Threads threads) {
    check_source(rows);
    std::error_code ignored;
    fs::create_directories(folder, ignored);
    // Rows a block, and blocks that threads make side by side before they are written in their order.
    constexpr Index block_rows = 1024, together = 16;
    const Index pairs = rows.states * rows.actions, most = pairs * rows.most_successors,
                blocks = (pairs + block_rows - 1) / block_rows;
    GrowingArray offsets(folder / "offsets.npy", "<i8", pairs + 1),
        targets(folder / "targets.npy", "<i4", most),
        values(folder / "values.npy", "<f8", most, std::ssize(rows.names));
    std::vector<RowBlock> made(at(together));
    std::vector<std::int64_t> ends{0};
    for (Index first = 0; first < blocks; first += together) {
        const Index count = std::min(together, blocks - first);
        in_chunks(count, 1, threads, [&](Index begin, Index end) {
            for (Index k = begin; k < end; ++k)
                make_block(rows, (first + k) * block_rows, std::min(pairs, (first + k + 1) * block_rows),
                           made[at(k)]);
        });
        for (const RowBlock& block : std::span(made).first(at(count))) {
            std::int64_t end = ends.back();
            // The first offset of all is written with the first block.
            if (end > 0 || first > 0) ends.clear();
            for (const std::int32_t successors : block.counts) ends.push_back(end += successors);
            offsets.append(ends);
            targets.append(block.targets);
            values.append(block.values);
        }
    }
    offsets.finish(pairs + 1);
    targets.finish(ends.back());
    values.finish(ends.back());
    write_sizes(folder, rows.states, rows.actions);
    offsets.commit();
    targets.commit();
    values.commit();
}

}  // namespace alidade::detail
