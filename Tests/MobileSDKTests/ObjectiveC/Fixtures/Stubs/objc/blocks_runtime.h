/* clang asks for it where blocks are on. */
extern void *_Block_copy(const void *block);
extern void _Block_release(const void *block);
