import NIOCore
import NIOHTTP1
import Testing

@testable import CurlClient

@Suite("Requests through libcurl", .timeLimit(.minutes(1)))
struct CurlClientTests {
    @Test("A POST arrives as it was given, and the answer comes back whole")
    func post() async throws {
        let server = try await TestServer.start { request in
            .response(status: 201, headers: [("X-Twice", "a"), ("x-twice", "b")], body: request.body)
        }
        let body = (0..<20_000).map { UInt8(truncatingIfNeeded: $0) }
        let response = try await CurlClient().perform(
            CurlRequest(
                method: "POST",
                url: server.url("/path?query=1"),
                headers: [CurlHeader("Authorization", "key=abc"), CurlHeader("X-Empty", "")],
                body: body
            )
        )
        #expect(response.status == 201)
        #expect(response.body == body)
        #expect(response.header("X-TWICE") == "a")
        #expect(response.headers.filter { $0.name.lowercased() == "x-twice" }.map(\.value) == ["a", "b"])
        let seen = try #require(server.requests.first)
        #expect(seen.head.method == .POST)
        #expect(seen.head.version == .http1_1)
        #expect(seen.head.uri == "/path?query=1")
        #expect(seen.head.headers["authorization"] == ["key=abc"])
        #expect(seen.head.headers["x-empty"] == [""])
        #expect(seen.head.headers["expect"].isEmpty)
        #expect(seen.head.headers["content-type"].isEmpty)
        try await server.stop()
    }

    @Test("Methods without a body", arguments: ["GET", "HEAD", "DELETE"])
    func method(_ method: String) async throws {
        let server = try await TestServer.start { _ in .response(status: 200, body: Array("hello".utf8)) }
        let response = try await CurlClient().perform(CurlRequest(method: method, url: server.url("/")))
        #expect(response.status == 200)
        #expect(response.body == (method == "HEAD" ? [] : Array("hello".utf8)))
        #expect(server.requests.map(\.head.method.rawValue) == [method])
        try await server.stop()
    }

    @Test("An empty POST says that it is empty")
    func emptyPost() async throws {
        let server = try await TestServer.start { _ in .response(status: 200) }
        _ = try await CurlClient().perform(CurlRequest(method: "POST", url: server.url("/")))
        #expect(server.requests.first?.head.headers["content-length"] == ["0"])
        try await server.stop()
    }

    @Test("Error statuses and redirects are answers, not errors", arguments: [302, 400, 401, 500, 503])
    func statuses(_ status: Int) async throws {
        let server = try await TestServer.start { _ in
            .response(status: status, headers: [("Location", "/elsewhere"), ("Retry-After", "7")])
        }
        let response = try await CurlClient().perform(CurlRequest(url: server.url("/")))
        #expect(response.status == status)
        #expect(response.header("retry-after") == "7")
        #expect(server.requests.count == 1)
        try await server.stop()
    }

    @Test("Many requests run side by side on one client")
    func parallel() async throws {
        let server = try await TestServer.start { .response(status: 200, body: Array($0.head.uri.utf8)) }
        let client = CurlClient()
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<100 {
                group.addTask {
                    let response = try await client.perform(CurlRequest(url: server.url("/\(number)")))
                    return response.body == Array("/\(number)".utf8)
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
        #expect(server.requests.count == 100)
        try await server.stop()
    }

    @Test("Connections are used again only where the caller allows it", arguments: [true, false])
    func reuse(_ reuses: Bool) async throws {
        let server = try await TestServer.start { _ in .response(status: 200) }
        let client = CurlClient()
        for _ in 0..<3 {
            _ = try await client.perform(CurlRequest(url: server.url("/"), reusesConnection: reuses))
        }
        #expect(server.connections == (reuses ? 1 : 3))
        try await server.stop()
    }

    @Test("A proxy in the environment is not used unless asked for")
    func proxyIsExplicit() async throws {
        let server = try await TestServer.start { .response(status: 200, body: Array($0.head.uri.utf8)) }
        let throughProxy = try await CurlClient().perform(
            CurlRequest(url: "http://gateway.example/path", proxy: .url("http://127.0.0.1:\(server.port)"))
        )
        #expect(throughProxy.body == Array("http://gateway.example/path".utf8))
        try await server.stop()
    }
}
