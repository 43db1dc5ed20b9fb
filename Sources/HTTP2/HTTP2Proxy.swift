import NIOCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An HTTP proxy that connections go through, by a tunnel that the method CONNECT opens (RFC 9110 section 9.3.6).
public struct HTTP2Proxy: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    /// The proxy's name or IP address.
    public let host: String
    public let port: Int
    /// The value of `Proxy-Authorization`; nil for none.
    let authorization: String?

    /// A proxy; with a login it is told name and password (RFC 7617).
    public init(host: String, port: Int, login: String = "", password: String = "") {
        self.host = host
        self.port = port
        let pair = Data("\(login):\(password)".utf8)
        authorization = login.isEmpty && password.isEmpty ? nil : "Basic " + pair.base64EncodedString()
    }

    /// `host:port`, an IPv6 address in brackets, nothing of the login.
    public var description: String { Self.authority(host, port) }

    /// Shows nothing of the login.
    public var customMirror: Mirror { Mirror(self, children: ["host": host, "port": port]) }

    /// `host:port` as a request line has it.
    static func authority(_ host: String, _ port: Int) -> String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}

/// Asks a proxy for a tunnel, then leaves the channel to what stands behind it.
///
/// It has to be the first handler of the channel. What stands behind it learns that the channel is active when the tunnel is
/// there, and of an error when it is not.
public final class TunnelHandler: ChannelInboundHandler, RemovableChannelHandler {
    public typealias InboundIn = ByteBuffer
    public typealias InboundOut = ByteBuffer
    public typealias OutboundOut = ByteBuffer

    private let proxy: HTTP2Proxy
    private let target: String
    private let whenOpen: (ChannelPipeline.SynchronousOperations, TunnelHandler) throws -> Void
    private var answer = TunnelAnswer()
    private var isDone = false

    /// - Parameter whenOpen: called when the tunnel is there, to put TLS right after the handler.
    public init(
        proxy: HTTP2Proxy,
        host: String,
        port: Int,
        whenOpen: @escaping (ChannelPipeline.SynchronousOperations, TunnelHandler) throws -> Void
    ) {
        self.proxy = proxy
        target = HTTP2Proxy.authority(host, port)
        self.whenOpen = whenOpen
    }

    public func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { ask(context) }
    }

    public func channelActive(context: ChannelHandlerContext) {
        ask(context)
    }

    private func ask(_ context: ChannelHandlerContext) {
        var request = "CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\nUser-Agent: PushMTA\r\n"
        if let authorization = proxy.authorization { request += "Proxy-Authorization: \(authorization)\r\n" }
        context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: request + "\r\n")), promise: nil)
    }

    public func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !isDone else { return context.fireChannelRead(data) }
        switch answer.append(unwrapInboundIn(data).readableBytesView) {
        case .incomplete: break
        case .refused(let reason): fail(context, "refuses a tunnel to \(target): \(reason)")
        case .open(let rest): open(context, rest)
        }
    }

    /// What stands behind may write when a read ends, and before there is a tunnel that would go to the proxy in the clear: an
    /// answer may come in several reads.
    public func channelReadComplete(context: ChannelHandlerContext) {
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

    public func channelInactive(context: ChannelHandlerContext) {
        if !isDone { fail(context, "ended the connection before there was a tunnel to \(target)") }
        context.fireChannelInactive()
    }

    private func fail(_ context: ChannelHandlerContext, _ what: String) {
        isDone = true
        context.fireErrorCaught(HTTP2ProxyError("the proxy \(proxy) \(what)"))
    }
}

/// Reads a proxy's answer to CONNECT as it comes.
struct TunnelAnswer {
    /// What is known of the answer.
    enum State: Equatable {
        /// Its end has not come.
        case incomplete
        /// The tunnel is there; these bytes came through it already.
        case open(rest: [UInt8])
        /// There is no tunnel, for this reason.
        case refused(String)
    }

    /// A proxy's answer has some hundred bytes of header; what has more is no answer of a proxy.
    private static let mostBytes = 16_384
    /// What of a reason phrase is shown.
    private static let longestPhrase = 100

    private var bytes: [UInt8] = []

    /// Takes more of the answer.
    mutating func append(_ more: some Sequence<UInt8>) -> State {
        bytes.append(contentsOf: more)
        guard let end = endOfHeader else {
            return bytes.count > Self.mostBytes ? .refused("its answer has no end") : .incomplete
        }
        // "HTTP/1.1 200 Connection established"
        let line = bytes.prefix { $0 != 0x0D && $0 != 0x0A }
        let words = line.split(separator: 0x20, maxSplits: 2).map { String(decoding: $0, as: UTF8.self) }
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]), (100..<600).contains(status)
        else { return .refused("what listens there is no HTTP proxy") }
        guard (200..<300).contains(status) else {
            let phrase = words.count > 2 ? Self.printable(words[2]) : ""
            return .refused(phrase.isEmpty ? "\(status)" : "\(status) \(phrase)")
        }
        return .open(rest: Array(bytes[end...]))
    }

    /// Where the bytes after the empty line begin; a bare line feed ends a line, too (RFC 9112 section 2.2).
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
            text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }.prefix(longestPhrase).map(
                Character.init
            )
        )
    }
}

/// Why there is no way through a proxy.
public struct HTTP2ProxyError: Error, Sendable, CustomStringConvertible {
    /// Which proxy, which target, and why; nothing of the login.
    public let description: String

    init(_ description: String) {
        self.description = description
    }
}
