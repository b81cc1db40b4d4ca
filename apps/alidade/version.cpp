#include <archive.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <tbb/version.h>

#include <Eigen/Core>
#include <nlohmann/json.hpp>

#include "commands.hpp"

namespace alidade::app {
namespace {

nlohmann::ordered_json libraries() {
    const char* const archive = archive_version_string();  // "libarchive 3.6.2"
    nlohmann::ordered_json object;
    object["Eigen"] = fmt::format("{}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION);
    object["fmt"] = fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100);
    object["SQLite"] = sqlite3_libversion();
    object["libarchive"] = std::string(archive).substr(std::string(archive).find(' ') + 1);
    object["TBB"] = TBB_runtime_version();
    object["CLI11"] = CLI11_VERSION;
    object["nlohmann-json"] = fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR,
                                          NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH);
    return object;
}

}  // namespace

int print_version(const Console& console) {
    if (!console.json()) {
        console.result("alidade " ALIDADE_VERSION "\n");
        return 0;
    }
    nlohmann::ordered_json object;
    object["version"] = ALIDADE_VERSION;
    object["compiler"] = "GCC " __VERSION__;
    object["build_type"] = ALIDADE_BUILD_TYPE;
    object["libraries"] = libraries();
    console.object(object);
    return 0;
}

}  // namespace alidade::app
