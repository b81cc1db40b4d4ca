#pragma once

#include <functional>
#include <istream>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "alidade/files/episode_file.hpp"

namespace alidade::detail {

/// Numbers by name.
class NameTable {
public:
    /// `what` is named: "state".
    NameTable(std::string what, std::span<const std::string> names);
    bool empty() const noexcept { return numbers_.empty(); }
    /// The number of a name. Throws InvalidArgument, beginning with `where`, for one that there is not.
    Index number(std::string_view name, std::string_view where) const;
    /// The same of a name or of digits; names come first. `count`: numbers are less than this.
    Index read(std::string_view text, Index count, std::string_view where) const;

private:
    std::string what_;
    std::map<std::string, Index, std::less<>> numbers_;
};

/// Reads comma-separated values, one row a transition; see visit_episodes.
void read_transition_table(std::istream& stream, const std::string& name, const EpisodeFileOptions& options,
                           const std::function<void(const LoggedEpisode&)>& each);

}  // namespace alidade::detail
