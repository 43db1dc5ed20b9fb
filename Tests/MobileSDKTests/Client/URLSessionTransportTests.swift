import Foundation
import Testing

@testable import MobileSDK

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The client on the system's network and files, against a real server.
@Suite(.timeLimit(.minutes(2))) struct URLSessionTransportTests {
    private static func folder() -> URL {
        FileManager.default.temporaryDirectory.appendingPathComponent("MobileSDKTests-\(UUID().uuidString)")
    }

    private func client(_ server: SmallServer, _ folder: URL) -> PushClient {
        let client = PushClient(
            transport: URLSessionTransport(timeout: 20),
            storage: FileStorage(folder: folder),
            device: .phone
        )
        client.setMarketingHost(server.base)
        client.setTrackingHost(server.base)
        client.setIntegrationKey("integrationKey")
        return client
    }

    @Test func onTheWire() async throws {
        let server = try await SmallServer.start { _ in (200, [:], "registered") }
        let folder = Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let client = client(server, folder)
        let token = Data("pushToken".utf8)
        #expect(await client.registerDevice(token: token, userKey: "ü", parameters: ["a": "b c"]) == .success)
        #expect(await client.track(["_mId": "55336", "_dId": "deliveryId"], .click) == .sent)

        let requests = server.requests
        try #require(requests.count == 2)
        #expect(requests[0].method == "POST" && requests[0].uri == "/nms/mobile/1/registerIOS.jssp")
        #expect(requests[0].headers["content-type"] == "application/x-www-form-urlencoded;charset=UTF-8")
        #expect(requests[0].headers["content-length"] == String(requests[0].body.utf8.count))
        #expect(
            requests[0].body
                == RegistrationForm.body(.sample(userKey: "ü", ["a": "b c"]), integrationKey: "integrationKey")
        )
        #expect(requests[1].method == "GET" && requests[1].uri == "/r/?id=hd828,deliveryId,2")
        #expect(requests[1].body.isEmpty)

        // Another client on the same files knows that all is done.
        #expect(
            await self.client(server, folder).registerDevice(token: token, userKey: "ü", parameters: ["a": "b c"])
                == .success
        )
        #expect(server.requests.count == 2)
        try await server.stop()
    }

    @Test func refusals() async throws {
        let server = try await SmallServer.start { request in
            if request.body.contains("userKey=unknown&") { return (404, [:], "Unknown integration key\n") }
            if request.body.contains("userKey=busy&") { return (503, ["retry-after": "7"], "try later\nmore") }
            return (204, [:], "")
        }
        let folder = Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let client = client(server, folder)
        let token = Data([1, 2, 3])
        #expect(await client.registerDevice(token: token, userKey: "unknown") == .unknownIntegrationKey)
        let busy = await client.registerDevice(token: token, userKey: "busy")
        #expect(busy == .unexpectedError(reason: "try later"))
        let odd = await client.registerDevice(token: token, userKey: "odd")
        #expect(odd == .unexpectedError(reason: "HTTP status 204"))
        let answer = try await URLSessionTransport().send(
            PushRequest(method: "POST", url: server.base, headers: [:], body: "userKey=busy&")
        )
        #expect(answer.status == 503 && answer.retryAfter == "7")
        try await server.stop()
    }

    /// The page that a redirect leads to knows nothing of the registration.
    @Test(arguments: [301, 302, 303, 307, 308]) func redirectsAreNotFollowed(_ status: Int) async throws {
        let server = try await SmallServer.start { request in
            request.uri == "/login" ? (200, [:], "welcome") : (status, ["location": "/login"], "<html>")
        }
        let folder = Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let client = client(server, folder)
        let outcome = await client.registerDevice(token: Data([1, 2, 3]), userKey: "u")
        #expect(outcome == .unexpectedError(reason: "HTTP status \(status)"))
        #expect(await client.track(["_mId": "1", "_dId": "d"], .click) == .queued(reason: "HTTP status \(status)"))
        let answer = try await URLSessionTransport().send(
            PushRequest(method: "GET", url: server.base + "r", headers: [:], body: nil)
        )
        #expect(answer.status == status)
        #expect(!server.requests.contains { $0.uri == "/login" })
        try await server.stop()
    }

    /// Whoever does not wait any more is no reason to stop: the system's code cannot be cancelled at any moment.
    @Test func cancelled() async throws {
        let server = try await SmallServer.start { _ in (200, [:], "") }
        let transport = URLSessionTransport(timeout: 20)
        let base = server.base
        for _ in 0..<50 {
            let task = Task {
                try await transport.send(PushRequest(method: "GET", url: base, headers: [:], body: nil)).status
            }
            task.cancel()
            #expect(try await task.value == 200)
        }
        try await server.stop()
    }

    /// A short time-out: the system may try a request again by itself on another connection.
    @Test func theServerHangsUp() async throws {
        let server = try await SmallServer.start { _ in nil }
        let request = PushRequest(method: "POST", url: server.base, headers: [:], body: "a=b")
        await #expect(throws: URLError.self) { try await URLSessionTransport(timeout: 2).send(request) }
        #expect(!server.requests.isEmpty)
        try await server.stop()
    }

    @Test func nobodyListens() async throws {
        let server = try await SmallServer.start { _ in nil }
        let folder = Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let client = client(server, folder)
        try await server.stop()
        guard case .connectionIssue = await client.registerDevice(token: Data([1])) else {
            Issue.record("a closed port answered")
            return
        }
    }

    @Test func files() throws {
        let folder = Self.folder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let storage = FileStorage(folder: folder)
        #expect(try storage.read("a") == nil)
        try storage.write(Data([1]), "a")
        try storage.write(Data([2, 3]), "a")
        #expect(try FileStorage(folder: folder).read("a") == Data([2, 3]))
    }
}
