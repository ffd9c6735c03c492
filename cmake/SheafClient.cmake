# sheaf_client: what remote handles add to libsheaf. libcurl is needed to compile (its header) and to
# open a remote handle (it is loaded then), not to link: see src/client/curl.c.
find_package(OpenSSL REQUIRED)
find_path(CURL_INCLUDE curl/curl.h REQUIRED)
find_path(DEFLATE_INCLUDE libdeflate.h REQUIRED)
find_library(DEFLATE NAMES deflate REQUIRED)
find_library(DEFLATE_ARCHIVE NAMES libdeflate.a deflate)

# Signing is shared with the server; its key ring and its checks are the server's alone.
set(SHEAF_SIGNING_SOURCES)
foreach(name canonical crypto sign stamp)
  list(APPEND SHEAF_SIGNING_SOURCES ${CMAKE_SOURCE_DIR}/src/auth/${name}.c)
endforeach()

add_library(sheaf_client INTERFACE)
target_link_libraries(sheaf_client INTERFACE OpenSSL::Crypto
  $<IF:$<BOOL:$<TARGET_PROPERTY:SHEAF_ALONE>>,${DEFLATE_ARCHIVE},${DEFLATE}> ${CMAKE_DL_LIBS})
