#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <set>

#include "../files/archive_file.hpp"
#include "../files/pending_file.hpp"
#include "alidade/error.hpp"
#include "flat_model.hpp"
#include "umb_file.hpp"

namespace alidade::detail {
namespace {

using nlohmann::ordered_json;

constexpr std::int64_t word = 8;  // bytes of an integer, a double or a word of bits

std::int64_t bit_bytes(std::int64_t count) {
    return (count + 63) / 64 * word;
}

/// For each name one that UMB allows for folders, [0-9a-z_-]+, all different.
std::vector<std::string> identifiers(const std::vector<std::string>& names) {
    std::vector<std::string> result;
    std::set<std::string> taken;
    for (const std::string& name : names) {
        std::string id;
        for (const char c : name.substr(0, 40)) {
            const bool lower = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
            const bool upper = c >= 'A' && c <= 'Z';
            id.push_back(lower ? c : upper ? static_cast<char>(c - 'A' + 'a') : '_');
        }
        const std::string stem = id.empty() ? "unnamed" : id;
        id = stem;
        for (int k = 2; !taken.insert(id).second; ++k) id = fmt::format("{}-{}", stem, k);
        result.push_back(id);
    }
    return result;
}

Packing packing_of(UmbCompression compression) {
    switch (compression) {
        case UmbCompression::none:
            return Packing::tar;
        case UmbCompression::gzip:
            return Packing::tar_gzip;
        case UmbCompression::xz:
            return Packing::tar_xz;
    }
    return Packing::tar;
}

/// Packs bits into words, least significant first.
class BitWriter {
public:
    explicit BitWriter(ArchiveWriter& out) : out_(out) {}
    void push(bool bit) {
        if (bit) bits_ |= std::uint64_t{1} << count_;
        if (++count_ == 64) flush();
    }
    void finish() {
        if (count_ > 0) flush();
    }

private:
    void flush() {
        out_.write(&bits_, sizeof bits_);
        bits_ = 0;
        count_ = 0;
    }
    ArchiveWriter& out_;
    std::uint64_t bits_ = 0;
    unsigned count_ = 0;
};

class UmbWriter {
public:
    UmbWriter(SpooledModel& model, ArchiveWriter& out)
        : model_(model),
          header_(model.header()),
          out_(out),
          reward_ids_(identifiers(header_.rewards)),
          label_ids_(identifiers(header_.labels)) {}

    void write() {
        out_.add("index.json", index().dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n");
        initial_states();
        member("state-to-choices.bin", model_.state_choices);
        member("choice-to-branches.bin", model_.choice_branches);
        member("branch-to-target.bin", model_.targets);
        probabilities();
        if (action_count() > 0) actions();
        for (std::size_t r = 0; r < reward_ids_.size(); ++r) {
            if (model_.has_state_rewards(r)) rewards(r, "states", header_.states, model_.state_rewards);
            if (on_choices(r)) rewards(r, "choices", header_.choices, model_.choice_rewards);
        }
        for (std::size_t l = 0; l < label_ids_.size(); ++l) label(l);
    }

private:
    /// The choices without a name get one more action, with the empty name.
    std::size_t action_count() const {
        return header_.actions.empty() ? 0 : header_.actions.size() + (model_.has_unnamed_choices() ? 1 : 0);
    }
    /// A reward that is zero everywhere must still apply to something.
    bool on_choices(std::size_t r) const {
        return model_.has_choice_rewards(r) || !model_.has_state_rewards(r);
    }

    ordered_json transition_system() const {
        const bool interval = header_.kind == BranchKind::interval;
        return {{"time", "discrete"},
                {"#players", 1},
                {"#states", header_.states},
                {"#initial-states", header_.initial_states.size()},
                {"#choices", header_.choices},
                {"#choice-actions", action_count()},
                {"#branches", header_.branches},
                {"#branch-actions", 0},
                {"#observations", 0},
                {"branch-probability-type",
                 {{"type", interval ? "double-interval" : "double"}, {"size", interval ? 128 : 64}}}};
    }

    ordered_json index() const {
        ordered_json result = {{"format-version", 1}, {"format-revision", 0}};
        result["file-data"] = {{"tool", "alidade"}};
        result["transition-system"] = transition_system();
        ordered_json rewards = ordered_json::object(), aps = ordered_json::object();
        for (std::size_t r = 0; r < reward_ids_.size(); ++r) {
            ordered_json places = ordered_json::array();
            if (model_.has_state_rewards(r)) places.push_back("states");
            if (on_choices(r)) places.push_back("choices");
            rewards[reward_ids_[r]] = {{"alias", header_.rewards[r]},
                                       {"applies-to", std::move(places)},
                                       {"type", {{"type", "double"}, {"size", 64}}}};
        }
        for (std::size_t l = 0; l < label_ids_.size(); ++l)
            aps[label_ids_[l]] = {{"alias", header_.labels[l]},
                                  {"applies-to", {"states"}},
                                  {"type", {{"type", "bool"}, {"size", 1}}}};
        ordered_json annotations = ordered_json::object();
        if (!rewards.empty()) annotations["rewards"] = std::move(rewards);
        if (!aps.empty()) annotations["aps"] = std::move(aps);
        if (!annotations.empty()) result["annotations"] = std::move(annotations);
        return result;
    }

    void member(const std::string& name, Spool& spool) {
        out_.begin(name, spool.size());
        out_.copy(spool);
        out_.end();
    }

    void initial_states() {
        out_.begin("state-is-initial.bin", bit_bytes(header_.states));
        BitWriter bits(out_);
        auto next = header_.initial_states.begin();
        for (std::int64_t s = 0; s < header_.states; ++s) {
            const bool initial = next != header_.initial_states.end() && *next == s;
            if (initial) ++next;
            bits.push(initial);
        }
        bits.finish();
        out_.end();
    }

    void probabilities() {
        if (header_.kind == BranchKind::point) return member("branch-to-probability.bin", model_.lower);
        out_.begin("branch-to-probability.bin", 2 * word * header_.branches);
        model_.lower.rewind();
        model_.upper.rewind();
        for (std::int64_t b = 0; b < header_.branches; ++b) {
            const double ends[2] = {model_.lower.read_value<double>(), model_.upper.read_value<double>()};
            out_.write(ends, sizeof ends);
        }
        out_.end();
    }

    void actions() {
        out_.begin("actions/choices/values.bin", header_.choices * static_cast<std::int64_t>(4));
        model_.choice_actions.rewind();
        for (std::int64_t c = 0; c < header_.choices; ++c) {
            const auto action = model_.choice_actions.read_value<std::int32_t>();
            const auto value = static_cast<std::uint32_t>(
                action < 0 ? static_cast<std::int32_t>(header_.actions.size()) : action);
            out_.write(&value, sizeof value);
        }
        out_.end();
        std::string strings;
        std::vector<std::uint64_t> offsets{0};
        for (std::size_t i = 0; i < action_count(); ++i) {
            if (i < header_.actions.size()) strings += header_.actions[i];
            offsets.push_back(strings.size());
        }
        out_.begin("actions/choices/string-mapping.bin", static_cast<std::int64_t>(offsets.size()) * word);
        out_.write(offsets.data(), offsets.size() * sizeof offsets[0]);
        out_.end();
        out_.add("actions/choices/strings.bin", strings);
    }

    void rewards(std::size_t r, std::string_view place, std::int64_t count, Spool& spool) {
        out_.begin(fmt::format("annotations/rewards/{}/{}/values.bin", reward_ids_[r], place), count * word);
        spool.rewind();
        for (std::int64_t i = 0; i < count; ++i)
            for (std::size_t k = 0; k < reward_ids_.size(); ++k) {
                const auto value = spool.read_value<double>();
                if (k == r) out_.write(&value, sizeof value);
            }
        out_.end();
    }

    void label(std::size_t wanted) {
        out_.begin(fmt::format("annotations/aps/{}/states/values.bin", label_ids_[wanted]),
                   bit_bytes(header_.states));
        BitWriter bits(out_);
        model_.labels.rewind();
        for (std::int64_t s = 0; s < header_.states; ++s) {
            bool has = false;
            const auto count = model_.labels.read_value<std::int32_t>();
            for (std::int32_t i = 0; i < count; ++i)
                if (model_.labels.read_value<std::int32_t>() == static_cast<std::int32_t>(wanted)) has = true;
            bits.push(has);
        }
        bits.finish();
        out_.end();
    }

    SpooledModel& model_;
    const ExplicitHeader& header_;
    ArchiveWriter& out_;
    std::vector<std::string> reward_ids_, label_ids_;
};

}  // namespace

void write_umb(const std::filesystem::path& path, const ExplicitRows& rows, UmbCompression compression) {
    const ExplicitHeader& header = rows.header();
    expects(header.kind != BranchKind::parametric,
            "{}: UMB has no parameters; write the point or the interval view, or DRN", path.string());
    for (const std::string& name : header.actions)
        expects(!name.empty(), "{}: an action has the empty name, which stands for none; name it",
                path.string());
    SpooledModel model(rows, path);
    PendingFile file(path);
    ArchiveWriter out(file.path(), packing_of(compression));
    UmbWriter(model, out).write();
    out.close();
    file.commit();
}

}  // namespace alidade::detail
