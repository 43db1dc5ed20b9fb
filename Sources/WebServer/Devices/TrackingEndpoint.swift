import HTTPTypes
import NIOCore
import NIOHTTPTypes
import PushCore
import Store

/// `GET /r/?id=h<message>,<delivery>,<tag>`.
struct TrackingEndpoint: Sendable {
    let writer: TrackingWriter

    /// 200 only when the hit is in the database, or on disk; tells it from whatever thread.
    func answer(
        _ request: HTTPRequest,
        query: Substring,
        _ exchange: WebExchange,
        _ answer: @escaping @Sendable (WebAnswer) -> Void
    ) {
        guard request.method == .get else { return answer(.wrongMethod(allowed: "GET")) }
        guard let text = Self.id(query), let id = TrackingID(text) else {
            writer.drop(DroppedHits(malformed: 1))
            return answer(.malformedTrackingID)
        }
        let hit = TrackingHit(
            id: id,
            microseconds: WallClock.microseconds,
            address: exchange.client,
            userAgent: request.headerFields[.userAgent] ?? ""
        )
        writer.submit(hit) { decision in
            switch decision {
            case .stored, .spooled: answer(.tracked)
            case .unknown, .foreign: answer(.unknownMessage)
            case .unavailable: answer(.storageFull)
            }
        }
    }

    private static func needsDecoding(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "%") || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "&")
    }

    /// The parameter `id`; as the SDKs write it, it needs no decoding.
    private static func id(_ query: Substring) -> String? {
        if query.hasPrefix("id="), !query.utf8.contains(where: Self.needsDecoding) {
            return String(query.dropFirst(3))
        }
        var form = FormParameters()
        guard (try? form.read(Array(query.utf8))) != nil else { return nil }
        return form["id"]
    }
}

/// Answers receipts on the event loop; everything else goes on to Hummingbird.
///
/// A receipt needs no body and no router, and after a delivery there are more of them than of anything else. Through Hummingbird's
/// connection task and its asynchronous writer a receipt took 72 microseconds of processor time (two busy cores, 256 connections),
/// most of it in tasks, streams and the writer and about a tenth in what is done for the receipt itself.
final class TrackingShortcut: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    private let responder: WebResponder
    private var peer: IPAddress?
    /// Requests that Hummingbird has and has not answered: a receipt behind them must wait its turn there.
    private var forwarded = 0
    /// The receipt that is being read.
    private var head: HTTPRequest?
    /// A receipt is being stored; what comes meanwhile is held, so that answers keep the order of their requests.
    private var isAnswering = false
    private var held: [HTTPRequestPart] = []
    private var holdsRead = false
    private var heldEvents: [ChannelShouldQuiesceEvent] = []
    /// Whether the client takes its answers: nothing is read from one that does not, or what it is owed would grow without end.
    private var isWritable = true
    private var isGone = false

    init(_ responder: WebResponder) {
        self.responder = responder
    }

    func channelActive(context: ChannelHandlerContext) {
        peer = context.remoteAddress.flatMap { IPAddress($0) }
        context.fireChannelActive()
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        isGone = true
        held = []
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let part = unwrapInboundIn(data)
        if isHolding { held.append(part) } else { take(part, context) }
    }

    func read(context: ChannelHandlerContext) {
        if isHolding { holdsRead = true } else { context.read() }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
        isWritable = context.channel.isWritable
        // The client has the answers before more is made of its requests.
        if isWritable { resume(context) }
        context.fireChannelWritabilityChanged()
    }

    private var isHolding: Bool { isAnswering || !isWritable || !held.isEmpty }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) { forwarded = max(0, forwarded - 1) }
        context.write(data, promise: promise)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if isAnswering || !held.isEmpty, let event = event as? ChannelShouldQuiesceEvent {
            heldEvents.append(event)
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    private func take(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
        switch part {
        case .head(let request):
            if forwarded == 0, responder.isTracking(request) {
                head = request
                return
            }
            forwarded += 1
        case .body:
            if head != nil { return }
        case .end:
            if let request = head {
                head = nil
                return answer(request, context)
            }
        }
        context.fireChannelRead(wrapInboundOut(part))
    }

    private func answer(_ request: HTTPRequest, _ context: ChannelHandlerContext) {
        isAnswering = true
        let loop = context.eventLoop
        let bound = NIOLoopBound((self, context), eventLoop: loop)
        responder.answerTracking(request, peer: peer) { head, body in
            loop.execute {
                let (shortcut, context) = bound.value
                shortcut.write(head, body, context)
            }
        }
    }

    private func write(_ head: HTTPResponse, _ body: ByteBuffer, _ context: ChannelHandlerContext) {
        guard !isGone else { return }
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        if body.readableBytes > 0 { context.write(wrapOutboundOut(.body(body)), promise: nil) }
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        isAnswering = false
        resume(context)
    }

    /// Takes what was held, as far as it may be taken now.
    private func resume(_ context: ChannelHandlerContext) {
        if !held.isEmpty {
            var count = 0
            while !isAnswering, isWritable, count < held.count {
                count += 1
                take(held[count - 1], context)
            }
            held.removeFirst(count)
            if !isAnswering, count > 0 { context.fireChannelReadComplete() }
        }
        guard !isHolding else { return }
        for event in heldEvents { context.fireUserInboundEventTriggered(event) }
        heldEvents = []
        if holdsRead {
            holdsRead = false
            context.read()
        }
    }
}
