import PushCore

/// Writes big-endian values in sequence into memory that the caller has made large enough.
struct BinaryWriter {
    private let memory: UnsafeMutableRawBufferPointer
    /// The bytes written so far.
    private(set) var count = 0

    init(_ memory: UnsafeMutableRawBufferPointer) { self.memory = memory }

    @inline(__always)
    mutating func integer<T: FixedWidthInteger & BitwiseCopyable>(_ value: T) {
        memory.storeBytes(of: value.bigEndian, toByteOffset: count, as: T.self)
        count += MemoryLayout<T>.size
    }

    mutating func bytes(_ source: UnsafeRawBufferPointer) {
        UnsafeMutableRawBufferPointer(rebasing: memory[count...]).copyMemory(from: source)
        count += source.count
    }

    mutating func bytes(_ source: [UInt8]) { source.withUnsafeBytes { bytes($0) } }

    mutating func text(_ text: String) {
        var text = text
        text.withUTF8 { bytes(UnsafeRawBufferPointer($0)) }
    }

    /// A text with its length prefix, as an array element.
    mutating func element(_ text: String?) {
        guard let text else { return integer(Int32(-1)) }
        integer(Int32(truncatingIfNeeded: text.utf8.count))
        self.text(text)
    }

    /// A value of a column with its length prefix.
    @inline(__always)
    mutating func element(_ column: ByteColumn, _ row: Int) {
        guard !column.isNull(row) else { return integer(Int32(-1)) }
        let range = column.range(row)
        integer(Int32(truncatingIfNeeded: range.count))
        column.bytes.withUnsafeBytes { bytes(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    /// The head of an array (the server's `array_recv`): dimensions, whether there are NULLs, element type, length,
    /// lower bound.
    mutating func arrayHeader(_ element: PostgresType, count elements: Int, hasNulls: Bool = false) {
        integer(Int32(elements == 0 ? 0 : 1))
        integer(Int32(hasNulls ? 1 : 0))
        integer(element.rawValue)
        guard elements > 0 else { return }
        integer(Int32(truncatingIfNeeded: elements))
        integer(Int32(1))
    }

    /// An array of integers without NULLs: the fast path of stores.
    @inline(__always)
    mutating func array<T: FixedWidthInteger & BitwiseCopyable>(_ elements: [T], _ type: PostgresType) {
        arrayHeader(type, count: elements.count)
        let size = MemoryLayout<T>.size
        let lengthWord = Int32(truncatingIfNeeded: size).bigEndian
        elements.withUnsafeBufferPointer { elements in
            var offset = count
            for element in elements {
                memory.storeBytes(of: lengthWord, toByteOffset: offset, as: Int32.self)
                memory.storeBytes(of: element.bigEndian, toByteOffset: offset + 4, as: T.self)
                offset += 4 + size
            }
            count = offset
        }
    }

    mutating func array<T: FixedWidthInteger & BitwiseCopyable>(_ elements: [T?], _ type: PostgresType) {
        arrayHeader(type, count: elements.count, hasNulls: elements.contains { $0 == nil })
        for element in elements {
            if let element {
                integer(Int32(truncatingIfNeeded: MemoryLayout<T>.size))
                integer(element)
            } else {
                integer(Int32(-1))
            }
        }
    }

    /// An array of fixed-size values stored back to back.
    ///
    /// - Parameter bits: the bit count that precedes each value (the server's `varbit_recv`); nil for none.
    mutating func pieces(of source: [UInt8], size: Int, _ type: PostgresType, bits: Int32? = nil) {
        arrayHeader(type, count: source.count / size)
        source.withUnsafeBytes { source in
            for start in stride(from: 0, to: source.count, by: size) {
                integer(Int32(truncatingIfNeeded: bits == nil ? size : size + 4))
                if let bits { integer(bits) }
                bytes(UnsafeRawBufferPointer(rebasing: source[start..<(start + size)]))
            }
        }
    }
}
