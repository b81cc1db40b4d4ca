# COIN-OR Clp through its C interface, as Debian's coinor-libclp-dev has it: target Clp::Clp. Installed beside
# alidadeConfig.cmake, because whoever links the static library needs it too.
find_path(CLP_INCLUDE_DIR Clp_C_Interface.h PATH_SUFFIXES coin coin-or)
find_library(CLP_LIBRARY Clp)
find_library(COINUTILS_LIBRARY CoinUtils)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Clp REQUIRED_VARS CLP_LIBRARY COINUTILS_LIBRARY CLP_INCLUDE_DIR)
mark_as_advanced(CLP_INCLUDE_DIR CLP_LIBRARY COINUTILS_LIBRARY)
if(Clp_FOUND AND NOT TARGET Clp::Clp)
  add_library(Clp::Clp UNKNOWN IMPORTED)
  set_target_properties(Clp::Clp PROPERTIES
    IMPORTED_LOCATION "${CLP_LIBRARY}"
    INTERFACE_LINK_LIBRARIES "${COINUTILS_LIBRARY}"
    INTERFACE_INCLUDE_DIRECTORIES "${CLP_INCLUDE_DIR}")
endif()
