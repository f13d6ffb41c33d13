#pragma once
#include <unicode/ubrk.h>
#include <unicode/unorm2.h>
#include <unicode/utext.h>
#include <unicode/utrans.h>
