#pragma once
// RM_CHECK stops the program on a programmer's error. Never used on input.
#include <cstdio>
#include <cstdlib>

#define RM_CHECK(condition)                                                                                            \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      std::fprintf(stderr, "%s:%d: RM_CHECK(%s) failed\n", __FILE__, __LINE__, #condition);                            \
      std::abort();                                                                                                    \
    }                                                                                                                  \
  } while (false)
