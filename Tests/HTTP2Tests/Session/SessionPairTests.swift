import NIOCore
import Testing

@testable import HTTP2

/// Our client's session against our server's, without I/O, byte by byte or all at once.
@Suite struct SessionPairTests {
    @Test(arguments: [1, 7, 16_384, 1 << 20])
    func bodiesPathsAndHeadersArriveAsTheyWereGiven(_ piece: Int) throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let client = try ClientSession()
        let server = try ServerSession(settings: HTTP2ServerSettings())
        // Odd lengths put the arena's pieces at all alignments, also while it grows.
        let bodies = (0..<60).map { _ in
            String(
                decoding: (0..<Int.random(in: 0...300, using: &random)).map { _ in
                    UInt8.random(in: 32...126, using: &random)
                },
                as: UTF8.self
            )
        }
        // Every other body is in the batch's memory; the rest are copied after it.
        let starts = bodies.reduce(into: [0]) { $0.append($0[$0.count - 1] + $1.utf8.count) }
        let batch = HTTP2RequestBatch(
            sharedHeaders: [
                HTTP2HeaderField(":method", "POST"), HTTP2HeaderField(":scheme", "https"),
                HTTP2HeaderField(":authority", "localhost"), HTTP2HeaderField("apns-topic", "com.example.app"),
            ],
            perRequestHeaderNames: ["apns-id"],
            capacity: 1,
            bodies: Array(bodies.joined().utf8),
            bodyBytes: Int.random(in: 0...9, using: &random)
        )
        for (index, body) in bodies.enumerated() {
            if index % 2 == 0 {
                batch.append(
                    path: Array("/3/device/\(index)".utf8),
                    headerValues: [Array("id\(index)".utf8)],
                    body: Array(body.utf8)
                )
            } else {
                batch.append(
                    pathPrefix: "/3/device/",
                    pathSuffix: Array("\(index)".utf8)[...],
                    headerValue: Array("id\(index)".utf8)[...],
                    bodyIn: starts[index]..<starts[index] + body.utf8.count
                )
            }
        }
        for index in 0..<bodies.count { #expect(client.submit(batch, index: Int32(index))) }
        try exchange(client, server, piece: piece)
        #expect(server.requests.count == bodies.count)
        for (index, request) in server.requests.enumerated() {
            #expect(String(decoding: request.body, as: UTF8.self) == bodies[index], "seed \(seed)")
            #expect(request.headers.value(":path") == "/3/device/\(index)")
            #expect(request.headers.value("apns-id") == "id\(index)")
            #expect(request.headers.value("apns-topic") == "com.example.app")
            let response = HTTP2PreparedResponse(status: 400, headers: [("retry-after", "\(index)")])
            server.respond(request.streamID, response, varyingValue: [], body: request.body)
        }
        try exchange(client, server, piece: piece)
        #expect(client.completions.count == bodies.count)
        for completion in client.completions {
            let response = try #require(completion.response, "request \(completion.index) has no answer")
            #expect(response.status == 400)
            #expect(response.retryAfter == "\(completion.index)")
            #expect(String(decoding: response.body, as: UTF8.self) == bodies[Int(completion.index)])
        }
        #expect(client.streams.count == 0)
        #expect(server.streams.count == 0)
    }

    /// A response that carries its own request's field: byte for byte, or in the other case.
    @Test func aResponseThatNamesItsRequestIsKnown() throws {
        let client = try ClientSession()
        let server = try ServerSession(settings: HTTP2ServerSettings())
        let batch = TestBatch.make(6)
        for index in 0..<batch.count { #expect(client.submit(batch, index: Int32(index))) }
        try exchange(client, server, piece: 1 << 20)
        for (index, request) in server.requests.enumerated() {
            let fields = [
                [("apns-id", "id-1-\(index)")], [("apns-id", "ID-1-\(index)")], [("apns-id", "id-1-\(index + 1)")],
                [("apns-xx", "id-1-\(index)")], [("apns-id", "id-1-")], [],
            ][index]
            let response = HTTP2PreparedResponse(status: 200, headers: fields)
            server.respond(request.streamID, response, varyingValue: [], body: [])
        }
        try exchange(client, server, piece: 1 << 20)
        let echoes = client.completions.sorted { $0.index < $1.index }.map { completion in
            completion.response?.echoesRequest ?? false
        }
        #expect(echoes == [true, true, false, false, false, false])
    }

    /// A waiting stream takes one cache line.
    @Test func aStreamIsOneLine() {
        #expect(MemoryLayout<StreamTable<StreamSlot>.Slot>.stride == 64)
    }

    /// Only the case of letters is ignored; the characters next to letters in ASCII have no case.
    @Test func aValueIsTheSameButForTheCaseOfItsLetters() {
        let batch = HTTP2RequestBatch(
            sharedHeaders: [HTTP2HeaderField(":method", "POST")],
            perRequestHeaderNames: ["apns-id"],
            capacity: 1,
            bodyBytes: 0
        )
        let text = Array("0123456789-abcdef-GHIJKLMNOPQRSTUVWXYZ@[`{\0\u{7F}".utf8) + [0xC1, 0xDA, 0xE1, 0xFF]
        func lowercase(_ byte: UInt8) -> UInt8 { (0x41...0x5A).contains(byte) ? byte + 0x20 : byte }
        batch.append(path: Array("/".utf8), headerValues: [text], body: [])
        let slot = StreamSlot(batch, 0, submitted: 0)
        func isOwn(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBufferPointer(slot.isOwn) }
        #expect(isOwn(text))
        for place in text.indices {
            for byte in UInt8.min...UInt8.max {
                var other = text
                other[place] = byte
                let same = lowercase(byte) == lowercase(text[place])
                #expect(isOwn(other) == same, "\(place): \(byte)")
            }
        }
        #expect(!isOwn(text + [0]) && !isOwn(Array(text.dropLast())) && !isOwn([]))
    }

    /// Fields that are indexed in the connection's table, followed by each answer's own field of any length; byte by
    /// byte or all at once, with and without a body.
    @Test(arguments: [1, 1 << 20], [[], [("x-kept", "in the table"), ("content-type", "application/json")]])
    func anAnswerHasItsOwnFieldBehindThoseOfAll(_ piece: Int, _ shared: [(String, String)]) throws {
        let client = try ClientSession()
        let server = try ServerSession(settings: HTTP2ServerSettings())
        let values = [0, 1, 36, 126, 127, 128, 500].map { String(repeating: "v", count: $0) }
        let batch = TestBatch.make(values.count)
        batch.keepAnswerFields(of: 0..<Int32(values.count))
        for index in 0..<batch.count { #expect(client.submit(batch, index: Int32(index))) }
        try exchange(client, server, piece: piece)
        let response = HTTP2PreparedResponse(status: 429, headers: shared, varyingHeader: "x-own")
        for (index, request) in server.requests.enumerated() {
            let body = index % 2 == 0 ? [] : Array("body \(index)".utf8)
            server.respond(request.streamID, response, varyingValue: Array(values[index].utf8)[...], body: body)
        }
        try exchange(client, server, piece: piece)
        #expect(client.completions.count == values.count)
        for completion in client.completions {
            let response = try #require(completion.response, "request \(completion.index) has no answer")
            let index = Int(completion.index)
            #expect(response.status == 429)
            #expect(response.body == (index % 2 == 0 ? [] : Array("body \(index)".utf8)))
            #expect(
                response.otherFields?.map { "\($0.name): \($0.value)" }
                    == (shared + [("x-own", values[index])]).map { "\($0.0): \($0.1)" }
            )
        }
        #expect(server.streams.count == 0)
    }

    /// The server's table from its first SETTINGS, then smaller and larger ones between requests.
    @Test(arguments: [0, 64, 512, 1_024, 4_096, 65_536] as [UInt32])
    func headersArriveWithWhateverTableTheServerHas(_ bytes: UInt32) throws {
        var settings = HTTP2ServerSettings()
        settings.headerTableSize = bytes
        let client = try ClientSession()
        let server = try ServerSession(settings: settings)
        try exchange(client, server, piece: 1 << 20)
        let batch = TestBatch.make(12)
        let made = (0..<12).map { index in batch.headerFields(index).map { "\($0.name): \($0.value)" } }
        for round in 0..<4 {
            for index in (3 * round)..<(3 * round + 3) { #expect(client.submit(batch, index: Int32(index))) }
            try exchange(client, server, piece: 1 << 20)
            let changes: [UInt32] = [[0, 4_096], [2_000], [0], []][round]
            server.sendSettings(changes.map { (Setting.headerTableSize, $0) })
            try exchange(client, server, piece: 1 << 20)
        }
        #expect(server.requests.count == 12)
        for (index, request) in server.requests.enumerated() {
            #expect(fields(of: request) == made[index])
        }
    }

    /// Header blocks that need CONTINUATION frames, and a request abandoned before its block was written.
    @Test func longHeadersArriveAndWhatIsGivenUpIsNotWritten() throws {
        let client = try ClientSession()
        let server = try ServerSession(settings: HTTP2ServerSettings())
        try exchange(client, server, piece: 1 << 20)
        let batch = HTTP2RequestBatch(
            sharedHeaders: [
                HTTP2HeaderField(":method", "POST"), HTTP2HeaderField(":scheme", "https"),
                HTTP2HeaderField(":authority", "localhost"),
                HTTP2HeaderField("authorization", "bearer " + String(repeating: "t", count: 300)),
                HTTP2HeaderField("apns-topic", String(repeating: "com.example.", count: 1_700)),
            ],
            perRequestHeaderNames: ["apns-id"],
            capacity: 3,
            bodyBytes: 0
        )
        for index in 0..<3 {
            batch.append(path: Array("/3/device/\(index)".utf8), headerValues: [Array("id\(index)".utf8)], body: [])
        }
        let made = (0..<3).map { index in batch.headerFields(index).map { "\($0.name): \($0.value)" } }
        let first = client.nextStreamID
        for index in 0..<3 { #expect(client.submit(batch, index: Int32(index))) }
        client.cancel(first, cause: .timeout)
        try exchange(client, server, piece: 1 << 20)
        #expect(server.requests.count == 2)
        for (index, request) in server.requests.enumerated() {
            #expect(fields(of: request) == made[index + 1])
        }
        guard case .unprocessed = client.completions.first?.result else {
            Issue.record("what was given up was not sent: \(client.completions)")
            return
        }
    }

    private func fields(of request: HTTP2ServerRequest) -> [String] {
        (0..<request.headers.count).map { "\(request.headers.name($0)): \(request.headers.value($0))" }
    }

    private func exchange(_ client: ClientSession, _ server: ServerSession, piece: Int) throws {
        while true {
            var up = ByteBuffer()
            while client.serialise(into: &up, limit: 1 << 20) {}
            try feed(up, piece) { try server.receive($0) }
            var down = ByteBuffer()
            while server.serialise(into: &down, limit: 1 << 20) {}
            try feed(down, piece) { try client.receive($0) }
            if up.readableBytes == 0, down.readableBytes == 0 { return }
        }
    }

    private func feed(_ buffer: ByteBuffer, _ piece: Int, _ receive: (UnsafeRawBufferPointer) throws -> Void) throws {
        var rest = buffer
        while let slice = rest.readSlice(length: min(piece, rest.readableBytes)), slice.readableBytes > 0 {
            try slice.withUnsafeReadableBytes(receive)
        }
    }
}

extension HTTP2Completion {
    /// The answer, if that is what came.
    fileprivate var response: HTTP2Response? {
        if case .response(let response) = result { response } else { nil }
    }
}
