#include <fmt/format.h>
#include <algorithm>
#include <iterator>
#include <memory>

#include "../files/pending_file.hpp"
#include "../files/spool.hpp"
#include "alidade/error.hpp"
#include "identifier_names.hpp"
#include "prism_file.hpp"
#include "prism_names.hpp"

namespace alidade::detail {
namespace {

namespace fs = std::filesystem;

/// The lines of one reward file, whose number comes before them.
struct RewardLines {
    explicit RewardLines(const fs::path& file) : path(file), lines(file) {}
    void add(const std::string& line) {
        lines.append(line.data(), line.size());
        ++count;
    }
    fs::path path;
    Spool lines;
    std::int64_t count = 0;
};

class PrismWriter {
public:
    PrismWriter(const fs::path& path, const ExplicitHeader& header, PrismDialect dialect)
        : path_(path),
          header_(header),
          storm_(dialect == PrismDialect::storm),
          actions_(identifier_names(header.actions)),
          labels_(identifier_names(header.labels)),
          rewards_(identifier_names(header.rewards)),
          transitions_(path),
          label_lines_(prism_part(path, ".lab", 0, 1)) {
        if (!storm_) states_ = std::make_unique<PendingText>(prism_part(path, ".sta", 0, 1));
        for (std::size_t r = 0; r < rewards_.size(); ++r) {
            state_rewards_.push_back(
                std::make_unique<RewardLines>(prism_part(path, ".srew", r, rewards_.size())));
            choice_rewards_.push_back(
                std::make_unique<RewardLines>(prism_part(path, ".trew", r, rewards_.size())));
        }
        begin();
    }

    void add(const ExplicitState& row, Index state) {
        add_transitions(row, state);
        add_labels(row, state);
        if (!storm_) {
            fmt::format_to(std::back_inserter(states_->buffer()), "{}:({})\n", state, state);
            states_->relieve();
        }
        for (std::size_t r = 0; r < rewards_.size(); ++r)
            if (is_listed(row.state_rewards[r], state == 0))
                state_rewards_[r]->add(fmt::format("{} {}\n", state, row.state_rewards[r]));
        choices_ += row.choices();
        branches_ += static_cast<Index>(row.targets.size());
    }

    std::vector<fs::path> finish() {
        expects(choices_ == header_.choices && branches_ == header_.branches,
                "{}: the model has {} choices and {} branches, but its header says {} and {}", path_.string(),
                choices_, branches_, header_.choices, header_.branches);
        std::vector<fs::path> files{path_};
        transitions_.commit();
        if (states_) {
            states_->commit();
            files.push_back(prism_part(path_, ".sta", 0, 1));
        }
        label_lines_.commit();
        files.push_back(prism_part(path_, ".lab", 0, 1));
        for (std::size_t r = 0; r < rewards_.size(); ++r) {
            write_rewards(r, *state_rewards_[r], "State", fmt::format("{}", header_.states));
            write_rewards(r, *choice_rewards_[r], "Transition",
                          fmt::format("{} {}", header_.states, header_.choices));
            files.push_back(state_rewards_[r]->path);
            files.push_back(choice_rewards_[r]->path);
        }
        return files;
    }

private:
    /// Zeros are left out, but for the first in Storm's dialect: it cannot open an empty file.
    bool is_listed(double reward, bool first) const {
        expects(!storm_ || reward >= 0,
                "{}: a reward is {}, and Storm's explicit files have no negative ones; write UMB or DRN",
                path_.string(), reward);
        return reward != 0 || (storm_ && first);
    }

    void begin() {
        transitions_.buffer() =
            storm_ ? std::string("mdp\n")
                   : fmt::format("{} {} {}\n", header_.states, header_.choices, header_.branches);
        std::string& lines = label_lines_.buffer();
        lines = storm_ ? "#DECLARATION\ninit" : "0=\"init\"";
        for (std::size_t l = 0; l < labels_.size(); ++l)
            lines += storm_ ? " " + labels_[l] : fmt::format(" {}=\"{}\"", l + 1, labels_[l]);
        lines += storm_ ? "\n#END\n" : "\n";
        if (states_) states_->buffer() = "(state)\n";
    }

    void add_transitions(const ExplicitState& row, Index state) {
        auto out = std::back_inserter(transitions_.buffer());
        for (Index c = 0; c < row.choices(); ++c) {
            const std::int32_t action = row.actions[at(c)];
            for (auto b = row.offsets[at(c)]; b < row.offsets[at(c + 1)]; ++b) {
                fmt::format_to(out, "{} {} {} ", state, c, row.targets[at(b)]);
                if (header_.kind == BranchKind::point)
                    fmt::format_to(out, "{}", row.lower[at(b)]);
                else
                    fmt::format_to(out, "[{},{}]", row.lower[at(b)], row.upper[at(b)]);
                action < 0 ? fmt::format_to(out, "\n") : fmt::format_to(out, " {}\n", actions_[at(action)]);
                for (std::size_t r = 0; r < rewards_.size(); ++r) {
                    const double reward = row.choice_rewards[at(c) * rewards_.size() + r];
                    if (is_listed(reward, state == 0 && c == 0 && b == 0))
                        choice_rewards_[r]->add(
                            fmt::format("{} {} {} {}\n", state, c, row.targets[at(b)], reward));
                }
            }
            transitions_.relieve();
        }
    }

    void add_labels(const ExplicitState& row, Index state) {
        const bool initial =
            next_initial_ < header_.initial_states.size() && header_.initial_states[next_initial_] == state;
        if (initial) ++next_initial_;
        if (!initial && row.labels.empty()) return;
        std::string& lines = label_lines_.buffer();
        lines += fmt::format("{}{}", state, storm_ ? "" : ":");
        if (initial) lines += storm_ ? " init" : " 0";
        for (const std::int32_t label : row.labels)
            lines += storm_ ? " " + labels_[at(label)] : fmt::format(" {}", label + 1);
        lines += '\n';
        label_lines_.relieve();
    }

    void write_rewards(std::size_t r, RewardLines& rewards, const char* what, const std::string& sizes) {
        PendingText file(rewards.path);
        if (!storm_)
            file.buffer() = fmt::format("# Reward structure \"{}\"\n# {} rewards\n{} {}\n", rewards_[r], what,
                                        sizes, rewards.count);
        std::string block(std::size_t{1} << 16, '\0');
        rewards.lines.rewind();
        for (std::size_t got = 0; (got = rewards.lines.read(block.data(), block.size())) > 0;) {
            file.buffer().append(block, 0, got);
            file.relieve();
        }
        file.commit();
    }

    fs::path path_;
    const ExplicitHeader& header_;
    bool storm_;
    std::vector<std::string> actions_, labels_, rewards_;
    PendingText transitions_, label_lines_;
    std::unique_ptr<PendingText> states_;
    std::vector<std::unique_ptr<RewardLines>> state_rewards_, choice_rewards_;
    std::size_t next_initial_ = 0;
    Index choices_ = 0, branches_ = 0;
};

/// Reward files of an earlier model would be read as this one's.
void remove_leftovers(const fs::path& path, const std::vector<fs::path>& written) {
    const auto remove = [&](const fs::path& file) {
        std::error_code ignored;
        if (std::find(written.begin(), written.end(), file) == written.end()) fs::remove(file, ignored);
    };
    for (const char* const extension : {".srew", ".trew"}) {
        remove(prism_part(path, extension, 0, 1));
        std::vector<fs::path> numbered;
        for (std::size_t r = 0; fs::exists(prism_part(path, extension, r, 2)); ++r)
            numbered.push_back(prism_part(path, extension, r, 2));
        for (const fs::path& file : numbered) remove(file);
    }
    remove(prism_part(path, ".sta", 0, 1));
}

}  // namespace

std::vector<fs::path> write_prism(const fs::path& path, const ExplicitRows& rows, PrismDialect dialect) {
    const ExplicitHeader& header = rows.header();
    expects(path.extension() == ".tra", "{}: the file of transitions must end in .tra", path.string());
    expects(header.kind != BranchKind::parametric,
            "{}: explicit files have no parameters; write the point or the interval view, or DRN",
            path.string());
    expects(dialect == PrismDialect::prism || header.kind == BranchKind::point,
            "{}: Storm's explicit files have no intervals; write DRN or UMB", path.string());
    PrismWriter writer(path, header, dialect);
    ExplicitState row;
    for (Index state = 0; state < header.states; ++state) {
        rows.read(state, row);
        writer.add(row, state);
    }
    std::vector<fs::path> files = writer.finish();
    remove_leftovers(path, files);
    return files;
}

}  // namespace alidade::detail
