# rm_embed(<target> <symbol> <file>): makes <file> available in C++ as
#   namespace remotemac::embedded { extern const std::string_view <symbol>; }
# The generated source is rebuilt when the file changes.
function(rm_embed target symbol file)
  get_filename_component(path ${file} ABSOLUTE)
  set(out ${PROJECT_BINARY_DIR}/generated/embedded/${symbol}.cpp)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DIN=${path} -DOUT=${out} -DSYMBOL=${symbol} -P ${PROJECT_SOURCE_DIR}/cmake/EmbedFile.cmake
    DEPENDS ${path} ${PROJECT_SOURCE_DIR}/cmake/EmbedFile.cmake VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()
