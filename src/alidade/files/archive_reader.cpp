#include "archive_reader.hpp"

#include <archive.h>
#include <archive_entry.h>

#include "alidade/error.hpp"

namespace alidade::detail {

void ArchiveReadCloser::operator()(archive* a) const {
    archive_read_free(a);
}

void ArchiveEntryCloser::operator()(archive_entry* e) const {
    archive_entry_free(e);
}

std::string archive_reason(archive* a) {
    const char* const text = archive_error_string(a);
    return text != nullptr ? text : "unknown reason";
}

std::string_view next_block(archive* a, std::int64_t done, std::string_view where) {
    for (;;) {
        const void* block = nullptr;
        std::size_t size = 0;
        la_int64_t offset = 0;
        const int status = archive_read_data_block(a, &block, &size, &offset);
        if (status == ARCHIVE_EOF) return {};
        // A warning is a checksum or a length that does not agree; an offset beyond the end is a hole of a
        // sparse file.
        expects(status == ARCHIVE_OK && offset == done, "{}: the data are damaged ({}); write the file again",
                where, archive_reason(a));
        if (size > 0) return {static_cast<const char*>(block), size};
    }
}

std::string read_member(archive* a, const UnpackLimit& limit, std::string_view where) {
    std::string bytes;
    for (;;) {
        const std::string_view block = next_block(a, static_cast<std::int64_t>(bytes.size()), where);
        if (block.empty()) return bytes;
        expects(block.size() <= limit.bytes - bytes.size(), "{}: {}", where, limit.beyond);
        bytes.append(block);
    }
}

}  // namespace alidade::detail
