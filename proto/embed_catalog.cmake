# Writes data files as a C++ source that defines std::span<const CatalogFile> FUNCTION(), declared in HEADER:
# cmake -DROOT=scenarios -DOUTPUT=x.cc -DFILES=a|b|c -DFUNCTION=f -DHEADER=x.h -P embed_catalog.cmake
string(REPLACE "|" ";" files "${FILES}")
file(WRITE "${OUTPUT}.new" "// Data files that are part of the binary.\n#include \"${HEADER}\"\n\n"
  "namespace podsim {\n\nstd::span<const CatalogFile> ${FUNCTION}() {\n"
  "  using namespace std::string_view_literals;\n  static constexpr CatalogFile kFiles[] = {\n")
foreach(file IN LISTS files)
  file(RELATIVE_PATH name "${ROOT}" "${file}")
  file(READ "${file}" text)
  file(APPEND "${OUTPUT}.new" "      {\"${name}\"sv, R\"catalog(${text})catalog\"sv},\n")
endforeach()
file(APPEND "${OUTPUT}.new" "  };\n  return kFiles;\n}\n\n}  // namespace podsim\n")
file(RENAME "${OUTPUT}.new" "${OUTPUT}")
