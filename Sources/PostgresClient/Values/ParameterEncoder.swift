/// Encodes a statement's parameters in binary format into one buffer, which is reused for each statement.
///
/// libpq copies the values when they are sent, so the pointers into the buffer are needed only until then.
final class ParameterEncoder {
    private var memory: UnsafeMutableRawBufferPointer
    private var used = 0
    private var offsets: [Int] = []
    /// The OIDs of the types.
    private(set) var types: [UInt32] = []
    /// The start of each value, nil for NULL; valid until the next `encode`.
    private(set) var values: [UnsafePointer<CChar>?] = []
    /// The values' lengths in bytes.
    private(set) var lengths: [Int32] = []
    /// The format of each: 1 for binary.
    private(set) var formats: [Int32] = []

    /// A larger buffer is freed after use, so that one large import does not stay in memory. 1 MiB holds an insert of
    /// 10,000 rows.
    private static let kept = 1 << 20

    init() { memory = .allocate(byteCount: 16 * 1024, alignment: 16) }

    deinit { memory.deallocate() }

    var count: Int32 { Int32(truncatingIfNeeded: types.count) }

    /// Encodes the parameters, which ``check(_:)`` must have accepted.
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

    /// The protocol's parameter count has 16 bits.
    private static let maxParameters = 65_535
    /// PostgreSQL rejects messages of 1 GiB.
    private static let maxSize = 1 << 30

    /// Throws for a statement that cannot be sent, before any of its group is sent.
    static func check(_ group: [PostgresStatement]) throws(PostgresError) {
        for (index, statement) in group.enumerated() {
            guard statement.parameters.count <= maxParameters else {
                throw refusal("has more than \(maxParameters) parameters", statement, index)
            }
            var size = 0
            for (number, parameter) in statement.parameters.enumerated() {
                guard parameter.isWellFormed else {
                    throw refusal("parameter $\(number + 1): the column has an incomplete value", statement, index)
                }
                size += parameter.encodedSize
            }
            guard size < maxSize else { throw refusal("has parameters of 1 GiB or more", statement, index) }
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
