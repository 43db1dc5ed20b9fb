import Gateways
import HTTP2
import NIOCore
import NIOPosix
import NIOSSL
import PushCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The client of APNs' feedback service. On a connection, the service sends the tokens of the certificate's topic that
/// have died since the last connection, and forgets them.
///
/// As the service sends each token only once, tokens are passed on as they arrive, and the connection waits while they
/// are stored.
package struct APNsFeedbackReader: Sendable {
    /// The maximum number of tokens passed on at a time.
    private static let batch = 1_000
    /// More tokens than any service keeps, as it forgets those that were read. A server that sends more is not a
    /// feedback service.
    private static let maxEntries = 10_000_000

    private let options: GatewayOptions
    private let certificate: ClientCertificate

    /// Makes a reader.
    ///
    /// - Parameters:
    ///   - credential: the application's certificate.
    ///   - options: those of the gateway. Reading fails if the service neither sends anything nor closes within the
    ///     request timeout.
    ///   - now: the time of the database's clock.
    /// - Throws: `GatewayCredentialError` if the credential is malformed or not a certificate.
    package init(
        credential: GatewayCredential,
        options: GatewayOptions,
        now: Date
    ) throws(GatewayCredentialError) {
        guard case .apnsCertificate(let pkcs12, let passphrase) = credential else {
            throw CredentialChoice.mismatch(.iosBinary, credential)
        }
        self.options = options
        certificate = try ClientCertificate(validAt: now, file: pkcs12, passphrase: passphrase)
    }

    /// Reads all tokens that the service sends.
    ///
    /// - Parameter store: gets the tokens, at most a thousand at a time, in order; an error that it throws ends the
    ///   reading.
    /// - Throws: if the service cannot be reached, or what `store` throws.
    package func read(
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
                    // Stored at once, because the service has already forgotten these tokens.
                    try await Self.hand(&entries, to: store, &report)
                    if report.entries >= Self.maxEntries {
                        report.trouble = "it does not stop sending"
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

    /// Distinguishes the caller's errors from those of the connection.
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
        let context = try BinaryTLS.context(certificate, trustRootsFile: options.trustRootsFile)
        let address = options.feedbackAddress
        let proxy = options.proxy?.http2(for: address.host)
        let silence = TimeAmount.milliseconds(options.connections.requestTimeoutMilliseconds)
        return try await ClientBootstrap(group: eventLoop)
            .connectTimeout(.milliseconds(options.connections.connectTimeoutMilliseconds))
            .connect(host: proxy?.host ?? address.host, port: proxy?.port ?? address.port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try BinaryTLS.add(to: channel, context, address, proxy: proxy)
                    try channel.pipeline.syncOperations.addHandler(SilenceWatch(limit: silence))
                    return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
    }
}

/// The result of reading a feedback service.
package struct APNsFeedbackReport: Sendable, Hashable {
    /// The number of tokens read.
    package var entries: Int
    /// What went wrong before the end; empty for nothing. Tokens read before remain valid.
    package var trouble: String
}

/// A token that the feedback service reported as dead.
package struct APNsFeedbackEntry: Sendable, Hashable {
    /// The token in lower-case hexadecimal digits.
    package var token: String
    /// When the gateway found that the app is gone, in seconds since 1970. A later registration remains valid.
    package var since: Int64

    package init(token: String, since: Int64) {
        self.token = token
        self.since = since
    }
}

/// Decodes the feedback service's tuples from chunks of any size: time (4 bytes), length of the token (2), token.
struct FeedbackTupleDecoder: Sendable {
    /// An impossible token length: what follows cannot be decoded.
    struct Malformed: Error, Hashable {
        var tokenLength: Int
    }

    private static let head = 6

    /// The beginning of the next tuple, at most 106 bytes.
    private var rest: [UInt8] = []

    /// The number of bytes of an incomplete tuple.
    var torn: Int { rest.count }

    /// Appends the tuples that these bytes complete.
    mutating func read(_ piece: some Collection<UInt8>, into entries: inout [APNsFeedbackEntry]) throws(Malformed) {
        var bytes = rest
        bytes.append(contentsOf: piece)
        var start = 0
        while bytes.count - start >= Self.head {
            let time = bytes[start..<start + 4].reduce(Int64(0)) { $0 << 8 | Int64($1) }
            let length = Int(bytes[start + 4]) << 8 | Int(bytes[start + 5])
            guard (1...BinaryToken.maxBytes).contains(length) else {
                rest = []
                throw Malformed(tokenLength: length)
            }
            let end = start + Self.head + length
            guard end <= bytes.count else { break }
            let token = BinaryToken.text(bytes[start + Self.head..<end])
            entries.append(APNsFeedbackEntry(token: token, since: time))
            start = end
        }
        rest = Array(bytes[start...])
    }
}

/// Closes a connection that stays silent during a read. The time in which earlier tokens are stored does not count, as
/// nothing is read then.
final class SilenceWatch: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer

    private struct Silent: Error, CustomStringConvertible {
        var description: String { "it neither sent anything nor closed the connection" }
    }

    private let limit: TimeAmount
    private var alarm: Scheduled<Void>?

    init(limit: TimeAmount) {
        self.limit = limit
    }

    func read(context: ChannelHandlerContext) {
        if alarm == nil {
            let bound = NIOLoopBound(context, eventLoop: context.eventLoop)
            alarm = context.eventLoop.scheduleTask(in: limit) {
                bound.value.fireErrorCaught(Silent())
                bound.value.close(promise: nil)
            }
        }
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        quiet()
        context.fireChannelRead(data)
    }

    func channelInactive(context: ChannelHandlerContext) {
        quiet()
        context.fireChannelInactive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        quiet()
    }

    private func quiet() {
        alarm?.cancel()
        alarm = nil
    }
}
