#include "alidade/files/policy_file.hpp"

#include <cmath>
#include <vector>

#include "alidade/error.hpp"
#include "json_file.hpp"
#include "policy_json.hpp"
#include "text_file.hpp"

namespace alidade {
namespace {

using nlohmann::json;

/// The policy of a file: actions while every cell is one, probabilities from the first list on.
struct Cells {
    std::vector<std::int32_t> actions;
    std::vector<double> probabilities;
    bool stochastic = false;
};

void add_action(Cells& cells, std::int64_t action, const Shape& shape) {
    cells.actions.push_back(static_cast<std::int32_t>(action));
    const std::size_t first = cells.probabilities.size();
    cells.probabilities.resize(first + static_cast<std::size_t>(shape.actions), 0.0);
    cells.probabilities[first + static_cast<std::size_t>(action)] = 1;
}

void add_law(Cells& cells, const json& law, const Shape& shape, const std::string& where) {
    expects(static_cast<Index>(law.size()) == shape.actions,
            "{}: has {} probabilities; must have {}, one for each action", where, law.size(), shape.actions);
    double sum = 0;
    Action a = 0;
    for (const json& value : law) {
        const std::string place = fmt::format("{}, probability of action {}", where, a++);
        const double p = detail::number(value, place);
        expects(p >= 0 && p <= 1 + 1e-9, "{}: is {}; must be from 0 to 1", place, p);
        cells.probabilities.push_back(p);
        sum += p;
    }
    expects(std::abs(sum - 1) <= 1e-9, "{}: probabilities sum to {:.12g}; must sum to 1 within 1e-9", where,
            sum);
    cells.stochastic = true;
}

Cells parse_cells(const json& rows, const Shape& shape, const std::string& file) {
    Cells cells;
    for (Step h = 0; h < shape.horizon; ++h) {
        const json& row =
            detail::list(rows[static_cast<std::size_t>(h)], fmt::format("{}: step {}", file, h));
        expects(static_cast<Index>(row.size()) == shape.states,
                "{}: step {} has {} cells; must have {}, one for each state", file, h, row.size(),
                shape.states);
        for (State s = 0; s < shape.states; ++s) {
            const json& cell = row[static_cast<std::size_t>(s)];
            const std::string where = fmt::format("{}: step {}, state {}", file, h, s);
            if (cell.is_array())
                add_law(cells, cell, shape, where);
            else
                add_action(cells, detail::position(cell, shape.actions - 1, where + ", action"), shape);
        }
    }
    return cells;
}

}  // namespace

Policy detail::policy_of(const json& rows, const Shape& shape, const std::string& file) {
    detail::list(rows, file + ": \"policy\"");
    expects(static_cast<Index>(rows.size()) == shape.horizon,
            "{}: \"policy\" has {} rows; must have {}, one for each step", file, rows.size(), shape.horizon);
    Cells cells = parse_cells(rows, shape, file);
    return cells.stochastic ? Policy::stochastic(shape, std::move(cells.probabilities))
                            : Policy::deterministic(shape, std::move(cells.actions));
}

Policy read_policy(const std::filesystem::path& path, const Shape& shape) {
    return parse_policy(detail::read_text(path), path.string(), shape);
}

Policy parse_policy(std::string_view text, const std::string& file, const Shape& shape) {
    validate(shape);
    const json document = detail::parse_json(text, file);
    detail::check_object(document, {"policy"}, file);
    return detail::policy_of(detail::member(document, "policy", file), shape, file);
}

void write_policy(const std::filesystem::path& path, const Policy& policy) {
    const Shape& shape = policy.shape();
    std::string text = "{\"policy\": [\n";
    for (Step h = 0; h < shape.horizon; ++h) {
        json row = json::array();
        for (State s = 0; s < shape.states; ++s) {
            if (policy.is_deterministic()) {
                row.push_back(policy.action(h, s));
                continue;
            }
            json law = json::array();
            for (Action a = 0; a < shape.actions; ++a) law.push_back(policy.probability(h, s, a));
            row.push_back(std::move(law));
        }
        text += fmt::format("  {}{}\n", row.dump(), h + 1 < shape.horizon ? "," : "");
    }
    detail::write_text(path, text + "]}\n");
}

}  // namespace alidade
