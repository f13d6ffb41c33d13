#pragma once
#include <stdio.h>
#include <editline/readline.h>

// What Swift cannot reach: variables of libedit. To be called before anything else of it; the function gives it the next
// character, as a code point, or -1 at the end.
static inline void cedit_configure(int (*next)(FILE *)) {
    rl_readline_name = "skillbus";
    rl_catch_signals = 0;
    rl_getc_function = next;
}

// How many bytes the line has that is being edited.
static inline int cedit_length(void) { return rl_end; }
