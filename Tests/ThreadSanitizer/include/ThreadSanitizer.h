#pragma once
#include <stdbool.h>

/// Whether this program is built with the thread sanitizer. What the target does otherwise it does by being linked.
bool thread_sanitizer_is_on(void);
