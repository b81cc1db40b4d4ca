#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "alidade/spec/printable_text.hpp"
#include "alidade/spec/readable_number.hpp"
#include "sections.hpp"

namespace alidade::report::detail {
namespace {

using nlohmann::json;

constexpr std::uintmax_t largest_atlas = 64U << 20U, largest_picture = 1U << 20U;
constexpr std::size_t most_atlas_rows = 40;

/// A file of the atlas; empty if there is none, or it is too large for a page.
std::string contents_of(const std::filesystem::path& file, std::uintmax_t most) {
    std::error_code problem;
    const auto bytes = std::filesystem::file_size(file, problem);
    if (problem || bytes > most || !std::filesystem::is_regular_file(file, problem)) return {};
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

/// Numbers as `shown` writes them: of bounds it rounds outward.
std::string list_of(const json& numbers, std::string (*shown)(double)) {
    std::string text;
    for (const json& number : numbers) text += (text.empty() ? "" : ", ") + shown(number.get<double>());
    return text;
}

TitledTable plans_of_atlas(const json& atlas) {
    std::string objectives;
    for (const json& objective : atlas.at("objectives"))
        objectives += (objectives.empty() ? "" : ", ") +
                      shortened(printable(objective.at("name").get<std::string>()), 40);
    TitledTable titled{"Its plans",
                       {{{"plan", true},
                         {"made for the weights"},
                         {"share of all weightings", true},
                         {"loss at most", true},
                         {"values at least"},
                         {"values at most"}},
                        {},
                        "Weights and values are in the order " + objectives + "."}};
    const json& policies = atlas.at("policies");
    for (std::size_t i = 0; i < std::min(most_atlas_rows, policies.size()); ++i) {
        const json& policy = policies[i];
        titled.table.rows.push_back(
            {std::to_string(i + 1), list_of(policy.at("made_for"), rounded),
             percent(policy.at("share").get<double>()), upper_bound(policy.at("loss_bound").get<double>()),
             list_of(policy.at("value_lower"), lower_bound), list_of(policy.at("value_upper"), upper_bound)});
    }
    if (policies.size() > most_atlas_rows)
        titled.table.note += fmt::format(" The first {} of {}.", most_atlas_rows, policies.size());
    return titled;
}

void add_picture(Section& section, const std::filesystem::path& file, const std::string& description) {
    if (std::string svg = contents_of(file, largest_picture); !svg.empty())
        section.blocks.push_back(ForeignPicture{std::move(svg), description});
}

}  // namespace

Section atlas_section(const RunFacts& facts) {
    Section section{"atlas", "Atlas: plans for every weighting of several objectives"};
    const std::filesystem::path folder = facts.run->folder() / "atlas";
    const std::string text = contents_of(folder / "atlas.json", largest_atlas);
    if (text.empty()) return section;
    try {
        const json atlas = json::parse(text);
        const std::size_t objectives = atlas.at("objectives").size();
        section.blocks.push_back(Paragraph{
            fmt::format("With probability at least {}: whatever weights the {} objectives are given, the "
                        "atlas has a plan that is at most "
                        "{} below the best, after {} episodes. It has {} plans.",
                        percent(1 - atlas.at("delta").get<double>()), objectives,
                        upper_bound(atlas.at("loss_bound").get<double>()),
                        with_commas(atlas.at("episodes").get<std::int64_t>()), atlas.at("policies").size())});
        TitledTable plans = plans_of_atlas(atlas);
        add_picture(section, folder / "front.svg",
                    "The certified Pareto front; its numbers are in the table of plans.");
        add_picture(
            section, folder / "weights.svg",
            "The map of weights: which plan is for which weights; the table of plans has the shares.");
        section.blocks.push_back(std::move(plans));
    } catch (const json::exception& error) {
        section.blocks = {
            Paragraph{fmt::format("The run has an atlas, but atlas.json cannot be read: {}", error.what())}};
    }
    return section;
}

}  // namespace alidade::report::detail
