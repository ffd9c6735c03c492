# The house's warnings, for C targets of our own.
function(sheaf_warnings target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wshadow -Wconversion -Wvla -Wpointer-arith -Wundef
    $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes;-Wmissing-prototypes>)
  if(SHEAF_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()
