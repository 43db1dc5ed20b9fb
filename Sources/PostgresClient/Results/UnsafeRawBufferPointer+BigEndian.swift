extension UnsafeRawBufferPointer {
    /// Reads a big-endian integer; the caller has checked the length.
    @inline(__always)
    func load<T: FixedWidthInteger & BitwiseCopyable>(_ type: T.Type, at offset: Int = 0) -> T {
        T(bigEndian: loadUnaligned(fromByteOffset: offset, as: T.self))
    }
}
