#include "unpacked_text.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <fstream>

#include "alidade/error.hpp"
#include "text_file.hpp"

namespace alidade::detail {
namespace {

constexpr std::int64_t spare_bytes = std::int64_t{1} << 26U;
/// The number of each state and the digits of probabilities leave models far below this.
constexpr std::int64_t most_ratio = 200;

}  // namespace

bool is_packed(const std::filesystem::path& path) {
    char first[6] = {};
    std::ifstream file(path, std::ios::binary);
    file.read(first, sizeof first);
    const std::string_view bytes(first, static_cast<std::size_t>(file.gcount()));
    return bytes.starts_with("\x1f\x8b") || bytes == std::string_view(
                                                         "\xfd"
                                                         "7zXZ\0",
                                                         6);
}

UnpackedText::UnpackedText(const std::filesystem::path& path, std::string_view extension)
    : file_(path.string()), extension_(extension), reader_(archive_read_new()), stream_(this) {
    check_readable(path);
    most_ = spare_bytes + most_ratio * static_cast<std::int64_t>(std::filesystem::file_size(path));
    archive* const a = reader_.get();
    ensures(a != nullptr && archive_read_support_format_tar(a) == ARCHIVE_OK &&
                archive_read_support_format_raw(a) == ARCHIVE_OK &&
                archive_read_support_filter_gzip(a) == ARCHIVE_OK &&
                archive_read_support_filter_xz(a) == ARCHIVE_OK,
            "libarchive unpacks no gzip or xz");
    // Else the exceptions of underflow() would be taken for the end of the file.
    stream_.exceptions(std::ios::badbit);
    check(archive_read_open_filename(a, file_.c_str(), archive_block_bytes) == ARCHIVE_OK);
    expects(next_member(), "{}: holds no file whose name ends in {}", file_, extension_);
}

void UnpackedText::check(bool ok) const {
    expects(ok, "{}: not a complete file of gzip or xz ({}); write it again", file_,
            archive_reason(reader_.get()));
}

bool UnpackedText::next_member() {
    for (;;) {
        archive_entry* entry = nullptr;
        const int status = archive_read_next_header(reader_.get(), &entry);
        if (status == ARCHIVE_EOF) return false;
        check(status == ARCHIVE_OK);
        if (archive_format(reader_.get()) == ARCHIVE_FORMAT_RAW) return true;
        const char* const name = archive_entry_pathname(entry);
        if (name != nullptr && archive_entry_filetype(entry) == AE_IFREG &&
            std::string_view(name).ends_with(extension_))
            return true;
    }
}

UnpackedText::int_type UnpackedText::underflow() {
    if (over_) return traits_type::eof();
    const std::string_view block = next_block(reader_.get(), done_, file_);
    if (block.empty()) {
        over_ = true;
        expects(!next_member(), "{}: holds more than one file whose name ends in {}; there must be one",
                file_, extension_);
        return traits_type::eof();
    }
    const auto size = static_cast<std::int64_t>(block.size());
    done_ += size;
    expects(done_ <= most_, "{}: unpacks to more than {} bytes, far more than its size; it is not read",
            file_, most_);
    const auto newline = block.rfind('\n');
    line_ = newline == std::string_view::npos ? line_ + size : size - static_cast<std::int64_t>(newline) - 1;
    expects(line_ <= static_cast<std::int64_t>(longest_line),
            "{}: has a line of more than {} bytes; it is not read", file_, longest_line);
    // The stream only reads.
    char* const first = const_cast<char*>(block.data());
    setg(first, first, first + block.size());
    return traits_type::to_int_type(*first);
}

}  // namespace alidade::detail
