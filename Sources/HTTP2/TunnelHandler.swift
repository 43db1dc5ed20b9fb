import NIOCore

/// Requests a tunnel from a proxy, then removes itself from the channel.
///
/// It must be the channel's first handler. The handlers after it see the channel become active when the tunnel is open,
/// or get an error if it is refused.
package final class TunnelHandler: ChannelInboundHandler, RemovableChannelHandler {
    package typealias InboundIn = ByteBuffer
    package typealias InboundOut = ByteBuffer
    package typealias OutboundOut = ByteBuffer

    private let proxy: HTTP2Proxy
    private let target: String
    private let whenOpen: (ChannelPipeline.SynchronousOperations, TunnelHandler) throws -> Void
    private var answer = TunnelAnswer()
    private var isDone = false

    /// - Parameter whenOpen: called when the tunnel is open, to add TLS right after this handler.
    package init(
        proxy: HTTP2Proxy,
        host: String,
        port: Int,
        whenOpen: @escaping (ChannelPipeline.SynchronousOperations, TunnelHandler) throws -> Void
    ) {
        self.proxy = proxy
        target = HTTP2Proxy.authority(host, port)
        self.whenOpen = whenOpen
    }

    package func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { ask(context) }
    }

    package func channelActive(context: ChannelHandlerContext) {
        ask(context)
    }

    private func ask(_ context: ChannelHandlerContext) {
        var request = "CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\nUser-Agent: PushMTA\r\n"
        if let authorization = proxy.authorization { request += "Proxy-Authorization: \(authorization)\r\n" }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: request + "\r\n")), promise: nil)
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isDone else { return context.fireChannelRead(data) }
        switch answer.append(unwrapInboundIn(data).readableBytesView) {
        case .incomplete: break
        case .refused(let reason): fail(context, "refuses a tunnel to \(target): \(reason)")
        case .open(let rest): open(context, rest)
        }
    }

    /// The proxy's response may take several reads. Until the tunnel is open the end of a read is not passed on: the
    /// next handlers may write then, which would reach the proxy unencrypted.
    package func channelReadComplete(context: ChannelHandlerContext) {
        if isDone { context.fireChannelReadComplete() }
    }

    private func open(_ context: ChannelHandlerContext, _ rest: [UInt8]) {
        isDone = true
        do {
            try whenOpen(context.pipeline.syncOperations, self)
        } catch {
            return context.fireErrorCaught(error)
        }
        context.fireChannelActive()
        if !rest.isEmpty {
            context.fireChannelRead(wrapInboundOut(ByteBuffer(bytes: rest)))
            context.fireChannelReadComplete()
        }
        context.pipeline.syncOperations.removeHandler(self, promise: nil)
    }

    package func channelInactive(context: ChannelHandlerContext) {
        if !isDone { fail(context, "ended the connection before it opened a tunnel to \(target)") }
        context.fireChannelInactive()
    }

    private func fail(_ context: ChannelHandlerContext, _ what: String) {
        isDone = true
        context.fireErrorCaught(HTTP2ProxyError("the proxy \(proxy) \(what)"))
    }
}

/// Parses a proxy's response to CONNECT as it arrives.
struct TunnelAnswer {
    /// The state of the response.
    enum State: Equatable {
        /// Its end has not arrived yet.
        case incomplete
        /// The tunnel is open; these bytes have already arrived through it.
        case open(rest: [UInt8])
        /// The tunnel is refused, for this reason.
        case refused(String)
    }

    /// The maximum size of the response's header, in bytes. A proxy's has a few hundred; a larger one is not from a
    /// proxy.
    private static let maxBytes = 16_384
    /// The maximum length of a reason phrase in a message.
    private static let maxPhraseLength = 100

    private var bytes: [UInt8] = []

    /// Takes more of the response.
    mutating func append(_ more: some Sequence<UInt8>) -> State {
        bytes.append(contentsOf: more)
        guard let end = endOfHeader else {
            return bytes.count > Self.maxBytes ? .refused("its response is too long") : .incomplete
        }
        // "HTTP/1.1 200 Connection established"
        let line = bytes.prefix { $0 != 0x0D && $0 != 0x0A }
        let words = line.split(separator: 0x20, maxSplits: 2).map { String(decoding: $0, as: UTF8.self) }
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]), (100..<600).contains(status)
        else { return .refused("what listens there is not an HTTP proxy") }
        guard (200..<300).contains(status) else {
            let phrase = words.count > 2 ? Self.printable(words[2]) : ""
            return .refused(phrase.isEmpty ? "\(status)" : "\(status) \(phrase)")
        }
        return .open(rest: Array(bytes[end...]))
    }

    /// The index of the first byte after the empty line; a bare line feed also ends a line (RFC 9112 section 2.2).
    private var endOfHeader: Int? {
        var lineLength = 0
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case 0x0A where lineLength == 0: return index + 1
            case 0x0A: lineLength = 0
            case 0x0D: break
            default: lineLength += 1
            }
        }
        return nil
    }

    private static func printable(_ text: String) -> String {
        String(
            text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }.prefix(maxPhraseLength).map(
                Character.init
            )
        )
    }
}

/// Why a proxy opened no tunnel.
package struct HTTP2ProxyError: Error, Sendable, CustomStringConvertible {
    /// The proxy, the target and the reason, without the credentials.
    package let description: String

    init(_ description: String) {
        self.description = description
    }
}
