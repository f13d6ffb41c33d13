#pragma once
#include <stdio.h>
#include <editline/readline.h>

// What Swift cannot reach: variables of libedit. To be called before anything else of it.
static inline void cedit_configure(void) {
    rl_readline_name = "skillbus";
    rl_catch_signals = 0;
}
