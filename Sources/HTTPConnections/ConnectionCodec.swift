import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// Translates between the parts of NIO's HTTP/1 codec and the HTTP types that all other handlers use. It also tells the
/// connection's guard what only the former show.
///
/// The codec of swift-nio-extras parses every target as a URL and looks up the host twice. This one finds everything in
/// one pass over the fields.
package final class ConnectionCodec: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPServerRequestPart
    package typealias InboundOut = HTTPRequestPart
    package typealias OutboundIn = HTTPResponsePart
    package typealias OutboundOut = HTTPServerResponsePart

    private let connection: ConnectionGuard

    /// Makes the codec of a connection with this guard.
    package init(_ connection: ConnectionGuard) {
        self.connection = connection
    }

    package func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            do {
                let (request, frame) = try Self.request(head)
                connection.expect(frame)
                context.fireChannelRead(wrapInboundOut(.head(request)))
            } catch {
                context.fireErrorCaught(error)
            }
        case .body(let body):
            context.fireChannelRead(wrapInboundOut(.body(body)))
        case .end(let trailers):
            context.fireChannelRead(wrapInboundOut(.end(trailers.map { HTTPFields($0, splitCookie: false) })))
        }
    }

    package func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch unwrapOutboundIn(data) {
        case .head(let response):
            context.write(wrapOutboundOut(.head(HTTPResponseHead(response))), promise: promise)
        case .body(let body):
            context.write(wrapOutboundOut(.body(.byteBuffer(body))), promise: promise)
        case .end(let trailers):
            context.write(wrapOutboundOut(.end(trailers.map(HTTPHeaders.init))), promise: promise)
        }
    }

    static func request(_ head: HTTPRequestHead) throws -> (HTTPRequest, RequestFrame) {
        var fields = HTTPFields()
        fields.reserveCapacity(head.headers.count)
        var host: String?
        var hosts = 0
        var frame = RequestFrame()
        for (name, value) in head.headers {
            // The length alone rules out nearly all other names.
            switch name.utf8.count {
            case 4 where isName(name, "host"):
                hosts += 1
                if hosts == 1 { host = value }
                continue
            case 6 where isName(name, "expect"):
                frame.expectsContinue = isName(value, "100-continue")
            default: break
            }
            if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
        }
        let isOld = head.version.major == 1 && head.version.minor == 0
        frame.isLast = !head.isKeepAlive
        frame.asksToPersist = isOld && head.isKeepAlive
        frame.hasSoundHost = hosts == 1 || hosts == 0 && isOld
        // An HTTP/1.0 client would take 100 Continue for the response.
        if isOld { frame.expectsContinue = false }
        let request = HTTPRequest(
            method: try HTTPRequest.Method(head.method),
            scheme: "http",
            authority: host,
            path: try path(head),
            headerFields: fields
        )
        return (request, frame)
    }

    /// The target: path and query. A proxy may send a whole URL, of which only these are kept.
    private static func path(_ head: HTTPRequestHead) throws -> String? {
        guard head.uri.utf8.first != UInt8(ascii: "/") else { return head.uri }
        return try HTTPRequest(head, secure: false, splitCookie: false).path
    }

    /// Whether a text equals a word, ignoring case. The word is in lower case.
    private static func isName(_ text: String, _ word: StaticString) -> Bool {
        guard text.utf8.count == word.utf8CodeUnitCount else { return false }
        return text.utf8.elementsEqual(word.description.utf8) { letter, wanted in
            letter == wanted || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(letter) && letter | 0x20 == wanted
        }
    }
}

/// What the head of a request says about its connection.
struct RequestFrame: Sendable, Hashable {
    /// Whether the connection ends with the response (RFC 9112, section 9.3).
    var isLast = false
    /// Whether an HTTP/1.0 client asks to keep the connection, which the response must confirm.
    var asksToPersist = false
    /// Whether it names exactly one host, as every HTTP/1.1 request must (RFC 9112, section 3.2). In HTTP/1.0 there may
    /// be none.
    var hasSoundHost = true
    /// Whether the client waits for 100 Continue before it sends the body (RFC 9110, section 10.1.1).
    var expectsContinue = false
}

/// Why a request with a well-formed head is refused.
enum RequestFrameError: Error {
    /// It names no host or more than one.
    case host
    /// It is not for the API, but came over a connection reserved for it.
    case noRoom
}
