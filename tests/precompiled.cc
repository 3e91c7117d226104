// Headers that are parsed once for all tests: tests/CMakeLists.txt names them.
