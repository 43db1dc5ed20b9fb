import HTTP2
import NIOCore
import NIOPosix
import Synchronization
import Testing

/// How connections are made, fail, are replaced and end.
@Suite struct DiallingTests {
    /// A server that accepts connections and never sends anything.
    private func silentServer() async throws -> any Channel {
        try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton).bind(host: "127.0.0.1", port: 0).get()
    }

    @Test func aDeadServerIsTriedAgainAndFoundWhenItComesBack() async throws {
        try await FreePort.withAny { port in
            let test = try await TestClient(port: port, connections: 2)
            test.client.submit(TestBatch.make(10))
            let seen = try await test.probe.seen.wait(for: "three failed attempts") { $0.failedDials.count >= 3 }
            #expect(seen.failedDials.prefix(3).map(\.attempt) == [1, 2, 3])
            #expect(seen.failedDials.allSatisfy { $0.delay <= 500 && !$0.reason.isEmpty })
            #expect(seen.resolved.isEmpty)
            let server: LoopbackServer
            do {
                server = try await LoopbackServer(port: port)
            } catch {
                await test.client.shutdown()
                throw error
            }
            let answered = try await test.probe.resolved(10)
            #expect(answered.answered == 10)
            await test.client.shutdown()
            try await server.stop()
        }
    }

    @Test(arguments: [false, true])
    func aServerThatNeverSpeaksIsGivenUp(_ tls: Bool) async throws {
        let silent = try await silentServer()
        let port = silent.localAddress?.port ?? 0
        let test = try await TestClient(port: port, tls: tls) { $0.connections.connectTimeoutMilliseconds = 100 }
        test.client.submit(TestBatch.make(5))
        let seen = try await test.probe.seen.wait(for: "two failed attempts") { $0.failedDials.count >= 2 }
        let reason = try #require(seen.failedDials.first?.reason)
        #expect(reason.contains("did not come within 100 ms") || reason.contains("Connect timeout"), "\(reason)")
        #expect(seen.openings == 0)
        #expect(seen.endings.isEmpty, "what never opened does not close")
        await test.client.shutdown()
        #expect(test.seen.unprocessed == 5)
        try await silent.close()
    }

    @Test func shutdownEndsWhileDialling() async throws {
        let silent = try await silentServer()
        let test = try await TestClient(port: silent.localAddress?.port ?? 0, tls: true, connections: 3)
        test.client.submit(TestBatch.make(7))
        await test.client.shutdown()
        #expect(test.seen.unprocessed == 7)
        #expect(test.seen.failures.allSatisfy { $0 == .cancelled })
        await test.client.shutdown()
        try await silent.close()
    }

    @Test func shutdownDuringThePauseBetweenAttempts() async throws {
        let test = try await TestClient(port: try await FreePort.any()) {
            $0.connections.firstBackOffMilliseconds = 3_600_000
        }
        try await test.probe.seen.wait(for: "a failed attempt") { !$0.failedDials.isEmpty }
        test.client.submit(TestBatch.make(3))
        await test.client.shutdown()
        #expect(test.seen.unprocessed == 3)
    }

    @Test func shutdownResolvesWhatIsOnTheWire() async throws {
        let held = Observed<[HeldStream]>([])
        let server = try await LoopbackServer { connection, requests in
            let bound = NIOLoopBound(connection, eventLoop: connection.eventLoop)
            held.update { $0 += requests.map { HeldStream(connection: bound, streamID: $0.streamID) } }
        }
        let test = try await TestClient(port: server.port) { $0.maxConcurrentStreams = 5 }
        test.client.submit(TestBatch.make(8))
        let streams = try await held.wait(for: "five requests") { $0.count == 5 }
        async let end: Void = test.client.shutdown()
        try await test.probe.seen.wait(for: "those that wait to come back") { $0.unprocessed == 3 }
        for stream in streams { stream.answer() }
        await end
        #expect(test.seen.answered == 5)
        #expect(test.seen.ambiguous == 0)
        try await server.stop()
    }

    private struct HeldStream: Sendable {
        var connection: NIOLoopBound<HTTP2ServerConnection>
        var streamID: Int32

        func answer() {
            connection.eventLoop.execute {
                connection.value.respond(streamID: streamID, status: 200, headers: [])
                connection.value.flush()
            }
        }
    }

    /// An owner that resubmits everything must not crash a client that has stopped.
    @Test func submittingAfterShutdownFromInsideOfCompleted() async throws {
        let server = try await LoopbackServer()
        let test = try await TestClient(port: server.port)
        await test.client.shutdown()
        let client = test.client
        let calls = Mutex((depth: 0, deepest: 0, rounds: Int64(0)))
        test.probe.onCompleted { _ in
            let round = calls.withLock {
                $0.depth += 1
                $0.deepest = max($0.deepest, $0.depth)
                $0.rounds += 1
                return $0.rounds
            }
            if round < 100 { client.submit(TestBatch.make(1, tag: round)) }
            calls.withLock { $0.depth -= 1 }
        }
        client.submit(TestBatch.make(1, tag: 0))
        let seen = try await test.probe.resolved(100)
        #expect(seen.unprocessed == 100)
        #expect(calls.withLock { $0.deepest } == 1, "a call inside of a call, again and again, is the end of the stack")
        try await server.stop()
    }

    @Test func aLazyClientConnectsOnlyForRequests() async throws {
        let server = try await LoopbackServer(tls: true) { connection, requests in
            LoopbackServer.accept(connection, requests)
            // Like an idle gateway, but without making the test wait.
            connection.goAway(errorCode: .noError, debugData: Array("session_timed_out".utf8))
        }
        let test = try await TestClient(port: server.port, tls: true, connections: 2) { $0.dialsLazily = true }
        #expect(await test.client.status()?.connections == 0)
        for round in 1...3 as ClosedRange<Int> {
            test.client.submit(TestBatch.make(1, tag: Int64(round)))
            try await test.probe.seen.wait(for: "answer \(round)") { $0.answered == round }
        }
        #expect(test.seen.failedDials.isEmpty)
        await test.client.shutdown()
        try await server.stop()
    }

    @Test func lazyAndIdleMeansNoConnection() async throws {
        let server = try await LoopbackServer()
        let lazy = try await TestClient(port: server.port, connections: 4) { $0.dialsLazily = true }
        let eager = try await TestClient(port: server.port)
        try await eager.probe.seen.wait(for: "the other client's connection") { $0.openings == 1 }
        #expect(server.seen.value.opened == 1)
        await lazy.client.shutdown()
        await eager.client.shutdown()
        try await server.stop()
    }

    @Test func retiredConnectionsAreReplacedAndLoseNothing() async throws {
        let server = try await LoopbackServer(tls: true)
        let test = try await TestClient(port: server.port, tls: true, connections: 2)
        for tag in 1...6 as ClosedRange<Int64> {
            test.client.submit(TestBatch.make(200, tag: tag))
            try await test.probe.resolved(Int(tag - 1) * 200 + 20)
            test.client.retireConnections()
        }
        let seen = try await test.probe.resolved(1_200)
        #expect(seen.answered == 1_200)
        let after = try await test.probe.seen.wait(for: "new connections") { $0.openings >= 4 }
        #expect(after.failedDials.isEmpty)
        await test.client.shutdown()
        try await server.stop()
    }

    @Test func cancelQueuedGivesBackWhatWaits() async throws {
        let silent = try await silentServer()
        let test = try await TestClient(port: silent.localAddress?.port ?? 0)
        test.client.submit(TestBatch.make(50))
        test.client.cancelQueued()
        let seen = try await test.probe.resolved(50)
        #expect(seen.unprocessed == 50)
        #expect(seen.failures.allSatisfy { $0 == .cancelled })
        #expect(await test.client.status()?.queued == 0)
        await test.client.shutdown()
        try await silent.close()
    }

    @Test func aCertificateThatNobodyTrustsIsToldAsTheCause() async throws {
        let server = try await LoopbackServer(tls: true)
        let stranger = try TestCertificate.stranger.get().certificateFile
        let test = try await TestClient(port: server.port, tls: true) { $0.tls = HTTP2TLS(trustRootsFile: stranger) }
        let seen = try await test.probe.seen.wait(for: "a failed attempt") { !$0.failedDials.isEmpty }
        #expect(seen.failedDials.first?.reason.lowercased().contains("certificate") == true)
        #expect(seen.openings == 0)
        await test.client.shutdown()
        try await server.stop()
    }

    @Test func aServerWithoutHTTP2IsToldAsTheCause() async throws {
        let server = try await LoopbackServer(tls: true, protocols: ["http/1.1"])
        let test = try await TestClient(port: server.port, tls: true)
        let seen = try await test.probe.seen.wait(for: "a failed attempt") { !$0.failedDials.isEmpty }
        #expect(seen.failedDials.first?.reason.contains("does not speak HTTP/2") == true)
        await test.client.shutdown()
        try await server.stop()
    }

    @Test func aMissingTrustFileFailsTheStart() async throws {
        await #expect(throws: (any Error).self) {
            _ = try await TestClient(port: 1, tls: true) { $0.tls = HTTP2TLS(trustRootsFile: "/nowhere/ca.pem") }
        }
    }

    /// As APNs does with a bad certificate: dialling again at once would flood it with connections.
    @Test func aGoAwayBeforeTheFirstAnswerMakesAPause() async throws {
        let server = try await LoopbackServer { connection, _ in
            connection.goAway(
                lastStreamID: 0,
                errorCode: .noError,
                debugData: Array("{\"reason\":\"BadCertificate\"}".utf8)
            )
        }
        let test = try await TestClient(port: server.port) { $0.connections.maxBackOffMilliseconds = 600_000 }
        test.client.submit(TestBatch.make(1))
        let seen = try await test.probe.seen.wait(for: "a pause") { !$0.failedDials.isEmpty && !$0.resolved.isEmpty }
        #expect(seen.goAways.map(\.debugData) == ["{\"reason\":\"BadCertificate\"}"])
        #expect(seen.unprocessed == 1)
        await test.client.shutdown()
        try await server.stop()
    }

    /// How a server ends a connection after an answer.
    enum End: CaseIterable {
        case goAway, calm, close, abort
    }

    /// However a server ends each connection that has just answered, the next one waits for the first pause: Apple
    /// treats many connections in a short time as an attack.
    @Test(arguments: End.allCases)
    func connectionsThatEndBehindTheirFirstAnswerArePaced(_ end: End) async throws {
        let server = try await LoopbackServer { connection, requests in
            LoopbackServer.accept(connection, requests)
            switch end {
            case .goAway: connection.goAway(errorCode: .noError, debugData: [])
            case .calm: connection.goAway(errorCode: .enhanceYourCalm, debugData: [])
            case .close: connection.close()
            case .abort:
                connection.flush()
                connection.abort()
            }
        }
        let test = try await TestClient(port: server.port, connections: 3) {
            $0.connections.firstBackOffMilliseconds = 600_000
            $0.connections.maxBackOffMilliseconds = 600_000
        }
        try await test.probe.seen.wait(for: "three connections") { $0.openings == 3 }
        test.client.submit(TestBatch.make(300))
        try await test.probe.seen.wait(for: "the end of all") { $0.endings.count == 3 }
        #expect(server.seen.value.opened == 3)
        #expect(test.seen.answered > 0)
        await test.client.shutdown()
        #expect(server.seen.value.opened == 3, "no connection is dialled within the pause")
        try await server.stop()
    }

    /// Complete answers before a broken TLS record, in the same read, count as answers.
    @Test func answersBeforeABrokenRecordCount() async throws {
        let server = try await BreakingServer(.afterAnswers(10))
        let test = try await TestClient(port: server.port, tls: true) {
            $0.connections.firstBackOffMilliseconds = 600_000
            $0.connections.maxBackOffMilliseconds = 600_000
        }
        try await test.probe.seen.wait(for: "the connection") { $0.openings == 1 }
        test.client.submit(TestBatch.make(10))
        let seen = try await test.probe.resolved(10)
        #expect(seen.answered == 10, "\(seen.failures)")
        await test.client.shutdown()
        try await server.stop()
    }

    /// Closing a connection that was idle for a long time is not a failure: the next batch must not wait for a pause.
    @Test func aLongIdleConnectionThatEndsMakesNoPause() async throws {
        let server = try await LoopbackServer { connection, _ in connection.abort() }
        let test = try await TestClient(port: server.port) {
            // Every connection is older than the longest pause.
            $0.connections.firstBackOffMilliseconds = 0
            $0.connections.maxBackOffMilliseconds = 0
        }
        test.client.submit(TestBatch.make(3))
        try await test.probe.seen.wait(for: "new connections") { $0.openings >= 2 }
        #expect(test.seen.failedDials.isEmpty)
        await test.client.shutdown()
        try await server.stop()
    }

    /// A server that breaks the protocol after the TLS handshake, or at the first request, and never closes its socket.
    /// Our socket stays open until TLS stops waiting for the peer to close.
    @Test(arguments: [BreakingServer.Moment.atOnce, .afterSettings])
    func aServerThatBreaksAndKeepsItsSocketsOpenIsNotDialledMeanwhile(_ moment: BreakingServer.Moment) async throws {
        let server = try await BreakingServer(moment)
        let test = try await TestClient(port: server.port, tls: true, connections: 2) {
            $0.connections.firstBackOffMilliseconds = 100
            $0.connections.maxBackOffMilliseconds = 600_000
            // The pool checks again a hundred times a second.
            $0.pingTimeoutMilliseconds = 40
        }
        test.client.submit(TestBatch.make(20))
        let seen = try await test.probe.seen.wait(for: "four failed attempts") { $0.failedDials.count >= 4 }
        #expect(seen.failedDials.prefix(4).map(\.attempt) == [1, 2, 3, 4])
        // Initially both connections, then one at a time.
        #expect((4...5).contains(server.accepted.value), "\(server.accepted.value) connections")
        #expect(seen.ambiguous <= 20 && seen.answered == 0)
        await test.client.shutdown()
        try await server.stop()
    }

    /// After a failure, no message is put on a connection whose server has not answered a PING.
    @Test func aConnectionAfterAFailureIsProvedByAPing() async throws {
        let server = try await BreakingServer(.afterSettings)
        let test = try await TestClient(port: server.port, tls: true) {
            $0.connections.maxBackOffMilliseconds = 600_000
        }
        test.client.submit(TestBatch.make(1))
        try await test.probe.seen.wait(for: "the first one's end") { $0.resolved.count == 1 }
        test.client.submit(TestBatch.make(1, tag: 2))
        let seen = try await test.probe.seen.wait(for: "more failures") { $0.failedDials.count >= 4 }
        #expect(seen.resolved.count == 1, "the second message is still here")
        await test.client.shutdown()
        #expect(test.seen.unprocessed == 1)
        try await server.stop()
    }

    @Test func aPauseCanBeEnded() async throws {
        try await FreePort.withAny { port in
            let test = try await TestClient(port: port) { $0.connections.firstBackOffMilliseconds = 3_600_000 }
            try await test.probe.seen.wait(for: "a failed attempt") { !$0.failedDials.isEmpty }
            test.client.submit(TestBatch.make(3))
            let server: LoopbackServer
            do {
                server = try await LoopbackServer(port: port)
            } catch {
                await test.client.shutdown()
                throw error
            }
            test.client.retryNow()
            #expect(try await test.probe.resolved(3).answered == 3)
            await test.client.shutdown()
            try await server.stop()
        }
    }
}
