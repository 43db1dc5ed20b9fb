import Foundation
import HTTP2
import NIOCore
import NIOPosix
import Synchronization

@testable import GatewaySimulator

/// Our own HTTP/2 client on one connection, whose events and answers a test can wait for.
final class Probe: HTTP2ClientDelegate {
    struct Timeout: Error {
        var waitedFor: String
        var events: [HTTP2ConnectionEvent]
    }

    private struct State {
        var completions: [HTTP2Completion] = []
        var events: [HTTP2ConnectionEvent] = []
        var waiters:
            [(isDone: (borrowing State) -> Bool, continuation: CheckedContinuation<Void, any Error>, number: Int)] = []
        var waiterCount = 0
    }

    private let state = Mutex(State())
    private let client: Mutex<HTTP2ClientPool?> = Mutex(nil)

    /// Connects to a gateway of the fixture.
    static func open(
        _ fixture: Fixture,
        port: Int,
        streams: Int = 1,
        timeoutMilliseconds: Int64 = 60_000,
        identity: HTTP2TLSIdentity? = nil
    ) async throws -> Probe {
        let probe = Probe()
        let configuration = HTTP2ClientConfiguration(
            host: "localhost",
            port: port,
            connections: ConnectionOptions(
                requestTimeoutMilliseconds: timeoutMilliseconds,
                connectTimeoutMilliseconds: 20_000
            ),
            tls: HTTP2TLS(trustRootsFile: fixture.simulator.caFile, identity: identity),
            initialMaxConcurrentStreams: streams
        )
        let client = HTTP2ClientPool(
            configuration: configuration,
            eventLoop: MultiThreadedEventLoopGroup.singleton.next(),
            delegate: probe
        )
        probe.client.withLock { $0 = client }
        try await client.start()
        return probe
    }

    func close() async {
        let client = client.withLock { $0 }
        await client?.shutdown()
    }

    func submit(_ batch: HTTP2RequestBatch) {
        client.withLock { $0 }?.submit(batch)
    }

    var completions: [HTTP2Completion] { state.withLock { $0.completions } }
    var events: [HTTP2ConnectionEvent] { state.withLock { $0.events } }

    var statuses: [Int: Int] {
        var statuses: [Int: Int] = [:]
        for completion in completions {
            if case .response(let response) = completion.result { statuses[Int(response.status), default: 0] += 1 }
        }
        return statuses
    }

    var limits: [Int] {
        events.compactMap { if case .limitChanged(let limit) = $0 { limit } else { nil } }
    }

    var unprocessed: Int { completions.count { if case .unprocessed = $0.result { true } else { false } } }
    var ambiguous: Int { completions.count { if case .ambiguous = $0.result { true } else { false } } }

    /// Waits until that many requests have ended.
    func resolved(_ count: Int) async throws {
        try await wait(for: "\(count) resolved requests") { $0.completions.count >= count }
    }

    /// Waits until that is the limit of concurrent streams.
    func limit(_ limit: Int) async throws {
        try await wait(for: "a limit of \(limit)") { state in
            let last = state.events.last { if case .limitChanged = $0 { true } else { false } }
            if case .limitChanged(limit) = last { return true }
            return false
        }
    }

    /// Waits for an event.
    func event(_ name: String, _ condition: @escaping @Sendable (HTTP2ConnectionEvent) -> Bool) async throws {
        try await wait(for: name) { $0.events.contains(where: condition) }
    }

    func completed(_ completions: [HTTP2Completion]) {
        change { $0.completions += completions }
    }

    func connectionEvent(_ event: HTTP2ConnectionEvent) {
        change { $0.events.append(event) }
    }

    private func change(_ body: (inout State) -> Void) {
        let done = state.withLock { state in
            body(&state)
            let all = state.waiters
            state.waiters = []
            var done: [CheckedContinuation<Void, any Error>] = []
            for waiter in all {
                if waiter.isDone(state) { done.append(waiter.continuation) } else { state.waiters.append(waiter) }
            }
            return done
        }
        for continuation in done { continuation.resume() }
    }

    private func wait(for name: String, _ isDone: @escaping @Sendable (borrowing State) -> Bool) async throws {
        let number = state.withLock { state in
            state.waiterCount += 1
            return state.waiterCount
        }
        // A deadline only ends a test that would hang; it asserts nothing.
        let deadline = Task {
            try await Task.sleep(for: .seconds(60))
            let late = self.state.withLock { state in
                let index = state.waiters.firstIndex { $0.number == number }
                return index.map { state.waiters.remove(at: $0).continuation }
            }
            late?.resume(throwing: Timeout(waitedFor: name, events: self.events))
        }
        defer { deadline.cancel() }
        try await withCheckedThrowingContinuation { continuation in
            let isDoneAlready = state.withLock { state in
                if isDone(state) { return true }
                state.waiters.append((isDone, continuation, number))
                return false
            }
            if isDoneAlready { continuation.resume() }
        }
    }
}
