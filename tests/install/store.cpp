// A run on disk, from a project that has all parts of the library.
#include <unistd.h>

#include <alidade/problem/catalogue.hpp>
#include <alidade/run/run.hpp>
#include <cstdio>
#include <filesystem>
#include <string>

int main() {
    const auto folder =
        std::filesystem::temp_directory_path() / ("alidade_outside_" + std::to_string(::getpid()));
    const auto problem = alidade::make_builtin("builtin:chain");
    alidade::Run::create(folder, problem, "builtin:chain", {}).explore({.episodes = 10});
    const bool stored = alidade::Run::open(folder, alidade::Access::read).checkpoint().has_value();
    std::filesystem::remove_all(folder);
    std::printf("a run of ten episodes %s stored\n", stored ? "is" : "is not");
    return stored ? 0 : 1;
}
