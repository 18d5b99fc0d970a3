# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where. The tree may be moved after installing: the pkg-config file, the CMake package and
# the tools know their place only relative to themselves.
include(CMakePackageConfigHelpers)

install(DIRECTORY include/dtensor DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(TARGETS dtensor dtensor_static EXPORT dtensorTargets)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/dtensor)
install(EXPORT dtensorTargets NAMESPACE dtensor:: DESTINATION ${package_dir})
configure_package_config_file(cmake/dtensorConfig.cmake.in cmake/dtensorConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(cmake/dtensorConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cmake/dtensorConfig.cmake ${PROJECT_BINARY_DIR}/cmake/dtensorConfigVersion.cmake
        DESTINATION ${package_dir})

set(pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH DTENSOR_PC_TO_PREFIX /prefix/${pc_dir} /prefix)
string(REGEX REPLACE "/$" "" DTENSOR_PC_TO_PREFIX "${DTENSOR_PC_TO_PREFIX}")
set(DTENSOR_PC_LIBS_PRIVATE "-pthread -lz -lm")
configure_file(cmake/dtensor.pc.in dtensor.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/dtensor.pc DESTINATION ${pc_dir})

foreach(section 1 3 7)
  file(GLOB pages CONFIGURE_DEPENDS man/*.${section})
  install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
endforeach()

# Completions: dtrun.bash completes dtrun in bash, _dtrun in zsh.
file(GLOB completions CONFIGURE_DEPENDS tools/completion/*.bash)
foreach(file ${completions})
  get_filename_component(command ${file} NAME_WE)
  install(FILES ${file} DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME ${command})
endforeach()
file(GLOB completions CONFIGURE_DEPENDS tools/completion/_*)
install(FILES ${completions} DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES README.md CHANGES.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
