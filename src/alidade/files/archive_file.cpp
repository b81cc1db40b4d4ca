#include "archive_file.hpp"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <array>

#include "alidade/error.hpp"
#include "archive_reader.hpp"

namespace alidade::detail {
namespace {

constexpr std::size_t large_write = std::size_t{1} << 16;

/// Format and filter of a new archive; false if libarchive cannot do it.
bool set_packing(archive* a, Packing packing) {
    const bool zip = packing == Packing::zip_stored || packing == Packing::zip_deflated;
    // Restricted pax is ustar unless a member is too large for it.
    if ((zip ? archive_write_set_format_zip(a) : archive_write_set_format_pax_restricted(a)) != ARCHIVE_OK)
        return false;
    switch (packing) {
        case Packing::tar:
            return true;
        case Packing::tar_gzip:
            return archive_write_add_filter_gzip(a) == ARCHIVE_OK &&
                   archive_write_set_options(a, "gzip:!timestamp") == ARCHIVE_OK;
        case Packing::tar_xz:
            return archive_write_add_filter_xz(a) == ARCHIVE_OK;
        case Packing::zip_stored:
            return archive_write_zip_set_compression_store(a) == ARCHIVE_OK;
        case Packing::zip_deflated:
            return archive_write_zip_set_compression_deflate(a) == ARCHIVE_OK;
    }
    return false;
}

}  // namespace

void ArchiveWriter::Closer::operator()(archive* a) const {
    archive_write_free(a);
}

ArchiveWriter::ArchiveWriter(const std::filesystem::path& path, Packing packing)
    : path_(path.string()), archive_(archive_write_new()) {
    ensures(archive_ != nullptr, "libarchive gave no writer");
    archive* const a = archive_.get();
    ensures(set_packing(a, packing), "libarchive cannot write such an archive: {}", archive_reason(a));
    // No padding to tape blocks after the end of the archive.
    check(archive_write_set_bytes_in_last_block(a, 1) == ARCHIVE_OK);
    check(archive_write_open_filename(a, path_.c_str()) == ARCHIVE_OK);
}

void ArchiveWriter::check(bool ok) const {
    expects(ok, "{}: cannot be written ({}); check the folder, its permissions and the space left", path_,
            archive_reason(archive_.get()));
}

void ArchiveWriter::begin(const std::string& name, std::int64_t size) {
    const ArchiveEntry entry(archive_entry_new());
    archive_entry_set_pathname(entry.get(), name.c_str());
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), 0644);
    archive_entry_set_size(entry.get(), size);
    check(archive_write_header(archive_.get(), entry.get()) == ARCHIVE_OK);
    member_ = name;
    left_ = size;
}

void ArchiveWriter::write(const void* bytes, std::size_t size) {
    ensures(static_cast<std::int64_t>(size) <= left_, "{}: member {} is longer than was said", path_,
            member_);
    left_ -= static_cast<std::int64_t>(size);
    buffer_.append(static_cast<const char*>(bytes), size);
    if (buffer_.size() >= large_write) flush();
}

void ArchiveWriter::flush() {
    for (std::size_t done = 0; done < buffer_.size();) {
        const la_ssize_t step =
            archive_write_data(archive_.get(), buffer_.data() + done, buffer_.size() - done);
        check(step > 0);
        done += static_cast<std::size_t>(step);
    }
    buffer_.clear();
}

void ArchiveWriter::end() {
    ensures(left_ == 0, "{}: member {} is {} bytes shorter than was said", path_, member_, left_);
    flush();
    check(archive_write_finish_entry(archive_.get()) == ARCHIVE_OK);
}

void ArchiveWriter::add(const std::string& name, std::string_view bytes) {
    begin(name, static_cast<std::int64_t>(bytes.size()));
    write(bytes.data(), bytes.size());
    end();
}

void ArchiveWriter::copy(Spool& spool) {
    std::array<char, 1U << 16U> block;
    spool.rewind();
    for (std::size_t got = 0; (got = spool.read(block.data(), block.size())) > 0;) write(block.data(), got);
}

void ArchiveWriter::close() {
    check(archive_write_close(archive_.get()) == ARCHIVE_OK);
}

ArchiveMembers parse_tar(std::string_view bytes, std::string_view file,
                         const std::function<bool(std::string_view)>& wanted) {
    const ArchiveReader reader(archive_read_new());
    archive* const a = reader.get();
    ensures(a != nullptr && archive_read_support_format_tar(a) == ARCHIVE_OK &&
                archive_read_support_filter_gzip(a) == ARCHIVE_OK &&
                archive_read_support_filter_xz(a) == ARCHIVE_OK,
            "libarchive reads no tar");
    const auto check = [&](bool ok) {
        expects(ok, "{}: not a complete tar archive, plain, gzip or xz ({}); write the file again", file,
                archive_reason(a));
    };
    check(archive_read_open_memory(a, bytes.data(), bytes.size()) == ARCHIVE_OK);
    std::size_t room = (std::size_t{1} << 26) + 2000 * bytes.size();
    ArchiveMembers members;
    for (;;) {
        archive_entry* entry = nullptr;
        const int status = archive_read_next_header(a, &entry);
        if (status == ARCHIVE_EOF) return members;
        check(status == ARCHIVE_OK);
        const char* const path = archive_entry_pathname(entry);
        expects(path != nullptr, "{}: a member's name cannot be read; use ASCII names", file);
        std::string_view name(path);
        while (name.starts_with("./")) name.remove_prefix(2);
        while (name.starts_with('/')) name.remove_prefix(1);
        if (archive_entry_filetype(entry) != AE_IFREG || !wanted(name)) continue;
        const std::string key(name);
        expects(!members.contains(key), "{}: member '{}' is there twice; write the file again", file, key);
        std::string content =
            read_member(a, {room, "unpacks to far more than the file's size; it is not read"},
                        fmt::format("{}: member '{}'", file, key));
        room -= content.size();
        members.emplace(key, std::move(content));
    }
}

}  // namespace alidade::detail
