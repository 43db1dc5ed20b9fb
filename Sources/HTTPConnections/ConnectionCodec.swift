import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1

/// Translates between the parts of the HTTP/1 codec and those that everything else works with, and tells the connection's guard what
/// only the former show.
///
/// The one of swift-nio-extras takes every target apart as a URL and looks for the host twice; here one walk over the fields finds
/// all that is needed.
package final class ConnectionCodec: ChannelDuplexHandler, RemovableChannelHandler {
    package typealias InboundIn = HTTPServerRequestPart
    package typealias InboundOut = HTTPRequestPart
    package typealias OutboundIn = HTTPResponsePart
    package typealias OutboundOut = HTTPServerResponsePart

    private let connection: ConnectionGuard

    /// That of a connection with this guard.
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
            // The lengths tell nearly all names apart from these two.
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
        // An old client would take the word for the answer.
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

    /// The target; of a whole URL, which a proxy may send, path and query.
    private static func path(_ head: HTTPRequestHead) throws -> String? {
        guard head.uri.utf8.first != UInt8(ascii: "/") else { return head.uri }
        return try HTTPRequest(head, secure: false, splitCookie: false).path
    }

    /// Whether a text is a word, whose letters are lower-case ones, in any case.
    private static func isName(_ text: String, _ word: StaticString) -> Bool {
        guard text.utf8.count == word.utf8CodeUnitCount else { return false }
        return text.utf8.elementsEqual(word.description.utf8) { letter, wanted in
            letter == wanted || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(letter) && letter | 0x20 == wanted
        }
    }
}

/// What the head of a request says of its connection, and not of what is asked for.
struct RequestFrame: Sendable, Hashable {
    /// Whether the connection ends with the answer (RFC 9112, section 9.3).
    var isLast = false
    /// Whether the client is of HTTP/1.0, asks for further answers on the connection and must be told that there may be some.
    var asksToPersist = false
    /// Whether it names just one host, as every request of HTTP/1.1 has to (RFC 9112, section 3.2).
    var hasSoundHost = true
    /// Whether the client waits for a word before it sends the body (RFC 9110, section 10.1.1).
    var expectsContinue = false
}

/// A request's head is HTTP, and still nothing that may be answered.
enum RequestFrameError: Error {
    /// It names no host, or several.
    case host
    /// It came over one of the last connections, which are the API's, and is for something else.
    case noRoom
}
