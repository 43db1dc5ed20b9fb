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

    private let options: GatewayOptions
    private let certificate: ClientCertificate

    /// Makes a reader.
    ///
    /// - Parameter options: those of the gateway; a service that says nothing for the time of a request and does not close is given
    ///   up.
    init(options: GatewayOptions, certificate: ClientCertificate) {
        self.options = options
        self.certificate = certificate
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

/// How the reading of a feedback service went.
public struct APNsFeedbackReport: Sendable, Hashable {
    /// How many tokens were read.
    public var entries: Int
    /// What went wrong before the end; empty if nothing did. What was read before stands.
    public var trouble: String
}

/// A token that the feedback service has found dead.
public struct APNsFeedbackEntry: Sendable, Hashable {
    /// The token in lower-case hexadecimal digits.
    public var token: String
    /// When the gateway found that the app is gone, in seconds since 1970; a registration since then stands.
    public var since: Int64

    public init(token: String, since: Int64) {
        self.token = token
        self.since = since
    }
}

/// Reads the tuples of the feedback service out of pieces of any size: time (4 bytes), length of the token (2), token.
struct FeedbackTupleDecoder: Sendable {
    /// A length that no token has: what follows cannot be read.
    struct Malformed: Error, Hashable {
        var tokenLength: Int
    }

    private static let head = 6

    /// The beginning of the next tuple: 106 bytes at most.
    private var rest: [UInt8] = []

    /// The bytes of a tuple that did not come to its end.
    var torn: Int { rest.count }

    /// Appends the tuples that are complete with these bytes.
    mutating func read(_ piece: some Collection<UInt8>, into entries: inout [APNsFeedbackEntry]) throws(Malformed) {
        var bytes = rest
        bytes.append(contentsOf: piece)
        var start = 0
        while bytes.count - start >= Self.head {
            let time = bytes[start..<start + 4].reduce(Int64(0)) { $0 << 8 | Int64($1) }
            let length = Int(bytes[start + 4]) << 8 | Int(bytes[start + 5])
            guard (1...BinaryToken.mostBytes).contains(length) else {
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

/// Ends a connection on which nothing comes although somebody waits for it. The time in which what came before is being stored does
/// not count: nothing is read then.
final class SilenceWatch: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer

    private struct Silent: Error, CustomStringConvertible {
        var description: String { "it neither said anything nor closed the connection" }
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
