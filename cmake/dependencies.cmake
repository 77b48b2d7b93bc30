# Libraries we build on, as the interface targets spate_dependencies and, for pictures,
# spate_picture_dependencies. docs/dependencies.md says why.
find_package(PkgConfig REQUIRED)
pkg_check_modules(yaml REQUIRED IMPORTED_TARGET yaml-0.1)
pkg_check_modules(xxhash REQUIRED IMPORTED_TARGET libxxhash)

add_library(spate_dependencies INTERFACE)
target_link_libraries(spate_dependencies INTERFACE PkgConfig::yaml PkgConfig::xxhash m)
if(SPATE_THREADS)
  set(THREADS_PREFER_PTHREAD_FLAG ON)
  find_package(Threads REQUIRED)
  target_link_libraries(spate_dependencies INTERFACE Threads::Threads)
endif()

add_library(spate_picture_dependencies INTERFACE)
if(NOT SPATE_PICTURES)
  return()
endif()
pkg_check_modules(png REQUIRED IMPORTED_TARGET libpng)
target_link_libraries(spate_picture_dependencies INTERFACE PkgConfig::png)

# Embree 4 (Ubuntu 24.04) or 3 (Debian 12); HAVE_EMBREE holds the version. Only its headers are used
# here: src/pictures/trace/embree.c loads the library when a picture asks for it.
if(SPATE_EMBREE)
  foreach(version 4 3)
    find_path(EMBREE${version}_INCLUDE embree${version}/rtcore.h)
    mark_as_advanced(EMBREE${version}_INCLUDE)
    if(EMBREE${version}_INCLUDE)
      target_include_directories(spate_picture_dependencies SYSTEM INTERFACE ${EMBREE${version}_INCLUDE})
      target_compile_definitions(spate_picture_dependencies INTERFACE HAVE_EMBREE=${version})
      target_link_libraries(spate_picture_dependencies INTERFACE ${CMAKE_DL_LIBS})
      message(STATUS "Embree ${version}: ${EMBREE${version}_INCLUDE}")
      break()
    endif()
  endforeach()
endif()
