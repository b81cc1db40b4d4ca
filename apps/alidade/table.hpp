#pragma once

#include <string>
#include <vector>

namespace alidade::app {

/// A small table of text, columns as wide as their widest cell.
class Table {
public:
    enum class Align { left, right };
    struct Column {
        std::string title;
        Align align = Align::right;
    };

    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
    /// One cell a column.
    void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

    /// Lines that start with two spaces. Where they would be longer than `width` > 0, the words of the last
    /// column are wrapped.
    std::string text(std::size_t width = 0) const;
    /// A Markdown table.
    std::string markdown() const;

private:
    std::vector<Column> columns_;
    std::vector<std::vector<std::string>> rows_;
};

/// A text in lines of at most `width` columns, and never more than 100; 0 stands for 100.
std::string paragraph(const std::string& text, std::size_t width);

/// Columns a text takes on a terminal: characters, not bytes, of UTF-8.
std::size_t display_width(const std::string& text);

}  // namespace alidade::app
