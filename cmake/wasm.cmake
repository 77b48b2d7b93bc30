# WebAssembly with Debian's clang, lld and wasi-libc: the toolchain file of the preset wasm.
# One thread, 128-bit vectors. docs/dependencies.md says why these.
set(CMAKE_SYSTEM_NAME Generic)
set(CMAKE_SYSTEM_PROCESSOR wasm32)
set(CMAKE_C_COMPILER clang)
set(CMAKE_C_COMPILER_TARGET wasm32-wasi)
find_program(CMAKE_AR NAMES llvm-ar llvm-ar-14 llvm-ar-18 REQUIRED)
find_program(CMAKE_RANLIB NAMES llvm-ranlib llvm-ranlib-14 llvm-ranlib-18 REQUIRED)
set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
# There is one thread: errno and the like need no storage for others.
set(CMAKE_C_FLAGS_INIT "-msimd128 -mbulk-memory -mnontrapping-fptoint -msign-ext -ftls-model=local-exec")
set(SPATE_WASM ON)
