#include "alidade/io/text_file.hpp"

#include <cerrno>
#include <fstream>
#include <iterator>
#include <system_error>

#include "alidade/error.hpp"

namespace alidade {

void check_readable(const std::filesystem::path& path) {
    std::error_code ignored;
    expects(std::filesystem::exists(path, ignored), "{}: there is no such file; check the path",
            path.string());
    expects(!std::filesystem::is_directory(path, ignored), "{}: is a folder, not a file; check the path",
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

void write_text(const std::filesystem::path& path, std::string_view bytes) {
    errno = 0;
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    file.close();
    expects(file.good(), "{}: cannot be written ({}); check the folder, its permissions and the space left",
            path.string(), std::generic_category().message(errno));
}

}  // namespace alidade
