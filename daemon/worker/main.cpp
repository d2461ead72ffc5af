#include "daemon/worker/app.h"

int main(int argc, char** argv) { return remotemac::worker::run_worker(argc, argv); }
