import Foundation
import HTTP2
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// An HTTP/2 server with the simulator's certificate that accepts everything and records the header fields of requests.
final class HeaderServer: Sendable {
    final class Seen: Sendable {
        let fields = Mutex<[[String: String]]>([])
    }

    let seen = Seen()
    let port: Int
    private let channel: any Channel

    /// - Parameter folder: the simulator's.
    init(_ folder: String) async throws {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: try NIOSSLCertificate.fromPEMFile(folder + "/server.pem").map { .certificate($0) },
            privateKey: .privateKey(try NIOSSLPrivateKey(file: folder + "/server-key.pem", format: .pem))
        )
        configuration.applicationProtocols = ["h2"]
        let context = try NIOSSLContext(configuration: configuration)
        let seen = seen
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(NIOSSLServerHandler(context: context))
                    let delegate = HeaderNote(seen)
                    try pipeline.addHandler(HTTP2ServerHandler(settings: HTTP2ServerSettings(), delegate: delegate))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        port = channel.localAddress?.port ?? 0
    }

    func stop() async throws {
        try await channel.close()
    }
}

private final class HeaderNote: HTTP2ServerDelegate {
    private let seen: HeaderServer.Seen

    init(_ seen: HeaderServer.Seen) {
        self.seen = seen
    }

    func opened(_ connection: HTTP2ServerConnection) {}

    func received(_ connection: HTTP2ServerConnection, requests: [HTTP2ServerRequest]) {
        for request in requests {
            var fields: [String: String] = [:]
            for index in 0..<request.headers.count {
                let bytes = request.headers.bytes
                let name = String(decoding: bytes[request.headers.nameRange(index)], as: UTF8.self)
                fields[name] = String(decoding: bytes[request.headers.valueRange(index)], as: UTF8.self)
            }
            seen.fields.withLock { $0.append(fields) }
            connection.respond(
                streamID: request.streamID,
                status: 200,
                headers: fields["apns-id"].map { [("apns-id", $0)] } ?? []
            )
        }
    }

    func closed(_ connection: HTTP2ServerConnection) {}
}
