// libFuzzer, where it is linked in: in the build of `make fuzz`.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Whether this program is built with libFuzzer.
bool libfuzzer_is_linked(void);

/// Gives inputs to a function until the options in argv say that it is enough, then ends the process. Returns only when
/// libFuzzer is not linked in.
void libfuzzer_run(int argc, char *_Nonnull *_Nonnull argv, int (*_Nonnull one)(const uint8_t *_Nullable, size_t));
