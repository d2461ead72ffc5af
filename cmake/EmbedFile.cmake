# Script mode: writes IN as a C++ byte array to OUT under the name SYMBOL.
file(READ ${IN} hex HEX)
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
string(REGEX REPLACE "((.......){40})" "\\1\n" bytes "${bytes}")
file(WRITE ${OUT} "#include <string_view>\nnamespace remotemac::embedded {\nstatic const char k_bytes[] = {${bytes}'\\x00'};\nextern const std::string_view ${SYMBOL};\nconst std::string_view ${SYMBOL}{k_bytes, sizeof k_bytes - 1};\n}\n")
