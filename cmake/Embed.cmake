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

# rm_embed_table(<target> <symbol> <file>...): embeds each file and makes all of them available in C++ as
#   namespace remotemac::embedded { std::span<const File> <symbol>(); }
# by name, without folders. The embedded.h of the calling folder declares both.
function(rm_embed_table target symbol)
  file(RELATIVE_PATH header ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR}/embedded.h)
  set(declarations "")
  set(rows "")
  foreach(file IN LISTS ARGN)
    get_filename_component(name ${file} NAME)
    string(MAKE_C_IDENTIFIER ${symbol}_${name} part)
    string(REGEX REPLACE "__+" "_" part ${part})
    rm_embed(${target} ${part} ${file})
    string(APPEND declarations "extern const std::string_view ${part};\n")
    string(APPEND rows "    {\"${name}\", ${part}},\n")
  endforeach()
  set(out ${PROJECT_BINARY_DIR}/generated/embedded/${symbol}.cpp)
  file(CONFIGURE OUTPUT ${out} @ONLY CONTENT "#include \"@header@\"\nnamespace remotemac::embedded {\n@declarations@std::span<const File> @symbol@() {\n  static const File k_files[] = {\n@rows@  };\n  return k_files;\n}\n}\n")
  target_sources(${target} PRIVATE ${out})
endfunction()
