#pragma once
#include <stdio.h>
#include <editline/readline.h>

// What Swift cannot reach: a variable of libedit.
static inline void cedit_set_name(void) { rl_readline_name = "skillbus"; }
