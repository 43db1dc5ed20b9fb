import HTTP2
import NIOCore
import NIOPosix
import NIOSSL

/// A server on 127.0.0.1 with our own handler; a script tells it what to do with requests.
final class LoopbackServer: Sendable {
    struct Seen: Sendable {
        var requests = 0
        var opened = 0
        var closed = 0
        /// The requests of each connection, in the order of connections.
        var perConnection: [Int: Int] = [:]
        /// The maximum number of streams open at once on one connection.
        var maxStreams = 0
    }

    typealias Script = @Sendable (HTTP2ServerConnection, [HTTP2ServerRequest]) -> Void

    let seen = Observed(Seen())
    let port: Int
    private let channel: any Channel

    /// - Parameters:
    ///   - port: 0 for any.
    ///   - script: gives the answers; the default answers 200 to all.
    init(
        tls: Bool = false,
        port: Int = 0,
        settings: HTTP2ServerSettings = HTTP2ServerSettings(),
        protocols: [String] = ["h2"],
        script: @escaping Script = LoopbackServer.accept
    ) async throws {
        let seen = seen
        let context = tls ? try TestCertificate.shared.get().serverContext(protocols: protocols) : nil
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.socketOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    if let context {
                        try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: context))
                    }
                    let delegate = LoopbackDelegate(seen: seen, script: script)
                    try channel.pipeline.syncOperations.addHandler(
                        HTTP2ServerHandler(settings: settings, delegate: delegate)
                    )
                }
            }
            .bind(host: "127.0.0.1", port: port)
            .get()
        self.port = channel.localAddress?.port ?? 0
    }

    func stop() async throws {
        try await channel.close()
    }

    static let accept: Script = { connection, requests in
        for request in requests { connection.respond(streamID: request.streamID, status: 200, headers: []) }
    }

    /// Answers even numbers with 200 and an empty body, and the others with 400 and their own bodies.
    static let echoOdd: Script = { connection, requests in
        for request in requests {
            let number = request.headers.value(":path").flatMap {
                Int($0.drop { !$0.isNumber }.split(separator: "/").last ?? "")
            }
            if let number, number % 2 == 1 {
                connection.respond(
                    streamID: request.streamID,
                    status: 400,
                    headers: [("retry-after", String(number))],
                    body: request.body
                )
            } else {
                connection.respond(streamID: request.streamID, status: 200, headers: [])
            }
        }
    }
}

private final class LoopbackDelegate: HTTP2ServerDelegate {
    private let seen: Observed<LoopbackServer.Seen>
    private let script: LoopbackServer.Script
    private var position = 0

    init(seen: Observed<LoopbackServer.Seen>, script: @escaping LoopbackServer.Script) {
        self.seen = seen
        self.script = script
    }

    func opened(_ connection: HTTP2ServerConnection) {
        seen.update {
            position = $0.opened
            $0.opened += 1
        }
    }

    func received(_ connection: HTTP2ServerConnection, requests: [HTTP2ServerRequest]) {
        let active = connection.activeStreams
        script(connection, requests)
        seen.update {
            $0.requests += requests.count
            $0.perConnection[position, default: 0] += requests.count
            $0.maxStreams = max($0.maxStreams, active)
        }
    }

    func closed(_ connection: HTTP2ServerConnection) {
        seen.update { $0.closed += 1 }
    }
}
