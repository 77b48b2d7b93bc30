# The library: every source under src/ compiled once, except the kernels, which are compiled once for
# each instruction set and chosen between at run time. The objects make a shared library with only
# the public symbols, and a static one for the tests, which look inside.
file(GLOB_RECURSE sources CONFIGURE_DEPENDS src/*.c)
file(GLOB_RECURSE kernel_sources CONFIGURE_DEPENDS src/*_kernels.c)
if(kernel_sources)
  list(REMOVE_ITEM sources ${kernel_sources})
endif()

# name, then its flags; SPATE_ISA holds the bare name, with which the kernels suffix their functions
set(isa_names generic)
# The plain kernels are there for old machines: optimised less, they compile in half the time.
set(isa_flags_generic $<$<CONFIG:Release>:-O2>)
if(SPATE_DOUBLE)
  set(isa_flags_generic $<$<CONFIG:Release>:-O1>)
endif()
if(SPATE_SANITIZE OR SPATE_FUZZ)
  # One is enough to find faults, and instrumented kernels are slow to compile.
  target_compile_definitions(spate_flags INTERFACE SPATE_PLAIN_KERNELS)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  list(APPEND isa_names avx2)
  if(SPATE_AVX512)
    list(APPEND isa_names avx512)
  else()
    target_compile_definitions(spate_flags INTERFACE SPATE_NO_AVX512)
  endif()
  set(isa_flags_avx2 -mavx2 -mfma -mbmi2)
  set(isa_flags_avx512 -mavx512f -mavx512vl -mavx512dq -mavx512bw -mavx2 -mfma -mbmi2
    -mprefer-vector-width=256)
endif()

if(SPATE_SANITIZE MATCHES undefined)
  # The same code as mpm's quadratic and flip's linear kernels, which are checked in full; and the
  # pressure's take half a minute to compile with all checks.
  foreach(kernel mpm/linear mpm/cubic flip/quadratic)
    set_source_files_properties(src/solver/${kernel}_kernels.c PROPERTIES
      COMPILE_OPTIONS -fno-sanitize=all)
  endforeach()
  set_source_files_properties(src/solver/pressure/pressure_kernels.c PROPERTIES
    COMPILE_OPTIONS -fno-sanitize=undefined)
endif()

function(spate_object_library target)
  add_library(${target} OBJECT ${ARGN})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src
    ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${target} PRIVATE spate_flags spate_dependencies)
endfunction()

spate_object_library(spate_objects ${sources})
set(objects $<TARGET_OBJECTS:spate_objects>)
if(kernel_sources)
  foreach(isa ${isa_names})
    spate_object_library(spate_kernels_${isa} ${kernel_sources})
    target_compile_definitions(spate_kernels_${isa} PRIVATE SPATE_ISA=${isa})
    target_compile_options(spate_kernels_${isa} PRIVATE ${isa_flags_${isa}})
    list(APPEND objects $<TARGET_OBJECTS:spate_kernels_${isa}>)
  endforeach()
endif()

add_library(spate_library SHARED ${objects})
add_library(spate::spate ALIAS spate_library)
set_target_properties(spate_library PROPERTIES
  OUTPUT_NAME spate
  EXPORT_NAME spate
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  LINKER_LANGUAGE C
  LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
target_include_directories(spate_library INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(spate_library PRIVATE spate_flags spate_dependencies)
if(NOT SPATE_SANITIZE AND NOT SPATE_FUZZ)
  target_link_options(spate_library PRIVATE -Wl,--no-undefined)
endif()

add_library(spate_static STATIC EXCLUDE_FROM_ALL ${objects})
set_target_properties(spate_static PROPERTIES LINKER_LANGUAGE C)
target_include_directories(spate_static PUBLIC ${PROJECT_SOURCE_DIR}/src
  ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(spate_static PUBLIC spate_flags spate_dependencies)
