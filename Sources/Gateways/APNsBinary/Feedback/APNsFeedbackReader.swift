import HTTP2
import NIOCore
import NIOPosix
import NIOSSL

/// The client of APNs' feedback service: it connects and the service tells the tokens of the certificate's topic that have died
/// since it was asked last, and forgets them.
///
/// Since they are told once only, they are handed over while they come, and the connection waits while they are being stored.
public struct APNsFeedbackReader: Sendable {
    /// So many tokens are handed over at a time, at most.
    private static let batch = 1_000
    /// More than any service keeps, as it forgets what was read: a server that never ends is none.
    private static let most = 10_000_000

    private let address: GatewayAddress
    private let certificateChain: [NIOSSLCertificate]
    private let privateKey: NIOSSLPrivateKey
    private let trustRootsFile: String?
    private let proxy: HTTP2Proxy?
    private let connectTimeout: TimeAmount
    private let silence: TimeAmount

    /// Makes a reader.
    ///
    /// - Parameters:
    ///   - address: the service's own, see ``GatewayAddress/feedback``.
    ///   - proxy: the HTTP proxy on the way; nil for none.
    ///   - silenceMilliseconds: a service that says nothing for so long and does not close is given up.
    public init(
        address: GatewayAddress,
        certificateChain: [NIOSSLCertificate],
        privateKey: NIOSSLPrivateKey,
        trustRootsFile: String? = nil,
        proxy: HTTP2Proxy? = nil,
        connectTimeoutMilliseconds: Int64 = 20_000,
        silenceMilliseconds: Int64 = 30_000
    ) {
        self.address = address
        self.certificateChain = certificateChain
        self.privateKey = privateKey
        self.trustRootsFile = trustRootsFile
        self.proxy = proxy
        connectTimeout = .milliseconds(connectTimeoutMilliseconds)
        silence = .milliseconds(silenceMilliseconds)
    }

    /// Reads what the service has to say.
    ///
    /// - Parameter store: gets the tokens, at most a thousand at a time, in order; what it throws ends the reading.
    /// - Throws: when the service cannot be reached, or what `store` throws.
    public func read(
        eventLoop: any EventLoop,
        _ store: ([APNsFeedbackEntry]) async throws -> Void
    ) async throws -> APNsFeedbackReport {
        let channel = try await connect(eventLoop)
        return try await channel.executeThenClose { inbound, _ in
            var decoder = FeedbackTupleDecoder()
            var entries: [APNsFeedbackEntry] = []
            var report = APNsFeedbackReport(entries: 0, trouble: "")
            do {
                for try await buffer in inbound {
                    try decoder.read(buffer.readableBytesView, into: &entries)
                    // At once: what is in memory alone nobody else knows any more.
                    try await Self.hand(&entries, to: store, &report)
                    if report.entries >= Self.most {
                        report.trouble = "it does not come to an end"
                        break
                    }
                }
            } catch let error as FeedbackTupleDecoder.Malformed {
                report.trouble = "a token of \(error.tokenLength) bytes, which no token has"
            } catch let error as StoringFailed {
                throw error.cause
            } catch {
                report.trouble = DialFailure(String(describing: error)).text
            }
            if report.trouble.isEmpty, decoder.torn > 0 { report.trouble = "it ended in the middle of a token" }
            try await Self.hand(&entries, to: store, &report)
            return report
        }
    }

    /// Sets what the caller throws apart from what the connection does.
    private struct StoringFailed: Error {
        var cause: any Error
    }

    private static func hand(
        _ entries: inout [APNsFeedbackEntry],
        to store: ([APNsFeedbackEntry]) async throws -> Void,
        _ report: inout APNsFeedbackReport
    ) async throws {
        while !entries.isEmpty {
            let batch = Array(entries.prefix(Self.batch))
            entries.removeFirst(batch.count)
            do { try await store(batch) } catch { throw StoringFailed(cause: error) }
            report.entries += batch.count
        }
    }

    private func connect(_ eventLoop: any EventLoop) async throws -> NIOAsyncChannel<ByteBuffer, ByteBuffer> {
        let context = try APNsBinaryGatewayConfiguration.tlsContext(
            chain: certificateChain,
            key: privateKey,
            trustRootsFile: trustRootsFile
        )
        let (address, proxy, silence) = (address, proxy, silence)
        return try await ClientBootstrap(group: eventLoop)
            .connectTimeout(connectTimeout)
            .connect(host: proxy?.host ?? address.host, port: proxy?.port ?? address.port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try BinaryTLS.add(to: channel, context, address, proxy: proxy)
                    try channel.pipeline.syncOperations.addHandler(SilenceWatch(limit: silence))
                    return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
    }
}
