# cmake -DWEB=... -DOUT=... [-DNODE=... -DNPM=...] -P embed.cmake: writes OUT/page_parts.cpp, the page's style sheet, script
# and notices as C++. Without Node, or where packages cannot be had, the script is empty: the page does without it.
set(script "")
set(notices "")
set(why "")
if(NODE AND NPM)
  set(installed ${WEB}/node_modules/.package-lock.json)
  if(NOT EXISTS ${installed} OR ${WEB}/package-lock.json IS_NEWER_THAN ${installed})
    execute_process(COMMAND ${NPM} ci --no-audit --no-fund --ignore-scripts --prefer-offline --loglevel=error
                    WORKING_DIRECTORY ${WEB} RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE why)
    if(NOT failed AND EXISTS ${installed})
      file(TOUCH ${installed})
    endif()
  endif()
  if(EXISTS ${installed} AND NOT failed)
    execute_process(COMMAND ${NODE} ${WEB}/build.mjs ${OUT} RESULT_VARIABLE failed ERROR_VARIABLE why)
    if(NOT failed)
      file(READ ${OUT}/page.js script)
      file(READ ${OUT}/notices.txt notices)
    endif()
  endif()
else()
  set(why "node and npm are not there")
endif()
if(script STREQUAL "")
  message(WARNING "Reports will have fixed pictures only: ${why}")
endif()
file(READ ${WEB}/page.css style)

# In pieces: compilers need not take longer literals than 65,536 characters.
function(pieces text result)
  set(literal "")
  string(LENGTH "${text}" left)
  set(begin 0)
  while(begin LESS left)
    string(SUBSTRING "${text}" ${begin} 16000 piece)
    string(APPEND literal "    R\"~~~(${piece})~~~\"\n")
    math(EXPR begin "${begin} + 16000")
  endwhile()
  if(literal STREQUAL "")
    set(literal "    \"\"\n")
  endif()
  set(${result} "${literal}" PARENT_SCOPE)
endfunction()
pieces("${script}" script)
pieces("${style}" style)
pieces("${notices}" notices)
file(WRITE ${OUT}/page_parts.cpp "#include \"${HEADER}\"

// Made by web/embed.cmake.
namespace alidade::report::detail {
std::string_view page_script() {
    return
${script};
}
std::string_view page_style() {
    return
${style};
}
std::string_view page_notices() {
    return
${notices};
}
}  // namespace alidade::report::detail
")
