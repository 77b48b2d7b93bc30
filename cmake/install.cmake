# What `cmake --install` puts into a prefix. Everything finds the rest by relative paths, so the
# prefix can be moved.
include(CMakePackageConfigHelpers)

file(RELATIVE_PATH bin_to_lib /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
if(SPATE_FILES)
  set_target_properties(spate_command PROPERTIES INSTALL_RPATH "$ORIGIN/${bin_to_lib}")
  install(TARGETS spate_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(TARGETS spate_library EXPORT spate LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(SPATE_PICTURES)
  set_target_properties(spate_pictures PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS spate_pictures EXPORT spate LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
if(SPATE_VIEWER)
  set_target_properties(spate_server PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS spate_server EXPORT spate LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()
install(DIRECTORY include/spate DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.h)
install(FILES docs/spate.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES tools/spate.bash RENAME spate
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(DIRECTORY scenes DESTINATION ${CMAKE_INSTALL_DATADIR}/spate PATTERN __pycache__ EXCLUDE)

# find_package(spate) -> spate::spate, and spate::spate_pictures where it was built
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/spate)
install(EXPORT spate FILE spateTargets.cmake NAMESPACE spate:: DESTINATION ${package_folder})
configure_package_config_file(cmake/spateConfig.cmake.in spateConfig.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(spateConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/spateConfig.cmake ${PROJECT_BINARY_DIR}/spateConfigVersion.cmake
  DESTINATION ${package_folder})

# pkg-config spate, spate_pictures, spate_server
file(RELATIVE_PATH pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
set(pc_names spate)
if(SPATE_PICTURES)
  list(APPEND pc_names spate_pictures)
endif()
if(SPATE_VIEWER)
  list(APPEND pc_names spate_server)
endif()
foreach(name ${pc_names})
  configure_file(cmake/${name}.pc.in ${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()
