import HTTPConnections
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTPTypes
import NIOSSL
import PushCore
import Synchronization

/// Hummingbird's HTTP/1 connections, with the deadlines of the web process and a limit per client.
struct ConsoleChannel: ServerChildChannel, HTTPChannelHandler {
    typealias Value = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    let responder: HTTPChannelHandler.Responder
    let clients: ConsoleClients
    /// Each connection uses the certificate that is current when it begins; nil without TLS.
    let certificate: ServerCertificate?

    /// A header, or the form of a user who signs in, arrives at once. A credential or an image may come over a slow
    /// line. A live page writes every few seconds. An idle connection is one that a browser keeps for the next click.
    private static let limits = ConnectionPhase.Limits(headerSec: 10, bodySec: 60, idleSec: 75, writeSec: 20)
    /// The maximum size of a header: cookies and an address of 500 bytes are a small part of it.
    private static let headerBytes = 16 << 10
    /// For requests that ask before they send their body; each route has its own limit.
    private static let maxBodyBytes = 8 << 20

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let peer = channel.remoteAddress.flatMap { IPAddress($0) }
        guard clients.open(peer) else {
            return channel.eventLoop.makeCompletedFuture {
                // A failure would reach the listening socket and close it.
                try channel.pipeline.syncOperations.addHandler(RefusedConnection())
                return try NIOAsyncChannel(wrappingChannelSynchronously: channel)
            }
        }
        channel.closeFuture.whenComplete { [clients] _ in clients.close(peer) }
        let context = certificate?.context
        return channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            if let context { try pipeline.addHandler(NIOSSLServerHandler(context: context)) }
            let connection = ConnectionGuard(
                limits: Self.limits,
                maxBodyBytes: Self.maxBodyBytes,
                ticket: OpenPlace()
            )
            try pipeline.configureHTTP(guardedBy: connection, headerBytes: Self.headerBytes)
            try pipeline.addHandler(HTTPConnectionStateHandler(logger: logger))
            return try NIOAsyncChannel(
                wrappingChannelSynchronously: channel,
                configuration: .init(isOutboundHalfClosureEnabled: true)
            )
        }
    }

    func handle(value: Value, logger: Logger) async {
        await handleHTTP(asyncChannel: value, logger: logger)
    }
}

/// A connection of the console may be used for everything.
private struct OpenPlace: ConnectionPlace {
    var isProven: Bool { true }

    func isOrdinary() -> Bool { true }

    func prove() {}
}

/// The number of connections of each client, so that a single client cannot shut others out. A trusted proxy's
/// connections belong to all of its clients, and are not counted.
final class ConsoleClients: Sendable {
    private let connections: Mutex<ClientConnections>
    private let proxies: Set<IPAddress>

    init(limit: Int, proxies: Set<IPAddress>) {
        connections = Mutex(ClientConnections(limit: limit))
        self.proxies = proxies
    }

    /// Counts a connection; false if it exceeds the limit.
    func open(_ peer: IPAddress?) -> Bool {
        guard let peer, !proxies.contains(peer) else { return true }
        return connections.withLock { $0.open(peer) }
    }

    /// Gives back what ``open(_:)`` has counted.
    func close(_ peer: IPAddress?) {
        guard let peer, !proxies.contains(peer) else { return }
        connections.withLock { $0.close(peer) }
    }
}
