import HTTP2
import NIOCore
import Synchronization
import Testing

/// The owner learns of requests before a server receives them, over real sockets.
@Suite struct DepartureLoopbackTests {
    @Test(arguments: [false, true])
    func theServerSeesNothingThatWasNotAnnounced(_ tls: Bool) async throws {
        let announced = Mutex(0)
        let early = Mutex(0)
        let received = Mutex(0)
        let server = try await LoopbackServer(tls: tls, settings: HTTP2ServerSettings(maxConcurrentStreams: 50)) {
            connection,
            requests in
            let count = received.withLock {
                $0 += requests.count
                return $0
            }
            // Later announcements can only increase it.
            if count > announced.withLock({ $0 }) { early.withLock { $0 += 1 } }
            LoopbackServer.accept(connection, requests)
        }
        let test = try await TestClient(port: server.port, tls: tls, connections: 2)
        let resolved = Mutex(0)
        let tooMany = Mutex(0)
        test.probe.onCompleted { completions in resolved.withLock { $0 += completions.count } }
        test.probe.onAboutToSend { departures in
            let size = departures.reduce(0) { $0 + $1.range.count }
            let open = announced.withLock { announced in
                announced += size
                return announced - resolved.withLock { $0 }
            }
            // Two connections with 50 streams each, covered by one announcement.
            if open > 100 { tooMany.withLock { $0 += 1 } }
            return true
        }
        try await test.probe.seen.wait(for: "two connections") { $0.openings == 2 && $0.limits.count >= 2 }
        for tag in 1...4 as ClosedRange<Int64> { test.client.submit(TestBatch.make(1_000, tag: tag)) }
        let seen = try await test.probe.resolved(4_000)
        #expect(seen.answered == 4_000)
        for tag in 1...4 as ClosedRange<Int64> { #expect(seen.announcements(tag, 1_000).allSatisfy { $0 == 1 }) }
        #expect(early.withLock { $0 } == 0)
        #expect(tooMany.withLock { $0 } == 0)
        await test.client.shutdown()
        try await server.stop()
    }

    /// Each request is either announced and then on the wire, or returned; the owner refuses at a random moment.
    @Test func aRefusalInTheMiddleLosesNothing() async throws {
        let server = try await LoopbackServer(settings: HTTP2ServerSettings(maxConcurrentStreams: 20))
        let test = try await TestClient(port: server.port, connections: 2)
        let allowed = Int.random(in: 5...60)
        print("refused after \(allowed) calls")
        let calls = Mutex(0)
        let left = Mutex(0)
        test.probe.onAboutToSend { departures in
            let call = calls.withLock {
                $0 += 1
                return $0
            }
            guard call <= allowed else { return false }
            left.withLock { $0 += departures.reduce(0) { $0 + $1.range.count } }
            return true
        }
        for tag in 1...3 as ClosedRange<Int64> { test.client.submit(TestBatch.make(1_000, tag: tag)) }
        let seen = try await test.probe.resolved(3_000)
        for tag in 1...3 as ClosedRange<Int64> { #expect(seen.counts(tag, 1_000).allSatisfy { $0 == 1 }) }
        #expect(seen.answered == left.withLock { $0 })
        #expect(seen.answered + seen.unprocessed == 3_000)
        #expect(server.seen.value.requests == seen.answered)
        await test.client.shutdown()
        try await server.stop()
    }

    /// A request refused during shutdown is resolved before the end.
    @Test func aRefusalAtTheEndIsResolved() async throws {
        let server = try await LoopbackServer()
        let test = try await TestClient(port: server.port)
        try await test.probe.seen.wait(for: "a connection") { $0.openings == 1 }
        test.probe.onAboutToSend { _ in false }
        test.client.submit(TestBatch.make(500))
        await test.client.shutdown()
        #expect(test.seen.counts(1, 500).allSatisfy { $0 == 1 })
        try await server.stop()
    }
}
