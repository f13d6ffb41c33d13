// Nothing to call: linking the target is enough (ThreadSanitizer.c).
#pragma once
