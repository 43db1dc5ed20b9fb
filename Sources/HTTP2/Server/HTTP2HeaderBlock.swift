/// The header fields of a request as received, back to back in one buffer.
package struct HTTP2HeaderBlock: Sendable {
    @usableFromInline
    struct Entry: Sendable {
        @usableFromInline var name: Int32
        @usableFromInline var value: Int32
        @usableFromInline var end: Int32

        @usableFromInline
        init(name: Int32, value: Int32, end: Int32) {
            self.name = name
            self.value = value
            self.end = end
        }
    }

    /// All names and values, in the order received.
    package private(set) var bytes: [UInt8] = []
    @usableFromInline private(set) var entries: [Entry] = []

    package init() {}

    /// Makes a block for a request that was not received over HTTP/2.
    package init(_ fields: [(name: String, value: String)]) {
        for (name, value) in fields {
            var name = name
            var value = value
            name.withUTF8 { name in value.withUTF8 { append(name: name, value: $0) } }
        }
    }

    /// The number of fields, pseudo-header fields included.
    @inlinable
    package var count: Int { entries.count }

    /// The range of a field's name in ``bytes``.
    @inlinable
    package func nameRange(_ index: Int) -> Range<Int> {
        Int(entries[index].name)..<Int(entries[index].value)
    }

    /// The range of a field's value in ``bytes``.
    @inlinable
    package func valueRange(_ index: Int) -> Range<Int> {
        Int(entries[index].value)..<Int(entries[index].end)
    }

    package func name(_ index: Int) -> String { String(decoding: bytes[nameRange(index)], as: UTF8.self) }
    package func value(_ index: Int) -> String { String(decoding: bytes[valueRange(index)], as: UTF8.self) }

    /// The first field with a name, or nil.
    package func index(of name: StaticString) -> Int? {
        entries.indices.first { hasName($0, name) }
    }

    /// The value of the first field with a name, without a copy.
    package func valueBytes(_ name: StaticString) -> ArraySlice<UInt8>? {
        index(of: name).map { bytes[valueRange($0)] }
    }

    package func value(_ name: StaticString) -> String? {
        index(of: name).map { value($0) }
    }

    private func hasName(_ index: Int, _ name: StaticString) -> Bool {
        let range = nameRange(index)
        guard range.count == name.utf8CodeUnitCount else { return false }
        return name.withUTF8Buffer { $0.elementsEqual(bytes[range]) }
    }

    mutating func reserve() {
        // An APNs request has about ten fields and half a kilobyte, with a token of about 200 bytes.
        bytes.reserveCapacity(640)
        entries.reserveCapacity(12)
    }

    /// The allocated memory, in bytes.
    var capacity: Int { bytes.capacity + entries.capacity * MemoryLayout<Entry>.stride }

    /// Removes all fields but keeps the memory.
    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: true)
        entries.removeAll(keepingCapacity: true)
    }

    mutating func append(name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>) {
        let start = Int32(bytes.count)
        bytes.append(contentsOf: name)
        let middle = Int32(bytes.count)
        bytes.append(contentsOf: value)
        entries.append(Entry(name: start, value: middle, end: Int32(bytes.count)))
    }
}
