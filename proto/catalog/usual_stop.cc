// Reads the table of stops that is part of the binary.
#include "proto/catalog/usual_stop.h"

#include "proto/catalog/builtin_stop.h"
#include "proto/catalog/builtin_table.h"

namespace podsim {

UsualStop usual_stop() {
  CsvTable table = table_of(builtin_stop_files());
  return {value_of_term(table, "timeout"), value_of_term(table, "restart"), value_of_term(table, "interval")};
}

}  // namespace podsim
