import NIOCore
import NIOEmbedded
import Testing

@testable import HTTP2

/// The owner learns of requests before they leave, frame by frame.
@Suite struct DepartureTests {
    @Test func isToldBeforeAnythingIsWritten() throws {
        let client = try EmbeddedConnection(initialLimit: 10)
        try client.open(limit: 10)
        let before = Observed<[(streams: Int, bytes: Int)]>([])
        let bound = NIOLoopBound(client, eventLoop: client.channel.embeddedEventLoop)
        client.probe.onAboutToSend { _ in
            let client = bound.value
            let bytes = (try? client.channel.readOutbound(as: ByteBuffer.self))?.readableBytes ?? 0
            before.update { $0.append((client.connection.streamsInFlight, bytes)) }
            return true
        }
        client.submit(25)
        #expect(before.value.map(\.streams) == [0])
        #expect(client.seen.departures.map { $0.map(\.range) } == [[0..<10]])
        let headers = try client.clientSaid().filter { $0.kind == .headers }
        #expect(headers.count == 10)
        client.serverSays(Frame.status200(1), Frame.status200(3), Frame.status200(5))
        #expect(before.value.map(\.streams) == [0, 7])
        #expect(before.value.allSatisfy { $0.bytes == 0 })
        #expect(client.seen.departures.last?.map(\.range) == [10..<13])
    }

    @Test func oneCallTellsOfSeveralBatches() throws {
        let client = try EmbeddedConnection(initialLimit: 10)
        client.submit(3, tag: 1)
        client.submit(0, tag: 2)
        client.submit(4, tag: 3)
        client.submit(5, tag: 4)
        try client.open(limit: 10)
        let departures = try #require(client.seen.departures.first)
        #expect(departures.map(\.tag) == [1, 3, 4])
        #expect(departures.map(\.range) == [0..<3, 0..<4, 0..<3])
        #expect(client.seen.departures.count == 1)
    }

    /// A request held back by the window is announced once, when it leaves.
    @Test func theWindowHoldsAnnouncementsBack() throws {
        let client = try EmbeddedConnection()
        try client.open()
        let body = String(repeating: "x", count: 3_000)
        client.submit(40) { _ in body }
        let announced = client.seen.announced
        #expect(announced < 40)
        let headers = try client.clientSaid().filter { $0.kind == .headers }
        #expect(headers.count == announced)
        while client.seen.announced < 40 {
            let known = client.seen.announced
            client.serverSays(Frame.windowUpdate(0, 20_000))
            try #require(client.seen.announced > known)
        }
        #expect(client.seen.announcements(1, 40).allSatisfy { $0 == 1 })
    }

    @Test func whatMustNotLeaveComesBackUnsent() throws {
        let client = try EmbeddedConnection(initialLimit: 10)
        try client.open(limit: 10)
        client.submit(10, tag: 1)
        _ = try client.clientSaid()
        client.submit(10, tag: 2)
        client.probe.onAboutToSend { _ in false }
        client.serverSays([1, 3, 5].flatMap { Frame.status200($0) })
        #expect(client.seen.departures.last?.map(\.range) == [0..<3])
        #expect(client.seen.answered == 3)
        #expect(client.seen.unprocessed == 10)
        #expect(client.seen.failures == [HTTP2Failure.Cause](repeating: .cancelled, count: 10))
        #expect(client.seen.counts(2, 10).allSatisfy { $0 == 1 })
        #expect(try client.clientSaid().filter { $0.kind == .headers }.isEmpty)
        // The connection stays usable: its requests are resolved, and later ones leave.
        client.probe.onAboutToSend { _ in true }
        client.serverSays(Frame.status200(7))
        client.submit(2, tag: 3)
        #expect(try client.clientSaid().filter { $0.kind == .headers }.count == 2)
    }

    /// The batch lives until the last answer, which may take a long time.
    @Test(arguments: [false, true]) func whatHasBeenWrittenIsLetGoOf(_ isWatched: Bool) throws {
        let client = try EmbeddedConnection(initialLimit: 4)
        try client.open(limit: 4)
        let batch = TestBatch.make(5)
        if isWatched { batch.keepAnswerFields(of: [4]) }
        client.pool.submit(batch)
        client.channel.embeddedEventLoop.run()
        #expect(batch.body(4).count > 0 && batch.bodies.count > 0, "the last waits for a stream")
        client.serverSays(Frame.status200(1))
        #expect(try client.clientSaid().count { $0.kind == .headers } == 5)
        #expect(batch.isLetGo == !isWatched && batch.bodies.isEmpty == !isWatched, "who is watched is shown as it left")
        if isWatched { #expect(batch.headerFields(4).contains(HTTP2HeaderField(":path", "/3/device/4"))) }
        #expect(batch.count == 5)
        client.serverSays([3, 5, 7, 9].flatMap { Frame.status200($0) })
        #expect(client.seen.answered == 5)
    }

    @Test func aBatchWithoutBodiesIsLetGoOf() throws {
        let client = try EmbeddedConnection()
        try client.open()
        let batch = TestBatch.make(3) { _ in "" }
        client.pool.submit(batch)
        client.channel.embeddedEventLoop.run()
        let said = try client.clientSaid()
        #expect(said.count { $0.kind == .headers && $0.flags & Frame.endStream != 0 } == 3)
        #expect(said.allSatisfy { $0.kind != .data })
        #expect(batch.isLetGo)
    }

    /// Each request that left alone would cost both ends a system call and a TLS record.
    @Test func requestsThatWaitLeaveTogether() throws {
        let client = try EmbeddedConnection(initialLimit: 12)
        try client.open(limit: 12)
        client.submit(12, tag: 1)
        client.submit(6, tag: 2)
        for stream in [1, 3, 5] as [UInt32] { client.serverSays(Frame.status200(stream)) }
        #expect(client.seen.departures.count == 1, "a third of the limit waits until there is room for it")
        #expect(client.connection.gathering == 3)
        client.serverSays(Frame.status200(7))
        #expect(client.connection.gathering == 0)
        #expect(client.seen.departures.last?.map(\.range) == [0..<4])
        client.serverSays(Frame.status200(9))
        #expect(client.seen.departures.count == 2)
        client.serverSays(Frame.status200(11))
        #expect(client.seen.departures.last?.map(\.range) == [4..<6], "the last two wait for nobody")
    }

    /// A remainder smaller than a block, left by one connection, fits into the room that another collects for a block.
    @Test func theLastOnesGetTheRoomOfAllConnections() throws {
        let client = try EmbeddedConnection(initialLimit: 12)
        try client.open(limit: 12)
        let second = try client.anotherConnection(limit: 12)
        client.submit(24, tag: 1)
        client.submit(5, tag: 2)
        second.pipeline.fireChannelRead(ByteBuffer(bytes: [1, 3, 5].flatMap { Frame.status200($0) }))
        second.pipeline.fireChannelReadComplete()
        client.channel.embeddedEventLoop.run()
        #expect(
            client.seen.departures.map { $0.map(\.tag) } == [[1]],
            "a third of the limit waits until there is room for it"
        )
        _ = try client.clientSaid()
        client.serverSays([1, 3, 5, 7].flatMap { Frame.status200($0) })
        #expect(client.seen.announcements(2, 5) == [1, 1, 1, 1, 1])
        #expect(try client.clientSaid().count { $0.kind == .headers } == 4)
        #expect(client.pool.figures.queued == 0)
    }

    /// A batch that is refused on submission is not resolved before the call returns.
    @Test func refusalDoesNotComeFromInsideOfSubmit() throws {
        let client = try EmbeddedConnection()
        try client.open()
        client.probe.onAboutToSend { _ in false }
        client.pool.submit(TestBatch.make(5))
        #expect(client.seen.resolved.isEmpty)
        client.channel.embeddedEventLoop.run()
        #expect(client.seen.departures.count == 1)
        #expect(client.seen.unprocessed == 5)
    }

    /// Batches submitted one after the other leave together: each alone would be spread thinly over all connections.
    @Test func batchesOfOneRoundLeaveTogether() throws {
        let client = try EmbeddedConnection()
        try client.open()
        for tag in 1...3 { client.pool.submit(TestBatch.make(5, tag: Int64(tag))) }
        #expect(client.seen.departures.isEmpty)
        client.channel.embeddedEventLoop.run()
        #expect(client.seen.departures.map { $0.map(\.range) } == [[0..<5, 0..<5, 0..<5]])
    }

    /// An owner that resubmits returned requests at once is asked again, each time in a new task.
    @Test func resubmittingFromACompletionDoesNotRecurse() throws {
        let client = try EmbeddedConnection()
        try client.open()
        let bound = NIOLoopBound(client, eventLoop: client.channel.embeddedEventLoop)
        let asked = Observed(0)
        client.probe.onAboutToSend { _ in
            asked.update { $0 += 1 }
            return asked.value > 2_000
        }
        client.probe.onCompleted { completions in
            bound.value.pool.submit(completions[0].batch)
        }
        client.submit(1)
        #expect(asked.value == 2_001)
        #expect(client.seen.unprocessed == 2_000)
        #expect(try client.clientSaid().filter { $0.kind == .headers }.count == 1)
    }

    @Test func whatIsSubmittedMeanwhileWaitsItsTurn() throws {
        let client = try EmbeddedConnection()
        try client.open()
        let bound = NIOLoopBound(client, eventLoop: client.channel.embeddedEventLoop)
        client.probe.onAboutToSend { departures in
            if departures[0].batch.tag == 1 { bound.value.pool.submit(TestBatch.make(3, tag: 2)) }
            return true
        }
        client.submit(2, tag: 1)
        #expect(client.seen.departures.map { $0.map(\.tag) } == [[1], [2]])
        #expect(try client.clientSaid().filter { $0.kind == .headers }.count == 5)
    }

    @Test func whatIsSubmittedMeanwhileComesBackWithTheRest() throws {
        let client = try EmbeddedConnection()
        try client.open()
        let bound = NIOLoopBound(client, eventLoop: client.channel.embeddedEventLoop)
        client.probe.onAboutToSend { departures in
            if departures[0].batch.tag == 1 { bound.value.pool.submit(TestBatch.make(3, tag: 2)) }
            return false
        }
        client.submit(2, tag: 1)
        #expect(client.seen.counts(1, 2) == [1, 1])
        #expect(client.seen.counts(2, 3) == [1, 1, 1])
        #expect(client.seen.departures.count == 1)
    }

    /// A connection that runs out of stream ids leaves announced requests to the next one.
    @Test func theNextConnectionIsNotAnnouncedTheSameRequests() throws {
        let client = try EmbeddedConnection { $0.lastStreamID = 13 }
        try client.open()
        client.submit(10)
        #expect(client.seen.departures.map { $0.map(\.range) } == [[0..<10]])
        #expect(try client.clientSaid().filter { $0.kind == .headers }.count < 10)
        _ = try client.anotherConnection(limit: 100)
        client.submit(1, tag: 2)
        #expect(client.seen.announcements(1, 10).allSatisfy { $0 == 1 })
        #expect(client.seen.announcements(2, 1) == [1])
    }

    /// Answers that several connections read in one round of the loop are recorded together, and so are the requests
    /// that leave on their streams.
    @Test func answersOfOneRoundAreHandedOverTogether() throws {
        let client = try EmbeddedConnection(initialLimit: 2)
        try client.open(limit: 2)
        let second = try client.anotherConnection(limit: 2)
        client.submit(9)
        #expect(client.seen.announced == 4)
        let calls = Observed<[Int]>([])
        client.probe.onCompleted { completions in calls.update { $0.append(completions.count) } }
        for channel in [client.channel, second] {
            channel.pipeline.fireChannelRead(ByteBuffer(bytes: Frame.status200(1) + Frame.status200(3)))
            channel.pipeline.fireChannelReadComplete()
        }
        // Their streams are not used again before the owner knows the answers.
        client.submit(1, tag: 2)
        #expect(calls.value == [4])
        #expect(client.seen.departures.map { $0.map(\.range) } == [[0..<4], [4..<8]])
        #expect(try client.clientSaid().filter { $0.kind == .headers }.count == 4)
    }
}
