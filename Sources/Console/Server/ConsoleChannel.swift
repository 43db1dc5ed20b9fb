import HTTPConnections
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTPTypes
import NIOSSL
import PushCore
import Synchronization

/// Hummingbird's HTTP/1 connections with the deadlines that the web process has, and a share for each client.
struct ConsoleChannel: ServerChildChannel, HTTPChannelHandler {
    typealias Value = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    let responder: HTTPChannelHandler.Responder
    let clients: ConsoleClients
    /// With the certificate of the moment in which each connection begins; nil without TLS.
    let certificate: ConsoleCertificate?

    /// A head, or the form of a person who signs in, comes at once. A credential or a picture may come over a slow line. A page that goes
    /// on by itself writes every few seconds. What is idle is what a browser keeps for the next click.
    private static let limits = ConnectionPhase.Limits(headerSec: 10, bodySec: 60, idleSec: 75, writeSec: 20)
    /// The longest head that is read: cookies and an address of 500 bytes are a small part of it.
    private static let headerBytes = 16 << 10
    /// Of a request that asks before it sends its body; each route has a limit of its own.
    private static let mostBodyBytes = 8 << 20

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let peer = channel.remoteAddress.flatMap { IPAddress($0) }
        guard clients.open(peer) else {
            return channel.eventLoop.makeCompletedFuture {
                // A failure would be the listening socket's, and end it.
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
                mostBodyBytes: Self.mostBodyBytes,
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

/// How many connections each client has, so that one alone cannot shut others out. A trusted proxy's are those of all its clients.
final class ConsoleClients: Sendable {
    private let connections: Mutex<ClientConnections>
    private let proxies: Set<IPAddress>

    init(most: Int, proxies: Set<IPAddress>) {
        connections = Mutex(ClientConnections(most: most))
        self.proxies = proxies
    }

    /// Counts a connection; false if it is one too many.
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
