import NIOCore

/// Writes the header blocks of a connection's requests (HPACK, RFC 7541).
///
/// A field whose value repeats, such as `authorization`, is sent once, as Apple advises ("Establishing a connection to
/// APNs"). Strings are not Huffman-coded: the processor time at both ends would outweigh the saved bytes.
struct HeaderEncoder {
    /// The encoded bytes that the requests of a batch share; valid until a field enters the table.
    private struct Template {
        /// The head of the batches that it is for.
        var head: [UInt8] = []
        /// The pseudo-header fields, and the name of the path if each request has its own.
        var front: [UInt8] = []
        /// The fields that all requests share.
        var middle: [UInt8] = []
        /// The names of the fields whose values are per request.
        var names: [[UInt8]] = []
    }

    private var table = HeaderTable()
    private var template = Template()
    /// The number of the last batch that the template is valid for; 0 for none.
    private var batch: UInt64 = 0

    /// Sets the server's limit of the table, in bytes, for the following requests.
    mutating func limitTable(_ bytes: Int) {
        table.limit(bytes)
        batch = 0
    }

    /// Appends a request's HEADERS frame, and CONTINUATION frames if it does not fit.
    /// - Parameter flags: the flags of the HEADERS frame, without END_HEADERS.
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

    /// An upper bound for the size of a block, in bytes.
    private func room(_ request: HTTP2RequestBatch, _ entry: HTTP2RequestBatch.Entry, _ updates: [UInt8]) -> Int {
        var bytes = updates.count + template.front.count + template.middle.count
        bytes += entry.path.length + HeaderBlockWriter.maxIntegerLength
        for (position, name) in template.names.enumerated() {
            bytes +=
                name.count + request.values[Int(entry.firstValue) + position].length
                + HeaderBlockWriter.maxIntegerLength
        }
        return bytes
    }

    /// Makes the template of a batch from one of its requests, with its fields in the order in which the server reads
    /// them. The last batch's template is reused if the heads are equal, as in one delivery's batches. The template
    /// also serves the next requests, unless a field has just entered the table: that field will have an index from
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

    /// The table size updates for the beginning of the next block.
    mutating func takeUpdates() -> [UInt8] { table.takeUpdates() }

    /// The number of fields that have entered the table; encoded bytes are valid until it changes.
    var insertions: Int { table.insertions }

    /// The encoded bytes of a repeated field; valid until a field enters the table.
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

    /// The beginning of a literal field, up to its value (RFC 7541, section 6.2). Adds the field to the table if its
    /// value is indexed, or if it is the first with its name. A field that should be indexed but does not fit may be a
    /// token, so it is marked never-indexed for intermediaries.
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

/// The indexed header fields of a connection (RFC 7541, section 2.3): the static table and the fields that were sent.
struct HeaderTable {
    private struct Entry {
        var name: [UInt8]
        var value: [UInt8]

        /// RFC 7541, section 4.1.
        var size: Int { name.count + value.count + 32 }
    }

    /// The initial and maximum size of the table, in bytes: RFC 7540's initial value, which APNs also uses. APNs'
    /// fields take 600 bytes, FCM's up to 1,500 with their token.
    private static let usualSize = 4_096
    /// In a smaller table the fields of one request would evict each other and be added again with each request. So
    /// such a table stays empty.
    private static let minSize = 1_024

    /// The index of `:path` in the static table.
    static let pathNumber = 4

    /// The fields that were sent, the latest last.
    private var entries: [Entry] = []
    private var size = 0
    private var maxSize = usualSize
    /// The limits to announce to the server: the smallest, if the latest is larger, and the latest.
    private var untold: [Int] = []
    /// The number of fields inserted so far.
    private(set) var insertions = 0

    /// Sets the server's limit, in bytes.
    mutating func limit(_ bytes: Int) {
        let bound = bytes < Self.minSize ? 0 : min(bytes, Self.usualSize)
        guard bound != maxSize else { return }
        maxSize = bound
        untold = (untold.filter { $0 < bound }.min().map { [$0] } ?? []) + [bound]
        evict()
    }

    /// The size updates for the beginning of the next header block (RFC 7541, sections 4.2 and 6.3).
    mutating func takeUpdates() -> [UInt8] {
        guard !untold.isEmpty else { return [] }
        var block: [UInt8] = []
        for bound in untold { HeaderBlockWriter.append(bound, prefix: 5, mark: 0x20, to: &block) }
        untold = []
        return block
    }

    /// The index of a field.
    func find(_ name: [UInt8], _ value: [UInt8]) -> Int? {
        if let position = entries.lastIndex(where: { $0.value == value && $0.name == name }) { return number(position) }
        return Self.known.firstIndex { $0.name == name && $0.value == value }.map { $0 + 1 }
    }

    /// The index of a field with this name and any value.
    func find(_ name: [UInt8]) -> Int? {
        if let index = Self.known.firstIndex(where: { $0.name == name }) { return index + 1 }
        return entries.lastIndex { $0.name == name }.map(number)
    }

    /// Inserts a field, evicting the oldest ones if necessary.
    /// - Returns: false if it is too large. Like nghttp2's encoder, the limit is three quarters of the table. A larger
    ///   field would leave no room for the others, which would be added again with each request.
    mutating func insert(_ name: [UInt8], _ value: [UInt8]) -> Bool {
        let entry = Entry(name: name, value: value)
        guard entry.size <= maxSize / 4 * 3 else { return false }
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
        while size > maxSize {
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
