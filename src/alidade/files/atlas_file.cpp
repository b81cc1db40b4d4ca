#include "alidade/files/atlas_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <system_error>

#include "../certify/atlas_cells.hpp"
#include "alidade/error.hpp"
#include "alidade/files/policy_file.hpp"
#include "atlas_json.hpp"
#include "json_file.hpp"
#include "text_file.hpp"

namespace alidade {

namespace fs = std::filesystem;

namespace {

constexpr const char* atlas_file_name = "atlas.json";

/// In quotes if it has to be.
std::string csv_field(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"') quoted += c;
        quoted += c;
    }
    return quoted + "\"";
}

std::string cells_csv(const AtlasRecord& record) {
    const Atlas& atlas = record.atlas;
    std::string text = "policy,loss_bound";
    for (Index j = 0; j < atlas.objectives; ++j) {
        for (const AtlasObjective& objective : record.objectives)
            text += fmt::format(",{}", csv_field(fmt::format("corner {}: {}", j + 1, objective.name)));
        text += fmt::format(",corner {}: loss_bound", j + 1);
    }
    text += "\n";
    for (const AtlasCell& cell : atlas.cells) {
        text += fmt::format("{},{}", cell.policy + 1, cell.loss_bound);
        for (std::size_t j = 0; j < cell.corners.size(); ++j)
            text += fmt::format(",{},{}", fmt::join(atlas.corners[at(cell.corners[j])], ","), cell.bounds[j]);
        text += "\n";
    }
    return text;
}

std::string front_csv(const AtlasRecord& record) {
    std::string text = "policy,share,loss_bound";
    for (const char* const what : {"weight", "lower", "upper"})
        for (const AtlasObjective& objective : record.objectives)
            text += fmt::format(",{}", csv_field(fmt::format("{}: {}", what, objective.name)));
    text += "\n";
    std::size_t number = 0;
    for (const AtlasPolicy& policy : record.atlas.policies) {
        text += fmt::format("{},{},{},{}", ++number, policy.share, policy.loss_bound,
                            fmt::join(policy.made_for, ","));
        std::string uppers;
        for (std::size_t i = 0; i < policy.values.size(); ++i) {
            const Interval values = record.objectives[i].in_unit(policy.values[i]);
            text += fmt::format(",{}", values.lower);
            uppers += fmt::format(",{}", values.upper);
        }
        text += uppers + "\n";
    }
    return text;
}

void fill(const fs::path& folder, const AtlasRecord& record,
          const std::map<std::string, std::string>& further) {
    fs::create_directories(folder / "policies");
    fs::create_directories(folder / "objectives");
    for (std::size_t i = 0; i < record.atlas.policies.size(); ++i)
        write_policy(folder / detail::policy_name(i), record.atlas.policies[i].policy);
    for (std::size_t i = 0; i < record.objectives.size(); ++i)
        write_reward(folder / detail::objective_name(i), record.objectives[i].reward);
    detail::write_text(folder / "cells.csv", cells_csv(record));
    detail::write_text(folder / "front.csv", front_csv(record));
    for (const auto& [name, text] : further) detail::write_text(folder / name, text);
    detail::write_text(folder / atlas_file_name, atlas_text(record));
}

/// An atlas that is there already makes room; anything else stays, and is an error.
void make_room(const fs::path& folder) {
    std::error_code trouble;
    if (!fs::exists(folder, trouble)) return;
    if (holds_atlas(folder))
        fs::remove_all(folder);
    else
        expects(fs::is_directory(folder) && fs::is_empty(folder),
                "'{}' exists and is no atlas; name another folder", folder.string());
    fs::remove(folder, trouble);
}

Atlas covering_atlas(std::string_view text, const std::string& file, detail::AtlasHead& head) {
    Atlas atlas = detail::atlas_of(detail::parse_json(text, file), file, head);
    try {
        detail::check_cells(atlas);
    } catch (const BrokenInvariant& broken) {
        throw InvalidArgument(
            fmt::format("{}: the atlas does not cover its weights: {}", file, broken.what()));
    }
    return atlas;
}

}  // namespace

Interval AtlasObjective::in_unit(const Interval& values) const {
    const auto horizon = static_cast<double>(reward.shape().horizon);
    const double base = horizon * scale.offset;
    if (sense == Sense::maximise)
        return {base + scale.scale * values.lower, base + scale.scale * values.upper};
    return {base + scale.scale * (horizon - values.upper), base + scale.scale * (horizon - values.lower)};
}

double AtlasObjective::in_rewards(double value) const {
    const auto horizon = static_cast<double>(reward.shape().horizon);
    const double given = (value - horizon * scale.offset) / scale.scale;
    return sense == Sense::maximise ? given : horizon - given;
}

Objectives rewards_of(const std::vector<AtlasObjective>& objectives) {
    std::vector<Reward> rewards;
    rewards.reserve(objectives.size());
    for (const AtlasObjective& objective : objectives) rewards.push_back(objective.reward);
    return Objectives(std::move(rewards));
}

std::vector<double> AtlasRecord::weights_of(std::span<const double> in_units) const {
    expects(in_units.size() == objectives.size(), "there are {} weights; must be {}, one an objective",
            in_units.size(), objectives.size());
    std::vector<double> weights;
    for (std::size_t i = 0; i < in_units.size(); ++i)
        weights.push_back(in_units[i] * objectives[i].scale.scale);
    return weights;
}

void write_atlas(const fs::path& folder, const AtlasRecord& record,
                 const std::map<std::string, std::string>& further) {
    expects(static_cast<Index>(record.objectives.size()) == record.atlas.objectives,
            "there are {} objectives; the atlas is of {}", record.objectives.size(), record.atlas.objectives);
    try {
        const fs::path target = fs::absolute(folder).lexically_normal();
        const fs::path named = target.has_filename() ? target : target.parent_path();
        if (named.has_parent_path()) fs::create_directories(named.parent_path());
        const fs::path pending = fmt::format("{}.pending-{}", named.string(), ::getpid());
        try {
            fs::remove_all(pending);
            fill(pending, record, further);
            make_room(named);
            fs::rename(pending, named);
        } catch (...) {
            std::error_code ignored;
            fs::remove_all(pending, ignored);
            throw;
        }
    } catch (const fs::filesystem_error& error) {
        throw InvalidArgument(
            fmt::format("'{}' cannot be written: {}", folder.string(), error.code().message()));
    }
}

std::string atlas_text(const AtlasRecord& record) {
    return detail::atlas_json(record).dump() + "\n";
}

bool holds_atlas(const fs::path& folder) {
    std::error_code ignored;
    return fs::is_regular_file(folder / atlas_file_name, ignored);
}

Atlas parse_atlas(std::string_view text, const std::string& file) {
    detail::AtlasHead head;
    return covering_atlas(text, file, head);
}

AtlasRecord read_atlas(const fs::path& folder) {
    const fs::path path = folder / atlas_file_name;
    AtlasRecord record;
    detail::AtlasHead head;
    record.atlas = covering_atlas(detail::read_text(path), path.string(), head);
    for (std::size_t i = 0; i < record.atlas.policies.size(); ++i)
        record.atlas.policies[i].policy = read_policy(folder / head.policies[i], head.shape);
    for (std::size_t i = 0; i < head.objectives.size(); ++i)
        head.objectives[i].reward = read_reward(folder / detail::objective_name(i), head.shape).reward;
    record.objectives = std::move(head.objectives);
    record.problem = std::move(head.problem);
    return record;
}

}  // namespace alidade
