include(CMakePackageConfigHelpers)

install(TARGETS alidade EXPORT alidadeTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT alidadeTargets NAMESPACE alidade::
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/alidade)
configure_package_config_file(cmake/alidadeConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/alidadeConfig.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/alidade)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/alidadeConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/alidadeConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/alidadeConfigVersion.cmake
              cmake/FindClp.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/alidade)
if(TARGET alidade_cli)
  install(TARGETS alidade_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
