#include "write_ahead_log.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <utility>

#include "sqlite.hpp"

namespace alidade::detail::sqlite {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::size_t frame_header_size = 24;
constexpr std::uint32_t magic = 0x377F0682;  // the last bit: the words of checksums are big endian
constexpr std::uint32_t version = 3007000;
constexpr std::size_t page_size_offset = 16;  // in the database's header, two bytes; 1 stands for 65536

std::uint32_t word(Bytes bytes, std::size_t offset, bool big_endian = true) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i)
        value = value << 8 | static_cast<std::uint32_t>(bytes[offset + (big_endian ? i : 3 - i)]);
    return value;
}

/// The running checksum of a log.
struct Checksum {
    std::uint32_t first = 0, second = 0;

    void add(Bytes bytes, bool big_endian) {
        for (std::size_t i = 0; i < bytes.size(); i += 8) {
            first += word(bytes, i, big_endian) + second;
            second += word(bytes, i + 4, big_endian) + first;
        }
    }
    bool is_at(Bytes bytes, std::size_t offset) const {
        return first == word(bytes, offset) && second == word(bytes, offset + 4);
    }
};

/// What the whole transactions of a log leave behind.
struct Pages {
    std::size_t size = 0;                        ///< of one page; 0: there is no transaction
    std::uint32_t count = 0;                     ///< of the database
    std::map<std::uint32_t, std::size_t> place;  ///< number from 1, offset in the log
};

Pages pages_of(Bytes log) {
    if (log.size() < log_header_size) return {};
    const std::uint32_t kind = word(log, 0);
    const std::size_t page = word(log, 8);
    const bool big_endian = (kind & 1u) != 0;
    Checksum checksum;
    checksum.add(log.first(24), big_endian);
    const bool sized = page >= 512 && page <= 65536 && (page & (page - 1)) == 0;
    if ((kind & ~1u) != magic || word(log, 4) != version || !sized || !checksum.is_at(log, 24)) return {};

    Pages whole, open;
    const Bytes salt = log.subspan(16, 8);
    for (std::size_t at = log_header_size; log.size() - at >= frame_header_size + page;
         at += frame_header_size + page) {
        const Bytes frame = log.subspan(at, frame_header_size + page);
        checksum.add(frame.first(8), big_endian);
        checksum.add(frame.subspan(frame_header_size), big_endian);
        const std::uint32_t number = word(frame, 0), count = word(frame, 4);
        if (number == 0 || !std::ranges::equal(frame.subspan(8, 8), salt) || !checksum.is_at(frame, 16))
            break;
        open.place[number] = at + frame_header_size;
        if (count == 0) continue;
        // The last frame of a transaction.
        for (const auto& [changed, place] : open.place) whole.place[changed] = place;
        open.place.clear();
        whole.size = page;
        whole.count = count;
    }
    return whole;
}

std::size_t page_size_of(const std::vector<std::byte>& database) {
    if (database.size() < page_size_offset + 2) return 0;
    const auto at = [&](std::size_t i) { return static_cast<std::size_t>(database[page_size_offset + i]); };
    const std::size_t size = at(0) * 256 + at(1);
    return size == 1 ? 65536 : size;
}

}  // namespace

void apply_log(std::span<const std::byte> log, std::vector<std::byte>& database) {
    const Pages pages = pages_of(log);
    if (pages.size == 0) return;
    if (pages.size != page_size_of(database))
        throw Error(SQLITE_CORRUPT, "its write-ahead log is of another database");
    database.resize(pages.size * pages.count);
    for (const auto& [number, place] : pages.place)
        if (number <= pages.count)
            std::memcpy(database.data() + (number - 1) * pages.size, log.data() + place, pages.size);
}

}  // namespace alidade::detail::sqlite
