# What `make install` gives: headers, libsheaf.a, libsheaf.so, sheaf.pc, sheaf-static.pc and
# find_package(sheaf). The prefix is never written down, so the tree may be moved.
include(CMakePackageConfigHelpers)

install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/sheaf DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(TARGETS sheaf_static sheaf_shared EXPORT sheaf
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/sheaf)
install(EXPORT sheaf NAMESPACE sheaf:: FILE sheaf-targets.cmake DESTINATION ${package_dir})
configure_package_config_file(cmake/sheaf-config.cmake.in sheaf-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(sheaf-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/sheaf-config.cmake ${CMAKE_BINARY_DIR}/sheaf-config-version.cmake
  DESTINATION ${package_dir})

set(pc_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH PC_PREFIX /${pc_dir} /)
string(REGEX REPLACE "/$" "" PC_PREFIX ${PC_PREFIX})
list(TRANSFORM SHEAF_ROCKSDB_DEPENDS PREPEND "-l" OUTPUT_VARIABLE PC_DEPENDS)
string(JOIN " " PC_STATIC -l:librocksdb.a ${PC_DEPENDS} -ldeflate -lcrypto -lpthread)
foreach(pc sheaf sheaf-static)
  configure_file(cmake/${pc}.pc.in ${pc}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/${pc}.pc DESTINATION ${pc_dir})
endforeach()
