#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

namespace alidade::detail {

/// A file as memory, for reading: pages come from the disk when they are touched, go when memory is short,
/// and are one for all processes that map the file. A file that is replaced (by another of its name) stays as
/// it was here; one that is written to changes here too, which check_unchanged notices afterwards; touching
/// what was cut off ends the process with SIGBUS.
class MappedFile {
public:
    /// Throws InvalidArgument with the path.
    explicit MappedFile(const std::filesystem::path& path);
    ~MappedFile();
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    /// Starts at a page.
    std::string_view bytes() const noexcept { return {data_, size_}; }
    /// Throws InvalidArgument if the file's size or time of change is not what it was.
    void check_unchanged() const;

private:
    struct Stamp {
        std::int64_t size = 0, seconds = 0, nanoseconds = 0;
        bool operator==(const Stamp&) const = default;
    };
    Stamp stamp() const;

    std::string path_;
    int descriptor_ = -1;
    Stamp opened_;
    const char* data_ = nullptr;
    std::size_t size_ = 0;
};

using SharedMapping = std::shared_ptr<const MappedFile>;

}  // namespace alidade::detail
