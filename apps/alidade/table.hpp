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

    explicit Table(std::vector<Column> columns);
    /// One cell a column; what a terminal must not see is spelt out.
    void add(std::vector<std::string> cells);

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

}  // namespace alidade::app
