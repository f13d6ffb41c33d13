#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE  // as CLinux does: the same system types must look the same in both
#endif
#include <stdio.h>
#include <editline/readline.h>

// What Swift cannot reach: a variable of libedit.
static inline void cedit_set_name(void) { rl_readline_name = "skillbus"; }
