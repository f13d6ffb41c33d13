#pragma once
#include <stdio.h>
#include <gmp.h>
#include <mpfr.h>
