#pragma once

#include <span>
#include <string>

#include "alidade/report/report.hpp"
#include "section.hpp"

namespace alidade::report::detail {

/// What stands at the head of the page.
struct PageHead {
    std::string title;    ///< of the window, and the page
    std::string verdict;  ///< in a word or two
    bool alarming = false;
    bool good = false;
};

/// The file: head, sections that have something in them, and the data (a JSON object) for those who download
/// them.
std::string to_page(const PageHead& head, std::span<const Section> sections, const std::string& data,
                    const ReportOptions& options);

}  // namespace alidade::report::detail
