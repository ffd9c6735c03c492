# sheaf_server: the rooms that libsheaf does not need (auth, http, server), and the libraries that
# only they know. The executable `sheaf` is src/cli on top of it.
find_package(PkgConfig REQUIRED)
pkg_check_modules(INIH REQUIRED IMPORTED_TARGET inih)
find_library(INIH_ARCHIVE NAMES libinih.a inih)

# llhttp: Debian ships its C sources in node-llhttp, to be compiled by who uses them.
find_path(LLHTTP_INCLUDE llhttp.h PATHS /usr/share/include/llhttp REQUIRED)
find_path(LLHTTP_SOURCES llhttp.c PATHS /usr/share/llhttp REQUIRED)
add_library(sheaf_llhttp STATIC
  ${LLHTTP_SOURCES}/api.c ${LLHTTP_SOURCES}/http.c ${LLHTTP_SOURCES}/llhttp.c)
target_include_directories(sheaf_llhttp SYSTEM PUBLIC ${LLHTTP_INCLUDE})
target_compile_options(sheaf_llhttp PRIVATE -w)

file(GLOB SHEAF_SERVER_SOURCES CONFIGURE_DEPENDS src/auth/*.c src/http/*.c src/server/*.c)
list(REMOVE_ITEM SHEAF_SERVER_SOURCES ${SHEAF_SIGNING_SOURCES})
if(SHEAF_SERVER_SOURCES)
  add_library(sheaf_server STATIC ${SHEAF_SERVER_SOURCES})
  sheaf_warnings(sheaf_server)
else()
  add_library(sheaf_server INTERFACE)
endif()
set(scope PUBLIC)
if(NOT SHEAF_SERVER_SOURCES)
  set(scope INTERFACE)
endif()
target_include_directories(sheaf_server ${scope} include src)
target_compile_definitions(sheaf_server ${scope} SHEAF_VERSION_TEXT="${PROJECT_VERSION}")
target_link_libraries(sheaf_server ${scope}
  sheaf_static sheaf_llhttp OpenSSL::SSL OpenSSL::Crypto
  $<IF:$<BOOL:$<TARGET_PROPERTY:SHEAF_ALONE>>,${INIH_ARCHIVE},PkgConfig::INIH>
  $<IF:$<BOOL:$<TARGET_PROPERTY:SHEAF_ALONE>>,${DEFLATE_ARCHIVE},${DEFLATE}>)

file(GLOB SHEAF_CLI_SOURCES CONFIGURE_DEPENDS src/cli/*.c)
if(SHEAF_CLI_SOURCES)
  add_executable(sheaf ${SHEAF_CLI_SOURCES})
  # Few shared libraries: less to load at start, less to keep in memory, one file to copy. OpenSSL
  # stays shared, so that the system's security updates reach it.
  if(NOT SHEAF_SANITIZE)
    set_target_properties(sheaf PROPERTIES SHEAF_ALONE ON)
    target_link_options(sheaf PRIVATE -static-libgcc -Wl,--gc-sections)
  endif()
  target_link_libraries(sheaf PRIVATE sheaf_server)
  sheaf_warnings(sheaf)
  install(TARGETS sheaf RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
