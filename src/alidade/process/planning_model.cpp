#include "alidade/process/planning_model.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <nlohmann/json.hpp>

#include "../files/npz.hpp"
#include "../files/text_file.hpp"
#include "alidade/error.hpp"
#include "alidade/formats/layered_view.hpp"
#include "alidade/formats/model_formats.hpp"

namespace alidade {
namespace {

using nlohmann::ordered_json;

void write_json_model(const std::filesystem::path& path, const TransitionModel& model, const Reward& reward) {
    const Shape& shape = model.shape();
    const SuccessorMap& successors = model.successors();
    ordered_json document;
    document["format"] = "alidade-model";
    document["version"] = 1;
    document["states"] = shape.states;
    document["actions"] = shape.actions;
    document["horizon"] = shape.horizon;
    document["start"] = ordered_json::array();
    for (const auto& [state, probability] : model.start().atoms())
        document["start"].push_back({state, probability});
    ordered_json offsets = ordered_json::array();
    for (Index pair = 0; pair <= shape.pairs(); ++pair) offsets.push_back(successors.first_entry(pair));
    document["offsets"] = std::move(offsets);
    document["targets"] = successors.targets();
    // What is the same at all steps is written once.
    ordered_json& probabilities = document["probabilities"] = ordered_json::array();
    for (Step h = 0; h < (model.homogeneous() ? 1 : shape.horizon); ++h)
        probabilities.push_back(model.all_probabilities(h));
    ordered_json& rewards = document["rewards"] = ordered_json::array();
    for (Step h = 0; h < (reward.stationary() ? 1 : shape.horizon); ++h) rewards.push_back(reward.at(h));
    detail::write_text(path, document.dump() + "\n");
}

void write_npz_model(const std::filesystem::path& path, const TransitionModel& model, const Reward& reward) {
    const Shape& shape = model.shape();
    const SuccessorMap& successors = model.successors();
    const Index entries = successors.entries();
    std::vector<std::int64_t> indptr{0}, indices;
    std::vector<double> data, rewards, start(static_cast<std::size_t>(shape.states), 0.0);
    indptr.reserve(static_cast<std::size_t>(shape.horizon * shape.pairs() + 1));
    for (Step h = 0; h < shape.horizon; ++h) {
        const std::vector<double> probabilities = model.all_probabilities(h);
        data.insert(data.end(), probabilities.begin(), probabilities.end());
        indices.insert(indices.end(), successors.targets().begin(), successors.targets().end());
        for (Index pair = 1; pair <= shape.pairs(); ++pair)
            indptr.push_back(h * entries + successors.first_entry(pair));
        rewards.insert(rewards.end(), reward.at(h).begin(), reward.at(h).end());
    }
    for (const auto& [state, probability] : model.start().atoms())
        start[static_cast<std::size_t>(state)] += probability;
    const Index rows = shape.horizon * shape.pairs();
    detail::NpzArrays arrays;
    arrays["format"] = detail::NpyArray::of_text("csr");
    arrays["shape"] = detail::NpyArray::of_integers({2}, {rows, shape.states});
    arrays["indptr"] = detail::NpyArray::of_integers({rows + 1}, std::move(indptr));
    arrays["indices"] = detail::NpyArray::of_integers({shape.horizon * entries}, std::move(indices));
    arrays["data"] = detail::NpyArray::of_reals({shape.horizon * entries}, std::move(data));
    arrays["rewards"] =
        detail::NpyArray::of_reals({shape.horizon, shape.states, shape.actions}, std::move(rewards));
    arrays["start"] = detail::NpyArray::of_reals({shape.states}, std::move(start));
    arrays["horizon"] = detail::NpyArray::of_integers({}, {shape.horizon});
    detail::write_npz(path, arrays, detail::NpzCompression::stored);
}

std::vector<PlanningFormat> all_formats() {
    std::vector<PlanningFormat> formats{
        {"json", ".json", "One JSON object, sparse, with what all steps share written once.",
         write_json_model},
        {"npz", ".npz",
         "NumPy arrays: a SciPy CSR matrix of H*S*A rows, rewards (H, S, A) and the start law.",
         write_npz_model},
    };
    for (const ModelFormat& format : model_formats()) {
        const bool points = std::ranges::find(format.writes, BranchKind::point) != format.writes.end();
        const bool known = std::ranges::find(formats, format.name, &PlanningFormat::name) != formats.end();
        if (!points || known) continue;
        formats.push_back({format.name, format.extensions.front(), format.summary + " The unrolled model.",
                           [&format](const std::filesystem::path& path, const TransitionModel& model,
                                     const Reward& reward) {
                               write_model(
                                   format, path,
                                   LayeredView(model, {.step_labels = false, .rewards = {{"r", reward}}}));
                           }});
    }
    return formats;
}

}  // namespace

const std::vector<PlanningFormat>& planning_formats() {
    static const std::vector<PlanningFormat> formats = all_formats();
    return formats;
}

const PlanningFormat& find_planning_format(std::string_view name) {
    std::vector<std::string> names;
    for (const PlanningFormat& format : planning_formats()) {
        if (format.name == name) return format;
        names.push_back(format.name);
    }
    throw InvalidArgument(
        fmt::format("no planning format is called '{}'; there are {}", name, fmt::join(names, ", ")));
}

}  // namespace alidade
