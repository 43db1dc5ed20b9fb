import NIOCore
import Testing

@testable import HTTP2

/// Violations by a peer, and each end's reaction (RFC 9113): GOAWAY for a connection error, RST_STREAM for a stream
/// error.
@Suite struct FrameSessionTests {
    /// `:method: POST`, `:scheme: https`, `:path: /`, `:authority: a`.
    private static let request: [UInt8] = [0x83, 0x87, 0x84, 0x41, 0x01, 0x61]

    private static func headers(_ stream: UInt32, _ block: [UInt8], _ flags: UInt8 = 5) -> [UInt8] {
        Frame(kind: .headers, flags: flags, stream: stream, payload: block).bytes
    }

    private static func field(_ name: String, _ value: String) -> [UInt8] {
        [0x10, UInt8(name.utf8.count)] + name.utf8 + [UInt8(value.utf8.count)] + value.utf8
    }

    private func server(_ settings: HTTP2ServerSettings = HTTP2ServerSettings()) throws -> ServerSession {
        let session = try ServerSession(settings: settings)
        try say(session, Frame.preface + Frame.settings() + Frame.settingsAcknowledgement)
        _ = answer(session)
        return session
    }

    /// A client with this many requests on the wire, whose bodies have 20 bytes.
    private func client(_ requests: Int, settings: [(id: UInt16, value: UInt32)] = []) throws -> ClientSession {
        let session = try ClientSession()
        try say(session, Frame.settings(settings) + Frame.settingsAcknowledgement)
        let batch = TestBatch.make(requests) { _ in String(repeating: "b", count: 20) }
        for index in 0..<requests { #expect(session.submit(batch, index: Int32(index))) }
        _ = answer(session)
        return session
    }

    private func say(_ session: FrameSession, _ bytes: [UInt8]) throws {
        try bytes.withUnsafeBytes { try session.receive($0) }
    }

    private func answer(_ session: FrameSession) -> [Frame] {
        var buffer = ByteBuffer()
        while session.serialise(into: &buffer, limit: 1 << 20) {}
        return Frame.parse(Array(buffer.readableBytesView))
    }

    private static let breaches: [(name: String, bytes: [UInt8], code: HTTP2ErrorCode)] = [
        ("no stream for DATA", Frame(kind: .data, stream: 0, payload: [1]).bytes, .protocolError),
        ("DATA on an idle stream", Frame(kind: .data, stream: 99, payload: [1]).bytes, .protocolError),
        ("HEADERS on no stream", headers(0, request), .protocolError),
        ("a reset of an idle stream", Frame.reset(99, 8), .protocolError),
        ("a short RST_STREAM", Frame(kind: .reset, stream: 1, payload: [0]).bytes, .frameSizeError),
        ("SETTINGS of a stream", Frame(kind: .settings, stream: 1).bytes, .protocolError),
        ("SETTINGS with an invalid length", Frame(kind: .settings, payload: [0, 1, 0]).bytes, .frameSizeError),
        ("too large an initial window", Frame.settings([(4, 1 << 31)]), .flowControlError),
        ("too small a frame size", Frame.settings([(5, 100)]), .protocolError),
        ("a wrong ENABLE_PUSH", Frame.settings([(2, 2)]), .protocolError),
        ("an acknowledgement of nothing", Frame.settingsAcknowledgement, .protocolError),
        ("a short PING", Frame(kind: .ping, payload: [1]).bytes, .frameSizeError),
        ("a PING of a stream", Frame(kind: .ping, stream: 1, payload: [0, 1, 2, 3, 4, 5, 6, 7]).bytes, .protocolError),
        ("a short GOAWAY", Frame(kind: .goAway, payload: [1]).bytes, .frameSizeError),
        ("a GOAWAY that takes back another", Frame.goAway(1, 0) + Frame.goAway(3, 0), .protocolError),
        ("a WINDOW_UPDATE of 0", Frame.windowUpdate(0, 0), .protocolError),
        ("a window that is too large", Frame.windowUpdate(0, 0x7FFF_FFFF), .flowControlError),
        ("WINDOW_UPDATE of an idle stream", Frame.windowUpdate(99, 1), .protocolError),
        ("CONTINUATION without HEADERS", Frame(kind: .continuation, flags: 4, stream: 1).bytes, .protocolError),
        ("another frame in a header block", headers(1, request, 0) + Frame.windowUpdate(0, 1), .protocolError),
        ("more padding than payload", headers(1, [200] + request, 0xD), .protocolError),
        ("HEADERS without its priority", headers(1, [0, 0], 0x25), .frameSizeError),
        ("a frame that is too large", [0, 0x40, 1, 0, 0, 0, 0, 0, 1], .frameSizeError),
        ("a block that cannot be read", headers(1, [0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]), .compressionError),
        (
            "a PRIORITY of a wrong length", Frame(kind: .priority, stream: 1, payload: [0, 0, 0, 0]).bytes,
            .frameSizeError
        ),
        (
            "a header block in empty pieces without end",
            headers(1, request, 0) + (0..<100).flatMap { _ in Frame(kind: .continuation, stream: 1).bytes },
            .enhanceYourCalm
        ),
        (
            "a pushed stream", Frame(kind: .pushPromise, flags: 4, stream: 1, payload: [0, 0, 0, 2]).bytes,
            .protocolError
        ),
    ]

    @Test func aBreachEndsTheConnectionOfEachEnd() throws {
        for (name, bytes, code) in Self.breaches {
            for session in [try server(), try client(1)] as [FrameSession] {
                try say(session, bytes + Frame(kind: .ping, payload: [0, 1, 2, 3, 4, 5, 6, 7]).bytes)
                let goAways = answer(session).filter { $0.kind == .goAway }
                #expect(goAways.count == 1, "\(name)")
                #expect(goAways.first?.payload[4..<8].elementsEqual(Frame.word(code.rawValue)) == true, "\(name)")
                #expect(session.isFinished, "\(name)")
                #expect(session.ownGoAway?.hasPrefix("\(code), ") == true, "\(name)")
            }
        }
    }

    @Test func theFirstFrameIsSettings() throws {
        let session = try ServerSession(settings: HTTP2ServerSettings())
        try say(session, Frame.preface + Self.headers(1, Self.request))
        #expect(session.ownGoAway?.hasPrefix("PROTOCOL_ERROR") == true)
        #expect(session.requests.isEmpty)
        let other = try ServerSession(settings: HTTP2ServerSettings())
        #expect(throws: ConnectionError.self) { try say(other, Array("GET / HTTP/1.1\r\n".utf8)) }
    }

    private static let malformed: [(name: String, block: [UInt8])] = [
        ("no path", [0x83, 0x87, 0x41, 0x01, 0x61]),
        ("no authority", [0x83, 0x87, 0x84]),
        ("a path twice", request + [0x84]),
        ("a pseudo-header field behind others", [0x83, 0x87, 0x84] + field("a", "b") + [0x41, 0x01, 0x61]),
        ("an unknown pseudo-header field", [0x83, 0x87, 0x84] + field(":what", "b") + [0x41, 0x01, 0x61]),
        ("a status", request + [0x88]),
        ("a capital letter", request + field("A", "b")),
        ("a field of the connection", request + field("connection", "close")),
        ("another encoding", request + field("transfer-encoding", "chunked")),
        ("a wrong te", request + field("te", "gzip")),
        ("a length that is none", request + field("content-length", "-1")),
        ("two lengths", request + field("content-length", "0") + field("content-length", "0")),
        ("a body of another length", request + field("content-length", "5")),
        ("an invalid path", [0x83, 0x87] + field(":path", "a") + [0x41, 0x01, 0x61]),
    ]

    @Test func aMalformedRequestIsResetAndTheConnectionGoesOn() throws {
        for (name, block) in Self.malformed {
            let session = try server()
            // Later frames for the stream are late, not a violation.
            try say(
                session,
                Self.headers(1, block) + Frame.windowUpdate(1, 5) + Frame.reset(1, 8) + Self.headers(3, Self.request)
            )
            let said = answer(session)
            #expect(said.filter { $0.kind == .reset }.map(\.stream) == [1], "\(name)")
            #expect(said.first { $0.kind == .reset }?.payload == Frame.word(1), "\(name)")
            #expect(session.requests.map(\.streamID) == [3], "\(name)")
            #expect(session.streams.count == 1, "\(name)")
        }
    }

    @Test func aMalformedAnswerIsResetAndItsRequestAmbiguous() throws {
        let answers: [(name: String, frames: [UInt8])] = [
            ("an answer without a status", Self.headers(1, Self.field("a", "b"))),
            ("an invalid status", Self.headers(1, Self.field(":status", "20"))),
            ("an invalid status", Self.headers(1, Self.field(":status", "101"), 4)),
            ("an unknown or misplaced pseudo-header field", Self.headers(1, [0x88, 0x84])),
            ("an end without a response", Self.headers(1, Self.field(":status", "103"))),
            ("a body without a status", Frame(kind: .data, flags: 1, stream: 1, payload: [1]).bytes),
            (
                "a body that differs in length from its content-length",
                Self.headers(1, [0x88] + Self.field("content-length", "2"))
            ),
            (
                "a body that differs in length from its content-length",
                Self.headers(1, [0x88] + Self.field("content-length", "100000"), 4)
                    + (0..<5).flatMap { _ in
                        Frame(kind: .data, stream: 1, payload: [UInt8](repeating: 1, count: 16_000)).bytes
                    } + Frame(kind: .data, flags: 1, stream: 1, payload: [1]).bytes
            ),
            (
                "trailers that do not end the stream",
                Self.headers(1, [0x88], 4) + Self.headers(1, Self.field("a", "b"), 4)
            ),
            ("a WINDOW_UPDATE of 0", Frame.windowUpdate(1, 0)),
        ]
        for (name, frames) in answers {
            let session = try client(2)
            try say(session, frames + Frame.status200(3))
            #expect(answer(session).filter { $0.kind == .reset }.map(\.stream) == [1], "\(name)")
            #expect(session.completions.count == 2, "\(name)")
            guard case .ambiguous(let failure) = session.completions.first?.result else {
                Issue.record("\(name): \(session.completions)")
                continue
            }
            #expect(failure.cause == .malformed(name), "what we reset is not the server's doing")
            #expect(session.streams.count == 0 && session.unsentBodyBytes == 0, "\(name)")
        }
    }

    /// The answer to an abandoned request is still decoded, because it changes the header table that the next one
    /// needs.
    @Test func anAnswerThatComesTooLateCountsForTheTable() throws {
        let session = try client(2)
        session.cancel(1, cause: .timeout)
        #expect(answer(session).map(\.kind) == [.reset])
        let kept: [UInt8] = [0x88, 0x40, 0x0B] + "retry-after".utf8 + [0x01] + "7".utf8
        try say(session, Self.headers(1, kept) + Frame(kind: .data, stream: 1, payload: [1]).bytes)
        try say(session, Self.headers(3, [0x88, 0xBE]))
        #expect(session.completions.count == 2)
        guard case .response(let response) = session.completions.last?.result else {
            Issue.record("\(session.completions)")
            return
        }
        #expect(response.retryAfter == "7")
    }

    @Test func aPingIsAnsweredWithWhatItSays() throws {
        let payload = Array("pingpong".utf8)
        for session in [try server(), try client(1)] as [FrameSession] {
            try say(session, Frame(kind: .ping, payload: payload).bytes)
            let said = answer(session)
            #expect(said.map(\.kind) == [.ping])
            #expect(said.map(\.flags) == [Frame.acknowledgement])
            #expect(said.map(\.payload) == [payload])
        }
    }

    @Test func aPeerThatHasEverythingAcknowledgedAndReadsNothingIsLeft() throws {
        let session = try server()
        for _ in 0..<2_000 { try say(session, Frame.settings()) }
        #expect(session.ownGoAway?.hasPrefix("ENHANCE_YOUR_CALM") == true)
    }

    /// A peer that makes us send frames and reads none of them; after a stream's reset, nothing more is sent for it.
    @Test func whatAPeerHasUsSayIsBounded() throws {
        for flood in [
            Frame.windowUpdate(1, 0), Frame(kind: .ping, payload: [0, 1, 2, 3, 4, 5, 6, 7]).bytes, Frame.settings(),
        ] {
            for session in [try server(), try client(1)] as [FrameSession] {
                if session is ServerSession { try say(session, Self.headers(1, Self.request, 4)) }
                for _ in 0..<500 { try say(session, (0..<100).flatMap { _ in flood }) }
                var buffer = ByteBuffer()
                while session.serialise(into: &buffer, limit: 1 << 20) {}
                #expect(buffer.readableBytes <= 20_000, "\(buffer.readableBytes) bytes for \(flood)")
            }
        }
        // Each malformed request causes a reset, and none of them is read.
        let session = try server()
        var stream: UInt32 = 1
        while session.ownGoAway == nil, stream < 200_000 {
            try say(session, Self.headers(stream, [0x83, 0x87, 0x84]))
            stream += 2
        }
        #expect(session.ownGoAway == "ENHANCE_YOUR_CALM, it does not read the responses that it causes")
    }

    /// RFC 9113, section 6.9.2: a change of the initial window also changes those of open streams.
    @Test func anInitialWindowLiftsNoStreamAboveTheMost() throws {
        let session = try client(1, settings: [(Frame.initialWindowSize, 0)])
        try say(session, Frame.windowUpdate(1, 5))
        _ = answer(session)
        try say(session, Frame.windowUpdate(1, 0x7FFF_FFFF) + Frame.settings([(Frame.initialWindowSize, 0x7FFF_FFFF)]))
        #expect(session.ownGoAway == "FLOW_CONTROL_ERROR, the initial window raises a stream's above the maximum")
    }

    /// A frame on a stream that the peer itself has ended is a violation; one that it sent before it received our reset
    /// is not.
    @Test func framesOnClosedStreamsAreABreachUnlessTheyAreLate() throws {
        let data = Frame(kind: .data, stream: 1, payload: [1]).bytes
        for late in [data, Self.headers(1, [0x88])] {
            let session = try client(2)
            try say(session, Frame.status200(1) + late)
            #expect(session.ownGoAway == "STREAM_CLOSED, a frame on a stream that is closed")
            let other = try client(2)
            other.cancel(1, cause: .timeout)
            try say(other, late + Frame.windowUpdate(1, 0) + Frame.reset(1, 8))
            #expect(other.ownGoAway == nil)
        }
        for late in [data, Self.headers(1, Self.request)] {
            for end in [Frame.reset(1, 8), data] {
                let session = try server()
                let isReset = end != data
                try say(session, Self.headers(1, Self.request, isReset ? 4 : 5))
                if isReset {
                    try say(session, end)
                } else {
                    session.respond(1, HTTP2PreparedResponse(status: 200, headers: []), varyingValue: [], body: [])
                    _ = answer(session)
                }
                try say(session, late)
                #expect(session.ownGoAway == "STREAM_CLOSED, a frame on a stream that is closed")
            }
            let session = try server()
            try say(session, Self.headers(1, Self.request, 4))
            session.reset(1, 7)
            try say(session, late + late)
            #expect(session.ownGoAway == nil)
            try say(session, Self.headers(9, Self.request) + Self.headers(5, Self.request))
            #expect(session.ownGoAway == "PROTOCOL_ERROR, a stream with a lower id than the previous one")
        }
    }

    /// No server can process a request whose body has not begun to leave.
    @Test func aRequestOfWhichOnlyTheHeadLeftIsNotAmbiguous() throws {
        let session = try client(3, settings: [(Frame.initialWindowSize, 0)])
        #expect(session.unsentBodyBytes == 60)
        try say(session, Frame.reset(1, 2) + Frame.windowUpdate(3, 1))
        #expect(answer(session).filter { $0.kind == .data }.map(\.payload.count) == [1])
        session.cancel(5, cause: .timeout)
        session.connectionLost()
        let results = session.completions.map { completion -> String in
            switch completion.result {
            case .response: "answer"
            case .unprocessed(let failure): "unprocessed \(failure.cause)"
            case .ambiguous(let failure): "ambiguous \(failure.cause)"
            }
        }
        #expect(results == ["unprocessed reset(INTERNAL_ERROR)", "unprocessed timeout", "ambiguous connectionClosed"])
    }

    @Test func anAnswerInHTTP1IsSaidToBeOne() throws {
        let client = try EmbeddedConnection()
        client.serverSays(Array("HTTP/1.1 400 Bad Request\r\nserver: x\r\n\r\n".utf8))
        #expect(client.connection.closeReason?.contains("“HTTP/1.1 400 Bad Request”") == true)
        #expect(client.connection.closeReason?.contains("it speaks only HTTP/1.1") == true)
    }

    @Test func aHeaderBlockThatDoesNotEndIsLeft() throws {
        let session = try server()
        try say(session, Self.headers(1, Self.request, 0))
        let piece = Frame(kind: .continuation, stream: 1, payload: [UInt8](repeating: 0x84, count: 16_000)).bytes
        for _ in 0..<20 { try say(session, piece) }
        #expect(session.ownGoAway?.hasPrefix("ENHANCE_YOUR_CALM") == true)
    }

    /// Padding, priorities, unknown settings and frames, and frames for closed streams.
    @Test func whatIsOddIsTaken() throws {
        let session = try server()
        try say(session, [0, 0, 2, 0xBE, 0xFF, 0, 0, 0, 7, 1, 2] + Frame.settings([(0x99, 7)]))
        try say(session, Self.headers(1, [2, 0, 0, 0, 0, 15] + Self.request + [0, 0], 0x2C))
        try say(session, [0, 0, 5, 2, 0, 0, 0, 0, 1, 0, 0, 0, 0, 15])
        try say(session, Frame(kind: .data, flags: 9, stream: 1, payload: [3, 0x41, 0, 0, 0]).bytes)
        #expect(session.requests.map(\.body) == [[0x41]])
        session.respond(1, HTTP2PreparedResponse(status: 200, headers: []), varyingValue: [], body: [])
        #expect(answer(session).map(\.kind) == [.settings, .headers])
        try say(session, Frame.windowUpdate(1, 9) + Frame.reset(1, 0) + Self.headers(3, Self.request))
        #expect(session.requests.map(\.streamID) == [1, 3])
        #expect(session.ownGoAway == nil)
    }

    /// A client that sends far more than the initial window, as long as it gets more.
    @Test func windowsAreGivenBackAndKeptTo() throws {
        let session = try server()
        try say(session, Self.headers(1, Self.request, 4))
        var rooms: [UInt32: Int] = [0: 65_535, 1: 65_535]
        let piece = [UInt8](repeating: 7, count: 16_000)
        for _ in 0..<100 {
            for stream in [0, 1] as [UInt32] { rooms[stream, default: 0] -= piece.count }
            #expect(rooms.values.allSatisfy { $0 >= 0 })
            try say(session, Frame(kind: .data, stream: 1, payload: piece).bytes)
            for frame in answer(session) where frame.kind == .windowUpdate {
                rooms[frame.stream, default: 0] += frame.payload.reduce(0) { $0 << 8 | Int($1) }
            }
        }
        #expect(session.ownGoAway == nil)
        // And one that does not wait: first for the connection's window.
        for _ in 0..<5 { try say(session, Frame(kind: .data, stream: 1, payload: piece).bytes) }
        _ = answer(session)
        let other = try server()
        try say(other, Self.headers(1, Self.request, 4))
        let many = (0..<5).flatMap { _ in Frame(kind: .data, stream: 1, payload: piece).bytes }
        try say(other, many)
        #expect(other.ownGoAway == nil, "room is given as soon as half of it is used")
    }

    /// Bodies that wait for the windows of connection and stream, in chunks, while the initial window changes.
    @Test func bodiesGoOnAsWindowsAllow() throws {
        let session = try client(3, settings: [(Frame.initialWindowSize, 8)])
        #expect(session.unsentBodyBytes == 36)
        try say(session, Frame.windowUpdate(3, 5))
        #expect(answer(session).filter { $0.kind == .data }.map { [Int($0.stream), $0.payload.count] } == [[3, 5]])
        try say(session, Frame.settings([(Frame.initialWindowSize, 14)]))
        var said = answer(session).filter { $0.kind == .data }
        #expect(
            said.map { [Int($0.stream), $0.payload.count, Int($0.flags)] } == [[1, 6, 0], [3, 6, 0], [5, 6, 0]]
        )
        // A smaller one makes windows negative: nothing is sent until they are increased.
        try say(session, Frame.settings([(Frame.initialWindowSize, 0)]) + Frame.windowUpdate(1, 14))
        #expect(answer(session).filter { $0.kind == .data }.isEmpty)
        try say(session, Frame.windowUpdate(1, 100) + Frame.windowUpdate(5, 15))
        said = answer(session).filter { $0.kind == .data }
        #expect(said.map { [Int($0.stream), $0.payload.count, Int($0.flags)] } == [[1, 6, 1], [5, 1, 0]])
        try say(session, Frame.settings([(Frame.initialWindowSize, 1_000)]))
        said = answer(session).filter { $0.kind == .data }
        #expect(said.map { [Int($0.stream), $0.payload.count, Int($0.flags)] } == [[3, 1, 1], [5, 5, 1]])
        #expect(session.unsentBodyBytes == 0)
        #expect(session.sendWindow == 65_535 - 60)
    }

    /// The client has not read the GOAWAY: frames that it sends on later streams are not a violation. Streams that the
    /// GOAWAY excludes are closed.
    @Test func whatAGoAwayExcludesIsNoBreach() throws {
        let session = try server()
        for stream in [1, 3, 5] as [UInt32] { try say(session, Self.headers(stream, Self.request)) }
        session.goAway(lastStreamID: 3, code: 0, debugData: [])
        #expect(session.streams.count == 2)
        let data = Frame(kind: .data, flags: 1, stream: 7, payload: [1]).bytes
        try say(session, Self.headers(7, Self.request, 4) + data + Frame.windowUpdate(7, 1) + Frame.reset(7, 8))
        try say(session, Frame(kind: .data, stream: 5, payload: [1]).bytes)
        #expect(session.ownGoAway == nil)
        #expect(session.requests.map(\.streamID) == [1, 3, 5])
        let response = HTTP2PreparedResponse(status: 200, headers: [])
        for stream in [1, 3, 5] as [Int32] { session.respond(stream, response, varyingValue: [], body: []) }
        #expect(answer(session).filter { $0.kind == .headers }.map(\.stream) == [1, 3])
        #expect(session.isFinished)
    }

    /// The end of the connection does not disown requests that were passed on: their sender could only send them again.
    @Test func aBreachDisownsNothingThatWasTaken() throws {
        let session = try server()
        try say(session, Self.headers(1, Self.request) + Self.headers(3, Self.request) + Frame.windowUpdate(0, 0))
        #expect(session.requests.map(\.streamID) == [1, 3])
        #expect(answer(session).first { $0.kind == .goAway }?.payload.prefix(4).elementsEqual(Frame.word(3)) == true)
        let none = try server(HTTP2ServerSettings(maxConcurrentStreams: 0))
        try say(none, Self.headers(1, Self.request))
        #expect(answer(none).first { $0.kind == .goAway }?.payload.prefix(4).elementsEqual(Frame.word(0)) == true)
    }

    /// An empty chunk of a long body gives no room.
    @Test func noRoomIsNoWindowUpdate() throws {
        let session = try client(1)
        let piece = Frame(kind: .data, stream: 1, payload: [UInt8](repeating: 0x61, count: 16_000)).bytes
        try say(session, Frame.status200(1, endStream: false) + piece + piece)
        #expect(answer(session).filter { $0.kind == .windowUpdate }.map(\.payload) == [Frame.word(16_000)])
        try say(session, Frame(kind: .data, stream: 1).bytes)
        #expect(answer(session).isEmpty)
        try say(session, Frame(kind: .data, flags: 1, stream: 1).bytes)
        #expect(session.completions.count == 1)
    }

    /// The length is that of a body that the response does not have.
    @Test func anAnswerThatHasNoBodyMayNameALength() throws {
        let session = try client(1)
        try say(session, Self.headers(1, [0x89] + Self.field("content-length", "2")))
        guard case .response(let response) = session.completions.first?.result else {
            Issue.record("\(session.completions)")
            return
        }
        #expect(response.status == 204)
    }
}
