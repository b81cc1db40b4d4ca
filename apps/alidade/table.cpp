#include "table.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "alidade/spec/printable_text.hpp"

namespace alidade::app {
namespace {

std::string padded(const std::string& cell, std::size_t width, Table::Align align) {
    const std::string space(width - std::min(width, display_width(cell)), ' ');
    return align == Table::Align::right ? space + cell : cell + space;
}

std::string without_trailing_space(std::string line) {
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
}

/// A last column narrower than this is not wrapped.
constexpr std::size_t least_wrapped = 20;

/// The words of a text in lines of at most `width` columns; at least one line.
std::vector<std::string> wrapped(const std::string& text, std::size_t width) {
    std::vector<std::string> lines(1);
    std::istringstream words(text);
    for (std::string word; words >> word;) {
        if (!lines.back().empty() && display_width(lines.back()) + 1 + display_width(word) > width)
            lines.emplace_back();
        lines.back() += (lines.back().empty() ? "" : " ") + word;
    }
    return lines;
}

}  // namespace

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
    for (Column& column : columns_) column.title = printable(column.title);
}

void Table::add(std::vector<std::string> cells) {
    for (std::string& cell : cells) cell = printable(cell);
    rows_.push_back(std::move(cells));
}

std::string paragraph(const std::string& text, std::size_t width) {
    constexpr std::size_t widest = 100;
    std::string lines;
    for (const std::string& line : wrapped(text, width == 0 ? widest : std::min(width, widest)))
        lines += line + "\n";
    return lines;
}

std::string Table::text(std::size_t width) const {
    std::vector<std::size_t> widths;
    for (const Column& column : columns_) widths.push_back(display_width(column.title));
    for (const auto& row : rows_)
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], display_width(row[i]));
    std::size_t before = 2;
    for (std::size_t i = 0; i + 1 < widths.size(); ++i) before += widths[i] + 2;
    const std::size_t room = width > before + least_wrapped ? width - before : std::string::npos;

    const auto line = [&](const auto& cell_of) {
        std::string cells;
        for (std::size_t i = 0; i + 1 < columns_.size(); ++i)
            cells += "  " + padded(cell_of(i), widths[i], columns_[i].align);
        const std::size_t last = columns_.size() - 1;
        if (columns_[last].align == Align::right)
            return cells + "  " + padded(cell_of(last), widths[last], Align::right) + "\n";
        std::string lines;
        for (const std::string& part : wrapped(cell_of(last), room))
            lines +=
                without_trailing_space((lines.empty() ? cells : std::string(before - 2, ' ')) + "  " + part) +
                "\n";
        return lines;
    };
    std::string lines = line([&](std::size_t i) { return columns_[i].title; });
    for (const auto& row : rows_) lines += line([&](std::size_t i) { return row[i]; });
    return lines;
}

std::string Table::markdown() const {
    std::string titles = "|", rule = "|", body;
    for (const Column& column : columns_) {
        titles += " " + column.title + " |";
        rule += column.align == Align::right ? "---:|" : "---|";
    }
    for (const auto& row : rows_) {
        body += "|";
        for (const std::string& cell : row) body += " " + cell + " |";
        body += "\n";
    }
    return titles + "\n" + rule + "\n" + body;
}

}  // namespace alidade::app
