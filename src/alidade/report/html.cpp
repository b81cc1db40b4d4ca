#include "html.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "alidade/spec/printable_text.hpp"
#include "content_digest.hpp"
#include "names.hpp"

namespace alidade::report::detail {

std::string escaped(std::string_view text) {
    std::string safe;
    for (const char c : printable(text)) {
        switch (c) {
            case '&':
                safe += "&amp;";
                break;
            case '<':
                safe += "&lt;";
                break;
            case '>':
                safe += "&gt;";
                break;
            case '"':
                safe += "&quot;";
                break;
            case '\'':
                safe += "&#39;";
                break;
            default:
                safe += c;
        }
    }
    return safe;
}

std::string escaped_lines(std::string_view text) {
    std::string safe;
    while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        safe += escaped(line) + "\n";
        text.remove_prefix(std::min(text.size(), line.size() + 1));
    }
    return safe;
}

std::string inside_script(std::string_view json) {
    std::string safe;
    safe.reserve(json.size());
    for (const char c : json) {
        if (c == '<')
            safe += "\\u003c";
        else if (c == '>')
            safe += "\\u003e";
        else
            safe += c;
    }
    return safe;
}

namespace {

std::string standing_mark(Checklist::Standing standing) {
    switch (standing) {
        case Checklist::Standing::holds:
            return R"(<span class="mark ok" aria-hidden="true">✓</span><span class="unseen">holds: </span>)";
        case Checklist::Standing::fails:
            return R"(<span class="mark bad" aria-hidden="true">✗</span><span class="unseen">fails: </span>)";
        case Checklist::Standing::unknown:
            break;
    }
    return R"(<span class="mark open" aria-hidden="true">?</span><span class="unseen">not checked: </span>)";
}

std::string slider_html(const Figure& figure) {
    if (!figure.chart.slices) return {};
    const Slices& slices = *figure.chart.slices;
    std::string names = "[";
    for (const std::string& value : slices.values)
        names += fmt::format("{}&quot;{}&quot;", names.size() > 1 ? "," : "", escaped(value));
    return fmt::format(
        R"(<p class="slider" hidden><label for="{0}-slider">{1}</label> <input type="range" id="{0}-slider" min="0" max="{2}" value="0" data-names="{3}]"> <output for="{0}-slider">{4}</output></p>)",
        figure.id, escaped(slices.title), slices.values.size() - 1, names, escaped(slices.values.front()));
}

struct BlockWriter {
    std::string operator()(const Quotation& block) const {
        return fmt::format("<blockquote><p>{}</p></blockquote>\n", escaped(block.text));
    }
    std::string operator()(const Paragraph& block) const {
        return fmt::format("<p>{}</p>\n", escaped(block.text));
    }
    std::string operator()(const Checklist& block) const {
        std::string text = "<ul class=\"checks\">\n";
        for (const Checklist::Item& item : block.items)
            text += fmt::format("<li>{}<strong>{}</strong> {}</li>\n", standing_mark(item.standing),
                                escaped(item.claim), escaped(item.detail));
        return text + "</ul>\n";
    }
    std::string operator()(const Commands& block) const {
        std::string text = "<pre tabindex=\"0\"><code>";
        for (const std::string& line : block.lines) text += escaped(line) + "\n";
        return text + "</code></pre>\n";
    }
    std::string operator()(const ForeignPicture& block) const {
        return fmt::format("<img class=\"foreign\" alt=\"{}\" src=\"data:image/svg+xml;base64,{}\">\n",
                           escaped(block.description), base64(block.svg));
    }
    std::string operator()(const TitledTable& block) const {
        if (block.folded)
            return fmt::format("<details><summary>{}</summary>\n{}</details>\n", escaped(block.title),
                               to_html(block.table, block.title));
        return fmt::format("<h3>{}</h3>\n{}", escaped(block.title), to_html(block.table, block.title));
    }
    std::string operator()(const Downloads&) const {
        return "<p id=\"downloads\" hidden><button type=\"button\" id=\"download-data\">Download all data "
               "(JSON)</button></p>\n";
    }
    std::string operator()(const Figure& figure) const {
        std::string text = fmt::format("<figure id=\"{}\"><figcaption><h3>{}</h3><p>{}</p></figcaption>\n",
                                       figure.id, escaped(figure.title), escaped(figure.reading));
        if (!figure.chart.empty()) {
            text += slider_html(figure);
            text += fmt::format(
                "<div class=\"chart\" data-figure=\"{}\" role=\"img\" tabindex=\"0\" aria-label=\"Chart: {}. "
                "The "
                "same numbers are in the table that follows.\">{}</div>\n",
                figure.id, escaped(figure.title), draw_svg(figure.chart, figure.title, false));
            text += fmt::format("<script type=\"application/json\" id=\"{}-spec\">{}</script>\n", figure.id,
                                inside_script(vega_lite(figure.chart, figure.title, false)));
        }
        // Long tables are folded, not left out.
        const bool open = figure.chart.empty() || figure.table.rows.size() <= 12;
        return text +
               fmt::format(
                   "<details{}><summary>The same as a table ({} rows)</summary>\n{}</details></figure>\n",
                   open ? " open" : "", figure.table.rows.size(), to_html(figure.table, figure.title));
    }
};

}  // namespace

std::string to_html(const DataTable& table, std::string_view label) {
    // Of large tables of numbers the style is said once.
    const bool numbers =
        table.columns.size() > 8 &&
        std::ranges::all_of(table.columns.begin() + 1, table.columns.end(), &DataTable::Column::number);
    std::string text = fmt::format(
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table: {}\"><table{}><thead><tr>",
        escaped(label), numbers ? " class=\"numbers\"" : "");
    for (const DataTable::Column& column : table.columns)
        text += fmt::format("<th scope=\"col\"{}>{}</th>", column.number ? " class=\"n\"" : "",
                            escaped(column.title));
    text += "</tr></thead><tbody>\n";
    for (const auto& row : table.rows) {
        text += "<tr>";
        for (std::size_t i = 0; i < row.size(); ++i) {
            const bool number = i < table.columns.size() && table.columns[i].number;
            if (i == 0)
                text +=
                    fmt::format("<th scope=\"row\"{}>{}</th>", number ? " class=\"n\"" : "", escaped(row[i]));
            else
                text += fmt::format("<td{}>{}", number && !numbers ? " class=n" : "", escaped(row[i]));
        }
        text += "\n";
    }
    text += "</tbody></table></div>\n";
    if (!table.note.empty()) text += fmt::format("<p class=\"note\">{}</p>\n", escaped(table.note));
    return text;
}

std::string to_html(const Section& section) {
    std::string text =
        fmt::format("<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n<h2 id=\"{0}-title\">{1}</h2>\n",
                    section.id, escaped(section.title));
    for (const Block& block : section.blocks) text += std::visit(BlockWriter{}, block);
    return text + "</section>\n";
}

}  // namespace alidade::report::detail
