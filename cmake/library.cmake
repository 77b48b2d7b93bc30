# Three libraries. The engine, libspate: every source under src/ but src/pictures, compiled once, except
# the kernels, which are compiled once for each instruction set and chosen between at run time. And
# libspate_pictures: src/pictures; and libspate_server: src/server with the page. Of the objects come shared libraries with only the public symbols,
# and static ones for the tests, which look inside.
file(GLOB_RECURSE sources CONFIGURE_DEPENDS src/*.c)
file(GLOB_RECURSE kernel_sources CONFIGURE_DEPENDS src/*_kernels.c)
file(GLOB_RECURSE picture_sources CONFIGURE_DEPENDS src/pictures/*.c)
file(GLOB_RECURSE server_sources CONFIGURE_DEPENDS src/server/*.c)
list(REMOVE_ITEM sources ${kernel_sources} ${picture_sources} ${server_sources})

# What the system does not have is left out, or stands in for what it has.
set(port ${PROJECT_SOURCE_DIR}/src/port)
if(SPATE_THREADS)
  list(REMOVE_ITEM sources ${port}/thread_none.c)
else()
  list(REMOVE_ITEM sources ${port}/thread_posix.c)
  target_compile_definitions(spate_flags INTERFACE SPATE_NO_THREADS)
endif()
if(SPATE_FILES)
  list(REMOVE_ITEM sources ${port}/disk_none.c)
else()
  list(REMOVE_ITEM sources ${port}/disk_posix.c)
endif()

# name, then its flags; SPATE_ISA holds the bare name, with which the kernels suffix their functions
set(isa_names generic)
# The plain kernels are there for old machines: optimised less, they compile in half the time. In the
# browser they are all there is.
if(NOT SPATE_WASM)
  set(isa_flags_generic $<$<CONFIG:Release>:-O2>)
endif()
if(SPATE_DOUBLE)
  set(isa_flags_generic $<$<CONFIG:Release>:-O1>)
endif()
set(isa_flags_avx2 -mavx2 -mfma -mbmi2)
if(SPATE_AVX2_KERNELS)
  # One set, in place of the plain one.
  set(isa_flags_generic ${isa_flags_avx2})
  target_compile_definitions(spate_flags INTERFACE SPATE_PLAIN_KERNELS SPATE_AVX2_KERNELS)
elseif(SPATE_PLAIN_KERNELS OR SPATE_SANITIZE OR SPATE_FUZZ)
  # One is enough to find faults, and instrumented kernels are slow to compile.
  target_compile_definitions(spate_flags INTERFACE SPATE_PLAIN_KERNELS)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  list(APPEND isa_names avx2)
  if(SPATE_AVX512)
    list(APPEND isa_names avx512)
  else()
    target_compile_definitions(spate_flags INTERFACE SPATE_NO_AVX512)
  endif()
  set(isa_flags_avx512 -mavx512f -mavx512vl -mavx512dq -mavx512bw -mavx2 -mfma -mbmi2
    -mprefer-vector-width=256)
endif()

if(SPATE_SANITIZE MATCHES undefined)
  # Kernels without the checks of every pointer, which take three quarters of their time to compile and
  # find what the address sanitizer finds too. What is the same code as mpm's quadratic and flip's linear
  # kernels, which are checked, goes without all of them.
  set_source_files_properties(${kernel_sources} PROPERTIES
    COMPILE_OPTIONS "-fno-sanitize=null,alignment,pointer-overflow,object-size")
  foreach(kernel mpm/linear mpm/cubic mpm/gimp mpm/phases_linear mpm/phases_cubic mpm/phases_gimp
      flip/quadratic)
    set_source_files_properties(${PROJECT_SOURCE_DIR}/src/solver/${kernel}_kernels.c PROPERTIES
      COMPILE_OPTIONS -fno-sanitize=all)
  endforeach()
endif()

function(spate_object_library target)
  add_library(${target} OBJECT ${ARGN})
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src
    ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${target} PRIVATE spate_flags spate_dependencies)
endfunction()

spate_object_library(spate_objects ${sources})
set(objects $<TARGET_OBJECTS:spate_objects>)
foreach(isa ${isa_names})
  spate_object_library(spate_kernels_${isa} ${kernel_sources})
  target_compile_definitions(spate_kernels_${isa} PRIVATE SPATE_ISA=${isa})
  target_compile_options(spate_kernels_${isa} PRIVATE ${isa_flags_${isa}})
  list(APPEND objects $<TARGET_OBJECTS:spate_kernels_${isa}>)
endforeach()

# A shared library NAME of objects, as the target TARGET.
function(spate_shared_library target name)
  add_library(${target} SHARED ${ARGN})
  add_library(spate::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${name}
    EXPORT_NAME ${name}
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
    LINKER_LANGUAGE C
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
  target_include_directories(${target} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} PRIVATE spate_flags)
  if(NOT SPATE_SANITIZE AND NOT SPATE_FUZZ)
    target_link_options(${target} PRIVATE -Wl,--no-undefined)
  endif()
endfunction()

# A static library of objects, in which everything can be reached.
function(spate_static_library target)
  add_library(${target} STATIC EXCLUDE_FROM_ALL ${ARGN})
  set_target_properties(${target} PROPERTIES LINKER_LANGUAGE C)
  target_include_directories(${target} PUBLIC ${PROJECT_SOURCE_DIR}/src
    ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${target} PUBLIC spate_flags)
endfunction()

if(NOT SPATE_WASM)
  spate_shared_library(spate_library spate ${objects})
  target_link_libraries(spate_library PRIVATE spate_dependencies)
endif()
spate_static_library(spate_static ${objects})
target_link_libraries(spate_static PUBLIC spate_dependencies)

# A library beside the engine: libNAME of sources, which needs the target DEPENDENCIES.
# Public functions are libspate's own. What else it shares with that (core, shapes, readers of
# frames: no state of their own) the linker takes out of the archive, as a copy that nobody sees.
function(spate_library_beside name dependencies)
  spate_object_library(${name}_objects ${ARGN})
  target_link_libraries(${name}_objects PRIVATE ${dependencies})
  set(own_objects $<TARGET_OBJECTS:${name}_objects>)

  spate_shared_library(${name} ${name} ${own_objects})
  target_link_libraries(${name} PUBLIC spate_library PRIVATE spate_static ${dependencies})
  target_link_options(${name} PRIVATE -Wl,--exclude-libs,ALL)

  spate_static_library(${name}_static ${own_objects})
  target_link_libraries(${name}_static PUBLIC spate_static ${dependencies})
endfunction()

if(SPATE_PICTURES)
  spate_library_beside(spate_pictures spate_picture_dependencies ${picture_sources})
endif()

if(SPATE_VIEWER)
  # The page goes into the library: a viewer needs no file.
  file(GLOB page_files CONFIGURE_DEPENDS view/*.html view/*.css view/*.js)
  set(page_source ${PROJECT_BINARY_DIR}/page.c)
  add_custom_command(OUTPUT ${page_source}
    COMMAND ${CMAKE_COMMAND} -DOUT=${page_source} "-DFILES=${page_files}"
      -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${page_files} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    COMMENT "The viewer's page" VERBATIM)
  spate_library_beside(spate_server spate_server_dependencies ${server_sources} ${page_source})
endif()
