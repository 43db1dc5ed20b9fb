import CurlClient
import NIOCore
import NIOSSL
import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The way to FCM over its legacy HTTP protocol with a project's server key.
///
/// Google has switched the protocol off in July 2024; it works with stand-in gateways. Messages of a batch whose bodies are
/// equal share a request.
public final class FCMLegacyGateway: Gateway {
    public let payloadFormat = PayloadFormat.fcmLegacy
    public let limits: GatewayLimits
    private let engine: NIOLoopBoundBox<FCMLegacyEngine?>
    private let eventLoop: any EventLoop
    private let trustRootsFile: String?

    /// Makes a gateway; it connects when there is work.
    ///
    /// - Parameters:
    ///   - now: the time that dates in answers are compared with, of the database's clock.
    ///   - delegate: told of outcomes and events on `eventLoop`; kept until ``shutdown()``.
    public init(
        configuration: FCMLegacyGatewayConfiguration,
        projectKey: FCMProjectKey,
        now: @escaping @Sendable () -> Date,
        eventLoop: any EventLoop,
        delegate: any GatewayDelegate
    ) {
        var configuration = configuration
        configuration.connections = max(1, configuration.connections)
        configuration.messagesPerRequest = max(
            1,
            min(configuration.messagesPerRequest, FCMLegacyGatewayConfiguration.mostMessagesPerRequest)
        )
        limits = GatewayLimits(
            maxPayloadBytes: PayloadLimits.fcm,
            maxMessagesPerRequest: configuration.messagesPerRequest
        )
        trustRootsFile = configuration.trustRootsFile
        self.eventLoop = eventLoop
        let made = FCMLegacyEngine(
            configuration: configuration,
            projectKey: projectKey,
            now: now,
            eventLoop: eventLoop,
            delegate: delegate
        )
        engine = .makeBoxSendingValue(made, as: FCMLegacyEngine?.self, eventLoop: eventLoop)
    }

    public func start() async throws {
        // libcurl would only say so with each connection.
        if let trustRootsFile { _ = try NIOSSLCertificate.fromPEMFile(trustRootsFile) }
        onLoop { $0.start() }
    }

    public func submit(_ batch: GatewayRequestBatch) {
        onLoop { $0.submit(batch) }
    }

    public func cancelQueued() {
        onLoop { $0.cancelQueued() }
    }

    public func retryNow() {
        onLoop { $0.retryNow() }
    }

    public func status() async -> GatewayStatus {
        let engine = engine
        return (try? await eventLoop.submit { engine.value?.status }.get()) ?? GatewayStatus()
    }

    public func shutdown() async {
        let (engine, eventLoop) = (engine, eventLoop)
        try? await eventLoop.flatSubmit { engine.value?.stop() ?? eventLoop.makeSucceededVoidFuture() }.get()
        try? await eventLoop.submit { engine.value = nil }.get()
    }

    private func onLoop(_ body: @escaping @Sendable (FCMLegacyEngine) -> Void) {
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

/// The settings of a way to legacy FCM.
public struct FCMLegacyGatewayConfiguration: Sendable {
    /// FCM takes so many tokens in one request.
    public static let mostMessagesPerRequest = 1_000

    /// Where the gateway listens.
    public var address: GatewayAddress
    /// How many requests are on their way at once, each on a connection of its own, 1 or more.
    public var connections: Int
    /// A PEM file with the trusted roots; nil means the system's.
    public var trustRootsFile: String?
    /// The way to the gateway.
    public var proxy: CurlProxy = .none
    /// A message without an answer for so long is ambiguous, in milliseconds; Firebase asks for 10,000 or more.
    public var requestTimeoutMilliseconds: Int64 = 60_000
    /// The time for name, TCP and TLS together, in milliseconds.
    public var connectTimeoutMilliseconds: Int64 = 20_000
    /// The most messages with equal bodies that travel in one request, 1 or more.
    public var messagesPerRequest = mostMessagesPerRequest
    /// The pauses between attempts to connect: the longest first one, and the longest of all, in milliseconds.
    public var firstBackOffMilliseconds: Int64 = 1_000
    public var maximumBackOffMilliseconds: Int64 = 5_000

    /// Makes settings.
    public init(address: GatewayAddress, connections: Int = 1, trustRootsFile: String? = nil) {
        self.address = address
        self.connections = connections
        self.trustRootsFile = trustRootsFile
    }
}
