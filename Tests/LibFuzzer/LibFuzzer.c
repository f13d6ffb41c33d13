#include "LibFuzzer.h"
#include <stdlib.h>

// Defined by `make fuzz` and `make test-asan`, which link libFuzzer.
#ifdef LIBFUZZER
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*one)(const uint8_t *, size_t));

bool libfuzzer_is_linked(void) { return true; }

void libfuzzer_run(int argc, char **argv, int (*one)(const uint8_t *, size_t)) {
    exit(LLVMFuzzerRunDriver(&argc, &argv, one));
}
#else
bool libfuzzer_is_linked(void) { return false; }

void libfuzzer_run(int argc, char **argv, int (*one)(const uint8_t *, size_t)) {
    (void)argc;
    (void)argv;
    (void)one;
}
#endif
