#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace alidade {

/// Bytes on disk whose number must be known before they can be written where they belong. A temporary file
/// beside the output (which has the room for it, as /tmp may not), without a name: it is gone when closed.
class Spool {
public:
    explicit Spool(const std::filesystem::path& output);

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
    /// Reads up to `size` bytes; fewer only at the end.
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
    void read_exactly(void* bytes, std::size_t size);

    std::string output_;
    std::unique_ptr<std::FILE, Closer> file_;
    std::int64_t size_ = 0;
};

}  // namespace alidade
