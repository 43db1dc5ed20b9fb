import NIOCore
import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The way to APNs over its binary protocol, with a client certificate.
///
/// Apple closed its own gateway on 31 March 2021; this speaks to whatever stands in for it. It stays alive and connected until
/// ``shutdown()``. A message's acceptance is a presumption after ``GatewayOptions/silenceMilliseconds``, unless the gateway named
/// a later message first.
public final class APNsBinaryGateway: Gateway {
    public let payloadFormat = PayloadFormat.apnsBinary
    public let limits = GatewayLimits(maxPayloadBytes: PayloadLimits.binary)
    public let takesInSilence = true
    private let pool: NIOLoopBoundBox<BinaryPool>
    private let eventLoop: any EventLoop

    /// Makes a gateway; ``start()`` connects it.
    ///
    /// - Parameters:
    ///   - now: the time that expirations are counted from.
    ///   - delegate: told of outcomes and events on `eventLoop`; kept until ``shutdown()``.
    public init(
        options: GatewayOptions,
        certificate: ClientCertificate,
        now: @escaping @Sendable () -> Date,
        eventLoop: any EventLoop,
        delegate: any GatewayDelegate
    ) {
        self.eventLoop = eventLoop
        pool = .makeBoxSendingValue(
            BinaryPool(options: options, certificate: certificate, now: now, eventLoop: eventLoop, delegate: delegate),
            eventLoop: eventLoop
        )
    }

    public func start() async throws {
        let pool = pool
        try await eventLoop.submit { try pool.value.start() }.get()
    }

    public func submit(_ batch: GatewayRequestBatch) {
        let pool = pool
        if eventLoop.inEventLoop {
            pool.value.submit(batch)
        } else {
            eventLoop.execute { pool.value.submit(batch) }
        }
    }

    public func cancelQueued() {
        let pool = pool
        eventLoop.execute { pool.value.cancelQueued() }
    }

    public func retryNow() {
        let pool = pool
        eventLoop.execute { pool.value.retryNow() }
    }

    public func status() async -> GatewayStatus {
        let pool = pool
        return (try? await eventLoop.submit { pool.value.status }.get()) ?? GatewayStatus()
    }

    public func shutdown() async {
        let pool = pool
        let promise = eventLoop.makePromise(of: Void.self)
        eventLoop.execute { pool.value.stop(promise) }
        try? await promise.futureResult.get()
    }
}

extension GatewayOptions {
    /// A message that a binary gateway was silent of for so long counts as accepted.
    ///
    /// Behind a proxy it is the proxy that acknowledges, which knows nothing of the gateway and holds bytes of its own, so that
    /// silence has to last twice as long as the settings say.
    var silenceMilliseconds: Int64 {
        let (time, isTooLong) = Int64(max(0, binary.presumedAcceptedMs)).multipliedReportingOverflow(
            by: proxy?.isUsed(for: address.host) == true ? 2 : 1
        )
        return isTooLong ? .max : time
    }
}
