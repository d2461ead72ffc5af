#include "daemon/app.h"

int main(int argc, char** argv) { return remotemac::daemon::run_app({argv, argv + argc}); }
