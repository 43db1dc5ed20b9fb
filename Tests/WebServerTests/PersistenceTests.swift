import TestSupport
import Testing

@testable import WebServer

/// Connections persist or end as each version of HTTP requires.
@Suite struct PersistenceTests {
    private static let registration = "registrationToken=70757368546f6b656e&mobileAppUuid=integrationKey"

    @Test func connectionsEndWithTheAnswerWhereTheyShould() async throws {
        let site = try await WebSite.start()
        let requests = [
            "GET /r/test HTTP/1.0\r\n\r\n",
            "GET /r/?id=x HTTP/1.0\r\nHost: a\r\n\r\n",
            "GET /api/v1/openapi.json HTTP/1.0\r\n\r\n",
            "GET /r/test HTTP/1.1\r\nHost: a\r\nConnection: Close\r\n\r\n",
            "GET /r/?id=x HTTP/1.1\r\nHost: a\r\nConnection: TE, close\r\n\r\n",
            "GET /r/?id=x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
            "GET /api/v1/openapi.json HTTP/1.1\r\nHost: a\r\nconnection: CLOSE\r\n\r\n",
            RawHTTP.request(
                "POST",
                "/nms/mobile/1/registerIOS.jssp",
                headers: ["Connection: Close"],
                body: Self.registration
            ),
        ]
        for request in requests {
            let client = try await RawConnection.open(port: site.port)
            // Anything after the last request is not answered.
            client.send(request + request)
            try await eventually("the end after \(request)") { client.isClosed }
            #expect(client.answers.count == 1, "\(request)")
            #expect(client.answers.first?.headers["connection"] == "close", "\(request)")
        }
        try await site.drain()
    }

    @Test func aRequestBeforeTheLastOneIsAnsweredToo() async throws {
        let site = try await WebSite.start()
        let client = try await RawConnection.open(port: site.port)
        client.send(
            "GET /r/?id=x HTTP/1.1\r\nHost: a\r\n\r\n"
                + RawHTTP.request("POST", "/nms/mobile/1/registerIOS.jssp", body: Self.registration)
                + "GET /r/?id=x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
        )
        try await eventually("the end") { client.isClosed }
        #expect(client.answers.map(\.status) == [400, 200, 400])
        #expect(client.answers.map { $0.headers["connection"] } == [nil, nil, "close"])
        try await site.drain()
    }

    /// A stored request is answered although the client has closed its sending side.
    @Test func aClientThatSendsNothingMoreIsAnswered() async throws {
        let site = try await WebSite.start()
        let sent = try await site.send(messages: 1)
        let receipt = RawHTTP.request("GET", "/r/?id=h\(sent.uuid(1)),\(sent.hexDelivery),1", body: "")
        let registration = RawHTTP.request("POST", "/nms/mobile/1/registerIOS.jssp", body: Self.registration)
        for request in [receipt, registration, receipt + registration] {
            let answers = try await RawHTTP.send(port: site.port, Array(request.utf8))
            #expect(answers.map(\.status) == (request == receipt + registration ? [200, 200] : [200]))
        }
        try await site.drain()
    }

    @Test func oldClientsMayAskForMore() async throws {
        let site = try await WebSite.start()
        let client = try await RawConnection.open(port: site.port)
        for count in 1...3 {
            client.send("GET /r/?id=x HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n")
            try await eventually("answer \(count)") { client.answers.count == count }
            #expect(client.answers.last?.headers["connection"] == "keep-alive")
        }
        #expect(!client.isClosed)
        await client.close()
        try await site.drain()
    }

    @Test func everyRequestNamesOneHost() async throws {
        let site = try await WebSite.start()
        for fields in ["", "Host: a\r\nHost: a\r\n", "Host: a\r\nX: y\r\nhost: b\r\n"] {
            let client = try await RawConnection.open(port: site.port)
            client.send("GET /r/test HTTP/1.1\r\nHost: a\r\n\r\nGET /r/test HTTP/1.1\r\n\(fields)\r\n")
            try await eventually("the end after \(fields)") { client.isClosed }
            #expect(client.answers.map(\.status) == [200, 400], "\(fields)")
            #expect(client.answers.last?.body.contains("exactly one host") == true)
        }
        #expect(
            try await RawHTTP.exchange(port: site.port, "GET /r/test HTTP/1.1\r\nhOST:\r\n\r\n").status == 200
        )
        try await site.drain()
    }

    @Test func theServerAsAWholeIsAsked() async throws {
        let site = try await WebSite.start()
        let answer = try await RawHTTP.exchange(port: site.port, "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(answer.status == 204)
        #expect(answer.headers["allow"]?.contains("POST") == true)
        // An absolute URL, as sent to a proxy.
        let whole = try await RawHTTP.exchange(
            port: site.port,
            "GET http://push.example:8080/r/test HTTP/1.1\r\nHost: push.example:8080\r\n\r\n"
        )
        #expect(whole.status == 200 && whole.body.contains("redir"))
        for path in ["/nothing", "/api/v2/devices", "*"] {
            let unknown = try await site.get(path)
            #expect(unknown.status == 404 && unknown.body.contains("nothing at this path"), "\(path): \(unknown)")
        }
        try await site.drain()
    }

    @Test func aBodyThatWaitsForAWordGetsIt() async throws {
        let site = try await WebSite.start()
        func head(_ length: Int) -> String {
            "POST /nms/mobile/1/registerIOS.jssp HTTP/1.1\r\nHost: a\r\nexpect: 100-Continue\r\nContent-Length: \(length)\r\n\r\n"
        }
        let client = try await RawConnection.open(port: site.port)
        client.send(head(Self.registration.utf8.count))
        try await eventually("the word") { client.answers.map(\.status) == [100] }
        client.send(Self.registration)
        try await eventually("the answer") { client.answers.map(\.status) == [100, 200] }
        // After a request that is not answered yet, the final answer must wait for the first one.
        client.send("GET /r/test HTTP/1.1\r\nHost: a\r\n\r\n" + head(Self.registration.utf8.count))
        try await eventually("the second word") { client.answers.map(\.status) == [100, 200, 200, 100] }
        client.send(Self.registration)
        try await eventually("the second answer") { client.answers.map(\.status) == [100, 200, 200, 100, 200] }
        await client.close()
        let large = try await RawConnection.open(port: site.port)
        large.send(head(8 << 20))
        try await eventually("the refusal") { large.isClosed }
        #expect(large.answers.map(\.status) == [413])
        try await site.drain()
    }
}
