import Gateways
import NIOCore
import NIOSSL
import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The gateway for FCM's legacy HTTP protocol, with a project's server key.
///
/// Google switched the protocol off in July 2024; it works with compatible gateways. Messages of a batch with equal
/// bodies share a request.
package final class FCMLegacyGateway: Gateway {
    package let payloadFormat = PayloadFormat.fcmLegacy
    package let answers = GatewayAnswers.fcmLegacy
    package let limits = GatewayLimits(
        maxPayloadBytes: PayloadLimits.fcm,
        maxMessagesPerRequest: LegacyRequest.maxMessages
    )
    package let untraced =
        "nothing is traced: only FCM's HTTP v1 can be traced, and the application has a key for the legacy protocol"
    private let engine: NIOLoopBoundBox<FCMLegacyEngine?>
    private let eventLoop: any EventLoop
    private let trustRootsFile: String?

    /// Makes a gateway; it connects when there is work.
    ///
    /// - Parameters:
    ///   - now: the time that dates in answers are compared with, from the database's clock.
    ///   - delegate: gets outcomes and events on `eventLoop`; kept until ``shutdown()``.
    package init(
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

    package func start() async throws {
        // Checked here because libcurl would report a fault only with each connection.
        if let trustRootsFile { _ = try NIOSSLCertificate.fromPEMFile(trustRootsFile) }
        onLoop { $0.start() }
    }

    package func submit(_ batch: GatewayRequestBatch) {
        onLoop { $0.submit(batch) }
    }

    package func cancelQueued() {
        onLoop { $0.cancelQueued() }
    }

    package func retryNow() {
        onLoop { $0.retryNow() }
    }

    package func status() async -> GatewayStatus {
        let engine = engine
        return (try? await eventLoop.submit { engine.value?.status }.get()) ?? GatewayStatus()
    }

    package func shutdown() async {
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
