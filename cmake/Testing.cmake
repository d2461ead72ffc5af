include(GoogleTest)

# rm_test(<name> LABEL unit|integration|e2e|torch SOURCES files... [LINK libraries...]): one GoogleTest program, every case its own CTest entry.
function(rm_test name)
  cmake_parse_arguments(arg "" "LABEL;TIMEOUT" "SOURCES;LINK" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LINK} rm_settings rm_warnings GTest::gmock GTest::gtest_main)
  rm_precompile(${name} <gtest/gtest.h>)
  gtest_discover_tests(${name} NO_PRETTY_VALUES TEST_PREFIX "${arg_LABEL}.${name}." DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS ${arg_LABEL} TIMEOUT ${arg_TIMEOUT})
endfunction()

# rm_script_test(<name> LABEL l [TIMEOUT s] COMMAND ...): a script as one CTest entry; exit status 77 means skipped, with a reason printed.
function(rm_script_test name)
  cmake_parse_arguments(arg "" "LABEL;TIMEOUT" "COMMAND;ENVIRONMENT" ${ARGN})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  add_test(NAME ${arg_LABEL}.${name} COMMAND ${arg_COMMAND} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${arg_LABEL}.${name} PROPERTIES LABELS ${arg_LABEL} TIMEOUT ${arg_TIMEOUT} SKIP_RETURN_CODE 77
    ENVIRONMENT "RM_BUILD_DIR=${CMAKE_BINARY_DIR};RM_SOURCE_DIR=${PROJECT_SOURCE_DIR};RM_TORCH_PYTHON=${RM_TORCH_PYTHON};${arg_ENVIRONMENT}")
endfunction()
