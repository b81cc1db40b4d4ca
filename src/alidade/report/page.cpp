#include "page.hpp"

#include <fmt/format.h>

#include "content_digest.hpp"
#include "html.hpp"
#include "page_parts.hpp"

namespace alidade::report::detail {
namespace {

/// Nothing is loaded and nothing runs but the page's own script, known by its digest; no code is made of
/// text. A live page may ask the server that it came from for news.
std::string security_policy(bool live) {
    std::string policy =
        fmt::format("default-src 'none'; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
                    policy_hash(page_style()));
    if (!page_script().empty()) policy += fmt::format("; script-src {}", policy_hash(page_script()));
    if (live) policy += "; connect-src 'self'";
    return policy;
}

std::string contents_list(std::span<const Section> sections) {
    std::string text = "<nav aria-label=\"Contents\"><ul>\n";
    for (const Section& section : sections)
        if (!section.blocks.empty())
            text += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", section.id, escaped(section.title));
    return text + "</ul></nav>\n";
}

std::string notices_html() {
    if (page_notices().empty()) return {};
    return fmt::format(
        "<details id=\"notices\"><summary>Licences of the software in this page</summary><pre "
        "tabindex=\"0\">{}</pre>"
        "</details>\n",
        escaped_lines(page_notices()));
}

}  // namespace

std::string to_page(const PageHead& head, std::span<const Section> sections, const std::string& data,
                    const ReportOptions& options) {
    std::string text = fmt::format(
        "<!DOCTYPE html>\n<!-- Written by alidade. -->\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
        "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<style>{}</style></head>\n",
        escaped(security_policy(options.live)), escaped(head.title), page_style());
    text += fmt::format(
        "<body{}>\n<a class=\"skip\" href=\"#main\">Skip to the verdict</a>\n<header><h1>{}</h1>"
        "<p class=\"badge{}\">{}</p></header>\n",
        options.live ? " data-live" : "", escaped(head.title),
        head.alarming ? " bad"
        : head.good   ? " ok"
                      : "",
        escaped(head.verdict));
    text += "<p id=\"live\" role=\"status\"></p>\n";
    text += contents_list(sections);
    if (page_script().empty())
        text +=
            "<p class=\"note\">This page has fixed pictures only: the program that wrote it was built "
            "without Node, so that "
            "charts answer to no pointer and sliders are missing. Every number is in the tables.</p>\n";
    else
        text +=
            "<noscript><p class=\"note\">Scripts are off: pictures are fixed, and show the first step where "
            "there is a choice. "
            "Every number is in the tables.</p></noscript>\n";
    text += "<main id=\"main\">\n";
    for (const Section& section : sections)
        if (!section.blocks.empty()) text += to_html(section);
    text +=
        fmt::format("<script type=\"application/json\" id=\"run-data\">{}</script>\n", inside_script(data));
    text += "</main>\n<footer>" + notices_html() + "</footer>\n";
    if (!page_script().empty()) text += fmt::format("<script>{}</script>\n", page_script());
    return text + "</body></html>\n";
}

}  // namespace alidade::report::detail
