# alidade_sanitize(<target> memory|threads -O<level>): compiles and links a target under sanitizers, with assertions,
# and with warnings as errors, as nobody but us builds such a target. What links to it has to be linked with them too.
# Null pointers, objects that end before an access, and pointers that wrap around are left to the address sanitizer,
# which sees the access, and alignment to Eigen's assertions: to check them all at every access would take half of the
# compiler's time.
set(ALIDADE_SANITIZE_memory -fsanitize=address,undefined -fno-sanitize=null,alignment,object-size,pointer-overflow
    -fno-sanitize-recover=all -fno-omit-frame-pointer)
set(ALIDADE_SANITIZE_threads -fsanitize=thread -Wno-tsan)
function(alidade_sanitize target kind level)
  # Eigen allocates in another way where it sees the address sanitizer, and tests that do not would free it wrongly.
  target_compile_definitions(${target} PRIVATE EIGEN_MALLOC_ALREADY_ALIGNED=1)
  # At -Og GCC 12 takes Eigen's storage for uninitialised.
  target_compile_options(${target} PRIVATE ${ALIDADE_SANITIZE_${kind}} ${level} -UNDEBUG -Wno-maybe-uninitialized -Werror)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "SHARED_LIBRARY")
    target_link_options(${target} PUBLIC ${ALIDADE_SANITIZE_${kind}})
  else()
    target_link_options(${target} PRIVATE ${ALIDADE_SANITIZE_${kind}})
  endif()
endfunction()
