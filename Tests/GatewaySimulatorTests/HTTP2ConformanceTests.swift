import Testing

@testable import GatewaySimulator

/// What HTTP/2 asks of a server, case by case in the order of RFC 9113 and RFC 7541, at both ports: the cases of h2spec, all but that a
/// stream may not depend on itself, as priorities are no more (RFC 9113, section 5.3.2).
@Suite struct HTTP2ConformanceTests {
    @Test func theServersDoWhatHTTP2Asks() async throws {
        try await Fixture.run { fixture in
            for port in [fixture.simulator.apnsPort, fixture.simulator.fcmPort] {
                for one in ConformanceCase.all {
                    let problem = try await one.problem(fixture, port)
                    #expect(problem == nil, "\(one.section), \(one.name): \(problem ?? "")")
                }
            }
        }
    }

    /// What begins in another way is no HTTP/2.
    @Test func anotherPrefaceIsTheEnd() async throws {
        try await Fixture.run { fixture in
            for port in [fixture.simulator.apnsPort, fixture.simulator.fcmPort] {
                let connection = try await RawConnection.open(
                    fixture,
                    port: port,
                    preface: Array("INVALID PREFACE, LONGER\r\n".utf8)
                )
                while let frame = await connection.next() {
                    #expect(frame.type == RawFrame.settings || frame.type == 7)
                }
                await connection.close()
            }
        }
    }
}

/// One thing that a client does, and what becomes of it.
private struct ConformanceCase {
    enum Outcome {
        /// GOAWAY with one of these codes.
        case connectionError(Set<UInt32>)
        /// RST_STREAM, or GOAWAY, with one of these codes.
        case streamError(Set<UInt32>)
        /// The connection goes on.
        case fine
    }

    let section: String
    let name: String
    /// Sent first, and its answer waited for.
    var request: [UInt8] = []
    let bytes: [UInt8]
    let outcome: Outcome

    private static let protocolError: UInt32 = 1
    private static let flowControl: UInt32 = 3
    private static let streamClosed: UInt32 = 5
    private static let frameSize: UInt32 = 6
    private static let refused: UInt32 = 7
    private static let compression: UInt32 = 9

    /// Does it, asks for a PING behind it, and says what was wrong.
    func problem(_ fixture: Fixture, _ port: Int) async throws -> String? {
        let connection = try await RawConnection.open(fixture, port: port)
        if !request.isEmpty {
            connection.send(request)
            var hasEnded = false
            while !hasEnded, let frame = await connection.next() {
                hasEnded = frame.streamID == 1 && frame.flags & 1 != 0 && frame.type <= 1
            }
            guard hasEnded else { return "no answer" }
        }
        connection.send(bytes)
        connection.sendPing(42)
        let problem = judge(await reaction(connection))
        await connection.close()
        return problem
    }

    private enum Reaction {
        case goAway(UInt32)
        case reset(UInt32)
        case answeredPing
        case end
    }

    private func reaction(_ connection: RawConnection) async -> Reaction {
        while let frame = await connection.next() {
            switch frame.type {
            case 3: return .reset(Self.word(frame.payload, 0))
            case RawFrame.goAway: return .goAway(Self.word(frame.payload, 4))
            case RawFrame.ping where frame.flags == 1 && frame.payload.last == 42: return .answeredPing
            default: break
            }
        }
        return .end
    }

    private func judge(_ reaction: Reaction) -> String? {
        switch (outcome, reaction) {
        case (.fine, .answeredPing): nil
        case (.connectionError(let codes), .goAway(let code)) where codes.contains(code): nil
        case (.streamError(let codes), .goAway(let code)) where codes.contains(code): nil
        case (.streamError(let codes), .reset(let code)) where codes.contains(code): nil
        default: "\(reaction) instead of \(outcome)"
        }
    }

    private static func word(_ bytes: [UInt8], _ place: Int) -> UInt32 {
        bytes.dropFirst(place).prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    // MARK: Frames

    private static func frame(_ type: UInt8, _ flags: UInt8, _ stream: UInt32, _ payload: [UInt8]) -> [UInt8] {
        RawFrame(type: type, flags: flags, streamID: stream, payload: payload).bytes
    }

    private static func bytes(_ value: UInt32) -> [UInt8] {
        [24, 16, 8, 0].map { UInt8(value >> $0 & 0xFF) }
    }

    private static func field(_ name: String, _ value: String) -> [UInt8] {
        [0x10, UInt8(name.utf8.count)] + name.utf8 + [UInt8(value.utf8.count)] + value.utf8
    }

    private static let authority = field(":authority", "localhost")
    /// POST, https, /, localhost.
    private static let block: [UInt8] = [0x83, 0x87, 0x84] + authority
    private static let end: UInt8 = 1
    private static let whole: UInt8 = 4

    private static func headers(_ stream: UInt32, _ block: [UInt8] = block, _ flags: UInt8 = end | whole) -> [UInt8] {
        frame(1, flags, stream, block)
    }

    private static func settings(_ id: UInt8, _ value: UInt32) -> [UInt8] { frame(4, 0, 0, [0, id] + bytes(value)) }

    private static func data(_ stream: UInt32, _ payload: [UInt8] = Array("test".utf8), _ flags: UInt8 = end) -> [UInt8]
    {
        frame(0, flags, stream, payload)
    }

    private static func window(_ stream: UInt32, _ increment: UInt32) -> [UInt8] {
        frame(8, 0, stream, bytes(increment))
    }

    private static let continuation: [UInt8] = frame(9, whole, 1, field("x-more", "1"))
    private static let open = headers(1, block, whole)
    private static let priority: [UInt8] = [0, 0, 0, 0, 255]

    // MARK: Cases

    static let all = streams + frames + more + messages + compressed

    private static func one(
        _ section: String,
        _ name: String,
        after request: [UInt8] = [],
        _ bytes: [UInt8],
        _ outcome: Outcome
    ) -> ConformanceCase {
        ConformanceCase(section: section, name: name, request: request, bytes: bytes, outcome: outcome)
    }

    private static let streams: [ConformanceCase] = [
        one("4.1", "a frame of an unknown type", frame(0xFF, 0, 0, [1, 2, 3]), .fine),
        one("4.1", "unknown flags", frame(6, 0xFE, 0, [0, 0, 0, 0, 0, 0, 0, 1]), .fine),
        one("4.1", "the reserved bit", frame(6, 0, 1 << 31, [0, 0, 0, 0, 0, 0, 0, 1]), .fine),
        one("4.2", "a full DATA frame", open + data(1, [UInt8](repeating: 0x41, count: 16_384)), .fine),
        one(
            "4.2",
            "too large a DATA frame",
            open + data(1, [UInt8](repeating: 0x41, count: 16_385)),
            .streamError([frameSize])
        ),
        one(
            "4.2",
            "too large a HEADERS frame",
            headers(1, [UInt8](repeating: 0x84, count: 16_385)),
            .connectionError([frameSize])
        ),
        one("4.3", "a block that cannot be read", headers(1, [0x40]), .connectionError([compression])),
        one(
            "4.3",
            "PRIORITY in a header block",
            headers(1, block, end) + frame(2, 0, 1, priority),
            .connectionError([protocolError])
        ),
        one(
            "4.3",
            "another stream's HEADERS in a header block",
            headers(1, block, end) + headers(3),
            .connectionError([protocolError])
        ),
        one("5.1", "DATA on an idle stream", data(1), .connectionError([protocolError])),
        one("5.1", "RST_STREAM on an idle stream", frame(3, 0, 1, bytes(8)), .connectionError([protocolError])),
        one("5.1", "WINDOW_UPDATE on an idle stream", window(1, 100), .connectionError([protocolError])),
        one("5.1", "CONTINUATION on an idle stream", continuation, .connectionError([protocolError])),
        one("5.1", "PRIORITY on an idle stream", frame(2, 0, 1, priority), .fine),
        one("5.1", "WINDOW_UPDATE on a half-closed stream", headers(1) + window(1, 100), .fine),
        one("5.1", "PRIORITY on a half-closed stream", headers(1) + frame(2, 0, 1, priority), .fine),
        one("5.1", "RST_STREAM on a half-closed stream", headers(1) + frame(3, 0, 1, bytes(8)), .fine),
        one("5.1", "DATA on a half-closed stream", headers(1) + data(1), .streamError([streamClosed])),
        one("5.1", "HEADERS on a half-closed stream", headers(1) + headers(1), .streamError([streamClosed])),
        one(
            "5.1",
            "CONTINUATION on a half-closed stream",
            headers(1) + continuation,
            .connectionError([streamClosed, protocolError])
        ),
        one("5.1", "DATA behind RST_STREAM", open + frame(3, 0, 1, bytes(8)) + data(1), .streamError([streamClosed])),
        one(
            "5.1",
            "HEADERS behind RST_STREAM",
            open + frame(3, 0, 1, bytes(8)) + headers(1),
            .streamError([streamClosed])
        ),
        one(
            "5.1",
            "CONTINUATION behind RST_STREAM",
            open + frame(3, 0, 1, bytes(8)) + continuation,
            .connectionError([streamClosed, protocolError])
        ),
        one("5.1", "DATA on a closed stream", after: headers(1), data(1), .streamError([streamClosed])),
        one("5.1", "HEADERS on a closed stream", after: headers(1), headers(1), .connectionError([streamClosed])),
        one(
            "5.1",
            "CONTINUATION on a closed stream",
            after: headers(1),
            continuation,
            .connectionError([streamClosed, protocolError])
        ),
        one("5.1", "PRIORITY on a closed stream", after: headers(1), frame(2, 0, 1, priority), .fine),
        one("5.1", "WINDOW_UPDATE on a closed stream", after: headers(1), window(1, 5), .fine),
        one("5.1.1", "an even stream id", headers(2), .connectionError([protocolError])),
        one("5.1.1", "a lower stream id", headers(5) + headers(3), .connectionError([protocolError])),
        one(
            "5.1.2",
            "more streams than are allowed",
            (0..<1_100 as Range<UInt32>).flatMap { headers(2 * $0 + 1, block, whole) },
            .streamError([protocolError, refused])
        ),
        one(
            "5.4.1",
            "an error of the connection, and nothing behind it",
            frame(6, 0, 3, [0, 0, 0, 0, 0, 0, 0, 1]),
            .connectionError([protocolError])
        ),
        one(
            "5.5",
            "an unknown frame in a header block",
            headers(1, block, end) + frame(0xFF, 0, 0, [1]),
            .connectionError([protocolError])
        ),
    ]

    private static let frames: [ConformanceCase] = [
        one("6.1", "DATA for no stream", data(0), .connectionError([protocolError])),
        one("6.1", "more padding than DATA", open + frame(0, 9, 1, [6, 0x41]), .connectionError([protocolError])),
        one("6.2", "HEADERS for no stream", headers(0), .connectionError([protocolError])),
        one("6.2", "more padding than HEADERS", headers(1, [200] + block, 0xD), .connectionError([protocolError])),
        one("6.2", "HEADERS with priority and padding", headers(1, [2] + priority + block + [0, 0], 0x2D), .fine),
        one("6.3", "PRIORITY for no stream", frame(2, 0, 0, priority), .connectionError([protocolError])),
        one("6.3", "PRIORITY of a wrong length", open + frame(2, 0, 1, [0, 0, 0, 0]), .streamError([frameSize])),
        one("6.4", "RST_STREAM for no stream", frame(3, 0, 0, bytes(8)), .connectionError([protocolError])),
        one("6.4", "RST_STREAM of a wrong length", open + frame(3, 0, 1, [0, 0, 0]), .connectionError([frameSize])),
        one(
            "6.5",
            "an acknowledgement with a payload",
            frame(4, 1, 0, [0, 0, 0, 0, 0, 0]),
            .connectionError([frameSize])
        ),
        one("6.5", "SETTINGS for a stream", frame(4, 0, 1, [0, 3, 0, 0, 0, 100]), .connectionError([protocolError])),
        one("6.5", "SETTINGS of a wrong length", frame(4, 0, 0, [0, 3, 0]), .connectionError([frameSize])),
        one("6.5.2", "a wrong ENABLE_PUSH", settings(2, 2), .connectionError([protocolError])),
        one("6.5.2", "too large an initial window", settings(4, 1 << 31), .connectionError([flowControl])),
        one("6.5.2", "too small a frame size", settings(5, 16_383), .connectionError([protocolError])),
        one("6.5.2", "too large a frame size", settings(5, 16_777_216), .connectionError([protocolError])),
        one("6.5.2", "an unknown setting", settings(0xFF, 1), .fine),
        one(
            "6.5.3",
            "an initial window twice",
            frame(4, 0, 0, [0, 4] + bytes(100) + [0, 4] + bytes(1)) + headers(1),
            .fine
        ),
        one("6.7", "a PING", frame(6, 0, 0, Array("h2spec h".utf8)), .fine),
        one("6.7", "an answer to a PING that was not asked", frame(6, 1, 0, Array("invalidd".utf8)), .fine),
        one("6.7", "PING for a stream", frame(6, 0, 1, Array("h2spec h".utf8)), .connectionError([protocolError])),
        one("6.7", "PING of a wrong length", frame(6, 0, 0, [0, 0, 0, 0, 0, 0]), .connectionError([frameSize])),
        one("6.8", "GOAWAY for a stream", frame(7, 0, 1, bytes(0) + bytes(0)), .connectionError([protocolError])),
    ]

    private static let more: [ConformanceCase] = [
        one("6.9", "WINDOW_UPDATE of the connection by nothing", window(0, 0), .connectionError([protocolError])),
        one("6.9", "WINDOW_UPDATE of a stream by nothing", open + window(1, 0), .streamError([protocolError])),
        one("6.9", "WINDOW_UPDATE of a wrong length", frame(8, 0, 0, [0, 0, 1]), .connectionError([frameSize])),
        one(
            "6.9.1",
            "a window above the most",
            window(0, 0x7FFF_FFFF) + window(0, 0x7FFF_FFFF),
            .connectionError([flowControl])
        ),
        one(
            "6.9.1",
            "a stream's window above the most",
            open + window(1, 0x7FFF_FFFF) + window(1, 0x7FFF_FFFF),
            .streamError([flowControl])
        ),
        one(
            "6.9.2",
            "a stream's window above the most by SETTINGS",
            open + window(1, 0x7FFF_0000) + settings(4, 0x7FFF_FFFF),
            .connectionError([flowControl])
        ),
        one("6.9.2", "a smaller initial window", settings(4, 0) + headers(1) + settings(4, 1), .fine),
        one(
            "6.10",
            "a header block in pieces",
            headers(1, block, end) + frame(9, 0, 1, field("a", "b")) + continuation,
            .fine
        ),
        one("6.10", "DATA in a header block", headers(1, block, 0) + data(1), .connectionError([protocolError])),
        one(
            "6.10",
            "CONTINUATION for no stream",
            headers(1, block, end) + frame(9, whole, 0, field("a", "b")),
            .connectionError([protocolError])
        ),
        one("6.10", "CONTINUATION behind a whole block", open + continuation, .connectionError([protocolError])),
        one(
            "6.10",
            "CONTINUATION behind the last piece",
            headers(1, block, 0) + continuation + continuation,
            .connectionError([protocolError])
        ),
        one("6.10", "CONTINUATION behind DATA", open + data(1) + continuation, .connectionError([protocolError])),
        one("7", "RST_STREAM with an unknown code", open + frame(3, 0, 1, bytes(0xFF)), .fine),
    ]

    private static let messages: [ConformanceCase] = [
        one(
            "8.1",
            "a second HEADERS that does not end",
            open + headers(1, field("a", "b"), whole),
            .streamError([protocolError])
        ),
        one("8.2", "a name in capitals", headers(1, block + field("X-TEST", "ok")), .streamError([protocolError])),
        one(
            "8.2.2",
            "a field of a connection",
            headers(1, block + field("connection", "keep-alive")),
            .streamError([protocolError])
        ),
        one("8.2.2", "te that is not trailers", headers(1, block + field("te", "gzip")), .streamError([protocolError])),
        one(
            "8.3",
            "an unknown pseudo-header field",
            headers(1, block + field(":test", "ok")),
            .streamError([protocolError])
        ),
        one("8.3", "an answer's pseudo-header field", headers(1, block + [0x88]), .streamError([protocolError])),
        one(
            "8.3",
            "a pseudo-header field as trailer",
            open + headers(1, field(":method", "GET")),
            .streamError([protocolError])
        ),
        one(
            "8.3",
            "a pseudo-header field behind others",
            headers(1, [0x83, 0x87] + field("a", "b") + [0x84] + authority),
            .streamError([protocolError])
        ),
        one(
            "8.3.1",
            "an empty path",
            headers(1, [0x83, 0x87] + field(":path", "") + authority),
            .streamError([protocolError])
        ),
        one("8.3.1", "no method", headers(1, [0x87, 0x84] + authority), .streamError([protocolError])),
        one("8.3.1", "no scheme", headers(1, [0x83, 0x84] + authority), .streamError([protocolError])),
        one("8.3.1", "no path", headers(1, [0x83, 0x87] + authority), .streamError([protocolError])),
        one("8.3.1", "two methods", headers(1, [0x83] + block), .streamError([protocolError])),
        one("8.3.1", "two schemes", headers(1, [0x87] + block), .streamError([protocolError])),
        one("8.3.1", "two paths", headers(1, [0x84] + block), .streamError([protocolError])),
        one(
            "8.1.1",
            "another length",
            headers(1, block + field("content-length", "1"), whole) + data(1),
            .streamError([protocolError])
        ),
        one(
            "8.1.1",
            "another length in two pieces",
            headers(1, block + field("content-length", "1"), whole) + data(1, [0x41], 0) + data(1, [0x41]),
            .streamError([protocolError])
        ),
        one("8.4", "PUSH_PROMISE", frame(5, whole, 1, bytes(2) + block), .connectionError([protocolError])),
    ]

    private static let compressed: [ConformanceCase] = [
        one(
            "RFC 7541, 2.3.3",
            "an index that is none",
            headers(1, block + [0xFF, 0x00]),
            .connectionError([compression])
        ),
        one(
            "RFC 7541, 2.3.3",
            "a name's index that is none",
            headers(1, block + [0x4F, 0x70, 0x01, 0x61]),
            .connectionError([compression])
        ),
        one("RFC 7541, 4.2", "a size update at the end", headers(1, block + [0x21]), .connectionError([compression])),
        one(
            "RFC 7541, 5.2",
            "padding longer than seven bits",
            headers(1, block + [0x00, 0x85, 0xF2, 0xB2, 0x4A, 0x84, 0xFF, 0x84, 0x49, 0x50, 0x9F, 0xFF]),
            .connectionError([compression])
        ),
        one(
            "RFC 7541, 5.2",
            "padding of zeros",
            headers(1, block + [0x00, 0x85, 0xF2, 0xB2, 0x4A, 0x84, 0xFF, 0x83, 0x49, 0x50, 0x90]),
            .connectionError([compression])
        ),
        one(
            "RFC 7541, 5.2",
            "the end of a string in it",
            headers(
                1,
                block + [0x00, 0x85, 0xF2, 0xB2, 0x4A, 0x84, 0xFF, 0x87, 0x49, 0x51, 0xFF, 0xFF, 0xFF, 0xFA, 0x7F]
            ),
            .connectionError([compression])
        ),
        one("RFC 7541, 6.1", "index 0", headers(1, block + [0x80]), .connectionError([compression])),
        one(
            "RFC 7541, 6.3",
            "a table above the limit",
            headers(1, [0x3F, 0xE2, 0x7F] + block),
            .connectionError([compression])
        ),
    ]
}
