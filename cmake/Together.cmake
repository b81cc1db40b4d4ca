# Compiles a target's files some at a time, for targets whose files mostly parse and instantiate the same things
# again. Names in the unnamed namespaces of such a target's files have to differ.
function(alidade_compile_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${ALIDADE_TOGETHER})
endfunction()
