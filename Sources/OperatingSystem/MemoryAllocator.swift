import CMalloc

/// The system's memory allocator.
package enum MemoryAllocator {
    /// Makes the allocator merge small free blocks when they are freed, instead of all at once when a large block is
    /// freed.
    ///
    /// glibc keeps small blocks in its fast bins until a block of 64 KiB or more is freed. It then walks all of them
    /// (`malloc_consolidate`); buffers of connections and pages have that size. Under other load, which competes for
    /// the caches, a child with 200 FCM connections took 9.3 to 9.8 µs a message instead of 10.5 to 11.4. On a quiet
    /// machine it sent 6 % more messages a second, with a CPU difference within the noise (25 November 2026,
    /// alternating runs; see Deploy/guide/benchmarks.md). Called once at the start of the process. It does nothing with
    /// other allocators.
    package static func joinFreedPieces() {
        #if canImport(Glibc)
        mallopt(M_MXFAST, 0)
        #endif
    }
}
