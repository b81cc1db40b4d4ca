#include "plan_names.hpp"

#include <fmt/format.h>

#include <set>

#include "alidade/run/run_record.hpp"
#include "user_error.hpp"

namespace alidade::app {

namespace {

/// The reward's name, or its file's without folder and extension.
std::string short_name(const ChosenReward& reward) {
    std::filesystem::path name = std::filesystem::path(reward.name).filename();
    if (name.extension() == ".json" || name.extension() == ".npz") name = name.stem();
    return name.string();
}

}  // namespace

std::vector<std::filesystem::path> policy_files(const std::string& folder,
                                                const std::vector<ChosenReward>& rewards) {
    std::vector<std::filesystem::path> files;
    if (folder.empty()) return files;
    std::set<std::filesystem::path> seen;
    for (const ChosenReward& reward : rewards) {
        files.push_back(std::filesystem::path(folder) / (short_name(reward) + ".json"));
        if (!seen.insert(files.back()).second)
            throw UserError(fmt::format("two policies would be written to '{}'", files.back().string()),
                            {"-o", "the second would replace the first",
                             "rename one of the reward files, or plan for them one by one"});
    }
    std::filesystem::create_directories(folder);
    return files;
}

std::vector<std::string> plan_names(const std::string& name, const std::vector<ChosenReward>& rewards,
                                    bool several) {
    std::vector<std::string> names;
    if (name.empty()) return names;
    std::set<std::string> seen;
    for (const ChosenReward& reward : rewards) {
        names.push_back(name);
        if (several) {
            names.back() += '-';
            for (const char letter : short_name(reward))
                names.back() += is_plan_name(std::string{'a', letter}) ? letter : '-';
        }
        if (!is_plan_name(names.back()))
            throw UserError(fmt::format("a plan cannot be kept as '{}'", names.back()),
                            {"--keep", "a name has 1 to 100 letters, digits, '.', '_' or '-'",
                             "--keep NAME, as in --keep cheap-and-fast"});
        if (!seen.insert(names.back()).second)
            throw UserError(fmt::format("two plans would be kept as '{}'", names.back()),
                            {"--keep", "the second would replace the first",
                             "rename one of the reward files, or plan for them one by one"});
    }
    return names;
}

}  // namespace alidade::app
