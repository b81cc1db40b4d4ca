#include "system_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "alidade/error.hpp"

namespace alidade::detail {
namespace {

constexpr std::int64_t most_log = std::int64_t{64} << 20;

}  // namespace

SystemLog::SystemLog(const std::filesystem::path& path) : left_(most_log) {
    if (path.empty()) return;
    file_.open(path, std::ios::app | std::ios::binary);
    expects(file_.is_open(), "{}: the system's log cannot be written there", path.string());
}

void SystemLog::add(int worker, std::string_view text) {
    while (!text.empty() && left_ > 0 && file_.is_open()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string line = fmt::format("worker {}: {}\n", worker, text.substr(0, end));
        left_ -= std::ssize(line);
        if (left_ <= 0)
            line += fmt::format("alidade: {} MiB of talk; what follows is not kept\n", most_log >> 20);
        file_ << line;
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    file_.flush();
}

}  // namespace alidade::detail
