import NIOCore
import NIOTLS

/// An outage: the gateway serves no request, or only a share, until the plan is replaced. Meanwhile requests and
/// connections are counted per second.
package struct OutageFault: Sendable, Equatable {
    package enum Connections: String, Sendable, Codable, CaseIterable {
        /// The port is closed: connections are refused.
        case refused
        /// Connections are accepted and closed at once.
        case closed
        /// The TLS handshake ends with the alert `handshake_failure`.
        case tlsAlert = "tls_alert"
        /// After the TLS handshake the gateway sends bytes that are not HTTP/2. The socket stays open, whatever the
        /// client does.
        case broken
    }

    /// The answer to requests; nil if `connections` is set, as connections then carry no requests.
    package var answer: ScriptedAnswer.Description?
    /// The share of requests that get this answer, from 0 to 1; the others are served normally.
    package var share: Double
    /// What happens to new connections; open ones are dropped. With nil, connections are served normally.
    package var connections: Connections?

    /// An outage in which requests get this answer.
    package init(_ answer: ScriptedAnswer.Description, share: Double = 1) {
        self.answer = answer
        self.share = share
    }

    /// An outage in which connections fail like this, so that no request is served.
    package init(connections: Connections) {
        self.connections = connections
        share = 1
    }

    /// What is wrong with the outage for this gateway; nil if it is valid.
    func problem(for gateway: SimulatedGateway) -> String? {
        if gateway != .apns, gateway != .fcm { return "an outage is for apns or fcm, not for \(gateway.rawValue)" }
        if !(0...1).contains(share) { return "\(share) is not a share from 0 to 1" }
        if (answer == nil) == (connections == nil) { return "an outage needs either \"answer\" or \"connections\"" }
        if case .reason(let reason) = answer?.act, AnswerCatalog.of(gateway).code(ofReason: reason) == nil {
            let known = AnswerCatalog.of(gateway).rejections.joined(separator: ", ")
            return "\(gateway.rawValue) never answers \"\(reason)\"; it answers \(known)"
        }
        if answer?.times != nil {
            return "an outage lasts until it is cleared: \"times\" is only for the answers of devices"
        }
        return nil
    }
}

extension OutageFault: Codable {
    private enum Key: String, CodingKey, CaseIterable {
        case answer, share, connections
    }

    /// Reads `{"answer":{"status":502,"headers":{"content-type":"text/html"},"body":"…"},"share":0.5}` or
    /// `{"connections":"refused"}`.
    package init(from decoder: any Decoder) throws {
        try StrictKeys.check(decoder, known: Key.allCases.map(\.rawValue))
        let values = try decoder.container(keyedBy: Key.self)
        answer = try values.decodeIfPresent(ScriptedAnswer.Description.self, forKey: .answer)
        share = try values.decodeIfPresent(Double.self, forKey: .share) ?? 1
        connections = try values.decodeIfPresent(Connections.self, forKey: .connections)
    }

    /// Writes the form that `init(from:)` reads.
    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: Key.self)
        try values.encodeIfPresent(answer, forKey: .answer)
        try values.encode(share, forKey: .share)
        try values.encodeIfPresent(connections, forKey: .connections)
    }
}

/// Answers the first bytes of a connection with the TLS alert `handshake_failure` and closes it.
final class RefusedHandshake: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// Alert, TLS 1.2, two bytes: fatal, handshake_failure (RFC 8446 sections 5.1 and 6.2).
    private static let alert: [UInt8] = [21, 3, 3, 0, 2, 2, 40]

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: Self.alert)), promise: nil)
        context.close(promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}

/// Sends bytes that are not HTTP/2 after the TLS handshake, and keeps the socket open for a while without reading it.
final class BrokenProtocol: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    /// A response of another protocol. As an HTTP/2 frame it would exceed the maximum length.
    private static let words = "HTTP/1.1 400 Bad Request\r\n\r\n"
    /// How long clients' sockets stay half open: much longer than clients wait for a close. Then they are released.
    private static let length = TimeAmount.seconds(60)

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        guard case TLSUserEvent.handshakeCompleted = event else { return }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: Self.words)), promise: nil)
        let channel = context.channel
        channel.setOption(.autoRead, value: false).whenFailure { _ in channel.close(promise: nil) }
        context.eventLoop.scheduleTask(in: Self.length) { channel.close(mode: .all, promise: nil) }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {}

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }
}
