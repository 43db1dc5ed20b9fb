import NIOCore
import NIOPosix
import Testing

@testable import CurlClient

@Suite("Errors of requests through libcurl", .timeLimit(.minutes(1)))
struct CurlErrorTests {
    private func error(of request: CurlRequest, client: CurlClient = CurlClient()) async -> CurlError? {
        do {
            _ = try await client.perform(request)
            return nil
        } catch {
            return error
        }
    }

    @Test(
        "Malformed requests are refused before anything is sent",
        arguments: [
            CurlRequest(url: ""),
            CurlRequest(url: "no scheme"),
            CurlRequest(url: "ftp://127.0.0.1/"),
            CurlRequest(url: "file:///etc/hostname"),
            CurlRequest(url: "http://user:password@127.0.0.1/"),
            CurlRequest(method: "GET /", url: "http://127.0.0.1/"),
            CurlRequest(url: "http://127.0.0.1/", headers: [CurlHeader("X-A", "b\r\nX-C: d")]),
            CurlRequest(url: "http://127.0.0.1/", headers: [CurlHeader("X A", "b")]),
            CurlRequest(url: "http://127.0.0.1/", timeoutMilliseconds: 0),
        ]
    )
    func malformed(_ request: CurlRequest) async throws {
        let error = try #require(await error(of: request))
        #expect(error.code == .invalidRequest)
        #expect(!error.mayHaveBeenSent)
        #expect(!error.description.contains("password"))
    }

    @Test("A name without an address")
    func resolve() async throws {
        let error = try #require(await error(of: CurlRequest(url: "http://gateway.invalid/secret?token=s3cret")))
        #expect(error.code == .resolve)
        #expect(error.description.contains("gateway.invalid"))
        #expect(!error.description.contains("s3cret"))
        #expect(!error.mayHaveBeenSent)
    }

    @Test("A port that nobody listens on")
    func connect() async throws {
        let server = try await TestServer.start { _ in .silence }
        let url = server.url("/")
        try await server.stop()
        let error = try #require(await error(of: CurlRequest(url: url)))
        #expect(error.code == .connect)
        #expect(error.curlCode == 7)
        #expect(error.description.contains("127.0.0.1:\(server.port)"))
    }

    @Test("A server that never answers")
    func timeout() async throws {
        let server = try await TestServer.start { _ in .silence }
        let error = try #require(await error(of: CurlRequest(url: server.url("/"), timeoutMilliseconds: 200)))
        #expect(error.code == .timeout)
        #expect(error.mayHaveBeenSent)
        try await server.stop()
    }

    @Test("A body beyond the limit")
    func tooLarge() async throws {
        let server = try await TestServer.start { _ in .response(status: 200, body: Array(repeating: 1, count: 5_001)) }
        let client = CurlClient()
        let error = try #require(
            await error(of: CurlRequest(url: server.url("/"), maxResponseBytes: 5_000), client: client)
        )
        #expect(error.code == .responseTooLarge)
        let fits = try await client.perform(CurlRequest(url: server.url("/"), maxResponseBytes: 5_001))
        #expect(fits.body.count == 5_001)
        try await server.stop()
    }

    @Test(
        "Answers that are no HTTP, or end too early",
        arguments: [
            "", "SSH-2.0-OpenSSH_9.2\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort",
        ]
    )
    func broken(_ text: String) async throws {
        let server = try await TestServer.start { _ in .raw(text) }
        let error = try #require(await error(of: CurlRequest(method: "POST", url: server.url("/"))))
        // curl says "unsupported protocol" of an answer that is no HTTP/1.
        #expect(error.code == .transfer || error.code == .invalidRequest)
        #expect(error.mayHaveBeenSent)
        try await server.stop()
    }

    @Test("A server that speaks no TLS")
    func tls() async throws {
        let server = try await TestServer.start { _ in .response(status: 200) }
        let error = try #require(await error(of: CurlRequest(url: "https://127.0.0.1:\(server.port)/")))
        #expect(error.code == .tls)
        #expect(!error.mayHaveBeenSent)
        try await server.stop()
    }

    @Test("A CA file that is not there")
    func missingAuthorities() async throws {
        let server = try await TestServer.start { _ in .response(status: 200) }
        let request = CurlRequest(
            url: "https://127.0.0.1:\(server.port)/",
            certificateAuthorityFile: "/nonexistent/authorities.pem"
        )
        let error = try #require(await error(of: request))
        #expect(error.code == .tls)
        try await server.stop()
    }

    @Test("A cancelled task gives its request up, before and while it runs")
    func cancellation() async throws {
        let server = try await TestServer.start { _ in .silence }
        let client = CurlClient()
        let running = Task { await error(of: CurlRequest(url: server.url("/")), client: client) }
        while server.requests.isEmpty { await Task.yield() }
        running.cancel()
        let first = try #require(await running.value)
        #expect(first.code == .cancelled)
        #expect(first.mayHaveBeenSent)
        let early = Task { () -> CurlError? in
            while !Task.isCancelled { await Task.yield() }
            return await error(of: CurlRequest(url: server.url("/")), client: client)
        }
        early.cancel()
        #expect(await early.value?.code == .cancelled)
        #expect(server.requests.count == 1)
        try await server.stop()
    }

    @Test("Clients come and go")
    func lifetime() async throws {
        let server = try await TestServer.start { _ in .response(status: 200) }
        for _ in 0..<50 {
            let response = try await CurlClient().perform(CurlRequest(url: server.url("/")))
            #expect(response.status == 200)
        }
        try await server.stop()
    }
}
