import PushCore

/// Writes a statement's parameters in binary format into one buffer, which serves for one statement after the other.
///
/// libpq copies the values when they are sent, so the buffer's pointers need to live only that long.
final class ParameterEncoder {
    private var memory: UnsafeMutableRawBufferPointer
    private var used = 0
    private var offsets: [Int] = []
    /// The OIDs of the types.
    private(set) var types: [UInt32] = []
    /// Where each value begins, nil for NULL; valid until the next `encode`.
    private(set) var values: [UnsafePointer<CChar>?] = []
    /// The values' lengths in bytes.
    private(set) var lengths: [Int32] = []
    /// 1 for each: binary.
    private(set) var formats: [Int32] = []

    /// More than this is given back after use, so that one large import does not stay in memory: 1 MiB holds an insert of
    /// 10,000 rows.
    private static let kept = 1 << 20

    init() { memory = .allocate(byteCount: 16 * 1024, alignment: 16) }

    deinit { memory.deallocate() }

    var count: Int32 { Int32(truncatingIfNeeded: types.count) }

    /// Encodes the parameters; ``check(_:)`` has passed them.
    func encode(_ parameters: [PostgresValue]) {
        reset(capacity: parameters.reduce(0) { $0 + $1.encodedSize })
        for parameter in parameters {
            types.append(parameter.type.rawValue)
            formats.append(1)
            if case .null = parameter {
                offsets.append(-1)
                lengths.append(0)
                continue
            }
            offsets.append(used)
            var writer = BinaryWriter(UnsafeMutableRawBufferPointer(rebasing: memory[used...]))
            parameter.write(to: &writer)
            lengths.append(Int32(truncatingIfNeeded: writer.count))
            used += writer.count
        }
        for offset in offsets {
            let start = offset < 0 ? nil : memory.baseAddress.map { UnsafeRawPointer($0 + offset) }
            values.append(start?.assumingMemoryBound(to: CChar.self))
        }
    }

    private func reset(capacity: Int) {
        used = 0
        offsets.removeAll(keepingCapacity: true)
        types.removeAll(keepingCapacity: true)
        values.removeAll(keepingCapacity: true)
        lengths.removeAll(keepingCapacity: true)
        formats.removeAll(keepingCapacity: true)
        if memory.count < capacity || memory.count > Self.kept && capacity <= Self.kept {
            memory.deallocate()
            memory = .allocate(byteCount: max(capacity, 16 * 1024), alignment: 16)
        }
    }

    /// The protocol counts parameters in 16 bits.
    private static let maximumParameters = 65_535
    /// PostgreSQL refuses messages of 1 GiB.
    private static let maximumSize = 1 << 30

    /// Finds what cannot be sent before anything of a group is sent.
    static func check(_ group: [PostgresStatement]) throws(PostgresError) {
        for (index, statement) in group.enumerated() {
            guard statement.parameters.count <= maximumParameters else {
                throw refusal("has more than \(maximumParameters) parameters", statement, index)
            }
            var size = 0
            for (number, parameter) in statement.parameters.enumerated() {
                guard parameter.isWellFormed else {
                    throw refusal("parameter $\(number + 1): the column's ends do not fit its bytes", statement, index)
                }
                size += parameter.encodedSize
            }
            guard size < maximumSize else { throw refusal("has parameters of 1 GiB or more", statement, index) }
        }
    }

    private static func refusal(_ what: String, _ statement: PostgresStatement, _ index: Int) -> PostgresError {
        PostgresError(
            code: .type,
            message: "the statement cannot be sent: \(what)",
            statementIndex: index,
            statement: PostgresError.excerpt(statement.sql)
        )
    }
}

/// Writes big-endian values one after the other into memory that is known to be large enough.
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

    /// A text with its length before it, as array elements have it.
    mutating func element(_ text: String?) {
        guard let text else { return integer(Int32(-1)) }
        integer(Int32(truncatingIfNeeded: text.utf8.count))
        self.text(text)
    }

    /// A value of a column with its length before it.
    @inline(__always)
    mutating func element(_ column: ByteColumn, _ row: Int) {
        guard !column.isNull(row) else { return integer(Int32(-1)) }
        let range = column.range(row)
        integer(Int32(truncatingIfNeeded: range.count))
        column.bytes.withUnsafeBytes { bytes(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }

    /// The head of an array (`array_recv` of the server): dimensions, whether there are NULLs, element type, length, lower
    /// bound.
    mutating func arrayHeader(_ element: PostgresType, count elements: Int, hasNulls: Bool = false) {
        integer(Int32(elements == 0 ? 0 : 1))
        integer(Int32(hasNulls ? 1 : 0))
        integer(element.rawValue)
        guard elements > 0 else { return }
        integer(Int32(truncatingIfNeeded: elements))
        integer(Int32(1))
    }

    /// An array of integers without NULLs: the quick path of stores.
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

    /// An array of values of one size that lie back to back.
    ///
    /// - Parameter bits: what stands before each of them (`varbit_recv` of the server).
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
