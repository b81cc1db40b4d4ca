# One interface target carries every warning flag, so that no file chooses its own.
add_library(alidade_warnings INTERFACE)
target_compile_options(alidade_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
  -Wold-style-cast -Woverloaded-virtual -Wdouble-promotion -Wno-missing-field-initializers)
