import NIOCore

/// Writes the header blocks of a connection's requests (HPACK, RFC 7541).
///
/// A field whose value lasts, `authorization` among them, is sent once, as Apple advises ("Establishing a connection to APNs"), and strings
/// go as they are: Huffman's code would cost both ends more time than its bytes are worth.
struct HeaderEncoder {
    /// What the requests of a batch have in common, as bytes that hold until something enters the table.
    private struct Template {
        /// That of the batches that it is for.
        var head: [UInt8] = []
        /// Pseudo-header fields, and the name of the path if each request has its own.
        var front: [UInt8] = []
        /// Fields that all requests share.
        var middle: [UInt8] = []
        /// The names of the fields that each request has of its own.
        var names: [[UInt8]] = []
    }

    private var table = HeaderTable()
    private var template = Template()
    /// The latest batch whose requests all have the template; 0 for none.
    private var batch: UInt64 = 0

    /// Takes the server's bound of the table, in bytes, for the requests that follow.
    mutating func limitTable(_ bytes: Int) {
        table.limit(bytes)
        batch = 0
    }

    /// Appends a request's HEADERS frame, and CONTINUATION frames if one is not enough.
    /// - Parameter flags: those of the HEADERS frame, but for END_HEADERS.
    mutating func append(
        _ request: HTTP2RequestBatch,
        _ index: Int32,
        flags: UInt8,
        streamID: Int32,
        to buffer: inout ByteBuffer
    ) {
        let entry = request.entries[Int(index)]
        let updates = table.takeUpdates()
        if batch != request.number { prepare(request, entry) }
        let start = buffer.writerIndex
        buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: FrameHeader.length + room(request, entry, updates)) {
            space in
            var block = HeaderBlockWriter(space, from: FrameHeader.length)
            block.copy(updates)
            block.copy(template.front)
            if request.hasOwnPaths { block.append(request.memory(entry.path)) }
            block.copy(template.middle)
            for (position, name) in template.names.enumerated() {
                block.copy(name)
                block.append(request.memory(request.values[Int(entry.firstValue) + position]))
            }
            return block.count
        }
        FrameHeader.divide(&buffer, from: start, flags: flags, streamID: streamID)
    }

    /// At least the bytes of a block.
    private func room(_ request: HTTP2RequestBatch, _ entry: HTTP2RequestBatch.Entry, _ updates: [UInt8]) -> Int {
        var bytes = updates.count + template.front.count + template.middle.count
        bytes += entry.path.length + HeaderBlockWriter.longestInteger
        for (position, name) in template.names.enumerated() {
            bytes +=
                name.count + request.values[Int(entry.firstValue) + position].length + HeaderBlockWriter.longestInteger
        }
        return bytes
    }

    /// Writes the template of a batch with one of its requests, in the order in which the server reads them, unless it is that of the batch
    /// before: one of a delivery's many. It serves the next requests as well if nothing has entered the table, as that has a number from
    /// then on.
    private mutating func prepare(_ request: HTTP2RequestBatch, _ entry: HTTP2RequestBatch.Entry) {
        if batch != 0, template.head == request.head {
            batch = request.number
            return
        }
        let before = table.insertions
        template = Template(head: request.head)
        for field in request.sharedHeaders where field.isPseudo { template.front += encoded(field) }
        if request.hasOwnPaths {
            HeaderBlockWriter.append(HeaderTable.pathNumber, prefix: 4, mark: 0, to: &template.front)
        }
        for field in request.sharedHeaders where !field.isPseudo { template.middle += encoded(field) }
        for (position, name) in request.perRequestHeaderNames.enumerated() {
            let value = request.values[Int(entry.firstValue) + position]
            template.names.append(literalName(Array(name.utf8), Array(request.memory(value)), .name))
        }
        batch = table.insertions == before ? request.number : 0
    }

    /// What is to be said of the table at the beginning of the next block.
    mutating func takeUpdates() -> [UInt8] { table.takeUpdates() }

    /// How many fields have entered the table: what was encoded holds as long as this does.
    var insertions: Int { table.insertions }

    /// A field that lasts, as bytes that hold until something enters the table.
    mutating func encoded(_ field: HTTP2HeaderField) -> [UInt8] {
        let (name, value) = (Array(field.name.utf8), Array(field.value.utf8))
        var block: [UInt8] = []
        if field.indexing == .value, let index = table.find(name, value) {
            HeaderBlockWriter.append(index, prefix: 7, mark: 0x80, to: &block)
        } else {
            block = literalName(name, value, field.indexing)
            HeaderBlockWriter.append(value, to: &block)
        }
        return block
    }

    /// The beginning of a literal field, up to its value (RFC 7541, section 6.2), and its entry in the table if it gets one: for the value, or with the
    /// first of many values for the name. What should enter and does not fit may be a token: nobody on the way is to keep it either.
    private mutating func literalName(_ name: [UInt8], _ value: [UInt8], _ indexing: HTTP2HeaderField.Indexing)
        -> [UInt8]
    {
        let known = table.find(name)
        let enters = (indexing == .value || known == nil) && table.insert(name, value)
        var block: [UInt8] = []
        let mark: UInt8 = enters ? 0x40 : indexing == .value ? 0x10 : 0
        HeaderBlockWriter.append(known ?? 0, prefix: enters ? 6 : 4, mark: mark, to: &block)
        if known == nil { HeaderBlockWriter.append(name, to: &block) }
        return block
    }
}

/// Writes the parts of a header block into memory that is large enough, or to the end of an array.
struct HeaderBlockWriter {
    /// The bytes of a string's length at most: seven bits in the first byte, then seven in each, for less than 2^32.
    static let longestInteger = 6

    private let space: UnsafeMutableRawBufferPointer
    /// The bytes that are written, and those that were left free before them.
    private(set) var count: Int

    init(_ space: UnsafeMutableRawBufferPointer, from first: Int) {
        self.space = space
        count = first
    }

    /// Bytes that are encoded already.
    @inline(__always)
    mutating func copy(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { copy($0) }
    }

    /// A string as it is (RFC 7541, section 5.2).
    @inline(__always)
    mutating func append(_ string: UnsafeRawBufferPointer) {
        if string.count < 127 {
            precondition(count < space.count, "a header block has the room that it needs")
            space[count] = UInt8(string.count)
            count += 1
        } else {
            var length: [UInt8] = []
            Self.append(string.count, prefix: 7, mark: 0, to: &length)
            copy(length)
        }
        copy(string)
    }

    /// Bytes that are encoded already.
    @inline(__always)
    mutating func copy(_ bytes: UnsafeRawBufferPointer) {
        precondition(count + bytes.count <= space.count, "a header block has the room that it needs")
        guard let source = bytes.baseAddress else { return }
        space.baseAddress?.advanced(by: count).copyMemory(from: source, byteCount: bytes.count)
        count += bytes.count
    }

    /// A string as it is (RFC 7541, section 5.2).
    static func append(_ string: [UInt8], to block: inout [UInt8]) {
        append(string.count, prefix: 7, mark: 0, to: &block)
        block += string
    }

    /// An integer behind the bits that say what it is (RFC 7541, section 5.1).
    /// - Parameter prefix: how many bits of the first byte are the integer's, 4 to 7.
    static func append(_ integer: Int, prefix: Int, mark: UInt8, to block: inout [UInt8]) {
        let most = (1 << prefix) - 1
        guard integer >= most else { return block.append(mark | UInt8(integer)) }
        block.append(mark | UInt8(most))
        var rest = integer - most
        while rest >= 128 {
            block.append(UInt8(rest & 127) | 128)
            rest >>= 7
        }
        block.append(UInt8(rest))
    }
}

/// The header fields that have a number on a connection (RFC 7541, section 2.3): those that the protocol knows, and those that were sent.
struct HeaderTable {
    private struct Entry {
        var name: [UInt8]
        var value: [UInt8]

        /// RFC 7541, section 4.1.
        var size: Int { name.count + value.count + 32 }
    }

    /// The size until a server names its bound, and at most, in bytes: RFC 7540's initial value, which is APNs' as well. APNs' fields take
    /// 600 bytes of it, FCM's up to 1,500 with their token.
    private static let usualSize = 4_096
    /// In a table of less the fields of one request would push each other out, and come in anew with each: then it stays empty.
    private static let leastSize = 1_024

    /// The index of `:path` in the static table.
    static let pathNumber = 4

    /// What was sent, the latest at the end.
    private var entries: [Entry] = []
    private var size = 0
    private var largestSize = usualSize
    /// The bounds that the server has not been told of: the smallest of them, if the latest is larger, and the latest.
    private var untold: [Int] = []
    /// How many fields have come in so far.
    private(set) var insertions = 0

    /// Takes the server's bound, in bytes.
    mutating func limit(_ bytes: Int) {
        let bound = bytes < Self.leastSize ? 0 : min(bytes, Self.usualSize)
        guard bound != largestSize else { return }
        largestSize = bound
        untold = (untold.filter { $0 < bound }.min().map { [$0] } ?? []) + [bound]
        evict()
    }

    /// The beginning of the next header block: what the table is bounded by since the last one (RFC 7541, sections 4.2 and 6.3).
    mutating func takeUpdates() -> [UInt8] {
        guard !untold.isEmpty else { return [] }
        var block: [UInt8] = []
        for bound in untold { HeaderBlockWriter.append(bound, prefix: 5, mark: 0x20, to: &block) }
        untold = []
        return block
    }

    /// The number of a field.
    func find(_ name: [UInt8], _ value: [UInt8]) -> Int? {
        if let position = entries.lastIndex(where: { $0.value == value && $0.name == name }) { return number(position) }
        return Self.known.firstIndex { $0.name == name && $0.value == value }.map { $0 + 1 }
    }

    /// The number of a field with a name, whatever its value.
    func find(_ name: [UInt8]) -> Int? {
        if let index = Self.known.firstIndex(where: { $0.name == name }) { return index + 1 }
        return entries.lastIndex { $0.name == name }.map(number)
    }

    /// Takes a field in and gives up those that came first if room is short.
    /// - Returns: false if it is too large. nghttp2 keeps the same bound as a sender: what takes more than three quarters of the table leaves none to
    ///   the other fields, and they would come in anew with each request.
    mutating func insert(_ name: [UInt8], _ value: [UInt8]) -> Bool {
        let entry = Entry(name: name, value: value)
        guard entry.size <= largestSize / 4 * 3 else { return false }
        entries.append(entry)
        size += entry.size
        insertions += 1
        evict()
        return true
    }

    private func number(_ position: Int) -> Int {
        Self.known.count + entries.count - position
    }

    private mutating func evict() {
        var first = 0
        while size > largestSize {
            size -= entries[first].size
            first += 1
        }
        entries.removeFirst(first)
    }

    /// RFC 7541, appendix A.
    private static let known: [Entry] = [
        (":authority", ""), (":method", "GET"), (":method", "POST"), (":path", "/"), (":path", "/index.html"),
        (":scheme", "http"), (":scheme", "https"), (":status", "200"), (":status", "204"), (":status", "206"),
        (":status", "304"), (":status", "400"), (":status", "404"), (":status", "500"), ("accept-charset", ""),
        ("accept-encoding", "gzip, deflate"), ("accept-language", ""), ("accept-ranges", ""), ("accept", ""),
        ("access-control-allow-origin", ""), ("age", ""), ("allow", ""), ("authorization", ""), ("cache-control", ""),
        ("content-disposition", ""), ("content-encoding", ""), ("content-language", ""), ("content-length", ""),
        ("content-location", ""), ("content-range", ""), ("content-type", ""), ("cookie", ""), ("date", ""),
        ("etag", ""),
        ("expect", ""), ("expires", ""), ("from", ""), ("host", ""), ("if-match", ""), ("if-modified-since", ""),
        ("if-none-match", ""), ("if-range", ""), ("if-unmodified-since", ""), ("last-modified", ""), ("link", ""),
        ("location", ""), ("max-forwards", ""), ("proxy-authenticate", ""), ("proxy-authorization", ""), ("range", ""),
        ("referer", ""), ("refresh", ""), ("retry-after", ""), ("server", ""), ("set-cookie", ""),
        ("strict-transport-security", ""), ("transfer-encoding", ""), ("user-agent", ""), ("vary", ""), ("via", ""),
        ("www-authenticate", ""),
    ].map { Entry(name: Array($0.0.utf8), value: Array($0.1.utf8)) }
}
