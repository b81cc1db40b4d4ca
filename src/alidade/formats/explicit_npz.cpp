#include "explicit_npz.hpp"

#include <fmt/format.h>

#include "../files/json_file.hpp"
#include "../files/npz_writer.hpp"
#include "../files/pending_file.hpp"
#include "alidade/error.hpp"
#include "flat_model.hpp"

namespace alidade::detail {
namespace {

using nlohmann::json;

constexpr std::pair<BranchKind, const char*> kind_names[] = {
    {BranchKind::point, "point"}, {BranchKind::interval, "interval"}, {BranchKind::parametric, "parametric"}};
// Rewards are kept for every structure, state and choice, whatever the arrays leave out.
constexpr std::size_t most_names = std::size_t{1} << 20;

std::string format_header(const ExplicitHeader& header) {
    json text = json::object();
    for (const auto& [kind, name] : kind_names)
        if (kind == header.kind) text["kind"] = name;
    text["parameters"] = header.parameters;
    text["actions"] = header.actions;
    text["labels"] = header.labels;
    text["rewards"] = header.rewards;
    return text.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::vector<std::string> parse_names(const json& document, const char* key, const std::string& where) {
    std::vector<std::string> names;
    if (!document.contains(key)) return names;
    const json& given = list(document[key], fmt::format("{}, \"{}\"", where, key));
    expects(given.size() <= most_names, "{}: has {} {}; at most {} are read", where, given.size(), key,
            most_names);
    for (const json& name : given) {
        expects(name.is_string(), "{}, \"{}\": element {} is {}; must be a string", where, key, names.size(),
                shown(name));
        names.push_back(name.get<std::string>());
    }
    return names;
}

ExplicitHeader parse_header(const NpzArrays& arrays, std::string_view file) {
    const NpyArray& array = find_array(arrays, "header", file);
    expects(array.kind() == NpyKind::text, "{}: array 'header' has type '{}'; it must be a byte string", file,
            array.dtype);
    const std::string where = fmt::format("{}: array 'header'", file);
    const json document = parse_json(array.text, where);
    check_object(document, {"kind", "parameters", "actions", "labels", "rewards"}, where);
    ExplicitHeader header;
    const json& kind = member(document, "kind", where);
    const auto* const found = std::find_if(std::begin(kind_names), std::end(kind_names),
                                           [&](const auto& k) { return kind == k.second; });
    expects(found != std::end(kind_names), "{}, \"kind\": is {}; must be point, interval or parametric",
            where, shown(kind));
    header.kind = found->first;
    header.parameters = parse_names(document, "parameters", where);
    header.actions = parse_names(document, "actions", where);
    header.labels = parse_names(document, "labels", where);
    header.rewards = parse_names(document, "rewards", where);
    return header;
}

std::vector<std::int64_t> integers(NpzArrays& arrays, const char* name, std::string_view file) {
    const NpyArray& array = find_array(arrays, name, file);
    expects(array.kind() == NpyKind::integer && array.shape.size() == 1,
            "{}: array '{}' has type '{}' and {} dimension(s); it must be a list of integers", file, name,
            array.dtype, array.shape.size());
    return std::move(arrays.find(name)->second.integers);
}

std::vector<double> reals(NpzArrays& arrays, const char* name, std::string_view file) {
    find_array(arrays, name, file);
    return std::move(arrays.find(name)->second).take_reals(fmt::format("{}: array '{}'", file, name));
}

void write_labels(NpzWriter& out, Spool& spool, std::int64_t states) {
    const std::int64_t total = spool.size() / 4 - states;
    out.begin("label_offsets", "<i8", {states + 1});
    out.push_integer(0);
    spool.rewind();
    for (std::int64_t s = 0, position = 0; s < states; ++s) {
        const auto count = spool.read_value<std::int32_t>();
        for (std::int32_t i = 0; i < count; ++i) spool.read_value<std::int32_t>();
        out.push_integer(position += count);
    }
    out.end();
    out.begin("labels", "<i4", {total});
    spool.rewind();
    for (std::int64_t s = 0; s < states; ++s) {
        const auto count = spool.read_value<std::int32_t>();
        for (std::int32_t i = 0; i < count; ++i) out.push_integer(spool.read_value<std::int32_t>());
    }
    out.end();
}

}  // namespace

void write_explicit_npz(const std::filesystem::path& path, const ExplicitRows& rows,
                        NpzCompression compression) {
    SpooledModel model(rows, path);
    const ExplicitHeader& header = model.header();
    const auto rewards = static_cast<std::int64_t>(header.rewards.size());
    PendingFile file(path);
    NpzWriter out(file.path(), compression);
    out.add("header", NpyArray::of_text(format_header(header)));
    out.add("state_to_choices", "<i8", {header.states + 1}, model.state_choices);
    out.add("choice_to_branches", "<i8", {header.choices + 1}, model.choice_branches);
    out.add("targets", "<i8", {header.branches}, model.targets);
    if (header.kind != BranchKind::parametric) out.add("lower", "<f8", {header.branches}, model.lower);
    if (header.kind == BranchKind::interval) out.add("upper", "<f8", {header.branches}, model.upper);
    if (header.kind == BranchKind::parametric)
        out.add("coefficients", "<f8",
                {header.branches, 1 + static_cast<std::int64_t>(header.parameters.size())},
                model.coefficients);
    out.add("choice_actions", "<i4", {header.choices}, model.choice_actions);
    const auto initial = static_cast<std::int64_t>(header.initial_states.size());
    out.add("initial_states", NpyArray::of_integers({initial}, header.initial_states));
    write_labels(out, model.labels, header.states);
    out.add("state_rewards", "<f8", {header.states, rewards}, model.state_rewards);
    out.add("choice_rewards", "<f8", {header.choices, rewards}, model.choice_rewards);
    out.close();
    file.commit();
}

ExplicitModel read_explicit_npz(const std::filesystem::path& path, const ModelReadOptions& options) {
    return explicit_from_arrays(read_npz(path), path.string(), options);
}

ExplicitModel explicit_from_arrays(NpzArrays arrays, std::string_view file, const ModelReadOptions& options) {
    FlatModel flat;
    flat.header = parse_header(arrays, file);
    flat.state_choices = integers(arrays, "state_to_choices", file);
    flat.choice_branches = integers(arrays, "choice_to_branches", file);
    flat.targets = integers(arrays, "targets", file);
    const BranchKind kind = flat.header.kind;
    if (kind != BranchKind::parametric) flat.lower = reals(arrays, "lower", file);
    if (kind == BranchKind::interval) flat.upper = reals(arrays, "upper", file);
    if (kind == BranchKind::parametric) flat.coefficients = reals(arrays, "coefficients", file);
    flat.header.initial_states = integers(arrays, "initial_states", file);
    if (arrays.contains("choice_actions")) flat.choice_actions = integers(arrays, "choice_actions", file);
    if (arrays.contains("label_offsets")) {
        flat.label_offsets = integers(arrays, "label_offsets", file);
        flat.labels = integers(arrays, "labels", file);
    }
    if (!flat.header.rewards.empty()) {
        flat.state_rewards = reals(arrays, "state_rewards", file);
        flat.choice_rewards = reals(arrays, "choice_rewards", file);
    }
    return assemble(flat, file, options);
}

}  // namespace alidade::detail
