#pragma once

// glibc's settings of its allocator, which Swift's module of glibc leaves out; macOS has nothing of the kind.
#if __has_include(<malloc.h>)
#include <malloc.h>
#endif
