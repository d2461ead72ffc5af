#include "cli/app.h"

int main(int argc, char** argv) { return remotemac::cli::run_app({argv, argv + argc}); }
