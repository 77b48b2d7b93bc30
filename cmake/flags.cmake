# Flags of everything we compile, as the interface target spate_flags.
#
# -ffp-contract=off and no -ffast-math: one state hash for every compiler and number of threads.
# No -march: what is not a kernel runs on every machine of the architecture (see library.cmake).
set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
if(NOT SPATE_WASM) # which has no shared libraries, and where it costs time
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
endif()
set(CMAKE_C_FLAGS_RELEASE "-O3 -DNDEBUG")
set(CMAKE_C_FLAGS_DEBUG "-O0 -g")
# For sanitizers: lines are enough; following variables makes the kernels compile ten times slower.
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O1 -g1 -fno-omit-frame-pointer")
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)

# -Wno-maybe-uninitialized: gcc cannot know that fail() never returns SPATE_OK, and so takes results of
# calls that were checked for unset. -Wno-string-concatenation: clang takes texts of several lines in a list
# for forgotten commas.
add_library(spate_flags INTERFACE)
target_compile_options(spate_flags INTERFACE
  -ffp-contract=off -fno-math-errno -Wall -Wextra -Wshadow -Wno-psabi
  $<$<C_COMPILER_ID:GNU>:-Wno-maybe-uninitialized> $<$<C_COMPILER_ID:Clang>:-Wno-string-concatenation>
  $<$<BOOL:${SPATE_WERROR}>:-Werror>)
target_compile_definitions(spate_flags INTERFACE $<$<BOOL:${SPATE_DOUBLE}>:SPATE_DOUBLE>)

if(SPATE_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID MATCHES Clang)
    message(FATAL_ERROR "SPATE_FUZZ needs clang: configure with -DCMAKE_C_COMPILER=clang")
  endif()
  set(sanitizers fuzzer-no-link,address,undefined)
else()
  set(sanitizers ${SPATE_SANITIZE})
endif()
if(sanitizers)
  # clang also reports NULL + 0, the address of the first of no things, which every compiler takes for NULL.
  target_compile_options(spate_flags INTERFACE
    -fsanitize=${sanitizers} -fno-sanitize-recover=all
    $<$<C_COMPILER_ID:Clang>:-fno-sanitize=pointer-overflow>)
  target_link_options(spate_flags INTERFACE -fsanitize=${sanitizers})
endif()
