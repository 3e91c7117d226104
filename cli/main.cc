// The podsim program.
#include "cli/app.h"

int main(int argc, char** argv) { return podsim::run_app(argc, argv); }
