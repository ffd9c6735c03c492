# sheaf_rocksdb: what executables link (the .a costs 9-14 % less CPU than the .so).
# sheaf_rocksdb_shared: what libsheaf.so links.
find_path(ROCKSDB_INCLUDE rocksdb/c.h REQUIRED)
find_library(ROCKSDB_SHARED NAMES librocksdb.so REQUIRED)
add_library(sheaf_rocksdb_shared INTERFACE)
target_link_libraries(sheaf_rocksdb_shared INTERFACE ${ROCKSDB_SHARED})

# What librocksdb.a leaves undefined; sheaf.pc and the CMake package name it too.
set(SHEAF_ROCKSDB_DEPENDS snappy z bz2 lz4 zstd stdc++ m dl)
add_library(sheaf_rocksdb INTERFACE)
if(SHEAF_ROCKS_SHARED)
  target_link_libraries(sheaf_rocksdb INTERFACE ${ROCKSDB_SHARED})
else()
  find_library(ROCKSDB_STATIC NAMES librocksdb.a REQUIRED)
  target_link_libraries(sheaf_rocksdb INTERFACE ${ROCKSDB_STATIC})
  # An executable with the property SHEAF_ALONE takes the archives where there are any.
  foreach(name ${SHEAF_ROCKSDB_DEPENDS})
    set(archive lib${name}.a)
    execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=${archive}
      OUTPUT_VARIABLE found OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(name MATCHES "^(m|dl)$" OR found STREQUAL archive)
      set(archive ${name})
    else()
      set(archive -l:${archive})
    endif()
    target_link_libraries(sheaf_rocksdb INTERFACE
      $<IF:$<BOOL:$<TARGET_PROPERTY:SHEAF_ALONE>>,${archive},${name}>)
  endforeach()
endif()
