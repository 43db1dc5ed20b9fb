import CMalloc

/// The allocator that the process has from the system.
public enum MemoryAllocator {
    /// Has small pieces of memory joined with their neighbours when they are freed, and not all of them whenever a large piece is.
    ///
    /// glibc keeps small pieces apart in its fast bins until something of 64 KiB or more is freed, and then goes through all of
    /// them (`malloc_consolidate`); buffers of connections and of pages are of that size. Beside other work, whose use of the
    /// caches makes that dear, a child of 200 FCM connections took 9.3 to 9.8 µs a message in place of 10.5 to 11.4; on a quiet
    /// machine it made 6 % more messages a second, and its CPU differed by less than between two runs (25 November 2026, in turn;
    /// see Deploy/guide/benchmarks.md). Called once, as the process begins. Nothing happens where the system's allocator is another
    /// one.
    public static func joinFreedPieces() {
        #if canImport(Glibc)
        mallopt(M_MXFAST, 0)
        #endif
    }
}
