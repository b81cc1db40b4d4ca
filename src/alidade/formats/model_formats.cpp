#include "alidade/formats/model_formats.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "alidade/error.hpp"
#include "alidade/spec/printable_text.hpp"
#include "cassandra_file.hpp"
#include "drn_file.hpp"
#include "explicit_npz.hpp"
#include "gym_file.hpp"
#include "identifier_names.hpp"
#include "prism_file.hpp"
#include "umb_file.hpp"

namespace alidade {
namespace {

using std::filesystem::path;

constexpr BranchKind every_kind[] = {BranchKind::point, BranchKind::interval, BranchKind::parametric};

/// A text as Python and R read it between single quotes.
std::string literal_of(std::string_view text) {
    std::string literal = "'";
    for (const char c : text) {
        if (c == '\'' || c == '\\')
            literal += fmt::format("\\{}", c);
        else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
            literal += fmt::format("\\x{:02x}", static_cast<unsigned>(c));
        else
            literal += c;
    }
    return literal + "'";
}

/// What to ask a model checker for: the most that can be earned. Intervals whose lower end is 0 leave the
/// graph open, for which Storm only counts steps.
std::string property_of(const WrittenModel& model) {
    if (model.header.rewards.empty())
        return fmt::format("Pmax=? [F<={} \"{}\"]", model.steps,
                           model.header.labels.empty() ? "LABEL" : model.header.labels.back());
    std::string name = model.header.rewards[0];
    std::ranges::replace(name, ' ', '_');
    const bool count = model.step_bound > 0 || model.header.kind == BranchKind::interval;
    return fmt::format("R{{\"{}\"}}max=? [{}]", name,
                       count ? fmt::format("C<={}", model.steps) : std::string("F \"end\""));
}

/// Both readings of the intervals by stormpy, of `model` and `formula`.
std::string interval_check(std::int64_t start) {
    return fmt::format(
        "for nature in 'ROBUST', 'COOPERATIVE':  # the best value is at least, at most\n"
        "    mode = getattr(stormpy.UncertaintyResolutionMode, nature)\n"
        "    print(stormpy.model_checking(model, formula, "
        "uncertainty_resolution_mode=mode).get_value({}))\n",
        start);
}

std::string drn_usage(const WrittenModel& model) {
    const std::string property = property_of(model);
    const std::string file = literal_of(model.path.string());
    const std::string check =
        fmt::format("formula = stormpy.parse_properties({})[0]\n", literal_of(property));
    const std::int64_t start = model.header.initial_states.at(0);
    switch (model.header.kind) {
        case BranchKind::point:
            return fmt::format(
                "storm -drn {} --prop {}\nimport stormpy\nmodel = stormpy.build_model_from_drn({})\n{}"
                "print(stormpy.model_checking(model, formula).get_value({}))\n",
                shell_path(model.path.string()), shell_word(property), file, check, start);
        case BranchKind::interval:
            return fmt::format(
                "import stormpy\nmodel = stormpy.build_model_from_drn[stormpy.Interval]({})\n{}{}", file,
                check, interval_check(start));
        default:
            return fmt::format(
                "import stormpy, stormpy.pars\n"
                "model = stormpy.build_model_from_drn[stormpy.RationalFunction]({})\n"
                "weights = {{p: stormpy.pars.RationalFunctionCoefficient(0.01) for p in "
                "model.collect_all_parameters()}}\n"
                "one = stormpy.pars.ModelInstantiator(model).instantiate(weights)\n{}"
                "print(stormpy.model_checking(one, formula).get_value({}))\n",
                file, check, start);
    }
}

std::string gym_usage(const WrittenModel& model) {
    return fmt::format(
        "import json\nP = json.load(open({}))['P']\n"
        "P = [[P[str(s)][str(a)] for a in range(len(P[str(s)]))] for s in range(len(P))]\nV = [0] * len(P)\n"
        "for _ in range({}):\n"
        "    V = [max(sum(p * (r + (not done) * V[n]) for p, n, r, done in row) for row in rows) for rows in "
        "P]\n"
        "print(V[{}])\n",
        literal_of(model.path.string()), model.steps, model.header.initial_states.at(0));
}

std::string umb_usage(const WrittenModel& model) {
    const std::string file = literal_of(model.path.string()), property = property_of(model);
    const std::int64_t start = model.header.initial_states.at(0);
    const std::string check = fmt::format(
        "import stormpy\nmodel = stormpy.build_model_from_umb({})\n"
        "formula = stormpy.parse_properties({})[0]\n",
        file, literal_of(property));
    if (model.header.kind == BranchKind::point)
        return check + fmt::format("print(stormpy.model_checking(model, formula).get_value({}))\n", start);
    return check + interval_check(start);
}

std::string prism_usage(WrittenModel model) {
    model.header.rewards = detail::identifier_names(model.header.rewards);
    model.header.labels = detail::identifier_names(model.header.labels);
    return fmt::format("prism -importmodel {} -{} -ex -pf {}\n",
                       shell_path(path(model.path).replace_extension().string() + ".all"),
                       model.header.kind == BranchKind::interval ? "imdp" : "mdp",
                       shell_word(property_of(model)));
}

std::string storm_explicit_usage(const WrittenModel& model) {
    const std::string stem = path(model.path).replace_extension().string();
    const std::string number = model.header.rewards.size() > 1 ? "1" : "";
    const std::string rewards =
        model.header.rewards.empty()
            ? ""
            : fmt::format(", state_rewards={}, transition_rewards={}", literal_of(stem + number + ".srew"),
                          literal_of(stem + number + ".trew"));
    return fmt::format("import stormpy\nmodel = stormpy.build_model_from_explicit({}, {}{})\n",
                       literal_of(stem + ".tra"), literal_of(stem + ".lab"), rewards);
}

std::string npz_usage(const WrittenModel& model) {
    return fmt::format(
        "import json, numpy\nmodel = numpy.load({})\nheader = json.loads(bytes(model['header']))\n"
        "print(model['state_to_choices'], model['choice_to_branches'], model['targets'])\n",
        literal_of(model.path.string()));
}

std::string cassandra_usage(const WrittenModel& model) {
    return fmt::format("library(pomdp)  # R\nmodel <- read_POMDP({})\n", literal_of(model.path.string()));
}

std::string listed(const std::vector<BranchKind>& kinds) {
    std::string text;
    for (const BranchKind kind : kinds) text += (text.empty() ? "" : ", ") + std::string(name_of(kind));
    return text.empty() ? "none" : text;
}

}  // namespace

std::string_view name_of(BranchKind kind) {
    static constexpr std::string_view names[] = {"point", "interval", "parametric"};
    return names[static_cast<std::size_t>(kind)];
}

// A table, however long. NOLINTNEXTLINE(readability-function-size)
const std::vector<ModelFormat>& model_formats() {
    static const std::vector<ModelFormat> formats = {
        {.name = "drn",
         .extensions = {".drn"},
         .only_read = {".drn.gz", ".drn.xz"},
         .summary = "Storm's direct encoding; read by storm and stormpy",
         .writes = {std::begin(every_kind), std::end(every_kind)},
         .reads = {std::begin(every_kind), std::end(every_kind)},
         .write =
             [](const path& file, const ExplicitRows& rows) {
                 detail::write_drn(file, rows);
                 return std::vector{file};
             },
         .read = [](const path& file,
                    const ModelReadOptions& options) { return detail::read_drn(file, options); },
         .usage = drn_usage},
        {.name = "gym",
         .extensions = {".json"},
         .summary = "the P dictionary of Gymnasium's toy-text environments, in JSON; one reward",
         .writes = {BranchKind::point},
         .reads = {BranchKind::point},
         .write =
             [](const path& file, const ExplicitRows& rows) {
                 detail::write_gym(file, rows);
                 return std::vector{file};
             },
         .read = [](const path& file,
                    const ModelReadOptions& options) { return detail::read_gym(file, options); },
         .usage = gym_usage},
        {.name = "umb",
         .extensions = {".umb"},
         .summary = "Unified Markov Binary; read by PRISM, Storm, stormpy and umbi",
         .writes = {BranchKind::point, BranchKind::interval},
         .reads = {BranchKind::point, BranchKind::interval},
         .write =
             [](const path& file, const ExplicitRows& rows) {
                 detail::write_umb(file, rows);
                 return std::vector{file};
             },
         .read = [](const path& file,
                    const ModelReadOptions& options) { return detail::read_umb(file, options); },
         .usage = umb_usage},
        {.name = "prism",
         .extensions = {".tra"},
         .summary = "PRISM's explicit files: transitions, states, labels, rewards",
         .writes = {BranchKind::point, BranchKind::interval},
         .reads = {BranchKind::point, BranchKind::interval},
         .write = [](const path& file, const ExplicitRows& rows) { return detail::write_prism(file, rows); },
         .read = [](const path& file,
                    const ModelReadOptions& options) { return detail::read_prism(file, options); },
         .usage = prism_usage},
        {.name = "storm-explicit",
         .extensions = {".tra"},  // read as `prism`, which comes first and knows both
         .summary = "Storm's explicit files, which differ from PRISM's; read by storm --explicit and stormpy",
         .writes = {BranchKind::point},
         .reads = {},
         .write =
             [](const path& file, const ExplicitRows& rows) {
                 return detail::write_prism(file, rows, detail::PrismDialect::storm);
             },
         .read = {},
         .usage = storm_explicit_usage},
        {.name = "npz",
         .extensions = {".npz"},
         .summary = "arrays over states, choices and branches for NumPy",
         .writes = {std::begin(every_kind), std::end(every_kind)},
         .reads = {std::begin(every_kind), std::end(every_kind)},
         .write =
             [](const path& file, const ExplicitRows& rows) {
                 detail::write_explicit_npz(file, rows);
                 return std::vector{file};
             },
         .read = [](const path& file,
                    const ModelReadOptions& options) { return detail::read_explicit_npz(file, options); },
         .usage = npz_usage},
        {.name = "cassandra",
         .extensions = {".MDP", ".POMDP"},
         .summary =
             "the text format of Cassandra's pomdp-solve; read by AI-Toolbox and R's pomdp; one reward",
         .writes = {BranchKind::point},
         .reads = {},
         .write =
             [](const path& file, const ExplicitRows& rows) {
                 detail::write_cassandra(file, rows, {.observations = file.extension() == ".POMDP"});
                 return std::vector{file};
             },
         .read = {},
         .usage = cassandra_usage},
    };
    return formats;
}

const ModelFormat& find_model_format(std::string_view name) {
    std::string names;
    for (const ModelFormat& format : model_formats()) {
        if (format.name == name) return format;
        names += (names.empty() ? "" : ", ") + format.name;
    }
    throw InvalidArgument(fmt::format("no model format is called '{}'; there are {}", name, names));
}

const ModelFormat* model_format_of(const path& file) {
    const std::string name = file.filename().string();
    const auto ends_so = [&](const std::string& extension) {
        return name.size() > extension.size() && name.ends_with(extension);
    };
    for (const ModelFormat& format : model_formats())
        if (std::ranges::any_of(format.extensions, ends_so) || std::ranges::any_of(format.only_read, ends_so))
            return &format;
    return nullptr;
}

std::vector<path> write_model(const ModelFormat& format, const path& file, const ExplicitRows& rows) {
    const BranchKind kind = rows.header().kind;
    expects(std::ranges::find(format.writes, kind) != format.writes.end(),
            "format {} cannot hold {} models; it holds {}", format.name, name_of(kind),
            listed(format.writes));
    return format.write(file, rows);
}

ExplicitModel read_model(const path& file, const ModelReadOptions& options) {
    const ModelFormat* const format = model_format_of(file);
    std::vector<std::string> known, packed;
    for (const ModelFormat& each : model_formats()) {
        if (each.reads.empty()) continue;
        known.insert(known.end(), each.extensions.begin(), each.extensions.end());
        packed.insert(packed.end(), each.only_read.begin(), each.only_read.end());
    }
    known.insert(known.end(), packed.begin(), packed.end());
    expects(format != nullptr && !format->reads.empty(), "{}: a model's file must end in one of {}",
            file.string(), fmt::join(known, ", "));
    return format->read(file, options);
}

}  // namespace alidade
