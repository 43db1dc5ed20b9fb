import NIOCore
import NIOEmbedded
import Synchronization
import Testing

@testable import HTTP2

/// The states of a connection: when it accepts requests and when it no longer does.
@Suite struct LifeTests {
    @Test func takesNothingBeforeTheFirstSettings() throws {
        let client = try EmbeddedConnection()
        client.submit(1)
        #expect(try client.clientSaid().contains { $0.kind == .headers } == false)
        try client.open()
        #expect(client.seen.openings == 1)
        client.submit(1)
        #expect(try client.clientSaid().count { $0.kind == .headers } > 0)
    }

    @Test func followsTheLimitUpAndDown() throws {
        let client = try EmbeddedConnection(initialLimit: 1)
        try client.open(limit: 1)
        client.submit(50)
        #expect(client.connection.streamsInFlight == 1)
        client.serverSays(Frame.status200(1), Frame.settings([(Frame.maxConcurrentStreams, 20)]))
        #expect(client.connection.streamsInFlight == 19, "a sixteenth is for urgent requests")
        client.serverSays(Frame.settings([(Frame.maxConcurrentStreams, 5)]))
        #expect(client.connection.streamsInFlight == 19, "nothing is taken back")
        for stream in stride(from: 3, to: 35, by: 2) as StrideTo<UInt32> { client.serverSays(Frame.status200(stream)) }
        #expect(client.connection.streamsInFlight == 5)
        client.serverSays(Frame.settings([(Frame.maxConcurrentStreams, 0)]))
        for stream in stride(from: 35, to: 44, by: 2) as StrideTo<UInt32> { client.serverSays(Frame.status200(stream)) }
        #expect(client.connection.streamsInFlight == 0)
        client.serverSays(Frame.settings([(Frame.maxConcurrentStreams, 1_000)]))
        #expect(client.connection.streamsInFlight == 50 - client.seen.resolved.count)
        #expect(client.seen.limits == [1, 20, 5, 0, 1_000])
    }

    @Test func keepsItsOwnCeiling() throws {
        let client = try EmbeddedConnection { $0.maxConcurrentStreams = 7 }
        try client.open(limit: 1_000)
        client.submit(50)
        #expect(client.connection.streamsInFlight == 7)
    }

    /// Without a limit, the client must not stay at one stream.
    @Test func aServerThatNamesNoLimitGetsAHundredStreams() throws {
        let client = try EmbeddedConnection(initialLimit: 1)
        client.serverSays(Frame.settings())
        client.submit(500)
        #expect(client.connection.streamsInFlight == 94, "the others are for urgent requests")
        client.serverSays(Frame.settings())
        #expect(client.seen.limits == [100])
    }

    @Test func aProtocolErrorEndsTheConnection() throws {
        let client = try EmbeddedConnection()
        try client.open()
        client.submit(3)
        // DATA on a stream that was never opened (RFC 9113 section 5.1: connection error).
        client.serverSays(Frame(kind: .data, flags: Frame.endStream, stream: 99, payload: [1]).bytes)
        #expect(client.connection.state == .closed)
        #expect(client.seen.ambiguous == 3)
        #expect(client.seen.endings.first??.contains("PROTOCOL_ERROR") == true)
        #expect(try client.clientSaid().contains { $0.kind == .goAway })
    }

    @Test(arguments: [
        Array("HTTP/1.1 400 Bad Request\r\n\r\n".utf8), [UInt8](repeating: 0, count: 64),
        [0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1],
        Frame(kind: .pushPromise, flags: 4, stream: 1, payload: [0, 0, 0, 2, 0x88]).bytes,
        Frame(kind: .headers, flags: 5, stream: 1, payload: [0xff, 0xff, 0xff, 0xff, 0xff, 0xff]).bytes,
    ])
    func nonsenseEndsTheConnection(_ bytes: [UInt8]) throws {
        let client = try EmbeddedConnection()
        try client.open()
        client.submit(2)
        client.serverSays(bytes)
        client.connection.tick(.now())
        #expect(client.connection.state == .closed)
        #expect(client.seen.resolved.count == 2)
        #expect(client.seen.ambiguous == 2)
    }

    @Test func randomBytesNeverCrash() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var random = SeededGenerator(seed: seed)
        for _ in 0..<300 {
            let client = try EmbeddedConnection()
            try client.open()
            client.submit(5)
            for _ in 0..<20 {
                var frame = Frame(kind: .headers)
                frame.kind = Frame.Kind(rawValue: .random(in: 0...9, using: &random)) ?? .ping
                frame.flags = [0, 1, 4, 5, 8, 0x2d].randomElement(using: &random) ?? 0
                frame.stream = .random(in: 0...11, using: &random)
                frame.payload = (0..<Int.random(in: 0...24, using: &random)).map { _ in
                    .random(in: 0...255, using: &random)
                }
                client.serverSays(frame.bytes)
            }
            client.connection.close("over")
            client.channel.embeddedEventLoop.run()
            #expect(client.seen.resolved.count == 5 - client.pool.figures.queued, "seed \(seed)")
            #expect(client.seen.counts(1, 5).allSatisfy { $0 <= 1 }, "seed \(seed)")
        }
    }

    /// TLS may take seconds to close; requests written meanwhile could only become ambiguous.
    @Test func aConnectionThatClosesTakesNoRequests() throws {
        let client = try EmbeddedConnection(swallowsClose: true)
        try client.open()
        client.submit(1)
        _ = try client.clientSaid()
        client.connection.close("the test says so")
        #expect(client.connection.state == .closing)
        client.submit(3, tag: 2)
        client.serverSays(Frame.status200(1))
        client.connection.tick(.now() + .seconds(100))
        #expect(try client.clientSaid().isEmpty)
        #expect(client.pool.figures.queued == 3)
        client.channel.pipeline.fireChannelInactive()
        #expect(client.seen.ambiguous == 1)
        #expect(client.seen.endings == ["the test says so"])
    }

    /// A server that makes us acknowledge frames and does not read: nothing more is written, and then the connection
    /// ends.
    @Test func whatTheServerDoesNotReadIsNotWritten() throws {
        let client = try EmbeddedConnection()
        try client.open()
        client.submit(3)
        _ = try client.clientSaid()
        client.channel.isWritable = false
        for number in 0..<900 as Range<Int> {
            client.serverSays(Frame(kind: .ping, payload: [0, 0, 0, 0, 0, 0, 0, UInt8(number & 0xFF)]).bytes)
        }
        #expect(try client.clientSaid().isEmpty)
        #expect(client.connection.state == .ready)
        client.channel.isWritable = true
        client.channel.pipeline.fireChannelWritabilityChanged()
        #expect(try client.clientSaid().count { $0.kind == .ping } == 900)
        client.channel.isWritable = false
        for _ in 0..<1_100 { client.serverSays(Frame.settings()) }
        #expect(client.connection.state == .closed)
        #expect(client.seen.endings.first??.contains("ENHANCE_YOUR_CALM") == true)
        #expect(client.seen.ambiguous == 3)
    }

    @Test func theEndSaysHowFarTheConnectionWas() throws {
        for (says, words) in [
            ([], "the server ended the connection before it answered anything"),
            (Frame.status200(1), "the server ended the connection"),
        ] as [([UInt8], String)] {
            let client = try EmbeddedConnection()
            try client.open()
            client.submit(2)
            client.serverSays(says)
            client.channel.pipeline.fireChannelInactive()
            #expect(client.seen.endings == [words])
        }
    }

    @Test func streamIDsRunOut() throws {
        let client = try EmbeddedConnection { $0.lastStreamID = 7 }
        try client.open()
        client.submit(5)
        #expect(try client.clientSaid().filter { $0.kind == .headers }.map(\.stream) == [1, 3, 5])
        #expect(client.connection.state == .draining)
        client.serverSays(Frame.status200(1), Frame.status200(3), Frame.status200(5))
        #expect(client.seen.answered == 3)
        #expect(client.connection.state == .closed)
        #expect(client.pool.figures.queued == 2)
        #expect(client.seen.endings == [nil])
    }

    @Test func waitsWhileTheChannelIsNotWritable() throws {
        let client = try EmbeddedConnection()
        try client.open()
        client.channel.isWritable = false
        client.submit(3)
        #expect(client.connection.streamsInFlight == 0)
        #expect(
            client.connection.gathering == 94,
            "what nobody gets now does not keep the set of connections from growing"
        )
        client.channel.isWritable = true
        client.channel.pipeline.fireChannelWritabilityChanged()
        #expect(client.connection.streamsInFlight == 3)
        #expect(client.connection.gathering == 0)
    }

    /// A body is started only if it can be finished: new requests must not starve those whose bodies wait for the
    /// window.
    @Test func waitsForTheConnectionsWindow() throws {
        let client = try EmbeddedConnection()
        try client.open(limit: 1_000)
        let body = String(repeating: "x", count: 4_000)
        client.submit(50) { _ in body }
        let first = try client.clientSaid()
        let begun = first.filter { $0.kind == .headers }.count
        #expect(first.filter { $0.kind == .data }.map(\.payload.count).reduce(0, +) <= 65_535)
        #expect((16...17).contains(begun), "65,535 bytes of window take 16 bodies, and one may wait")
        #expect(client.connection.streamsInFlight == begun)
        client.serverSays(Frame.windowUpdate(0, 1_000_000))
        #expect(client.connection.streamsInFlight == 50)
        let said = try client.clientSaid()
        #expect(said.filter { $0.kind == .data && $0.flags & Frame.endStream != 0 }.count >= 33)
    }

    /// The unsent bytes of an abandoned stream are dropped: streams after it must not wait forever.
    @Test func unsentBytesOfAStreamThatIsGivenUpAreForgotten() throws {
        let client = try EmbeddedConnection { $0.timeoutsBeforeRetirement = .max }
        client.serverSays(Frame.settings([(Frame.maxConcurrentStreams, 1_000), (Frame.initialWindowSize, 100_000)]))
        let body = String(repeating: "x", count: 70_000)
        client.submit(1) { _ in body }
        client.submit(5, tag: 2)
        #expect(client.connection.streamsInFlight == 1)
        client.serverSays(Frame.reset(1, HTTP2ErrorCode.cancel.rawValue))
        #expect(client.connection.streamsInFlight == 1, "the window is used up, so one waits in front")
        client.serverSays(Frame.windowUpdate(0, 100_000))
        #expect(client.connection.streamsInFlight == 5)
        client.connection.tick(.now() + .seconds(61))
        client.submit(3, tag: 3) { _ in "short" }
        #expect(client.connection.streamsInFlight == 3)
    }

    /// The owner records answers in `completed`; until then their slots must not be used, whatever else was read.
    @Test func whatIsSubmittedInAnEventWaitsForTheCompletions() throws {
        let client = try EmbeddedConnection()
        try client.open(limit: 1)
        client.submit(1)
        let connection = Unchecked(client)
        let inFlight = Mutex<[Int]>([])
        client.probe.onEvent { event in
            guard case .limitChanged = event else { return }
            connection.value.pool.submit(TestBatch.make(5, tag: 2))
            inFlight.withLock { $0.append(connection.value.connection.streamsInFlight) }
        }
        client.probe.onCompleted { _ in
            inFlight.withLock { $0.append(connection.value.connection.streamsInFlight) }
        }
        client.serverSays(Frame.status200(1), Frame.settings([(Frame.maxConcurrentStreams, 3)]))
        #expect(inFlight.withLock { $0 } == [0, 0])
        #expect(connection.value.connection.streamsInFlight == 3)
    }

    @Test func whatIsSubmittedInsideOfCompletedIsSentAfterwards() throws {
        let client = try EmbeddedConnection()
        try client.open(limit: 2)
        let connection = Unchecked(client)
        let rounds = Mutex(0)
        client.probe.onCompleted { _ in
            let round = rounds.withLock {
                $0 += 1
                return $0
            }
            if round < 10 { connection.value.pool.submit(TestBatch.make(1, tag: Int64(round + 1))) }
            #expect(connection.value.connection.streamsInFlight == 0)
        }
        client.submit(1)
        for stream in stride(from: 1, to: 21, by: 2) as StrideTo<UInt32> { client.serverSays(Frame.status200(stream)) }
        #expect(client.seen.answered == 10)
    }

    /// The closures run on the embedded event loop, which is the test's own thread.
    private struct Unchecked<Value>: @unchecked Sendable {
        let value: Value
        init(_ value: Value) { self.value = value }
    }
}
