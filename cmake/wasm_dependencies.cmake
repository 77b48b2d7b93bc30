# The same for WebAssembly, for which no distribution has the libraries: libyaml is compiled along,
# from Debian's source package (tools/setup.sh fetches it); xxHash is a header of the system.
set(SPATE_YAML_SOURCE "${PROJECT_SOURCE_DIR}/build/libyaml" CACHE PATH "Sources of libyaml 0.2.5")
if(NOT EXISTS ${SPATE_YAML_SOURCE}/src/scanner.c)
  message(FATAL_ERROR "No sources of libyaml in ${SPATE_YAML_SOURCE}: run ./play, which fetches "
    "them, or configure with -DSPATE_YAML_SOURCE=FOLDER")
endif()
find_path(XXHASH_INCLUDE xxhash.h PATHS /usr/include NO_CMAKE_FIND_ROOT_PATH REQUIRED)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/xxhash)
foreach(header xxhash.h xxh3.h)
  configure_file(${XXHASH_INCLUDE}/${header} ${PROJECT_BINARY_DIR}/xxhash/${header} COPYONLY)
endforeach()

add_library(yaml_objects OBJECT ${SPATE_YAML_SOURCE}/src/api.c ${SPATE_YAML_SOURCE}/src/parser.c
  ${SPATE_YAML_SOURCE}/src/reader.c ${SPATE_YAML_SOURCE}/src/scanner.c)
target_include_directories(yaml_objects PUBLIC ${SPATE_YAML_SOURCE}/include)
target_compile_definitions(yaml_objects PUBLIC YAML_DECLARE_STATIC PRIVATE
  YAML_VERSION_MAJOR=0 YAML_VERSION_MINOR=2 YAML_VERSION_PATCH=5 YAML_VERSION_STRING="0.2.5")
target_compile_options(yaml_objects PRIVATE -w)

add_library(spate_dependencies INTERFACE)
target_include_directories(spate_dependencies SYSTEM INTERFACE ${SPATE_YAML_SOURCE}/include
  ${PROJECT_BINARY_DIR}/xxhash)
target_compile_definitions(spate_dependencies INTERFACE YAML_DECLARE_STATIC)
add_library(spate_picture_dependencies INTERFACE)
