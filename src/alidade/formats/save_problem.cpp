#include <fmt/format.h>
#include <cctype>
#include <nlohmann/json.hpp>
#include <set>

#include "../files/csr_file.hpp"
#include "../files/features_file.hpp"
#include "../files/features_folder.hpp"
#include "../files/pair_features_file.hpp"
#include "../files/text_file.hpp"
#include "alidade/error.hpp"
#include "alidade/files/reward_file.hpp"
#include "alidade/formats/problem_folder.hpp"

namespace alidade {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

void check_utf8(const std::string& text) {
    try {
        static_cast<void>(json(text).dump());
    } catch (const json::exception&) {
        throw InvalidArgument("a name of the problem is not valid UTF-8, which its file must be; rename it");
    }
}

/// A TOML basic string.
std::string quoted(const std::string& text) {
    check_utf8(text);
    std::string result = "\"";
    for (const char c : text) {
        const auto code = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\')
            result += {'\\', c};
        else if (code < 0x20 || code == 0x7F)
            result += fmt::format("\\u{:04X}", code);
        else
            result += c;
    }
    return result + '"';
}

std::string quoted_list(const std::vector<std::string>& texts) {
    std::vector<std::string> items;
    items.reserve(texts.size());
    for (const std::string& text : texts) items.push_back(quoted(text));
    return fmt::format("[{}]", fmt::join(items, ", "));
}

/// A TOML float that reads back as the same number.
std::string float_text(double value) {
    std::string text = fmt::format("{}", value);
    if (text.find_first_of(".en") == std::string::npos) text += ".0";
    return text;
}

/// Turns names into file names: letters, digits and dashes, each one only once.
class FileNames {
public:
    std::string make(const std::string& name, const std::string& otherwise) {
        std::string stem;
        for (const char c : name) {
            const auto code = static_cast<unsigned char>(c);
            const bool plain = code < 0x80 && std::isalnum(code) != 0;
            if (plain)
                stem += static_cast<char>(std::tolower(code));
            else if (!stem.empty() && stem.back() != '-')
                stem += '-';
        }
        stem.resize(std::min<std::size_t>(stem.size(), 60));
        while (stem.ends_with('-')) stem.pop_back();
        if (stem.empty()) stem = otherwise;
        std::string unique = stem;
        for (int i = 2; !used_.insert(unique).second; ++i) unique = fmt::format("{}-{}", stem, i);
        return unique;
    }

private:
    std::set<std::string> used_;
};

void make_folder(const fs::path& folder) {
    std::error_code problem;
    fs::create_directories(folder, problem);
    expects(fs::is_directory(folder), "{}: the folder cannot be made ({}); choose another place",
            folder.string(), problem.message());
}

std::string problem_section(const ProblemDescription& parts) {
    std::string text = fmt::format("[problem]\nname = {}\nhorizon = {}\n", quoted(parts.name), parts.horizon);
    const auto atoms = parts.start.atoms();
    if (atoms.size() == 1 && atoms[0].second == 1) {
        text += fmt::format("initial_state = {}\n", atoms[0].first);
    } else {
        std::vector<std::string> items;
        for (const auto& [state, p] : atoms) items.push_back(fmt::format("[{}, {}]", state, float_text(p)));
        text += fmt::format("initial = [{}]\n", fmt::join(items, ", "));
    }
    text += fmt::format("homogeneous = {}\n", parts.homogeneous);
    if (parts.misspecification > 0)
        text += fmt::format("misspecification = {}\n", float_text(parts.misspecification));
    if (parts.reach != Reach::anywhere) text += fmt::format("reach = \"{}\"\n", to_string(parts.reach));
    if (!parts.state_names.empty()) text += fmt::format("state_names = {}\n", quoted_list(parts.state_names));
    if (!parts.action_names.empty())
        text += fmt::format("action_names = {}\n", quoted_list(parts.action_names));
    return text;
}

/// In the layout of the memory, for load_problem to map.
std::string save_mapped(const FeatureMap& features, const fs::path& folder) {
    make_folder(folder / "features");
    detail::write_features_folder(folder / "features", features);
    const std::string what = features.kind() == FeatureKind::general
                                 ? fmt::format("norm_bound = {}", float_text(features.norm_bound()))
                                 : fmt::format("base_models = {}", quoted_list(features.names()));
    return fmt::format("\n[features]\nfolder = \"features\"\n{}\n", what);
}

std::string save_features(const FeatureMap& features, const fs::path& folder, const SaveOptions& options) {
    if (options.mapped) return save_mapped(features, folder);
    if (features.kind() == FeatureKind::general) {
        detail::write_features(folder / "features.npz", features);
        return fmt::format("\n[features]\nfile = \"features.npz\"\nnorm_bound = {}\n",
                           float_text(features.norm_bound()));
    }
    make_folder(folder / "base");
    std::string text;
    FileNames files;
    for (Index i = 0; i < features.features(); ++i) {
        const BaseKernel kernel = features.base_kernel(i);
        const std::string file =
            fmt::format("base/{}.npz", files.make(kernel.name, fmt::format("base-{}", i)));
        detail::write_csr(folder / file, kernel);
        text += fmt::format("\n[[base]]\nname = {}\nfile = \"{}\"\n", quoted(kernel.name), file);
    }
    return text;
}

void save_foreign(const ForeignPart& foreign, const SuccessorMap& map, const fs::path& folder) {
    BaseKernel kernel{.name = "foreign", .rows = map.pairs(), .columns = map.states(), .offsets = {0}};
    for (Index pair = 0; pair < map.pairs(); ++pair) {
        for (Index e = map.first_entry(pair); e < map.first_entry(pair + 1); ++e) {
            if (foreign.law[at(e)] == 0) continue;
            kernel.targets.push_back(map.targets()[at(e)]);
            kernel.probabilities.push_back(foreign.law[at(e)]);
        }
        kernel.offsets.push_back(static_cast<std::int64_t>(kernel.targets.size()));
    }
    detail::write_csr(folder / "foreign.npz", kernel);
}

std::string save_truth(const Matrix& truth, const std::optional<ForeignPart>& foreign,
                       const SuccessorMap& map, const fs::path& folder) {
    std::string text = "{\"weights\": [\n";
    for (Index h = 0; h < truth.rows(); ++h) {
        json row = json::array();
        for (Index i = 0; i < truth.cols(); ++i) row.push_back(truth(h, i));
        text += fmt::format("  {}{}\n", row.dump(), h + 1 < truth.rows() ? "," : "");
    }
    text += "]";
    if (foreign) {
        save_foreign(*foreign, map, folder);
        text += fmt::format(",\n \"foreign\": {{\"share\": {}, \"file\": \"foreign.npz\"}}",
                            json(foreign->share).dump());
    }
    detail::write_text(folder / "truth.json", text + "}\n");
    return "\n[environment]\nweights = \"truth.json\"\n";
}

std::string save_linear(const ProblemDescription& parts, const fs::path& folder) {
    detail::write_pair_features(folder / "phi.npz", *parts.linear);
    std::string text = fmt::format("\n[linear]\nfile = \"phi.npz\"\nnorm_bound = {}\n",
                                   float_text(parts.linear->norm_bound()));
    if (parts.measures.empty()) return text;
    detail::write_measures(folder / "truth.npz", parts.measures);
    text += "\n[environment]\nmeasures = \"truth.npz\"\n";
    if (!parts.foreign) return text;
    save_foreign(*parts.foreign, *parts.linear, folder);
    return text +
           fmt::format("foreign = \"foreign.npz\"\nforeign_share = {}\n", float_text(parts.foreign->share));
}

std::string target_section(const ProblemTarget& target) {
    std::string text;
    if (target.epsilon) text += fmt::format("epsilon = {}\n", float_text(*target.epsilon));
    if (target.delta) text += fmt::format("delta = {}\n", float_text(*target.delta));
    if (target.episodes) text += fmt::format("episodes = {}\n", *target.episodes);
    return text.empty() ? text : "\n[target]\n" + text;
}

std::string save_rewards(const std::vector<NamedReward>& rewards, const fs::path& folder) {
    if (rewards.empty()) return {};
    make_folder(folder / "rewards");
    std::string text;
    FileNames files;
    for (const NamedReward& named : rewards) {
        const std::string file = fmt::format("rewards/{}.json", files.make(named.name, "reward"));
        write_reward(folder / file, named.reward);
        text += fmt::format("\n[[reward]]\nname = {}\nmeaning = {}\nfile = \"{}\"\n", quoted(named.name),
                            quoted(named.meaning), file);
    }
    return text;
}

}  // namespace

void save_problem(const Problem& problem, const fs::path& folder, const SaveOptions& options) {
    const ProblemDescription& parts = problem.description();
    expects(!(options.mapped && parts.linear),
            "the features of a linear MDP are read, not mapped; save it in the other layout");
    std::string text = problem_section(parts);
    make_folder(folder);
    text += parts.linear ? save_linear(parts, folder) : save_features(*parts.features, folder, options);
    if (parts.truth) text += save_truth(*parts.truth, parts.foreign, *parts.features, folder);
    text += target_section(parts.target);
    text += save_rewards(parts.rewards, folder);
    detail::write_text(folder / "problem.toml", text);
}

}  // namespace alidade
