#include "last_words.hpp"

#include <fmt/format.h>
#include <string.h>
#include <sys/wait.h>

namespace alidade::detail {
namespace {

constexpr int lines_shown = 20;

}  // namespace

std::string last_lines(const std::string& talk) {
    std::size_t end = talk.find_last_not_of(" \t\r\n");
    if (end == std::string::npos) return "  (nothing)";
    std::size_t begin = ++end;
    for (int lines = 0; begin > 0; --begin)
        if (talk[begin - 1] == '\n' && ++lines == lines_shown) break;
    std::string shown = "  ";
    for (; begin < end; ++begin) {
        shown += talk[begin];
        if (talk[begin] == '\n') shown += "  ";
    }
    return shown;
}

std::string ending_in_words(int wait_status) {
    if (!WIFSIGNALED(wait_status)) return fmt::format("ended with exit status {}", WEXITSTATUS(wait_status));
    const int signal = WTERMSIG(wait_status);
    // glibc keeps the text of each thread apart. NOLINTNEXTLINE(concurrency-mt-unsafe)
    return fmt::format("was ended by signal {} ({})", signal, strsignal(signal));
}

}  // namespace alidade::detail
