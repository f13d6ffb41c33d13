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

// To be called after rl_initialize. libedit ends the line at rl_line_buffer after each key, also when that memory has been
// moved since: it gets memory here that stays.
static inline void cedit_keep_line_buffer(void) {
    static char line[65536];
    rl_line_buffer = line;
}

// How many bytes the line has that is being edited.
static inline int cedit_length(void) { return rl_end; }
