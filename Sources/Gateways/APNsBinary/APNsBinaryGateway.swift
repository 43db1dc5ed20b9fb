import HTTP2
import NIOCore
import NIOSSL
import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The way to APNs over its binary protocol, with a client certificate.
///
/// Apple closed its own gateway on 31 March 2021; this speaks to whatever stands in for it. It stays alive and connected until
/// ``shutdown()``. A message's acceptance is a presumption after
/// ``APNsBinaryGatewayConfiguration/presumedAcceptedMilliseconds`` of silence, unless the gateway named a later message first.
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
        configuration: APNsBinaryGatewayConfiguration,
        now: @escaping @Sendable () -> Date,
        eventLoop: any EventLoop,
        delegate: any GatewayDelegate
    ) {
        self.eventLoop = eventLoop
        pool = .makeBoxSendingValue(
            BinaryPool(configuration: configuration, now: now, eventLoop: eventLoop, delegate: delegate),
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

/// The settings of a way to APNs' binary gateway.
public struct APNsBinaryGatewayConfiguration: Sendable {
    /// Where the gateway listens.
    public var address: GatewayAddress
    /// How many connections are held, 1 or more.
    public var connections: Int
    /// The client's certificate, and those that it is signed with.
    public var certificateChain: [NIOSSLCertificate]
    /// The key of the first of the certificates.
    public var privateKey: NIOSSLPrivateKey
    /// A PEM file with the trusted roots; nil means the system's.
    public var trustRootsFile: String?
    /// The HTTP proxy on the way; nil for none.
    public var proxy: HTTP2Proxy?
    /// How many messages a connection may have on the wire whose fate is open, at most.
    public var sendAhead = 30_000
    /// A message of which nothing was heard for so long counts as accepted, in milliseconds.
    ///
    /// The protocol has no word for success. An error packet comes within a round trip and the time that the gateway takes to
    /// look at the messages before: well below a second, and a late one would find its message, and those behind it, reported as
    /// accepted. So some seconds; each of them costs rate, as ``sendAhead`` messages can be accepted in this time and no more.
    public var presumedAcceptedMilliseconds: Int64 = 5_000
    /// The same for the way that is taken: behind a proxy it is the proxy that acknowledges, which knows nothing of the gateway and
    /// holds bytes of its own, so that silence has to last twice as long.
    var silenceMilliseconds: Int64 {
        let (time, isTooLong) = max(0, presumedAcceptedMilliseconds).multipliedReportingOverflow(
            by: proxy == nil ? 1 : 2
        )
        return isTooLong ? .max : time
    }
    /// What the gateway's host has not acknowledged after so long ends the connection, in milliseconds.
    public var requestTimeoutMilliseconds: Int64 = 60_000
    /// The time for TCP and TLS together, in milliseconds.
    public var connectTimeoutMilliseconds: Int64 = 20_000
    /// The first pause between attempts to connect, in milliseconds; it doubles up to the maximum, with jitter.
    public var firstBackOffMilliseconds: Int64 = 1_000
    /// The longest pause between attempts to connect, in milliseconds.
    public var maximumBackOffMilliseconds: Int64 = 5_000

    /// Makes settings.
    public init(
        address: GatewayAddress,
        connections: Int = 1,
        certificateChain: [NIOSSLCertificate],
        privateKey: NIOSSLPrivateKey,
        trustRootsFile: String? = nil
    ) {
        self.address = address
        self.connections = connections
        self.certificateChain = certificateChain
        self.privateKey = privateKey
        self.trustRootsFile = trustRootsFile
    }

    /// TLS to the gateway and to its feedback service.
    func tlsContext() throws -> NIOSSLContext {
        try Self.tlsContext(chain: certificateChain, key: privateKey, trustRootsFile: trustRootsFile)
    }

    static func tlsContext(
        chain: [NIOSSLCertificate],
        key: NIOSSLPrivateKey,
        trustRootsFile: String?
    ) throws -> NIOSSLContext {
        var options = TLSConfiguration.makeClientConfiguration()
        options.minimumTLSVersion = .tlsv12
        // With TLS 1.3 a client is done before the server has looked at its certificate, so that the first messages would be
        // ambiguous when it is refused. With 1.2 the handshake fails, and none has left.
        options.maximumTLSVersion = .tlsv12
        options.certificateChain = chain.map { .certificate($0) }
        options.privateKey = .privateKey(key)
        if let trustRootsFile { options.trustRoots = .file(trustRootsFile) }
        return try NIOSSLContext(configuration: options)
    }
}
