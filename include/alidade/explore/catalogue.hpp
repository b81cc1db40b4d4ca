#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "alidade/model/task.hpp"
#include "alidade/spec/request.hpp"

/// What explorers are made of, by name: algorithms, which choose experiments, and sources of confidence sets.
namespace alidade {

namespace detail {
class Behaviour;
struct BehaviourSetting;
class SetSource;
struct SourceSetting;
}  // namespace detail

/// One line of the catalogue of sources.
struct SourceEntry {
    std::string name;     ///< as typed: "regression"
    std::string summary;  ///< one sentence
    std::vector<RequestParameter> parameters;
    /// Why it has no sets for a task; empty if it has.
    std::function<std::string(const Task&)> refusal;
    /// For Explorer, which makes what it is asked for.
    std::function<std::unique_ptr<detail::SetSource>(const detail::SourceSetting&, const RequestArguments&)>
        make;
    /// Why its sets cannot be combined with others'; empty if they can.
    std::function<std::string(const RequestArguments&)> alone;
    /// Why its sets do not hold for data that nobody asked for; empty if they do. None: they do not, since
    /// something must have been fixed before the data were collected.
    std::function<std::string(const Task&, const RequestArguments&)> unasked = {};

    /// Why such data cannot be taken up, in words; empty if they can.
    std::string unasked_refusal(const Task& task, const Request& request) const;
};

/// All sources, in the order in which several of them are named.
const std::vector<SourceEntry>& set_sources();

/// The source of that name. Throws InvalidArgument with the names that exist.
const SourceEntry& find_source(std::string_view name);

/// Sources with commas between, in the catalogue's order and without what the defaults say. Throws
/// InvalidArgument if one is unknown, comes twice, or cannot be combined.
std::vector<Request> canonical_sources(std::string_view text);

/// The same of sources that are to go on with a run: what `text` leaves open of the parameters that are
/// spelled out is as in `stored`, the run's.
std::vector<Request> continued_sources(std::string_view text, std::string_view stored);

/// One algorithm of the catalogue: a behaviour, and the sets that its own certificate rests on.
struct BehaviourEntry {
    std::string name;     ///< as typed: "hoeffding"
    std::string summary;  ///< one sentence
    std::vector<RequestParameter> parameters;
    std::string source;  ///< whose sets its own certificate rests on, and that it plans with
    /// For Explorer, too. `source` is one of that name, which `make` may keep.
    std::function<std::unique_ptr<detail::Behaviour>(const detail::BehaviourSetting&,
                                                     const std::shared_ptr<detail::SetSource>& source,
                                                     const RequestArguments&)>
        make;

    /// Why it cannot explore a task that its sets do not refuse; may be left out.
    std::function<std::string(const Task&)> refuses = {};

    /// Why it cannot explore a task; empty if it can.
    std::string refusal(const Task& task) const {
        const std::string own = refuses ? refuses(task) : std::string();
        return own.empty() ? find_source(source).refusal(task) : own;
    }
};

/// All algorithms; of those that do not refuse a task, the first is its default.
const std::vector<BehaviourEntry>& behaviours();

/// The first algorithm that does not refuse the task.
const BehaviourEntry& default_behaviour(const Task& task);

/// The algorithm of that name. Throws InvalidArgument with the names that exist.
const BehaviourEntry& find_behaviour(std::string_view name);

/// The algorithm without what the defaults say. Throws InvalidArgument if it is unknown, or a parameter is.
Request canonical_behaviour(std::string_view text);

}  // namespace alidade
