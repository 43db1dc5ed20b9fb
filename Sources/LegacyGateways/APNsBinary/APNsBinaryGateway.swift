import Gateways
import NIOCore
import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The gateway for APNs' binary protocol, with a client certificate.
///
/// Apple closed its own gateway on 31 March 2021; this one serves compatible gateways. It stays alive and connected
/// until ``shutdown()``. A message is presumed accepted after ``GatewayOptions/silenceMilliseconds``, unless the
/// gateway named a later message first.
package final class APNsBinaryGateway: Gateway {
    package let payloadFormat = PayloadFormat.apnsBinary
    package let answers = GatewayAnswers.apnsBinary
    package let limits: GatewayLimits
    package let untraced =
        "nothing is traced: the binary protocol of APNs has no headers, and no answer to accepted messages"
    private let pool: NIOLoopBoundBox<BinaryPool>
    private let eventLoop: any EventLoop

    /// Makes a gateway; ``start()`` connects it.
    ///
    /// - Parameters:
    ///   - now: the time that expirations are counted from.
    ///   - delegate: gets outcomes and events on `eventLoop`; kept until ``shutdown()``.
    package init(
        options: GatewayOptions,
        certificate: ClientCertificate,
        now: @escaping @Sendable () -> Date,
        eventLoop: any EventLoop,
        delegate: any GatewayDelegate
    ) {
        // Silence means acceptance, so it is not a failure. The window must hold everything sent during one such
        // silence.
        limits = GatewayLimits(
            maxPayloadBytes: PayloadLimits.binary,
            maxUnresolvedMessages: options.binary.dispatchWindow,
            maxSilence: nil
        )
        self.eventLoop = eventLoop
        pool = .makeBoxSendingValue(
            BinaryPool(options: options, certificate: certificate, now: now, eventLoop: eventLoop, delegate: delegate),
            eventLoop: eventLoop
        )
    }

    package func start() async throws {
        let pool = pool
        try await eventLoop.submit { try pool.value.start() }.get()
    }

    package func submit(_ batch: GatewayRequestBatch) {
        let pool = pool
        if eventLoop.inEventLoop {
            pool.value.submit(batch)
        } else {
            eventLoop.execute { pool.value.submit(batch) }
        }
    }

    package func cancelQueued() {
        let pool = pool
        eventLoop.execute { pool.value.cancelQueued() }
    }

    package func retryNow() {
        let pool = pool
        eventLoop.execute { pool.value.retryNow() }
    }

    package func status() async -> GatewayStatus {
        let pool = pool
        return (try? await eventLoop.submit { pool.value.status }.get()) ?? GatewayStatus()
    }

    package func shutdown() async {
        let pool = pool
        let promise = eventLoop.makePromise(of: Void.self)
        eventLoop.execute { pool.value.stop(promise) }
        try? await promise.futureResult.get()
    }
}

extension GatewayOptions {
    /// How long a binary gateway must be silent about a message before it counts as accepted.
    ///
    /// Through a proxy, the acknowledgements are the proxy's. It knows nothing about the gateway and buffers bytes
    /// itself, so silence must last twice as long as the settings say.
    var silenceMilliseconds: Int64 {
        let (time, isTooLong) = Int64(max(0, binary.presumedAcceptedMs)).multipliedReportingOverflow(
            by: proxy?.isUsed(for: address.host) == true ? 2 : 1
        )
        return isTooLong ? .max : time
    }
}
