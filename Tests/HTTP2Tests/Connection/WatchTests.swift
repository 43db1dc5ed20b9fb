import NIOCore
import NIOEmbedded
import Testing

@testable import HTTP2

/// Deadlines and PING, with the test as the clock.
@Suite struct WatchTests {
    private func later(_ seconds: Int64) -> NIODeadline { .now() + .seconds(seconds) }

    @Test func asksWithPingAfterSilenceWithRequestsOutstanding() throws {
        let client = try EmbeddedConnection()
        try client.open()
        client.submit(1)
        _ = try client.clientSaid()
        client.connection.tick(later(14))
        #expect(try client.clientSaid().isEmpty)
        client.connection.tick(later(16))
        #expect(try client.clientSaid().map(\.kind) == [.ping])
        client.connection.tick(later(20))
        #expect(try client.clientSaid().isEmpty, "one PING at a time")
    }

    @Test func asksNothingWhileNothingIsOutstanding() throws {
        let client = try EmbeddedConnection()
        try client.open()
        for hour in 1...3 as ClosedRange<Int64> { client.connection.tick(later(hour * 3_600)) }
        #expect(try client.clientSaid().isEmpty)
        #expect(client.connection.state == .ready)
    }

    /// A server that limits PINGs must not get one for each request after a long pause.
    @Test func thePauseBeforeARequestIsNoSilence() throws {
        let client = try EmbeddedConnection()
        try client.open()
        let read = NIODeadline.now()
        while NIODeadline.now() - read < .nanoseconds(2) {}
        let beforeRequest = NIODeadline.now()
        client.submit(1)
        _ = try client.clientSaid()
        client.connection.tick(beforeRequest + .seconds(15) - .nanoseconds(1))
        #expect(try client.clientSaid().isEmpty)
    }

    @Test func anAnsweredPingKeepsTheConnection() throws {
        let client = try EmbeddedConnection()
        try client.open()
        client.submit(1)
        _ = try client.clientSaid()
        client.connection.tick(later(16))
        let ping = try #require(try client.clientSaid().first)
        client.serverSays(Frame(kind: .ping, flags: Frame.acknowledgement, payload: ping.payload).bytes)
        client.connection.tick(.now() + .seconds(14))
        #expect(client.connection.state == .ready)
        #expect(client.seen.resolved.isEmpty)
    }

    @Test func anUnansweredPingEndsTheConnection() throws {
        let client = try EmbeddedConnection()
        try client.open()
        client.submit(3)
        client.connection.tick(later(16))
        client.connection.tick(later(32))
        #expect(client.connection.state == .closed)
        #expect(client.seen.ambiguous == 3)
        #expect(client.seen.failures == [.connectionClosed, .connectionClosed, .connectionClosed])
        #expect(client.seen.endings.first??.contains("PING") == true)
    }

    @Test func aDeadlineResetsTheStreamAndFreesItsSlot() throws {
        let client = try EmbeddedConnection()
        try client.open(limit: 2)
        client.submit(4)
        #expect(try client.clientSaid().filter { $0.kind == .headers }.map(\.stream) == [1, 3])
        client.connection.tick(later(61))
        let said = try client.clientSaid()
        let resets = said.filter { $0.kind == .reset }
        #expect(resets.map(\.stream) == [1, 3])
        #expect(resets.allSatisfy { $0.payload == Frame.word(HTTP2ErrorCode.cancel.rawValue) })
        #expect(client.seen.ambiguous == 2)
        #expect(client.seen.failures == [.timeout, .timeout])
        #expect(client.connection.streamsInFlight == 0)
        // Waiting requests use the freed slots.
        client.pool.pump()
        client.connection.send()
        #expect(try client.clientSaid().filter { $0.kind == .headers }.map(\.stream) == [5, 7])
    }

    @Test func anAnswerAfterTheDeadlineChangesNothing() throws {
        let client = try EmbeddedConnection()
        try client.open()
        client.submit(1)
        client.connection.tick(later(61))
        client.serverSays(Frame.status200(1))
        #expect(client.seen.resolved.count == 1)
        #expect(client.connection.state == .ready)
    }

    @Test func deadlinesInARowRetireTheConnection() throws {
        let client = try EmbeddedConnection()
        try client.open()
        client.submit(3)
        client.connection.tick(later(61))
        #expect(client.seen.failures == [.timeout, .timeout, .timeout])
        #expect(client.connection.state == .closed)
        #expect(client.seen.endings == [nil])
    }

    @Test func anAnswerBetweenDeadlinesKeepsTheConnection() throws {
        let client = try EmbeddedConnection()
        try client.open()
        for round in 0..<5 as Range<UInt32> {
            client.submit(2)
            client.serverSays(Frame.status200(round * 4 + 1))
            client.connection.tick(later(61))
        }
        #expect(client.seen.answered == 5)
        #expect(client.seen.ambiguous == 5)
        #expect(client.connection.state == .ready)
    }

    /// The server answered before it received the whole body, and never read the rest.
    @Test func anEarlyAnswerCountsAtTheDeadline() throws {
        let client = try EmbeddedConnection()
        client.serverSays(Frame.settings([(Frame.maxConcurrentStreams, 10), (Frame.initialWindowSize, 4)]))
        client.submit(1) { _ in "a body that does not fit the window" }
        client.serverSays(Frame.status(413, 1))
        #expect(client.seen.resolved.isEmpty)
        client.connection.tick(later(61))
        #expect(client.seen.responses.map(\.status) == [413])
        #expect(client.connection.streamsInFlight == 0)
    }
}
