# The house's warnings, for C targets of our own.
function(sheaf_warnings target)
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:C>:-Wall;-Wextra;-Wshadow;-Wconversion;-Wvla;-Wpointer-arith;-Wstrict-prototypes;-Wmissing-prototypes;-Wundef>)
  if(SHEAF_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()
