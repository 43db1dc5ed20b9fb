extension PostgresResult {
    /// A text: of any type whose binary form is text (text, varchar, name, enums), json, jsonb and uuid.
    public func text(_ row: Int, _ column: Int) throws(PostgresError) -> String {
        try unwrap(textOrNil(row, column), row, column, "text")
    }

    /// A text as ``text(_:_:)`` reads it, nil for NULL.
    public func textOrNil(_ row: Int, _ column: Int) throws(PostgresError) -> String? {
        guard let value = value(row, column) else { return nil }
        let type = type(column)
        if type == .uuid, value.count == 16 { return Self.uuidText(value) }
        guard !PostgresType.notText.contains(type) else { throw mismatch(row, column, "text") }
        return String(decoding: Self.payload(value, type), as: UTF8.self)
    }

    /// A value's bytes: of `bytea` the bytes, of text the UTF-8, of other types PostgreSQL's binary form.
    public func bytes(_ row: Int, _ column: Int) throws(PostgresError) -> [UInt8] {
        try unwrap(bytesOrNil(row, column), row, column, "bytea")
    }

    /// A value's bytes as ``bytes(_:_:)`` reads them, nil for NULL.
    public func bytesOrNil(_ row: Int, _ column: Int) -> [UInt8]? {
        value(row, column).map { [UInt8](Self.payload($0, type(column))) }
    }

    /// Appends a value's bytes, as ``bytes(_:_:)`` gives them, without any allocation of its own.
    ///
    /// - Returns: false for NULL, with nothing appended.
    @inline(__always)
    public func append(_ row: Int, _ column: Int, to buffer: inout [UInt8]) -> Bool {
        guard let value = value(row, column) else { return false }
        buffer.append(contentsOf: Self.payload(value, type(column)))
        return true
    }

    /// Compares a value's bytes, as ``bytes(_:_:)`` gives them, without copying; false for NULL.
    public func equals(_ row: Int, _ column: Int, _ text: String) -> Bool {
        guard let value = value(row, column) else { return false }
        return Self.payload(value, type(column)).elementsEqual(text.utf8)
    }

    /// jsonb's binary form starts with a version byte (1), which is none of the value.
    @inline(__always)
    private static func payload(_ value: UnsafeRawBufferPointer, _ type: PostgresType) -> UnsafeRawBufferPointer {
        type == .jsonb && !value.isEmpty ? UnsafeRawBufferPointer(rebasing: value[1...]) : value
    }

    private static func uuidText(_ value: UnsafeRawBufferPointer) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(36)
        for (index, byte) in value.enumerated() {
            if [4, 6, 8, 10].contains(index) { text.append(UInt8(ascii: "-")) }
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}
