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
    public let limits = GatewayLimits(
        maxPayloadBytes: PayloadLimits.fcm,
        maxMessagesPerRequest: LegacyRequest.mostMessages
    )
    private let engine: NIOLoopBoundBox<FCMLegacyEngine?>
    private let eventLoop: any EventLoop
    private let trustRootsFile: String?

    /// Makes a gateway; it connects when there is work.
    ///
    /// - Parameters:
    ///   - now: the time that dates in answers are compared with, of the database's clock.
    ///   - delegate: told of outcomes and events on `eventLoop`; kept until ``shutdown()``.
    public init(
        options: GatewayOptions,
        projectKey: FCMProjectKey,
        now: @escaping @Sendable () -> Date,
        eventLoop: any EventLoop,
        delegate: any GatewayDelegate
    ) {
        trustRootsFile = options.trustRootsFile
        self.eventLoop = eventLoop
        let made = FCMLegacyEngine(
            options: options,
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
