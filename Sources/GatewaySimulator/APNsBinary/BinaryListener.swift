import NIOCore
import NIOPosix
import NIOSSL

/// The listening sockets of the binary gateway and of its feedback service.
struct BinaryListener: Sendable {
    private let gateway: any Channel
    private let feedback: any Channel
    let service: BinaryService

    static func start(
        group: MultiThreadedEventLoopGroup,
        host: String,
        port: Int,
        feedbackPort: Int,
        tls: NIOSSLContext,
        service: BinaryService
    ) async throws -> BinaryListener {
        let gateway = try await ListeningPort.bootstrap(group) { channel in
            let connection = BinaryServerConnection(service: service)
            let bound = NIOLoopBound(connection, eventLoop: channel.eventLoop)
            try Self.addTLS(channel, tls, service) { bound.value.topics = $0 }
            try channel.pipeline.syncOperations.addHandler(connection)
        }
        .bind(host: host, port: port).get()
        do {
            let feedback = try await ListeningPort.bootstrap(group) { channel in
                let connection = FeedbackConnection(service: service)
                let bound = NIOLoopBound(connection, eventLoop: channel.eventLoop)
                try Self.addTLS(channel, tls, service) { bound.value.topics = $0 }
                try channel.pipeline.syncOperations.addHandler(connection)
            }
            .bind(host: host, port: feedbackPort).get()
            return BinaryListener(gateway: gateway, feedback: feedback, service: service)
        } catch {
            try? await gateway.close().get()
            throw error
        }
    }

    /// Adds TLS with a client certificate that the simulator has signed. It reports the topics before the handshake
    /// ends.
    private static func addTLS(
        _ channel: any Channel,
        _ tls: NIOSSLContext,
        _ service: BinaryService,
        _ admit: @escaping @Sendable ([String]) -> Void
    ) throws {
        let handler = NIOSSLServerHandler(context: tls) { certificates, promise in
            guard !service.conditions.current.isRevoked, let topics = service.certificates.topics(certificates) else {
                return promise.succeed(.failed)
            }
            admit(topics)
            promise.succeed(.certificateVerified)
        }
        try channel.pipeline.syncOperations.addHandler(handler)
    }

    var port: Int { gateway.localAddress?.port ?? 0 }
    var feedbackPort: Int { feedback.localAddress?.port ?? 0 }

    /// Stops listening and closes every connection.
    func stop() async {
        try? await gateway.close().get()
        try? await feedback.close().get()
        service.connections.endAll()
    }
}
