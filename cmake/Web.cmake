# The page's style sheet, script and notices as one source file, ALIDADE_PAGE_PARTS. Included where the targets are that
# compile it. What npm installs lies in web/node_modules, for all builds.
find_program(ALIDADE_NODE node)
find_program(ALIDADE_NPM npm)
set(web ${PROJECT_SOURCE_DIR}/web)
set(ALIDADE_PAGE_PARTS ${PROJECT_BINARY_DIR}/web/page_parts.cpp)
add_custom_command(OUTPUT ${ALIDADE_PAGE_PARTS}
  COMMAND ${CMAKE_COMMAND} -DWEB=${web} -DOUT=${PROJECT_BINARY_DIR}/web
          "-DNODE=$<$<BOOL:${ALIDADE_NODE}>:${ALIDADE_NODE}>" "-DNPM=$<$<BOOL:${ALIDADE_NPM}>:${ALIDADE_NPM}>"
          -DHEADER=${PROJECT_SOURCE_DIR}/src/alidade/report/page_parts.hpp -P ${web}/embed.cmake
  DEPENDS ${web}/page.css ${web}/src/page.ts ${web}/build.mjs ${web}/embed.cmake ${web}/package-lock.json
  COMMENT "The script of the report's page" VERBATIM)
set_source_files_properties(${ALIDADE_PAGE_PARTS} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
