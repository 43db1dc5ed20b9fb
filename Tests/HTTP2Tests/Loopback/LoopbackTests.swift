import HTTP2
import NIOCore
import Synchronization
import Testing

/// Our client and our server over real sockets.
@Suite struct LoopbackTests {
    @Test(arguments: [false, true])
    func thousandsOfRequestsAreResolvedOnce(_ tls: Bool) async throws {
        let server = try await LoopbackServer(tls: tls, script: LoopbackServer.echoOdd)
        let test = try await TestClient(port: server.port, tls: tls, connections: 3)
        try await test.probe.seen.wait(for: "three connections") { $0.openings == 3 }
        for tag in 1...5 as ClosedRange<Int64> { test.client.submit(TestBatch.make(1_000, tag: tag)) }
        let seen = try await test.probe.resolved(5_000)
        for tag in 1...5 as ClosedRange<Int64> { #expect(seen.counts(tag, 1_000).allSatisfy { $0 == 1 }) }
        for resolved in seen.resolved {
            guard case .response(let response) = resolved.result else {
                Issue.record("request \(resolved.tag).\(resolved.index) has no answer: \(resolved.result)")
                continue
            }
            let isOdd = resolved.index % 2 == 1
            #expect(response.status == (isOdd ? 400 : 200))
            #expect(response.retryAfter == (isOdd ? "\(resolved.index)" : nil))
            let body = isOdd ? "{\"aps\":{\"alert\":\"number \(resolved.index)\"}}" : ""
            #expect(String(decoding: response.body, as: UTF8.self) == body)
        }
        #expect(server.seen.value.opened == 3)
        #expect(server.seen.value.maxStreams <= 1_000)
        await test.client.shutdown()
        #expect(test.seen.endings == [nil, nil, nil])
        try await server.stop()
    }

    /// The connection's send window (65,535 bytes) holds about 160 of these bodies, so a body would often be sent in
    /// part. Later streams must not starve its stream.
    @Test func noRequestIsOvertakenByManyWhileTheWindowBinds() async throws {
        let server = try await LoopbackServer()
        let test = try await TestClient(port: server.port)
        let body = String(repeating: "x", count: 397)
        let client = test.client
        let next = Mutex<Int64>(8)
        test.probe.onCompleted { completions in
            for completion in completions where completion.index == 0 {
                let tag = next.withLock {
                    $0 += 1
                    return $0
                }
                if tag <= 200 { client.submit(TestBatch.make(100, tag: tag) { _ in body }) }
            }
        }
        for tag in 1...8 as ClosedRange<Int64> { client.submit(TestBatch.make(100, tag: tag) { _ in body }) }
        let seen = try await test.probe.resolved(20_000)
        // Requests are numbered in the order of submission; streams that are open together may end in any order.
        let furthest = seen.resolved.enumerated().map { position, resolved in
            position - (Int(resolved.tag - 1) * 100 + Int(resolved.index))
        }.max()
        #expect(try #require(furthest) < 1_000)
        await test.client.shutdown()
        try await server.stop()
    }

    @Test func followsASmallLimit() async throws {
        let server = try await LoopbackServer(settings: HTTP2ServerSettings(maxConcurrentStreams: 3))
        let test = try await TestClient(port: server.port, initialLimit: 1)
        test.client.submit(TestBatch.make(500))
        let seen = try await test.probe.resolved(500)
        #expect(seen.answered == 500)
        #expect(server.seen.value.maxStreams <= 3)
        await test.client.shutdown()
        try await server.stop()
    }

    /// The first requests take all but a few streams of a server that answers nothing.
    @Test func urgentRequestsNeedNobodysAnswer() async throws {
        let seen = Observed<[HTTP2ServerRequest]>([])
        let server = try await LoopbackServer(settings: HTTP2ServerSettings(maxConcurrentStreams: 64)) {
            connection,
            requests in
            seen.update { $0 += requests }
            guard seen.value.count >= 64 else { return }
            LoopbackServer.accept(connection, seen.value.filter { connection.isOpen(streamID: $0.streamID) })
        }
        let test = try await TestClient(port: server.port, initialLimit: 1)
        test.client.submit(TestBatch.make(100))
        _ = try await seen.wait(for: "all streams but those that are kept") { $0.count == 60 }
        let urgent = TestBatch.make(6, tag: 2, path: "/urgent/")
        urgent.isUrgent = true
        test.client.submit(urgent)
        let requests = try await seen.wait(for: "urgent requests") { $0.count >= 64 }
        let paths = requests.prefix(64).map { $0.headers.value(":path") ?? "" }
        #expect(paths.count { $0.hasPrefix("/urgent/") } == 4, "the other two wait for a stream, as everybody")
        #expect(try await test.probe.resolved(106).answered == 106)
        await test.client.shutdown()
        try await server.stop()
    }

    /// A connection that collects free streams takes no share from one that has room.
    @Test func whatWaitsGoesWhereThereIsRoom() async throws {
        let held = Mutex<[ObjectIdentifier: [HTTP2ServerRequest]]>([:])
        let server = try await LoopbackServer(settings: HTTP2ServerSettings(maxConcurrentStreams: 30)) {
            connection,
            requests in
            let own = held.withLock {
                $0[ObjectIdentifier(connection), default: []] += requests
                return $0[ObjectIdentifier(connection)] ?? []
            }
            guard own.count == 24, own.contains(where: { $0.headers.value(":path") == "/3/device/0" }) else { return }
            LoopbackServer.accept(connection, own)
        }
        let test = try await TestClient(port: server.port, connections: 2, initialLimit: 30)
        try await test.probe.seen.wait(for: "two connections") { $0.openings == 2 }
        test.client.submit(TestBatch.make(48))
        _ = try await test.probe.resolved(24)
        // One has 29 streams for them, and the other 5: less than a block of 10, but enough for the rest.
        test.client.submit(TestBatch.make(34, tag: 2))
        let seen = try await test.probe.seen.wait(for: "the second batch") { $0.departures.count >= 2 }
        #expect(seen.departures.last?.map(\.range) == [0..<34])
        test.client.giveUp(olderThanMilliseconds: 0)
        await test.client.shutdown()
        try await server.stop()
    }

    /// A server that leaves most requests open does not prevent the use of free streams.
    @Test func freeStreamsWaitForNoAnswersThatDoNotCome() async throws {
        let answered = Mutex(0)
        let server = try await LoopbackServer(settings: HTTP2ServerSettings(maxConcurrentStreams: 9)) {
            connection,
            requests in
            let few = answered.withLock {
                let few = requests.prefix(max(0, 2 - $0))
                $0 += few.count
                return few
            }
            LoopbackServer.accept(connection, Array(few))
        }
        let test = try await TestClient(port: server.port, initialLimit: 9)
        test.client.submit(TestBatch.make(12))
        let seen = try await server.seen.wait(for: "the free streams, less than a block") { $0.requests == 11 }
        #expect(seen.maxStreams <= 9)
        test.client.cancelQueued()
        test.client.giveUp(olderThanMilliseconds: 0)
        await test.client.shutdown()
        try await server.stop()
    }

    @Test func submitsFromInsideOfCompleted() async throws {
        let server = try await LoopbackServer(tls: true)
        let test = try await TestClient(port: server.port, tls: true, connections: 2)
        let client = test.client
        let next = Mutex<Int64>(1)
        test.probe.onCompleted { completions in
            for _ in completions {
                let tag = next.withLock {
                    $0 += 1
                    return $0
                }
                if tag <= 2_000 { client.submit(TestBatch.make(1, tag: tag)) }
            }
        }
        for _ in 0..<10 {
            client.submit(
                TestBatch.make(
                    1,
                    tag: next.withLock {
                        $0 += 1
                        return $0
                    }
                )
            )
        }
        let seen = try await test.probe.resolved(1_999)
        #expect(seen.answered == 1_999)
        #expect(Set(seen.resolved.map(\.tag)).count == 1_999)
        await test.client.shutdown()
        try await server.stop()
    }

    /// Requests that follow from one connection's answers are distributed over all connections.
    @Test func whatIsSubmittedInsideOfCompletedIsSpread() async throws {
        let server = try await LoopbackServer()
        // The clock's next tick, which would also distribute the requests, is always a second away.
        let test = try await TestClient(port: server.port, connections: 4)
        try await test.probe.seen.wait(for: "four connections") { $0.openings == 4 }
        let client = test.client
        let isFirst = Mutex(true)
        test.probe.onCompleted { _ in
            let first = isFirst.withLock {
                let was = $0
                $0 = false
                return was
            }
            if first { client.submit(TestBatch.make(400, tag: 2)) }
        }
        client.submit(TestBatch.make(1))
        try await test.probe.resolved(401)
        let shares = server.seen.value.perConnection.values
        #expect(shares.count == 4)
        #expect(shares.allSatisfy { $0 >= 100 }, "\(shares)")
        await client.shutdown()
        try await server.stop()
    }

    @Test func aLimitLoweredInFlightLosesNothing() async throws {
        let server = try await LoopbackServer(settings: HTTP2ServerSettings(maxConcurrentStreams: 200)) {
            connection,
            requests in
            LoopbackServer.accept(connection, requests)
            connection.setMaxConcurrentStreams([1, 200, 10, 50][Int.random(in: 0..<4)])
        }
        let test = try await TestClient(port: server.port)
        test.client.submit(TestBatch.make(3_000))
        let seen = try await test.probe.resolved(3_000)
        #expect(seen.counts(1, 3_000).allSatisfy { $0 == 1 })
        #expect(seen.ambiguous == 0)
        await test.client.shutdown()
        try await server.stop()
    }

    @Test(arguments: [false, true])
    func aConnectionThatBreaksIsReplaced(_ tls: Bool) async throws {
        // Every 100th request of a connection ends it with a reset.
        let server = try await LoopbackServer(tls: tls, settings: HTTP2ServerSettings(maxConcurrentStreams: 20)) {
            connection,
            requests in
            for request in requests {
                if request.streamID > 199 { return connection.abort() }
                connection.respond(streamID: request.streamID, status: 200, headers: [])
            }
        }
        let test = try await TestClient(port: server.port, tls: tls, connections: 2)
        test.client.submit(TestBatch.make(1_000))
        let seen = try await test.probe.resolved(1_000)
        #expect(seen.counts(1, 1_000).allSatisfy { $0 == 1 })
        #expect(seen.answered + seen.ambiguous == 1_000)
        #expect(seen.ambiguous > 0)
        #expect(seen.openings >= 3)
        await test.client.shutdown()
        try await server.stop()
    }

    @Test func aGoAwayInTheMiddleGivesTheRestBack() async throws {
        let reason = "{\"reason\":\"Shutdown\",\"timestamp\":1}"
        let server = try await LoopbackServer(tls: true, settings: HTTP2ServerSettings(maxConcurrentStreams: 100)) {
            connection,
            requests in
            for request in requests where request.streamID <= 101 {
                connection.respond(streamID: request.streamID, status: 200, headers: [])
            }
            if requests.contains(where: { $0.streamID >= 101 }) {
                connection.goAway(lastStreamID: 101, errorCode: .noError, debugData: Array(reason.utf8))
            }
        }
        let test = try await TestClient(port: server.port, tls: true)
        let client = test.client
        let returned = Mutex(0)
        test.probe.onCompleted { completions in
            // Unprocessed requests are sent again, as a real sender would.
            let again = completions.count { if case .unprocessed = $0.result { true } else { false } }
            guard again > 0 else { return }
            returned.withLock { $0 += again }
            client.submit(TestBatch.make(again, tag: 2))
        }
        test.client.submit(TestBatch.make(400))
        let seen = try await test.probe.seen.wait(for: "400 answers") { $0.answered >= 400 }
        #expect(seen.answered == 400)
        #expect(seen.ambiguous == 0)
        #expect(seen.counts(1, 400).allSatisfy { $0 == 1 })
        #expect(returned.withLock { $0 } > 0)
        #expect(seen.goAways.allSatisfy { $0.lastStreamID == 101 && $0.debugData == reason && $0.code == .noError })
        #expect(seen.goAways.count >= 3)
        #expect(seen.failures.allSatisfy { $0 == .goAway })
        #expect(seen.failedDials.isEmpty, "a server that answered is dialled again at once")
        await test.client.shutdown()
        try await server.stop()
    }

    @Test func refusedStreamsComeBackUnprocessed() async throws {
        let server = try await LoopbackServer { connection, requests in
            for request in requests {
                if request.streamID % 3 == 0 {
                    connection.reset(streamID: request.streamID, errorCode: .refusedStream)
                } else {
                    connection.respond(streamID: request.streamID, status: 200, headers: [])
                }
            }
        }
        let test = try await TestClient(port: server.port)
        test.client.submit(TestBatch.make(900))
        let seen = try await test.probe.resolved(900)
        #expect(seen.unprocessed == 300)
        #expect(seen.answered == 600)
        #expect(seen.counts(1, 900).allSatisfy { $0 == 1 })
        await test.client.shutdown()
        try await server.stop()
    }

    @Test func streamIDsRunOutAgainAndAgain() async throws {
        let server = try await LoopbackServer()
        let test = try await TestClient(port: server.port, connections: 2) { $0.lastStreamID = 101 }
        test.client.submit(TestBatch.make(1_000))
        let seen = try await test.probe.resolved(1_000)
        #expect(seen.answered == 1_000)
        #expect(seen.counts(1, 1_000).allSatisfy { $0 == 1 })
        #expect(server.seen.value.perConnection.values.allSatisfy { $0 <= 50 })
        await test.client.shutdown()
        try await server.stop()
    }

    @Test func deadlinesFreeTheirSlots() async throws {
        let server = try await LoopbackServer(settings: HTTP2ServerSettings(maxConcurrentStreams: 4)) {
            connection,
            requests in
            for request in requests where request.streamID % 10 != 1 {
                connection.respond(streamID: request.streamID, status: 200, headers: [])
            }
        }
        let test = try await TestClient(port: server.port) {
            $0.connections.requestTimeoutMilliseconds = 200
            $0.timeoutsBeforeRetirement = .max
        }
        test.client.submit(TestBatch.make(60))
        let seen = try await test.probe.resolved(60)
        #expect(seen.counts(1, 60).allSatisfy { $0 == 1 })
        // On a slow machine, an answer may also come too late.
        #expect(seen.ambiguous >= 12)
        #expect(seen.failures.allSatisfy { $0 == .timeout })
        let status = try #require(await test.client.status())
        #expect(status.streamsInFlight == 0)
        await test.client.shutdown()
        try await server.stop()
    }

    @Test func aFloodOfLargeBodiesRespectsTheWindows() async throws {
        let server = try await LoopbackServer(tls: true) { connection, requests in
            for request in requests {
                connection.respond(
                    streamID: request.streamID,
                    status: request.bodyLength == 4_096 ? 200 : 500,
                    headers: []
                )
            }
        }
        let test = try await TestClient(port: server.port, tls: true)
        let body = String(repeating: "x", count: 4_096)
        test.client.submit(TestBatch.make(2_000) { _ in body })
        let seen = try await test.probe.resolved(2_000)
        #expect(seen.responses.allSatisfy { $0.status == 200 })
        await test.client.shutdown()
        try await server.stop()
    }

    /// Answers given before the server closes are sent before it closes.
    @Test(arguments: [false, true])
    func answersBeforeACloseArrive(_ tls: Bool) async throws {
        let server = try await LoopbackServer(tls: tls) { connection, requests in
            LoopbackServer.accept(connection, requests)
            connection.close()
        }
        let test = try await TestClient(port: server.port, tls: tls)
        test.client.submit(TestBatch.make(1))
        let seen = try await test.probe.resolved(1)
        #expect(seen.answered == 1)
        await test.client.shutdown()
        try await server.stop()
    }

    /// A name may have several addresses, of which only one is served: `localhost` has two on most machines.
    @Test(arguments: [false, true])
    func aNameInsteadOfAnAddress(_ tls: Bool) async throws {
        let server = try await LoopbackServer(tls: tls)
        let test = try await TestClient(port: server.port, tls: tls, connections: 2, host: "localhost")
        test.client.submit(TestBatch.make(100))
        let seen = try await test.probe.resolved(100)
        #expect(seen.answered == 100)
        await test.client.shutdown()
        try await server.stop()
    }
}
