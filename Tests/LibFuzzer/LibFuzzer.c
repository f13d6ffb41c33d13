#include "LibFuzzer.h"
#include <stdlib.h>

int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*one)(const uint8_t *, size_t)) __attribute__((weak));

bool libfuzzer_is_linked(void) { return LLVMFuzzerRunDriver != NULL; }

void libfuzzer_run(int argc, char **argv, int (*one)(const uint8_t *, size_t)) {
    if (LLVMFuzzerRunDriver == NULL) return;
    exit(LLVMFuzzerRunDriver(&argc, &argv, one));
}
