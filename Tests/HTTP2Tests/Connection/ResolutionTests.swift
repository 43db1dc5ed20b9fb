import NIOCore
import NIOEmbedded
import Testing

@testable import HTTP2

/// Each request is resolved exactly once and correctly, in every order of events.
@Suite struct ResolutionTests {
    @Test func anAnswerIsAnAnswer() throws {
        let client = try EmbeddedConnection()
        try client.open()
        client.submit(2)
        let body = Frame(
            kind: .data,
            flags: Frame.endStream,
            stream: 3,
            payload: Array("{\"reason\":\"BadDeviceToken\"}".utf8)
        )
        client.serverSays(Frame.status200(1), Frame.status(400, 3, endStream: false), body.bytes)
        #expect(client.seen.responses.map(\.status) == [200, 400])
        #expect(
            client.seen.responses.map { String(decoding: $0.body, as: UTF8.self) } == [
                "", "{\"reason\":\"BadDeviceToken\"}",
            ]
        )
    }

    @Test func refusedStreamsAreUnprocessed() throws {
        let client = try EmbeddedConnection()
        try client.open()
        client.submit(2)
        client.serverSays(Frame.reset(1, HTTP2ErrorCode.refusedStream.rawValue), Frame.status200(3))
        #expect(client.seen.unprocessed == 1)
        #expect(client.seen.failures == [.reset(.refusedStream)])
        #expect(client.seen.answered == 1)
    }

    /// A server that has begun to answer has processed the request: sending it again would make a duplicate.
    @Test func refusedAfterAStatusIsAmbiguous() throws {
        let client = try EmbeddedConnection()
        try client.open()
        client.submit(1)
        client.serverSays(Frame.status200(1, endStream: false), Frame.reset(1, HTTP2ErrorCode.refusedStream.rawValue))
        #expect(client.seen.ambiguous == 1)
    }

    @Test(arguments: [HTTP2ErrorCode.internalError, .cancel, .enhanceYourCalm, .protocolError])
    func otherResetsAreAmbiguous(_ code: HTTP2ErrorCode) throws {
        let client = try EmbeddedConnection()
        try client.open()
        client.submit(1)
        client.serverSays(Frame.reset(1, code.rawValue))
        #expect(client.seen.ambiguous == 1)
        #expect(client.seen.failures == [.reset(code)])
    }

    @Test func anAnswerBeforeAResetIsAnAnswer() throws {
        let client = try EmbeddedConnection()
        client.serverSays(Frame.settings([(Frame.maxConcurrentStreams, 10), (Frame.initialWindowSize, 4)]))
        client.submit(1) { _ in "a body that does not fit the window" }
        client.serverSays(Frame.status(413, 1), Frame.reset(1, HTTP2ErrorCode.noError.rawValue))
        #expect(client.seen.responses.map(\.status) == [413])
    }

    @Test func anInformationalStatusIsNoAnswer() throws {
        let client = try EmbeddedConnection()
        try client.open()
        client.submit(2)
        client.serverSays(Frame.status(103, 1, endStream: false), Frame.reset(1, HTTP2ErrorCode.noError.rawValue))
        #expect(client.seen.ambiguous == 1)
        client.serverSays(Frame.status(100, 3, endStream: false), Frame.status200(3))
        #expect(client.seen.responses.map(\.status) == [200])
    }

    /// The stream ends while the last chunk of its body is written, with nothing more to read.
    @Test func aStreamThatEndsInAWriteIsToldAtOnce() throws {
        let client = try EmbeddedConnection()
        client.serverSays(Frame.settings([(Frame.maxConcurrentStreams, 1), (Frame.initialWindowSize, 4)]))
        client.submit(2) { _ in "a body that does not fit the window" }
        client.serverSays(Frame.status(413, 1))
        #expect(client.seen.resolved.isEmpty)
        client.serverSays(Frame.windowUpdate(1, 1_000))
        #expect(client.seen.responses.map(\.status) == [413])
        #expect(
            try client.clientSaid().filter { $0.kind == .headers }.map(\.stream) == [1, 3],
            "its slot is used again"
        )
    }

    @Test func aLostConnectionMakesWhatWasWrittenAmbiguous() throws {
        let client = try EmbeddedConnection()
        try client.open(limit: 3)
        client.submit(5)
        client.serverSays(Frame.status200(3))
        client.channel.close(promise: nil)
        client.channel.embeddedEventLoop.run()
        #expect(client.seen.answered == 1)
        #expect(client.seen.ambiguous == 3)
        #expect(client.seen.endings == ["the server ended the connection"])
        #expect(client.pool.figures.queued == 1)
    }

    @Test func goAwayGivesBackWhatTheServerDidNotProcess() throws {
        let client = try EmbeddedConnection()
        try client.open()
        client.submit(4)
        client.serverSays(Frame.goAway(3, HTTP2ErrorCode.noError.rawValue, "{\"reason\":\"Shutdown\"}"))
        #expect(client.seen.goAways.map(\.lastStreamID) == [3])
        #expect(client.seen.goAways.map(\.debugData) == ["{\"reason\":\"Shutdown\"}"])
        #expect(client.seen.unprocessed == 2)
        #expect(client.seen.failures == [.goAway, .goAway])
        #expect(client.connection.state == .draining)
        client.submit(1, tag: 2)
        client.serverSays(Frame.status200(1), Frame.status200(3))
        #expect(client.seen.answered == 2)
        #expect(client.connection.state == .closed)
        #expect(client.seen.endings == [nil])
        #expect(client.pool.figures.queued == 1, "a connection that was told to go gets no more requests")
    }

    @Test func whatGoAwayLetsFinishIsAmbiguousIfItDoesNot() throws {
        let client = try EmbeddedConnection()
        try client.open()
        client.submit(2)
        client.serverSays(Frame.goAway(3, HTTP2ErrorCode.internalError.rawValue))
        #expect(client.seen.resolved.isEmpty)
        client.channel.close(promise: nil)
        client.channel.embeddedEventLoop.run()
        #expect(client.seen.ambiguous == 2)
    }

    @Test func twoGoAwaysDrainInTwoSteps() throws {
        let client = try EmbeddedConnection()
        try client.open()
        client.submit(3)
        client.serverSays(Frame.goAway(UInt32(Int32.max), 0))
        #expect(client.seen.resolved.isEmpty)
        client.serverSays(Frame.goAway(1, 0))
        #expect(client.seen.unprocessed == 2)
        client.serverSays(Frame.status200(1))
        #expect(client.seen.answered == 1)
        #expect(client.seen.resolved.count == 3)
    }

    /// APNs gives the reason in a GOAWAY and closes; the reset may overtake the end of the read.
    @Test func aGoAwayThatComesWithTheEndIsTold() throws {
        let client = try EmbeddedConnection()
        try client.open()
        client.submit(2)
        let goAway = Frame.goAway(0, 0, "{\"reason\":\"BadCertificate\"}")
        client.channel.pipeline.fireChannelRead(ByteBuffer(bytes: goAway))
        client.channel.close(promise: nil)
        client.channel.embeddedEventLoop.run()
        #expect(client.seen.goAways.map(\.debugData) == ["{\"reason\":\"BadCertificate\"}"])
        #expect(client.seen.unprocessed == 2)
    }

    @Test func largeBodiesAreCut() throws {
        let client = try EmbeddedConnection()
        try client.open()
        client.submit(1)
        client.serverSays(Frame.status(500, 1, endStream: false))
        let piece = Frame(kind: .data, stream: 1, payload: [UInt8](repeating: 0x61, count: 16_000)).bytes
        var windowUpdates = 0
        for _ in 0..<50 {
            client.serverSays(piece)
            windowUpdates += try client.clientSaid().count { $0.kind == .windowUpdate }
        }
        client.serverSays(Frame(kind: .data, flags: Frame.endStream, stream: 1).bytes)
        #expect(client.seen.responses.map(\.body.count) == [64 * 1_024])
        #expect(windowUpdates > 0)
    }
}
