#include "npz.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <memory>
#include <vector>

#include "alidade/error.hpp"
#include "archive_reader.hpp"
#include "text_file.hpp"

namespace alidade::detail {
namespace {

constexpr UnpackLimit most_unpacked{std::size_t{1} << 34, "larger than 16 GiB; split the model"};
constexpr std::string_view suffix = ".npy";

struct WriteCloser {
    void operator()(archive* a) const { archive_write_free(a); }
};
using NpzArchive = std::unique_ptr<archive, WriteCloser>;

void check_read(bool ok, archive* a, std::string_view file) {
    expects(ok,
            "{}: not a complete .npz file ({}); it must be a zip archive of .npy arrays: write it again with "
            "numpy.savez or scipy.sparse.save_npz",
            file, archive_reason(a));
}

ArchiveReader new_reader() {
    ArchiveReader reader(archive_read_new());
    ensures(reader != nullptr, "libarchive gave no reader");
    // Only through the central directory at the end: a truncated file must not pass for a shorter one.
    ensures(archive_read_support_format_zip_seekable(reader.get()) == ARCHIVE_OK, "libarchive reads no zip");
    return reader;
}

NpzArrays collect(archive* a, std::string_view file) {
    NpzArrays arrays;
    for (;;) {
        archive_entry* entry = nullptr;
        const int status = archive_read_next_header(a, &entry);
        if (status == ARCHIVE_EOF) return arrays;
        check_read(status == ARCHIVE_OK, a, file);
        const char* const path = archive_entry_pathname(entry);
        expects(path != nullptr, "{}: a member's name cannot be read; use ASCII names", file);
        std::string name(path);
        if (!name.ends_with(suffix)) continue;
        name.resize(name.size() - suffix.size());
        expects(!arrays.contains(name), "{}: array '{}' is there twice; write the file again", file, name);
        const std::string where = fmt::format("{}: array '{}'", file, name);
        arrays.emplace(std::move(name), parse_npy(read_member(a, most_unpacked, where), where));
    }
}

la_ssize_t append_block(archive*, void* target, const void* block, std::size_t size) {
    static_cast<std::string*>(target)->append(static_cast<const char*>(block), size);
    return static_cast<la_ssize_t>(size);
}

void check_write(int status, archive* a) {
    ensures(status == ARCHIVE_OK, "writing an .npz archive failed: {}", archive_reason(a));
}

void write_member(archive* a, const std::string& name, const std::string& bytes) {
    const ArchiveEntry entry(archive_entry_new());
    // No time stamp: the same arrays give the same bytes, in any time zone.
    archive_entry_set_pathname(entry.get(), (name + std::string(suffix)).c_str());
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), 0644);
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(bytes.size()));
    check_write(archive_write_header(a, entry.get()), a);
    std::size_t done = 0;
    while (done < bytes.size()) {
        const la_ssize_t step = archive_write_data(a, bytes.data() + done, bytes.size() - done);
        ensures(step > 0, "writing an .npz archive failed: {}", archive_reason(a));
        done += static_cast<std::size_t>(step);
    }
    check_write(archive_write_finish_entry(a), a);
}

}  // namespace

NpzArrays read_npz(const std::filesystem::path& path) {
    check_readable(path);
    const ArchiveReader reader = new_reader();
    const int status = archive_read_open_filename(reader.get(), path.c_str(), archive_block_bytes);
    check_read(status == ARCHIVE_OK, reader.get(), path.string());
    return collect(reader.get(), path.string());
}

NpzArrays parse_npz(std::string_view bytes, std::string_view file) {
    const ArchiveReader reader = new_reader();
    const int status = archive_read_open_memory(reader.get(), bytes.data(), bytes.size());
    check_read(status == ARCHIVE_OK, reader.get(), file);
    return collect(reader.get(), file);
}

std::string format_npz(const NpzArrays& arrays, NpzCompression compression) {
    std::string bytes;
    const NpzArchive writer(archive_write_new());
    ensures(writer != nullptr, "libarchive gave no writer");
    archive* const a = writer.get();
    check_write(archive_write_set_format_zip(a), a);
    check_write(compression == NpzCompression::stored ? archive_write_zip_set_compression_store(a)
                                                      : archive_write_zip_set_compression_deflate(a),
                a);
    // No padding to tape blocks after the end of the archive.
    check_write(archive_write_set_bytes_in_last_block(a, 1), a);
    check_write(archive_write_open(a, &bytes, nullptr, append_block, nullptr), a);
    for (const auto& [name, array] : arrays) write_member(a, name, format_npy(array));
    check_write(archive_write_close(a), a);
    return bytes;
}

void write_npz(const std::filesystem::path& path, const NpzArrays& arrays, NpzCompression compression) {
    write_text(path, format_npz(arrays, compression));
}

const NpyArray& find_array(const NpzArrays& arrays, std::string_view name, std::string_view file) {
    const auto found = arrays.find(name);
    if (found != arrays.end()) return found->second;
    std::vector<std::string_view> names;
    for (const auto& item : arrays) names.push_back(item.first);
    throw InvalidArgument(fmt::format("{}: array '{}' is missing (the file has: {}); add it", file, name,
                                      names.empty() ? "nothing" : fmt::format("{}", fmt::join(names, ", "))));
}

}  // namespace alidade::detail
