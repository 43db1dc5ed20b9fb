import NIOCore
import NIOEmbedded
import Testing

@testable import HTTP2

/// The handler that requests a tunnel, without a network.
@Suite struct TunnelTests {
    private static let answer = Array("HTTP/1.1 200 Connection established\r\nVia: x\r\n\r\n".utf8)

    /// However many reads the answer takes, the proxy gets only the request: no byte of HTTP/2 before the tunnel is
    /// open.
    @Test func nothingIsSaidBeforeTheTunnelIsThere() throws {
        for cut in 1..<Self.answer.count {
            let test = try EmbeddedConnection(through: HTTP2Proxy(host: "proxy.example", port: 3_128))
            #expect(try test.text().hasPrefix("CONNECT localhost:1 HTTP/1.1\r\n"))
            test.serverSays(Array(Self.answer[..<cut]))
            #expect(try test.text().isEmpty, "after \(cut) bytes")
            test.serverSays(Array(Self.answer[cut...]))
            #expect(try test.text().hasPrefix("PRI * HTTP/2.0\r\n"))
            test.serverSays(Frame.settings([(Frame.maxConcurrentStreams, 10)]))
            #expect(test.seen.openings == 1)
            _ = try test.channel.finish(acceptAlreadyClosed: true)
        }
    }

    /// The server's first bytes come with the end of the answer.
    @Test func whatCameWithTheAnswerIsNotLost() throws {
        let test = try EmbeddedConnection(through: HTTP2Proxy(host: "proxy.example", port: 3_128))
        test.serverSays(Self.answer, Frame.settings([(Frame.maxConcurrentStreams, 10)]))
        #expect(test.seen.openings == 1 && test.seen.limits == [10])
        _ = try test.channel.finish(acceptAlreadyClosed: true)
    }
}
