# SPDX-License-Identifier: Apache-2.0
# The functions of dtensor/ops.h: op_schemas prints the schema lines of the ops as JSON, and scripts/make_ops.py makes a
# function of each. op_schemas is linked without these functions, and calls none of what refers to them. A cross build
# compiles an op_schemas for the host, with DTENSOR_HOST_CC, from the few folders that it runs.
set(made_source ${PROJECT_BINARY_DIR}/src/ops/op_functions.c)
set(schemas ${PROJECT_BINARY_DIR}/src/ops/schemas.jsonl)

if(CMAKE_CROSSCOMPILING)
  set(DTENSOR_HOST_CC cc CACHE STRING "C compiler for programs that run during a cross build")
  set(host ${PROJECT_BINARY_DIR}/host)
  set(op_schemas ${host}/bin/op_schemas)
  file(GLOB_RECURSE host_sources CONFIGURE_DEPENDS src/*.h include/*.h)
  add_custom_command(
    OUTPUT ${op_schemas}
    COMMAND ${CMAKE_COMMAND} -E env --unset=CC --unset=CFLAGS --unset=LDFLAGS --unset=CMAKE_TOOLCHAIN_FILE
            ${CMAKE_COMMAND} -S ${PROJECT_SOURCE_DIR} -B ${host} -G ${CMAKE_GENERATOR} -DCMAKE_C_COMPILER=${DTENSOR_HOST_CC}
            -DDTENSOR_GENERATOR_ONLY=ON
    COMMAND ${CMAKE_COMMAND} --build ${host} --target op_schemas
    DEPENDS scripts/op_schemas.c ${library_sources} ${host_sources}
    COMMENT "Building op_schemas for the host"
    VERBATIM)
else()
  set(op_schemas op_schemas)
  add_executable(op_schemas scripts/op_schemas.c $<TARGET_OBJECTS:dtensor_objects>)
  target_include_directories(op_schemas PRIVATE include src)
  target_compile_definitions(op_schemas PRIVATE _GNU_SOURCE)
  target_link_options(op_schemas PRIVATE -no-pie -Wl,--unresolved-symbols=ignore-all)
  target_link_libraries(op_schemas PRIVATE dtensor_warnings Threads::Threads $<TARGET_NAME_IF_EXISTS:ZLIB::ZLIB> m)
endif()

# make_ops.py writes the source only if it changes, so that a change elsewhere does not compile it again.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/src/ops)
add_custom_command(
  OUTPUT ${made_source}
  BYPRODUCTS ${schemas}
  COMMAND ${op_schemas} > ${schemas}
  COMMAND ${Python3_EXECUTABLE} -B ${PROJECT_SOURCE_DIR}/scripts/make_ops.py --functions ${schemas} ${made_source}
  DEPENDS ${op_schemas} scripts/make_ops.py scripts/op_model.py
  COMMENT "Making the functions of ops"
  VERBATIM)
