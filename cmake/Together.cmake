# What is parsed, and its templates instantiated, to see that it would compile: nothing is made of it, so that it is
# done again every time.
add_custom_target(parsed_alone)
function(alidade_parse_alone target) # SOURCE...
  add_library(${target} OBJECT EXCLUDE_FROM_ALL ${ARGN})
  target_compile_options(${target} PRIVATE -fsyntax-only)
  add_dependencies(parsed_alone ${target})
endfunction()

# Compiles a target's files some at a time, for targets whose files mostly parse and instantiate the same things
# again. Names in the unnamed namespaces of such a target's files have to differ.
function(alidade_compile_together target) # [MOST]: no more files at a time than this
  set(size ${ALIDADE_TOGETHER})
  if(ARGC GREATER 1 AND size GREATER ARGV1)
    set(size ${ARGV1})
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${size})
endfunction()
