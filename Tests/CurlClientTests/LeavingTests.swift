import NIOHTTP1
import Synchronization
import Testing

@testable import CurlClient

@Suite("The moment at which a request leaves", .timeLimit(.minutes(1)))
struct LeavingTests {
    private typealias Result = Swift.Result<CurlResponse, CurlError>

    /// Performs a request and returns its result and the connections that it was asked about.
    private func perform(
        _ request: CurlRequest,
        _ client: CurlClient,
        mayLeave: @escaping @Sendable (CurlConnection) -> Bool = { _ in true }
    ) async -> (result: Result, asked: [CurlConnection]) {
        let asked = Mutex<[CurlConnection]>([])
        let result = await withCheckedContinuation { continuation in
            client.start(
                request,
                mayLeave: { connection in
                    asked.withLock { $0.append(connection) }
                    return mayLeave(connection)
                },
                completion: { continuation.resume(returning: $0) }
            )
        }
        return (result, asked.withLock { $0 })
    }

    private func post(_ url: String, bytes: Int = 10) -> CurlRequest {
        CurlRequest(method: "POST", url: url, body: Array(repeating: 0x61, count: bytes), reusesConnection: true)
    }

    @Test("The caller is asked once for each request, when the connection is ready")
    func asked() async throws {
        let server = try await TestServer.start { _ in .response(status: 200) }
        let client = CurlClient()
        let first = await perform(post(server.url("/")), client)
        let second = await perform(post(server.url("/")), client)
        #expect(try first.result.get().status == 200)
        #expect(try second.result.get().status == 200)
        let peer = "127.0.0.1:\(server.port)"
        #expect(first.asked == [CurlConnection(peer: peer, isNew: true)])
        #expect(second.asked == [CurlConnection(peer: peer, isNew: false)])
        try await server.stop()
    }

    @Test("What must not leave does not, on a new connection and on one that was used", arguments: [true, false])
    func withheld(_ isUsed: Bool) async throws {
        let server = try await TestServer.start { _ in .response(status: 200) }
        let client = CurlClient()
        if isUsed { _ = await perform(post(server.url("/")), client) }
        let (result, asked) = await perform(post(server.url("/")), client, mayLeave: { _ in false })
        guard case .failure(let error) = result else {
            Issue.record("it left")
            return
        }
        #expect(error.code == .withheld)
        #expect(!error.mayHaveBeenSent)
        #expect(asked.count == 1)
        // What comes later may leave.
        let (last, _) = await perform(post(server.url("/last")), client)
        #expect(try last.get().status == 200)
        #expect(server.requests.map(\.head.uri) == (isUsed ? ["/", "/last"] : ["/last"]))
        try await server.stop()
    }

    @Test(
        "A request on a connection that ends without an answer is not repeated",
        arguments: [10, 2_000, 300_000],
        [HangingUpServer.Moment.head, .end]
    )
    func notRepeated(_ bytes: Int, _ moment: HangingUpServer.Moment) async throws {
        let server = try await HangingUpServer.start(answers: 1, then: moment)
        let client = CurlClient()
        let first = await perform(post(server.url, bytes: bytes), client)
        #expect(try first.result.get().status == 200)
        let second = await perform(post(server.url, bytes: bytes), client)
        guard case .failure(let error) = second.result else {
            Issue.record("it was answered, so it was repeated")
            return
        }
        #expect(error.mayHaveBeenSent, "\(error)")
        #expect(second.asked.map(\.isNew) == [false])
        // Both requests, each once.
        #expect(server.heads == 2)
        // The next one takes another connection.
        let third = await perform(post(server.url, bytes: bytes), client)
        #expect(try third.result.get().status == 200)
        #expect(third.asked.map(\.isNew) == [true])
        #expect(server.heads == 3)
        try await server.stop()
    }

    @Test("The same without the hook: a request of a task arrives once")
    func notRepeatedByTasks() async throws {
        let server = try await HangingUpServer.start(answers: 1, then: .end)
        let client = CurlClient()
        _ = try await client.perform(post(server.url))
        let error = await #expect(throws: CurlError.self) { try await client.perform(post(server.url)) }
        #expect(error?.mayHaveBeenSent == true)
        #expect(error?.code == .transfer)
        #expect(server.heads == 2)
        try await server.stop()
    }

    @Test("Nobody is asked when no connection comes about, and the cause is the system's")
    func notConnected() async throws {
        let server = try await TestServer.start { _ in .silence }
        let url = server.url("/")
        try await server.stop()
        let (result, asked) = await perform(post(url), CurlClient())
        guard case .failure(let error) = result else {
            Issue.record("somebody answered")
            return
        }
        #expect(error.code == .connect)
        #expect(!error.mayHaveBeenSent)
        #expect(error.cause.contains("Connection refused"), "\(error.cause)")
        #expect(asked.isEmpty)
    }

    @Test("A request that waits for its answer can be given up")
    func cancelled() async throws {
        let server = try await TestServer.start { _ in .silence }
        let client = CurlClient()
        let result = await withCheckedContinuation { (continuation: CheckedContinuation<Result, Never>) in
            let id = client.start(post(server.url("/")), mayLeave: { _ in true }) { continuation.resume(returning: $0) }
            Task {
                while server.requests.isEmpty { await Task.yield() }
                client.cancel(id)
                // Once more does no harm.
                client.cancel(id)
            }
        }
        guard case .failure(let error) = result else {
            Issue.record("somebody answered")
            return
        }
        #expect(error.code == .cancelled)
        #expect(error.mayHaveBeenSent)
        try await server.stop()
    }
}
