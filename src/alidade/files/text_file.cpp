#include "text_file.hpp"

#include <array>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

#include "alidade/error.hpp"

namespace alidade::detail {

void check_readable(const std::filesystem::path& path) {
    std::error_code ignored;
    expects(std::filesystem::exists(path, ignored), "{}: there is no such file; check the path",
            path.string());
    expects(!std::filesystem::is_directory(path, ignored), "{}: is a folder, not a file; check the path",
            path.string());
    // Opening a pipe waits for somebody to write to it, and a device need not end.
    expects(std::filesystem::is_regular_file(path, ignored),
            "{}: is a pipe, a device or the like, not a file; write what it gives to a file first",
            path.string());
    expects(std::ifstream(path, std::ios::binary).good(), "{}: cannot be opened; check its permissions",
            path.string());
}

std::string read_text(const std::filesystem::path& path) {
    check_readable(path);
    std::ifstream file(path, std::ios::binary);
    std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    expects(!file.bad(), "{}: cannot be read", path.string());
    return bytes;
}

bool read_line(std::istream& stream, std::string& line, std::string_view file) {
    std::array<char, 1U << 14U> piece;
    line.clear();
    while (true) {
        stream.getline(piece.data(), static_cast<std::streamsize>(piece.size()));
        const auto count = static_cast<std::size_t>(stream.gcount());
        const bool full = stream.fail() && !stream.bad() && count + 1 == piece.size();
        // At its end a line's newline is counted too, but not at the end of the file.
        const bool ended = !stream.fail() && !stream.eof();
        line.append(piece.data(), count - (ended ? 1 : 0));
        expects(line.size() <= longest_line, "{}: has a line of more than {} bytes; it is not read", file,
                longest_line);
        if (!full) return ended || !line.empty();
        stream.clear(stream.rdstate() & ~std::ios::failbit);
    }
}

void write_text(const std::filesystem::path& path, std::string_view bytes) {
    errno = 0;
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    file.close();
    expects(file.good(), "{}: cannot be written ({}); check the folder, its permissions and the space left",
            path.string(), std::generic_category().message(errno));
}

}  // namespace alidade::detail
