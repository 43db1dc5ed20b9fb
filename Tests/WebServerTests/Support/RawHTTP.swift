import NIOCore
import NIOPosix
import NIOSSL

/// An HTTP client that sends exactly the given bytes.
enum RawHTTP {
    /// Sends bytes on a new connection and reads one answer.
    static func exchange(port: Int, _ text: String, tls: NIOSSLContext? = nil) async throws -> RawAnswer {
        try await exchange(port: port, Array(text.utf8), tls: tls)
    }

    static func exchange(port: Int, _ bytes: [UInt8], tls: NIOSSLContext? = nil) async throws -> RawAnswer {
        let answers = try await exchange(port: port, [bytes], answers: 1, tls: tls)
        guard let answer = answers.first else { throw RawHTTPError("the server closed without an answer") }
        return answer
    }

    /// Sends pieces one after the other, and reads until it has this many answers or the connection ends.
    static func exchange(
        port: Int,
        _ pieces: [[UInt8]],
        answers wanted: Int,
        tls: NIOSSLContext? = nil
    ) async throws -> [RawAnswer] {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let tls {
                        try channel.pipeline.syncOperations.addHandler(
                            NIOSSLClientHandler(context: tls, serverHostname: "localhost")
                        )
                    }
                    return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        let deadline = Task {
            try await Task.sleep(for: .seconds(30))
            channel.channel.close(promise: nil)
        }
        defer { deadline.cancel() }
        return try await channel.executeThenClose { inbound, outbound in
            for piece in pieces { try await outbound.write(ByteBuffer(bytes: piece)) }
            var received: [UInt8] = []
            var answers: [RawAnswer] = []
            do {
                for try await buffer in inbound {
                    received += buffer.readableBytesView
                    while let (answer, length) = RawAnswer.parse(received) {
                        answers.append(answer)
                        received.removeFirst(length)
                    }
                    if answers.count >= wanted { break }
                }
            } catch  where !answers.isEmpty {
                // A server that refuses may reset the connection during the transfer.
            }
            return answers
        }
    }

    static func get(_ port: Int, _ target: String, headers: [String] = []) async throws -> RawAnswer {
        try await exchange(port: port, request("GET", target, headers: headers, body: ""))
    }

    static func post(_ port: Int, _ target: String, _ body: String, headers: [String] = []) async throws -> RawAnswer {
        try await exchange(port: port, request("POST", target, headers: headers, body: body))
    }

    static func request(_ method: String, _ target: String, headers: [String] = [], body: String) -> String {
        var lines = ["\(method) \(target) HTTP/1.1", "Host: localhost"] + headers
        if method == "POST" {
            lines.append("Content-Type: application/x-www-form-urlencoded;charset=UTF-8")
            lines.append("Content-Length: \(body.utf8.count)")
        }
        return lines.joined(separator: "\r\n") + "\r\n\r\n" + body
    }
}

struct RawHTTPError: Error {
    let words: String

    init(_ words: String) {
        self.words = words
    }
}
