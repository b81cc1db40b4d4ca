#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "../files/pending_file.hpp"
#include "affine_text.hpp"
#include "alidade/error.hpp"
#include "drn_file.hpp"

namespace alidade::detail {
namespace {

bool is_blank(char letter) {
    return letter == ' ' || letter == '\t' || letter == '\r' || letter == '\n' || letter == '\v' ||
           letter == '\f';
}

/// Names that end at a blank: Storm reads no quotes there.
std::vector<std::string> without_blanks(std::vector<std::string> names, std::string_view what,
                                        const std::string& file) {
    for (std::string& name : names) {
        expects(!name.empty(), "{}: {} with an empty name cannot be written in DRN", file, what);
        std::ranges::replace_if(name, is_blank, '_');
    }
    return names;
}

void expect_distinct(const std::vector<std::string>& names, std::string_view what, const std::string& file) {
    std::set<std::string_view> seen;
    for (const std::string& name : names)
        expects(seen.insert(name).second, "{}: two {} are called '{}' in DRN, where a blank is written as _",
                file, what, name);
}

std::vector<std::string> quoted(std::vector<std::string> labels, const std::string& file) {
    for (std::string& label : labels) {
        expects(!label.empty() && label != "init" && label.find_first_of("\"\r\n") == std::string::npos,
                "{}: label '{}' cannot be written in DRN; it must not be empty or 'init', nor contain a "
                "quotation mark or a line's end",
                file, label);
        // Storm takes a bracket there for rewards.
        if (label[0] == '[' || std::ranges::any_of(label, is_blank)) label = fmt::format("\"{}\"", label);
    }
    return labels;
}

class Writer {
public:
    Writer(const std::filesystem::path& path, const ExplicitRows& rows, const DrnOptions& options)
        : file_(path), rows_(rows), header_(rows.header()), options_(options), out_(file_.buffer()) {
        const std::string name = path.string();
        actions_ = without_blanks(header_.actions, "an action", name);
        rewards_ = without_blanks(header_.rewards, "a reward", name);
        expect_distinct(rewards_, "rewards", name);
        labels_ = quoted(header_.labels, name);
        for (const std::string& parameter : header_.parameters)
            expects(!parameter.empty() && parameter.find_first_of("+-*/() \t$") == std::string::npos,
                    "{}: parameter '{}' cannot be written in DRN", name, parameter);
    }

    void write() {
        write_header();
        ExplicitState row;
        auto initial = header_.initial_states.begin();
        for (Index state = 0; state < header_.states; ++state) {
            rows_.read(state, row);
            const bool first = initial != header_.initial_states.end() && *initial == state;
            if (first) ++initial;
            write_state(state, row, first);
            file_.relieve();
        }
        file_.commit();
    }

private:
    template <class... Args>
    void put(fmt::format_string<Args...> text, Args&&... args) {
        fmt::format_to(std::back_inserter(out_), text, std::forward<Args>(args)...);
    }

    void write_header() {
        static constexpr std::string_view types[] = {"double", "double-interval", "parametric"};
        put("@type: MDP\n");
        if (options_.value_type) put("@value_type: {}\n", types[static_cast<std::size_t>(header_.kind)]);
        put("@parameters\n{}\n@reward_models\n{}\n", fmt::join(header_.parameters, " "),
            fmt::join(rewards_, " "));
        put("@nr_states\n{}\n@nr_choices\n{}\n@model\n", header_.states, header_.choices);
    }

    void write_rewards(const double* values) {
        if (rewards_.empty()) return;
        put(" [{}", values[0]);
        for (std::size_t i = 1; i < rewards_.size(); ++i) put(", {}", values[i]);
        out_ += ']';
    }

    void write_state(Index state, const ExplicitState& row, bool initial) {
        put("state {}", state);
        write_rewards(row.state_rewards.data());
        if (initial) out_ += " init";
        for (const std::int32_t label : row.labels) {
            out_ += ' ';
            out_ += labels_[static_cast<std::size_t>(label)];
        }
        out_ += '\n';
        for (Index k = 0; k < row.choices(); ++k) {
            const auto choice = static_cast<std::size_t>(k);
            const std::int32_t action = row.actions[choice];
            if (action >= 0)
                put("\taction {}", actions_[static_cast<std::size_t>(action)]);
            else if (actions_.empty())
                put("\taction {}", k);
            else
                put("\taction __NOLABEL__");
            write_rewards(row.choice_rewards.data() + choice * rewards_.size());
            out_ += '\n';
            for (std::int64_t i = row.offsets[choice]; i < row.offsets[choice + 1]; ++i)
                write_branch(row, static_cast<std::size_t>(i));
        }
    }

    void write_branch(const ExplicitState& row, std::size_t branch) {
        put("\t\t{} : ", row.targets[branch]);
        if (header_.kind == BranchKind::parametric)
            append_affine(out_, row.coefficients.data() + branch * (1 + header_.parameters.size()),
                          header_.parameters);
        else if (header_.kind == BranchKind::interval)
            put("[{}, {}]", row.lower[branch], row.upper[branch]);
        else
            put("{}", row.lower[branch]);
        out_ += '\n';
    }

    PendingText file_;
    const ExplicitRows& rows_;
    const ExplicitHeader& header_;
    DrnOptions options_;
    std::string& out_;
    std::vector<std::string> actions_, rewards_, labels_;
};

}  // namespace

void write_drn(const std::filesystem::path& path, const ExplicitRows& rows, const DrnOptions& options) {
    expects(path.extension() != ".gz" && path.extension() != ".xz",
            "{}: DRN is written as plain text; leave out {}, and pack the file afterwards", path.string(),
            path.extension().string());
    Writer(path, rows, options).write();
}

}  // namespace alidade::detail
