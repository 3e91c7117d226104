# Writes OUTPUT, which knows VERSION and the commit of SOURCE, and leaves it alone when nothing has changed. A tree inside somebody
# else's repository has no commit.
find_program(git git)
if(git)
  set(ENV{GIT_OPTIONAL_LOCKS} 0)  # never in the way of somebody's commit
  execute_process(COMMAND ${git} -C ${SOURCE} rev-parse --show-prefix OUTPUT_VARIABLE below RESULT_VARIABLE failed
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(NOT failed AND below STREQUAL "")
    execute_process(COMMAND ${git} -C ${SOURCE} describe --always --abbrev=7 --exclude=* --dirty=+ OUTPUT_VARIABLE COMMIT
      OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
endif()
configure_file(${CMAKE_CURRENT_LIST_DIR}/version.cc.in ${OUTPUT} @ONLY)
