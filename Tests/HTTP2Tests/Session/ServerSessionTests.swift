import NIOCore
import Testing

@testable import HTTP2

/// The server's session with a client that misbehaves as no library would.
@Suite struct ServerSessionTests {
    private func serverSession(_ settings: HTTP2ServerSettings = HTTP2ServerSettings()) throws -> ServerSession {
        let session = try ServerSession(settings: settings)
        try say(session, Frame.preface + Frame.settings() + Frame.settingsAcknowledgement)
        _ = try answer(session)
        return session
    }

    private func say(_ session: ServerSession, _ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { try session.receive($0) }
    }

    private func answer(_ session: ServerSession) throws -> [Frame] {
        var buffer = ByteBuffer()
        while session.serialise(into: &buffer, limit: 1 << 20) {}
        return Frame.parse(Array(buffer.readableBytesView))
    }

    /// `:method: POST`, `:scheme: https`, `:path: /`, `:authority: a`.
    private let request: [UInt8] = [0x83, 0x87, 0x84, 0x41, 0x01, 0x61]

    private func headers(_ stream: UInt32, _ block: [UInt8], end: Bool = true) -> [UInt8] {
        Frame(kind: .headers, flags: Frame.endHeaders | (end ? Frame.endStream : 0), stream: stream, payload: block)
            .bytes
    }

    @Test func aRequestArrivesWhole() throws {
        let session = try serverSession()
        try say(session, headers(1, request, end: false))
        try say(session, Frame(kind: .data, stream: 1, payload: Array("hello ".utf8)).bytes)
        #expect(session.requests.isEmpty)
        try say(session, Frame(kind: .data, flags: Frame.endStream, stream: 1, payload: Array("world".utf8)).bytes)
        let received = try #require(session.requests.first)
        #expect(received.headers.value(":method") == "POST")
        #expect(received.headers.value(":authority") == "a")
        #expect((0..<received.headers.count).count { received.headers.name($0) == ":path" } == 1)
        #expect(received.headers.value("cookie") == nil)
        #expect(received.headers.valueBytes(":scheme").map { Array($0) } == Array("https".utf8))
        #expect(received.headers.name(0) == ":method")
        #expect(received.headers.count == 4)
        #expect(String(decoding: received.body, as: UTF8.self) == "hello world")
        #expect(received.bodyLength == 11)
    }

    /// The memory of a handled request is reused for the next one, without changing a request that was kept.
    @Test func aRequestHasNothingOfTheOneBefore() throws {
        let session = try serverSession()
        try say(session, headers(1, request + [0x00, 0x01, 0x78, 0x02, 0x79, 0x7A], end: false))
        try say(session, Frame(kind: .data, flags: Frame.endStream, stream: 1, payload: Array("long".utf8)).bytes)
        var handled: [HTTP2ServerRequest] = []
        swap(&handled, &session.requests)
        let kept = handled
        session.recycle(&handled)
        #expect(handled.isEmpty)
        try say(session, headers(3, request))
        try say(session, headers(5, request, end: false))
        try say(session, Frame(kind: .data, flags: Frame.endStream, stream: 5, payload: Array("b".utf8)).bytes)
        #expect(session.requests.map(\.streamID) == [3, 5])
        #expect(session.requests.map(\.headers.count) == [4, 4])
        #expect(session.requests.map(\.body) == [[], Array("b".utf8)])
        #expect(session.requests.map(\.bodyLength) == [0, 1])
        #expect(kept.map { $0.headers.value("x") } == ["yz"])
        #expect(kept.map(\.body) == [Array("long".utf8)])
    }

    @Test func aLongBodyIsCutAndCounted() throws {
        var settings = HTTP2ServerSettings()
        settings.maxBodySize = 100
        let session = try serverSession(settings)
        try say(session, headers(1, request, end: false))
        for _ in 0..<10 {
            try say(session, Frame(kind: .data, stream: 1, payload: [UInt8](repeating: 7, count: 64)).bytes)
        }
        try say(session, Frame(kind: .data, flags: Frame.endStream, stream: 1).bytes)
        #expect(session.requests.map(\.body.count) == [100])
        #expect(session.requests.map(\.bodyLength) == [640])
    }

    @Test func aResponseIsWrittenOnce() throws {
        let session = try serverSession()
        try say(session, headers(1, request))
        let response = HTTP2PreparedResponse(status: 400, headers: [("x", "y")], varyingHeader: "apns-id")
        session.respond(1, response, varyingValue: Array("AB".utf8)[...], body: Array("why".utf8))
        session.respond(1, response, varyingValue: Array("CD".utf8)[...], body: Array("again".utf8))
        session.respond(77, response, varyingValue: [], body: [UInt8]())
        let said = try answer(session)
        #expect(said.map(\.kind) == [.headers, .data])
        #expect(said.last?.payload == Array("why".utf8))
        #expect(session.streams.count == 0)
    }

    /// A varying field is a plain, never indexed literal; a smaller table of the client is acknowledged before it.
    @Test func theFieldThatVariesIsWrittenAsItIs() throws {
        let session = try serverSession()
        try say(session, Frame.settings([(1, 0)]) + headers(1, request))
        let response = HTTP2PreparedResponse(status: 200, headers: [], varyingHeader: "apns-id")
        session.respond(1, response, varyingValue: Array("AB-cd".utf8)[...], body: [UInt8]())
        let said = try answer(session).filter { $0.kind == .headers }
        // RFC 7541, sections 6.3, 6.1 and 6.2.3.
        let block: [UInt8] = [0x20, 0x88, 0x10, 7] + Array("apns-id".utf8) + [5] + Array("AB-cd".utf8)
        #expect(said.map(\.payload) == [block])
    }

    /// A stream that was reset after its answer, and one closed between another's HEADERS and DATA, change no other
    /// stream's field.
    @Test func eachAnswerHasItsOwnFieldThoughStreamsEndMeanwhile() throws {
        let session = try serverSession()
        try say(session, headers(1, request) + headers(3, request) + headers(5, request))
        let response = HTTP2PreparedResponse(status: 200, headers: [], varyingHeader: "a")
        for stream in [1, 3, 5] as [Int32] {
            let body = Array((stream == 3 ? "body" : "").utf8)
            session.respond(stream, response, varyingValue: Array("v\(stream)".utf8)[...], body: body)
        }
        try say(session, Frame.reset(1, 8))
        let said = try answer(session)
        let fields = said.filter { $0.kind == .headers }.map { String(decoding: $0.payload.suffix(2), as: UTF8.self) }
        #expect(fields == ["v3", "v5"])
        #expect(said.filter { $0.kind == .data }.map(\.payload) == [Array("body".utf8)])
        #expect(session.streams.count == 0)
    }

    @Test func anAnswerToAResetStreamIsDropped() throws {
        let session = try serverSession()
        try say(session, headers(1, request) + headers(3, request) + Frame.reset(1, 8))
        #expect(session.requests.count == 2)
        let response = HTTP2PreparedResponse(status: 200, headers: [])
        for stream in [1, 3] as [Int32] { session.respond(stream, response, varyingValue: [], body: Array("x".utf8)) }
        #expect(try answer(session).map(\.stream) == [3, 3])
        #expect(session.streams.count == 0)
    }

    /// The stream is reset while its answer waits for the window: the answer's memory must outlive neither.
    @Test func aResetWhileTheAnswerIsBlocked() throws {
        let session = try serverSession()
        try say(session, Frame.settings([(Frame.initialWindowSize, 2)]))
        try say(session, headers(1, request))
        session.respond(
            1,
            HTTP2PreparedResponse(status: 200, headers: []),
            varyingValue: [],
            body: Array("blocked".utf8)
        )
        #expect(try answer(session).contains { $0.kind == .data && $0.payload == Array("bl".utf8) })
        try say(session, Frame.reset(1, 8) + Frame.windowUpdate(0, 1_000))
        #expect(try answer(session).contains { $0.kind == .data } == false)
        #expect(session.streams.count == 0)
    }

    /// A field of 4,000 bytes in HPACK's table, then one byte for each repetition of it: 60 MB out of 19 KB.
    @Test func aHeaderBombIsReset() throws {
        let session = try serverSession()
        let value = [UInt8](repeating: 0x61, count: 4_000)
        // 4,000 as an HPACK integer with a 7-bit prefix (RFC 7541 section 5.1): 127 + 33 + 30 * 128.
        let field: [UInt8] = [0x40, 0x01, 0x78, 0x7f, 0xa1, 0x1e] + value
        try say(session, headers(1, request + field))
        #expect(session.requests.count == 1)
        try say(
            session,
            headers(3, request + [UInt8](repeating: 0xbf, count: 15_000))
        )
        #expect(session.requests.count == 1)
        #expect(try answer(session).contains { $0.kind == .reset && $0.stream == 3 })
        try say(session, headers(5, request))
        #expect(session.requests.count == 2, "the connection lives on")
    }

    @Test func streamIDsFarApartCostNothing() throws {
        let session = try serverSession()
        for shift in 0..<18 as Range<UInt32> { try say(session, headers(1 + 4_096 << shift, request)) }
        #expect(session.requests.count == 18)
        #expect(session.streams.capacity <= 4_096)
    }

    @Test func goAwayIsSentWhateverTheLastStreamIDIs() throws {
        for (asked, sent) in [(-5, 0), (0, 0), (4, 3), (5, 5)] as [(Int32, UInt32)] {
            let session = try serverSession()
            try say(session, headers(1, request))
            session.goAway(lastStreamID: asked, code: 0, debugData: Array("{}".utf8))
            #expect(
                try answer(session).filter { $0.kind == .goAway }.map(\.payload) == [
                    Frame.word(sent) + Frame.word(0) + Array("{}".utf8)
                ]
            )
        }
    }

    @Test func aClientAboveTheLimitIsToldInOurWords() throws {
        var settings = HTTP2ServerSettings(maxConcurrentStreams: 1)
        settings.violationDebugData = Array("exceeded_max_concurrent_streams".utf8)
        let session = try serverSession(settings)
        try say(session, headers(1, request) + headers(3, request))
        let goAways = try answer(session).filter { $0.kind == .goAway }
        #expect(goAways.first?.payload.dropFirst(8).elementsEqual("exceeded_max_concurrent_streams".utf8) == true)
    }

    /// A malformed field affects its own stream, not the connection.
    @Test func aMalformedRequestIsNoViolationOfTheLimit() throws {
        var settings = HTTP2ServerSettings()
        settings.violationDebugData = Array("exceeded_max_concurrent_streams".utf8)
        let session = try serverSession(settings)
        // A field name with a capital letter.
        try say(session, headers(1, request + [0x00, 0x01, 0x58, 0x01, 0x61]))
        try say(session, headers(3, request))
        #expect(try answer(session).contains { $0.kind == .goAway } == false)
        #expect(session.requests.map(\.streamID) == [3])
    }

    @Test func randomBytesNeverCrash() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let response = HTTP2PreparedResponse(status: 200, headers: [("a", "b")])
        for _ in 0..<500 {
            let session = try serverSession()
            for _ in 0..<20 {
                var frame = Frame(kind: Frame.Kind(rawValue: .random(in: 0...9, using: &random)) ?? .ping)
                frame.flags = [0, 1, 4, 5, 8, 0x2d].randomElement(using: &random) ?? 0
                frame.stream = .random(in: 0...11, using: &random)
                frame.payload = Bool.random(using: &random) ? request : []
                frame.payload += (0..<Int.random(in: 0...24, using: &random)).map { _ in
                    .random(in: 0...255, using: &random)
                }
                guard (try? say(session, frame.bytes)) != nil else { break }
                for request in session.requests {
                    session.respond(request.streamID, response, varyingValue: [], body: request.body)
                }
                session.requests.removeAll()
                guard (try? answer(session)) != nil else { break }
            }
        }
    }
}
