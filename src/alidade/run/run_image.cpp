#include "run_image.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <system_error>
#include <thread>

#include "sqlite.hpp"
#include "write_ahead_log.hpp"

namespace alidade::detail {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::byte>;

constexpr int attempts = 200;
constexpr auto pause = std::chrono::milliseconds(10);
constexpr std::size_t piece = std::size_t{1} << 20;

[[noreturn]] void fail(int code, int reason) {
    throw sqlite::Error(code, std::generic_category().message(reason), reason);
}

/// A file that is open to read; or nothing, where there is none.
class Source {
public:
    explicit Source(const fs::path& path) : path_(path) {
        // A pipe of that name would wait for ever.
        descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (descriptor_ < 0 && errno != ENOENT) fail(SQLITE_CANTOPEN, errno);
    }
    ~Source() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;

    bool exists() const { return descriptor_ >= 0; }

    /// Whether the name still leads to what is open here.
    bool still_there() const {
        struct stat named = {}, open = {};
        if (::stat(path_.c_str(), &named) != 0) return !exists();
        return exists() && ::fstat(descriptor_, &open) == 0 && named.st_dev == open.st_dev &&
               named.st_ino == open.st_ino;
    }

    /// Up to `size` bytes from `offset`; fewer only at the end of the file.
    Bytes read(std::size_t offset, std::size_t size) const {
        Bytes bytes(size);
        std::size_t done = 0;
        while (exists() && done < size) {
            const ssize_t got = ::pread(descriptor_, bytes.data() + done, std::min(size - done, piece),
                                        static_cast<off_t>(offset + done));
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) fail(SQLITE_IOERR, errno);
            if (got == 0) break;
            done += static_cast<std::size_t>(got);
        }
        bytes.resize(done);
        return bytes;
    }

    Bytes read_all() const {
        struct stat status = {};
        if (!exists()) return {};
        if (::fstat(descriptor_, &status) != 0) fail(SQLITE_IOERR, errno);
        return read(0, static_cast<std::size_t>(status.st_size));
    }

    /// Whether the file holds these bytes and no more.
    bool holds(const Bytes& bytes) const {
        for (std::size_t offset = 0; offset < bytes.size(); offset += piece) {
            const std::size_t size = std::min(piece, bytes.size() - offset);
            const auto first = bytes.begin() + static_cast<std::ptrdiff_t>(offset);
            const Bytes found = read(offset, size);
            if (!std::equal(found.begin(), found.end(), first, first + static_cast<std::ptrdiff_t>(size)))
                return false;
        }
        return read(bytes.size(), 1).empty();
    }

private:
    fs::path path_;
    int descriptor_ = -1;
};

/// The beginning of a log that there is something in.
std::optional<Bytes> header_of(const Source& log) {
    Bytes header = log.read(0, sqlite::log_header_size);
    if (header.size() < sqlite::log_header_size) return std::nullopt;
    return header;
}

fs::path log_of(fs::path file) {
    return file += "-wal";
}

/// With a log: SQLite writes a page to the database only while the log holds the newest version of that page,
/// and begins the log again, with another header, only when all of it is in the database. So whatever pages
/// of the database are read while the log goes on, those that a writer changes meanwhile are in the log,
/// which is read afterwards.
std::optional<Bytes> image_with_log(const Source& database, const Source& log, const Bytes& header) {
    Bytes image = database.read_all();
    const Bytes frames = log.read_all();
    if (header_of(log) != header || !log.still_there() || !database.still_there()) return std::nullopt;
    sqlite::apply_log(frames, image);
    return image;
}

/// Without a log nobody writes, unless somebody begins to. Times of files tick too slowly to tell; so the
/// file is read twice, with a look for a log in between. If the first reading fell together with a writer's,
/// then this was done before the look, and the second reading sees all of it, or not, and there is a log.
std::optional<Bytes> image_without_log(const Source& database, const fs::path& file) {
    const auto quiet = [&] { return !header_of(Source(log_of(file))) && database.still_there(); };
    Bytes image = database.read_all();
    if (!quiet() || !database.holds(image) || !database.still_there()) return std::nullopt;
    return image;
}

}  // namespace

std::vector<std::byte> run_image(const fs::path& file) {
    for (int attempt = 0; attempt < attempts; ++attempt) {
        if (attempt > 0) std::this_thread::sleep_for(pause);
        // The log first: one that is not there yet cannot have changed the database before.
        const Source log(log_of(file));
        const std::optional<Bytes> header = header_of(log);
        const Source database(file);
        if (!database.exists()) fail(SQLITE_CANTOPEN, ENOENT);
        if (auto image = header ? image_with_log(database, log, *header) : image_without_log(database, file))
            return std::move(*image);
    }
    throw sqlite::Error(SQLITE_BUSY, "it changes faster than it can be read");
}

}  // namespace alidade::detail
