include(CMakePackageConfigHelpers)

# A part of the library, its headers and what finds it again, by itself with "cmake --install BUILD --component PART".
set(package ${CMAKE_INSTALL_LIBDIR}/cmake/alidade)
foreach(part ${ALIDADE_PARTS})
  install(TARGETS alidade_${part} EXPORT alidade_${part}
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${part}
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT ${part}
          FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT ${part})
  install(EXPORT alidade_${part} NAMESPACE alidade:: FILE alidade_${part}.cmake
          DESTINATION ${package} COMPONENT ${part})
endforeach()
configure_package_config_file(cmake/alidadeConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/alidadeConfig.cmake
  INSTALL_DESTINATION ${package})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/alidadeConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/alidadeConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/alidadeConfigVersion.cmake
              cmake/FindClp.cmake
        DESTINATION ${package} COMPONENT core)
if(TARGET alidade_cli)
  install(TARGETS alidade_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tool)
endif()
