#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace alidade::detail {

/// Bytes whose number must be known before they can be written where they belong: in memory up to a mebibyte,
/// then on disk, in a temporary file beside the output (which has the room for it, as /tmp may not) that has
/// no name and is gone when closed. First everything is appended, then it is read as often as needed.
class Spool {
public:
    explicit Spool(const std::filesystem::path& output) : output_(output.string()) {}

    void append(const void* bytes, std::size_t size);
    template <class T>
    void append_value(T value) {
        append(&value, sizeof value);
    }
    template <class T>
    void append_values(std::span<const T> values) {
        append(values.data(), values.size_bytes());
    }

    std::int64_t size() const noexcept { return size_; }  ///< bytes
    /// To the first byte, for reading.
    void rewind();
    /// Reads up to `size` bytes and says how many; none only at the end.
    std::size_t read(void* bytes, std::size_t size);
    template <class T>
    T read_value() {
        T value{};
        read_exactly(&value, sizeof value);
        return value;
    }

private:
    struct Closer {
        void operator()(std::FILE* file) const { std::fclose(file); }
    };
    void spill();
    void read_exactly(void* bytes, std::size_t size);

    std::string output_;
    std::string memory_;  // what is not on disk: what was appended last, or what is read next
    std::size_t next_ = 0;
    std::unique_ptr<std::FILE, Closer> file_;
    std::int64_t size_ = 0;
    bool reading_ = false;
};

}  // namespace alidade::detail
