# Writes data files as a C++ source that defines std::vector<CatalogFile> FUNCTION(), declared in HEADER:
# cmake -DROOT=scenarios -DOUTPUT=x.cc -DFILES=a|b|c -DFUNCTION=f -DHEADER=x.h -P embed_catalog.cmake
string(REPLACE "|" ";" files "${FILES}")
file(WRITE "${OUTPUT}.new" "// Data files that are part of the binary.\n#include \"${HEADER}\"\n\n"
  "namespace podsim {\n\nstd::vector<CatalogFile> ${FUNCTION}() {\n  std::vector<CatalogFile> files;\n")
foreach(file IN LISTS files)
  file(RELATIVE_PATH name "${ROOT}" "${file}")
  file(READ "${file}" text)
  file(APPEND "${OUTPUT}.new" "  files.push_back({\"${name}\", \"\"});\n")
  # In pieces: a string literal of more than 64 KiB is beyond what C++ asks of compilers.
  string(LENGTH "${text}" length)
  set(first 0)
  while(first LESS length)
    string(SUBSTRING "${text}" ${first} 30000 piece)
    file(APPEND "${OUTPUT}.new" "  files.back().text += R\"catalog(${piece})catalog\";\n")
    math(EXPR first "${first} + 30000")
  endwhile()
endforeach()
file(APPEND "${OUTPUT}.new" "  return files;\n}\n\n}  // namespace podsim\n")
file(RENAME "${OUTPUT}.new" "${OUTPUT}")
