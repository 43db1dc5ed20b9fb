import Synchronization

/// Requests that share most of their header fields, stored back to back in one piece of memory, and their bodies.
///
/// Paths, values and bodies are read in place, and each open stream retains the batch. The array of bodies may be
/// shared with other owners. Fill the batch with ``append(path:headerValues:body:)`` in one place, then submit it once.
/// After that it does not change, except that it releases this memory when all requests are written. The batch itself
/// lives until the last response, which may take long.
package final class HTTP2RequestBatch: @unchecked Sendable {
    // Unchecked: one owner fills it before it is submitted. Afterwards only the client's event loop changes it: each
    // body's progress word, and the memory that is released.

    /// The locations of a request's path, values and body.
    struct Entry {
        var path: Slice
        var firstValue: Int32
        /// The start of the body in ``HTTP2RequestBatch/bodies``.
        var bodyStart: Int32
        /// The body's header: its length and the number of serialised bytes, both `UInt32`.
        var body: Int
    }

    struct Slice {
        var offset: Int
        var length: Int
    }

    private static let lastNumber = Atomic<UInt64>(0)
    /// A number that is unique in the process, from 1 on.
    let number = HTTP2RequestBatch.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue
    /// The caller's number, to find what the batch belongs to.
    package let tag: Int64
    /// Whether it precedes other requests that wait for a stream; set it before the batch is submitted.
    package var isUrgent = false
    /// For each request, whether its response keeps the header fields that are only shown to users; usually empty.
    private var keptAnswers: [Bool] = []
    /// Paths, values of header fields, and the header of each body.
    private var arena: RequestMemory
    /// The bodies, back to back.
    private(set) var bodies: [UInt8]
    /// The number of requests that are not completely written.
    private var unwritten = 0
    /// Whether the memory was released.
    private(set) var isLetGo = false
    /// The fields that all requests carry, in the caller's order.
    let sharedHeaders: [HTTP2HeaderField]
    /// The names of the fields whose values are per request.
    let perRequestHeaderNames: [String]
    /// The shared fields and the names as bytes. Batches with equal heads have equal ones.
    let head: [UInt8]
    private(set) var entries: [Entry] = []
    private(set) var values: [Slice] = []

    /// Whether each request has its own path; otherwise it is a shared field.
    let hasOwnPaths: Bool

    package private(set) var count = 0

    /// Makes an empty batch.
    /// - Parameters:
    ///   - sharedHeaders: the fields that all requests carry, including `:method` (POST), `:scheme` and `:authority`;
    ///     `:path` only if all have the same one.
    ///   - perRequestHeaderNames: the names of the fields whose values are per request. The first must be the same in
    ///     all batches of a client.
    ///   - capacity: the number of requests to make room for.
    ///   - bodies: existing bodies, back to back.
    ///   - bodyBytes: the number of bytes to reserve for further bodies.
    package init(
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
        // 160 bytes hold a path with a 64-digit token, a UUID and the body's header, which takes up to 15 with padding.
        arena = RequestMemory(capacity: capacity * (hasOwnPaths ? 160 : 16))
        self.bodies = bodies
        // Reserving 0 bytes would still copy a shared array.
        if bodyBytes > 0 { self.bodies.reserveCapacity(bodies.count + bodyBytes) }
        entries.reserveCapacity(capacity)
        values.reserveCapacity(capacity * perRequestHeaderNames.count)
    }

    deinit {
        arena.free()
    }

    /// Each text ends with a byte that never occurs in UTF-8 (RFC 3629, section 1); the byte also identifies its kind.
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

    /// Adds a request that has only a body of its own, without an allocation.
    /// - Parameter range: where its body is in the bodies that were given at the start.
    package func append(bodyIn range: Range<Int>) {
        precondition(!hasOwnPaths && perRequestHeaderNames.isEmpty, "all header fields are shared")
        appendEntry(path: Slice(offset: 0, length: 0), firstValue: Int32(values.count), body: range)
    }

    /// Adds a request that has only a body of its own.
    package func append(body: ArraySlice<UInt8>) {
        append(bodyIn: keep(body))
    }

    /// Adds a request.
    /// - Parameters:
    ///   - path: the `:path`.
    ///   - headerValues: one value for each of the names passed to `init`.
    ///   - body: the request's body.
    package func append(
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

    /// Adds a request with one per-request value, whose path is a prefix and a token, without an allocation.
    /// - Parameter range: where its body is in the bodies that were given at the start.
    package func append(
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

    /// The bytes of a path or value. Once the batch is submitted they stay in place until all requests are written.
    @inline(__always)
    func memory(_ slice: Slice) -> UnsafeRawBufferPointer { arena.bytes(slice) }

    /// The length of a request's body.
    func bodyLength(_ index: Int32) -> Int { Int(arena.word(entries[Int(index)].body)) }

    /// The number of serialised bytes of a request's body.
    func sentBodyLength(_ index: Int32) -> Int { Int(arena.word(entries[Int(index)].body + 4)) }

    /// The number of bytes of a request's body that are not serialised yet.
    func unsentBodyLength(_ index: Int32) -> Int { bodyLength(index) - sentBodyLength(index) }

    /// Sets the number of serialised bytes of a request's body.
    func setSentBodyLength(_ index: Int32, _ length: Int) {
        arena.set(UInt32(length), at: entries[Int(index)].body + 4)
    }

    /// A request is completely written. Once all are, their memory is released, unless requests are to be shown to
    /// users.
    func wasWritten() {
        unwritten -= 1
        guard unwritten == 0, keptAnswers.isEmpty else { return }
        isLetGo = true
        bodies = []
        entries = []
        values = []
        arena.free()
    }

    /// Calls the closure with the unserialised rest of a body, which stays in place meanwhile.
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

/// Memory that only grows until it is freed as a whole. Its contents stay in place as long as nothing is added.
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

    /// Reads a stored word.
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

    /// Stores a word followed by 0.
    /// - Returns: its offset.
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

/// Reading a request back, for users who inspect the traffic.
extension HTTP2RequestBatch {
    /// The header fields of a request, in the order in which they are sent. Call it before the batch is submitted, or
    /// for a batch with kept response fields.
    package func headerFields(_ index: Int32) -> [HTTP2HeaderField] {
        let entry = entries[Int(index)]
        var fields = sharedHeaders.filter(\.isPseudo)
        if hasOwnPaths { fields.append(HTTP2HeaderField(":path", text(entry.path))) }
        fields += sharedHeaders.filter { !$0.isPseudo }
        for (position, name) in perRequestHeaderNames.enumerated() {
            fields.append(HTTP2HeaderField(name, text(values[Int(entry.firstValue) + position])))
        }
        return fields
    }

    /// The first of the request's own header fields, which gateways echo; nil if it has none.
    package func ownField(_ index: Int32) -> HTTP2HeaderField? {
        perRequestHeaderNames.first.map { HTTP2HeaderField($0, text(values[Int(entries[Int(index)].firstValue)])) }
    }

    /// The body of a request. Call it before the batch is submitted, or for a batch with kept response fields.
    package func body(_ index: Int32) -> [UInt8] {
        withBody(index, from: 0) { [UInt8]($0) }
    }

    /// Keeps all header fields of the responses to these requests. Call it before the batch is submitted.
    package func keepAnswerFields(of indexes: some Sequence<Int32>) {
        keptAnswers = [Bool](repeating: false, count: count)
        for index in indexes { keptAnswers[Int(index)] = true }
    }

    /// Whether the response to a request keeps all its header fields.
    @inline(__always)
    func keepsAnswerFields(_ index: Int32) -> Bool { !keptAnswers.isEmpty && keptAnswers[Int(index)] }

    private func text(_ slice: Slice) -> String {
        String(decoding: memory(slice), as: UTF8.self)
    }
}

/// Finding a request's own header field in its response.
extension HTTP2RequestBatch {
    /// The value of the first of the request's own fields, until it is written; empty if it has none.
    func ownValue(_ index: Int32) -> UnsafeRawBufferPointer {
        guard !perRequestHeaderNames.isEmpty else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        return memory(values[Int(entries[Int(index)].firstValue)])
    }

    /// The name of that field.
    var ownName: [UInt8] {
        perRequestHeaderNames.first.map { Array($0.utf8) } ?? []
    }
}
