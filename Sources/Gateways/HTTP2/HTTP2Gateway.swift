import HTTP2
import NIOCore
import PushCore

/// The way to a gateway over HTTP/2, from any thread: its engine on an event loop, and the client with the connections.
///
/// What is APNs' and what is FCM's stands in a ``GatewayDialect`` each. It stays alive and connected until ``shutdown()``.
public final class HTTP2Gateway: Gateway {
    public let payloadFormat: PayloadFormat
    public let limits: GatewayLimits
    public let project: String?
    private let engine: NIOLoopBoundBox<GatewayEngine?>
    private let client: HTTP2Client
    private let eventLoop: any EventLoop

    /// - Parameters:
    ///   - project: the project of FCM that messages count for.
    ///   - dialect: made on any thread, used on the event loop only.
    init(
        _ payloadFormat: PayloadFormat,
        _ limits: GatewayLimits,
        address: GatewayAddress,
        configuration: HTTP2ClientConfiguration,
        project: String? = nil,
        dialect: sending any GatewayDialect,
        eventLoop: any EventLoop,
        delegate: any GatewayDelegate
    ) {
        self.payloadFormat = payloadFormat
        self.limits = limits
        self.project = project
        let made = GatewayEngine(address: address, dialect: dialect, eventLoop: eventLoop, delegate: delegate)
        engine = .makeBoxSendingValue(made, as: GatewayEngine?.self, eventLoop: eventLoop)
        self.eventLoop = eventLoop
        client = HTTP2Client(configuration: configuration, eventLoop: eventLoop, delegate: EngineRelay(engine))
    }

    public func start() async throws {
        try await client.start()
        let (engine, client) = (engine, client)
        try await eventLoop.submit { engine.value?.start(client) }.get()
    }

    public func submit(_ batch: GatewayRequestBatch) {
        onLoop { $0.submit(WaitingRows(batch: batch)) }
    }

    public func cancelQueued() {
        onLoop { $0.cancelQueued() }
    }

    public func retryNow() {
        onLoop { $0.retryNow() }
        client.retryNow()
    }

    public func status() async -> GatewayStatus {
        let engine = engine
        let waiting = (try? await eventLoop.submit { engine.value?.waitingCount ?? 0 }.get()) ?? 0
        guard let status = await client.status() else { return GatewayStatus(queued: waiting) }
        return GatewayStatus(
            connections: status.connections,
            streamsInFlight: status.streamsInFlight,
            queued: status.queued + waiting,
            streamLimit: status.streamLimit,
            wanted: status.size.target,
            reason: status.size.reason.rawValue,
            most: status.size.maximum
        )
    }

    public func ping(timeout: Duration) async -> Bool? {
        await client.ping(timeoutMilliseconds: Int64(timeout / .milliseconds(1)))
    }

    public func trace(with tracer: (any GatewayTracer)?) -> Bool {
        onLoop { $0.tracer = tracer }
        return true
    }

    public func giveUp(olderThan age: Duration) { client.giveUp(olderThanMilliseconds: Int64(age / .milliseconds(1))) }

    public func shutdown() async {
        onLoop { $0.beginStopping() }
        await client.shutdown()
        let engine = engine
        try? await eventLoop.submit { engine.value = nil }.get()
    }

    private func onLoop(_ body: @escaping @Sendable (GatewayEngine) -> Void) {
        let engine = engine
        if eventLoop.inEventLoop {
            if let engine = engine.value { body(engine) }
        } else {
            eventLoop.execute {
                if let engine = engine.value { body(engine) }
            }
        }
    }
}

extension HTTP2ClientConfiguration {
    /// What is the same for all gateways.
    init(_ options: GatewayOptions, identity: HTTP2TLSIdentity? = nil, initialMaxConcurrentStreams: Int) {
        self.init(
            host: options.address.host,
            port: options.address.port,
            connections: options.connections,
            tls: HTTP2TLS(trustRootsFile: options.trustRootsFile, identity: identity),
            initialMaxConcurrentStreams: initialMaxConcurrentStreams
        )
        // Between one and these the client opens what rate and latency ask for.
        connections.fewest = 1
        proxy = options.proxy?.http2(for: options.address.host)
    }
}

/// Passes what the HTTP/2 client tells on to the engine, and lets go of it at the end.
final class EngineRelay: HTTP2ClientDelegate {
    private let engine: NIOLoopBoundBox<GatewayEngine?>

    init(_ engine: NIOLoopBoundBox<GatewayEngine?>) {
        self.engine = engine
    }

    func aboutToSend(_ requests: [HTTP2Departure]) -> Bool {
        // Nobody would hear of the answers any more.
        engine.value?.aboutToSend(requests) ?? false
    }

    func completed(_ completions: [HTTP2Completion]) {
        engine.value?.completed(completions)
    }

    func connectionEvent(_ event: HTTP2ConnectionEvent) {
        engine.value?.connectionEvent(event)
    }
}
