#pragma once

#include <string>
#include <variant>
#include <vector>

#include "chart.hpp"

/// What the page is made of, before it is HTML.
namespace alidade::report::detail {

struct DataTable {
    struct Column {
        std::string title;
        bool number = false;  ///< set flush right
    };
    std::vector<Column> columns;
    std::vector<std::vector<std::string>> rows;  ///< one cell a column
    std::string note = {};                       ///< under it; what was left out, for instance
};

/// A chart and the same numbers as a table.
struct Figure {
    std::string kind;     ///< by what name it is asked for: "certificate"
    std::string id;       ///< in the page; no two the same
    std::string title;    ///< what it shows
    std::string reading;  ///< how to read it, in a sentence or two
    Chart chart;
    DataTable table;
};

/// A sentence to be quoted.
struct Quotation {
    std::string text;
};

struct Paragraph {
    std::string text;
};

/// A list of what is assumed or asked for, and how it stands.
struct Checklist {
    enum class Standing { holds, fails, unknown };
    struct Item {
        Standing standing = Standing::unknown;
        std::string claim;   ///< "The real system is a mixture of the 4 base models."
        std::string detail;  ///< what speaks for it, or against it
    };
    std::vector<Item> items;
};

/// Something to type.
struct Commands {
    std::vector<std::string> lines;
};

/// A picture that another program wrote, shown as it is and unable to do anything.
struct ForeignPicture {
    std::string svg;
    std::string description;
};

struct TitledTable {
    std::string title;
    DataTable table;
    bool folded = false;  ///< shown when it is asked for
};

/// Raw data: what the page's script makes buttons of.
struct Downloads {};

using Block =
    std::variant<Quotation, Paragraph, Checklist, Commands, ForeignPicture, TitledTable, Figure, Downloads>;

struct Section {
    std::string id, title;
    std::vector<Block> blocks = {};
};

}  // namespace alidade::report::detail
