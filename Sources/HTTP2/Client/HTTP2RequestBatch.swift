import Synchronization

/// Requests that share most of their header fields, back to back in one piece of memory, and their bodies.
///
/// Paths, values and bodies are read in place, and each open stream holds the batch. The bodies may be in an array that others have, too. Fill
/// it with ``append(path:headerValues:body:)`` in one place, then submit it, once; after that it does not change, but that all of this is let go
/// of when all requests have been written: the batch lives until the last of them has its answer, which may take long.
public final class HTTP2RequestBatch: @unchecked Sendable {
    // Unchecked: filled by one owner before it is submitted; afterwards only the event loop of the client that sends it touches what changes
    // then, which is each body's progress word and what is let go of.

    /// Where a request's path, values and body are.
    struct Entry {
        var path: Slice
        var firstValue: Int32
        /// Where in ``HTTP2RequestBatch/bodies`` the body begins.
        var bodyStart: Int32
        /// The body's header: its length and how much of it has been serialised, both `UInt32`.
        var body: Int
    }

    struct Slice {
        var offset: Int
        var length: Int
    }

    private static let lastNumber = Atomic<UInt64>(0)
    /// No other batch of the process has this number; from 1 on.
    let number = HTTP2RequestBatch.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
    /// A number of the caller's, to find what the batch belongs to.
    public let tag: Int64
    /// Whether it goes before what waits for a stream; set it before the batch is submitted.
    public var isUrgent = false
    /// Whether the answer of each request keeps the header fields that nothing but a person asks for; empty as a rule.
    private var keptAnswers: [Bool] = []
    /// Paths, values of header fields, and for each body its length and how much of it has been serialised.
    private var arena: RequestMemory
    /// The bodies, one after the other.
    private(set) var bodies: [UInt8]
    /// Requests that have not been written as a whole.
    private var unwritten = 0
    /// What was to be written is gone.
    private(set) var isLetGo = false
    /// The fields that all requests carry, in the caller's order.
    let sharedHeaders: [HTTP2HeaderField]
    /// The names of the fields that each request has of its own.
    let perRequestHeaderNames: [String]
    /// Both as bytes: batches whose heads are equal have the same.
    let head: [UInt8]
    private(set) var entries: [Entry] = []
    private(set) var values: [Slice] = []

    /// Whether each request has a path of its own; otherwise it is among the shared fields.
    let hasOwnPaths: Bool

    public private(set) var count = 0

    /// Makes an empty batch.
    /// - Parameters:
    ///   - sharedHeaders: fields that all requests carry, `:method` (POST), `:scheme` and `:authority` among them; `:path` only if all have the same.
    ///   - perRequestHeaderNames: names of the fields whose values come with each request. The first is the same in all batches of a client.
    ///   - capacity: the number of requests to make room for.
    ///   - bodies: bodies that are there already, one after the other.
    ///   - bodyBytes: the bytes of further bodies to make room for.
    public init(
        sharedHeaders: [HTTP2HeaderField],
        perRequestHeaderNames: [String],
        capacity: Int,
        bodies: [UInt8] = [],
        bodyBytes: Int = 0,
        tag: Int64 = 0
    ) {
        self.tag = tag
        self.sharedHeaders = sharedHeaders
        self.perRequestHeaderNames = perRequestHeaderNames
        head = Self.head(sharedHeaders, perRequestHeaderNames)
        hasOwnPaths = !sharedHeaders.contains { $0.name == ":path" }
        precondition(
            sharedHeaders.allSatisfy { $0.name != ":method" || $0.value == "POST" },
            "answers are read as those to POST"
        )
        // 160 bytes a request hold a path with a 64-digit token, a UUID and the body's header, which alone takes up to 15.
        arena = RequestMemory(capacity: capacity * (hasOwnPaths ? 160 : 16))
        self.bodies = bodies
        // Room for nothing would still copy an array that others have.
        if bodyBytes > 0 { self.bodies.reserveCapacity(bodies.count + bodyBytes) }
        entries.reserveCapacity(capacity)
        values.reserveCapacity(capacity * perRequestHeaderNames.count)
    }

    deinit {
        arena.free()
    }

    /// Each text ends with a byte that no text has (RFC 3629, section 1), which also says what it is.
    private static func head(_ shared: [HTTP2HeaderField], _ names: [String]) -> [UInt8] {
        var head: [UInt8] = []
        head.reserveCapacity(512)
        for field in shared {
            head += field.name.utf8
            head.append(field.indexing == .value ? 0xFF : 0xFE)
            head += field.value.utf8
            head.append(0xFF)
        }
        for name in names {
            head += name.utf8
            head.append(0xFD)
        }
        return head
    }

    /// Adds a request that has nothing of its own but a body, without an allocation.
    /// - Parameter range: where its body is in the bodies that were given at the start.
    public func append(bodyIn range: Range<Int>) {
        precondition(!hasOwnPaths && perRequestHeaderNames.isEmpty, "all header fields are shared")
        appendEntry(path: Slice(offset: 0, length: 0), firstValue: Int32(values.count), body: range)
    }

    /// Adds a request that has nothing of its own but a body.
    public func append(body: ArraySlice<UInt8>) {
        append(bodyIn: keep(body))
    }

    /// Adds a request.
    /// - Parameters:
    ///   - path: the `:path`.
    ///   - headerValues: one value for each of the names given at the start.
    ///   - body: the request's body.
    public func append(
        path: some Collection<UInt8>,
        headerValues: [some Collection<UInt8>],
        body: some Collection<UInt8>
    ) {
        precondition(hasOwnPaths, "the path is shared")
        precondition(headerValues.count == perRequestHeaderNames.count, "one value for each per-request header name")
        let firstValue = Int32(values.count)
        let pathSlice = arena.store(path)
        for value in headerValues {
            values.append(arena.store(value))
        }
        appendEntry(path: pathSlice, firstValue: firstValue, body: keep(body))
    }

    /// Adds a request whose path is a prefix and a token, and which has one per-request value, without an allocation.
    /// - Parameter range: where its body is in the bodies that were given at the start.
    public func append(
        pathPrefix: StaticString,
        pathSuffix: ArraySlice<UInt8>,
        headerValue: ArraySlice<UInt8>,
        bodyIn range: Range<Int>
    ) {
        precondition(hasOwnPaths, "the path is shared")
        precondition(perRequestHeaderNames.count == 1, "one value for each per-request header name")
        let firstValue = Int32(values.count)
        var path = arena.store(UnsafeBufferPointer(start: pathPrefix.utf8Start, count: pathPrefix.utf8CodeUnitCount))
        path.length += arena.store(pathSuffix).length
        values.append(arena.store(headerValue))
        appendEntry(path: path, firstValue: firstValue, body: range)
    }

    /// Where a path or a value is; it stays there once the batch is submitted, until all requests have been written.
    @inline(__always)
    func memory(_ slice: Slice) -> UnsafeRawBufferPointer { arena.bytes(slice) }

    /// The length of a request's body.
    func bodyLength(_ index: Int32) -> Int { Int(arena.word(entries[Int(index)].body)) }

    /// How much of a request's body has been serialised.
    func sentBodyLength(_ index: Int32) -> Int { Int(arena.word(entries[Int(index)].body + 4)) }

    /// How much of a request's body has not been serialised yet.
    func unsentBodyLength(_ index: Int32) -> Int { bodyLength(index) - sentBodyLength(index) }

    /// Notes how much of a request's body has been serialised.
    func setSentBodyLength(_ index: Int32, _ length: Int) {
        arena.set(UInt32(length), at: entries[Int(index)].body + 4)
    }

    /// A request has been written as a whole. When all have, nothing is kept of them, unless somebody wants to see them.
    func wasWritten() {
        unwritten -= 1
        guard unwritten == 0, keptAnswers.isEmpty else { return }
        isLetGo = true
        bodies = []
        entries = []
        values = []
        arena.free()
    }

    /// The rest of a body when so much of it has been serialised; it stays where it is while the closure runs.
    @inline(__always)
    func withBody<Result>(_ index: Int32, from sent: Int, _ read: (UnsafeRawBufferPointer) -> Result) -> Result {
        let start = Int(entries[Int(index)].bodyStart)
        let end = start + bodyLength(index)
        return bodies.withUnsafeBytes { read(UnsafeRawBufferPointer(rebasing: $0[start + sent..<end])) }
    }

    private func keep(_ body: some Collection<UInt8>) -> Range<Int> {
        let start = bodies.count
        bodies.append(contentsOf: body)
        return start..<bodies.count
    }

    private func appendEntry(path: Slice, firstValue: Int32, body range: Range<Int>) {
        precondition(range.upperBound <= bodies.count, "the body is among those of the batch")
        let header = arena.makeWord(UInt32(range.count))
        entries.append(
            Entry(path: path, firstValue: firstValue, bodyStart: Int32(range.lowerBound), body: header)
        )
        count += 1
        unwritten += 1
    }
}

/// Memory that only grows, until it is let go of as a whole: what lies in it stays where it is, as long as nothing is added.
private struct RequestMemory {
    private var start: UnsafeMutableRawPointer?
    private var used = 0
    private var capacity: Int

    init(capacity: Int) {
        self.capacity = capacity
        start = capacity > 0 ? .allocate(byteCount: capacity, alignment: 8) : nil
    }

    mutating func free() {
        start?.deallocate()
        start = nil
        used = 0
        capacity = 0
    }

    @inline(__always)
    func bytes(_ slice: HTTP2RequestBatch.Slice) -> UnsafeRawBufferPointer {
        guard let start else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return UnsafeRawBufferPointer(start: start + slice.offset, count: slice.length)
    }

    /// A word that was stored.
    @inline(__always)
    func word(_ offset: Int) -> UInt32 { start?.load(fromByteOffset: offset, as: UInt32.self) ?? 0 }

    @inline(__always)
    func set(_ word: UInt32, at offset: Int) { start?.storeBytes(of: word, toByteOffset: offset, as: UInt32.self) }

    mutating func store(_ bytes: some Collection<UInt8>) -> HTTP2RequestBatch.Slice {
        let length = bytes.count
        let memory = room(for: length)
        UnsafeMutableRawBufferPointer(start: memory + used, count: length).copyBytes(from: bytes)
        used += length
        return HTTP2RequestBatch.Slice(offset: used - length, length: length)
    }

    /// Stores a word, and 0 behind it.
    /// - Returns: where it is.
    mutating func makeWord(_ word: UInt32) -> Int {
        let offset = (used + 7) & ~7
        let memory = room(for: offset - used + 8)
        memory.storeBytes(of: word, toByteOffset: offset, as: UInt32.self)
        memory.storeBytes(of: 0, toByteOffset: offset + 4, as: UInt32.self)
        used = offset + 8
        return offset
    }

    private mutating func room(for bytes: Int) -> UnsafeMutableRawPointer {
        if let start, used + bytes <= capacity { return start }
        capacity = max(capacity * 2, used + bytes, 1_024)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
        if let start {
            larger.copyMemory(from: start, byteCount: used)
            start.deallocate()
        }
        start = larger
        return larger
    }
}

/// Reading a request back, for people who look at the wire.
extension HTTP2RequestBatch {
    /// The header fields of a request in the order in which they leave; before the batch is submitted, or of one whose answer keeps its fields.
    public func headerFields(_ index: Int32) -> [HTTP2HeaderField] {
        let entry = entries[Int(index)]
        var fields = sharedHeaders.filter(\.isPseudo)
        if hasOwnPaths { fields.append(HTTP2HeaderField(":path", text(entry.path))) }
        fields += sharedHeaders.filter { !$0.isPseudo }
        for (position, name) in perRequestHeaderNames.enumerated() {
            fields.append(HTTP2HeaderField(name, text(values[Int(entry.firstValue) + position])))
        }
        return fields
    }

    /// The first of the header fields that only this request has, which gateways give back; nil if it has none.
    public func ownField(_ index: Int32) -> HTTP2HeaderField? {
        perRequestHeaderNames.first.map { HTTP2HeaderField($0, text(values[Int(entries[Int(index)].firstValue)])) }
    }

    /// The body of a request; before the batch is submitted, or of one whose answer keeps its fields.
    public func body(_ index: Int32) -> [UInt8] {
        withBody(index, from: 0) { [UInt8]($0) }
    }

    /// Has the answers to these requests keep all their header fields; to be said before the batch is submitted.
    public func keepAnswerFields(of indexes: some Sequence<Int32>) {
        keptAnswers = [Bool](repeating: false, count: count)
        for index in indexes { keptAnswers[Int(index)] = true }
    }

    /// Whether the answer to a request keeps all its header fields.
    @inline(__always)
    func keepsAnswerFields(_ index: Int32) -> Bool { !keptAnswers.isEmpty && keptAnswers[Int(index)] }

    private func text(_ slice: Slice) -> String {
        String(decoding: memory(slice), as: UTF8.self)
    }
}

/// Finding a request's own header field in its response.
extension HTTP2RequestBatch {
    /// The value of the first of the fields that only this request has, while it has not been written. Empty if it has none.
    func ownValue(_ index: Int32) -> UnsafeRawBufferPointer {
        guard !perRequestHeaderNames.isEmpty else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return memory(values[Int(entries[Int(index)].firstValue)])
    }

    /// The name of that field.
    var ownName: [UInt8] {
        perRequestHeaderNames.first.map { Array($0.utf8) } ?? []
    }
}

/// One header field of an HTTP/2 request or response.
public struct HTTP2HeaderField: Sendable, Hashable {
    /// What a connection sends once and refers to afterwards (HPACK, RFC 7541).
    public enum Indexing: Sendable, Hashable {
        /// Name and value, which repeat from request to request.
        case value
        /// The name: its values would only push each other out of the table.
        case name
    }

    /// The lower-case name; pseudo-header fields begin with a colon.
    public var name: String
    public var value: String
    public var indexing: Indexing

    /// Whether it is one of the protocol's own (RFC 7540, section 8.1.2.1).
    var isPseudo: Bool { name.utf8.first == UInt8(ascii: ":") }

    public init(_ name: String, _ value: String, indexing: Indexing = .value) {
        self.name = name
        self.value = value
        self.indexing = indexing
    }
}
