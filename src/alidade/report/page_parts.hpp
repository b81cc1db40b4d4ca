#pragma once

#include <string_view>

/// What the page is dressed with, put into the program when it is built (web/).
namespace alidade::report::detail {

/// The script; empty where the program was built without Node.
std::string_view page_script();
std::string_view page_style();
/// The licences of what is in the script.
std::string_view page_notices();

}  // namespace alidade::report::detail
