import HTTPConnections
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import PushCore

/// Hummingbird's HTTP/1 connections, with our deadlines and limits.
struct WebChannel: ServerChildChannel, HTTPChannelHandler {
    typealias Value = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    let web: WebResponder
    /// The admission of its port.
    let admission: PortAdmission
    let limits: ConnectionPhase.Limits
    let headerBytes: Int
    /// The maximum size of a body on any path, in bytes.
    let bodyBytes: Int
    /// The executor of each event loop.
    let executors: [ObjectIdentifier: LoopExecutor]

    var responder: HTTPChannelHandler.Responder {
        { [web] request, writer, channel in try await web.respond(request, writer, channel) }
    }

    /// Sets up Hummingbird's pipeline with our codec and handlers.
    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        guard let ticket = admission.open(channel.remoteAddress.flatMap { IPAddress($0) }) else {
            return channel.eventLoop.makeCompletedFuture {
                // A failure here would end the listening socket.
                try channel.pipeline.syncOperations.addHandler(RefusedConnection())
                return try NIOAsyncChannel(wrappingChannelSynchronously: channel)
            }
        }
        channel.closeFuture.whenComplete { _ in ticket.close() }
        return channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            let connection = ConnectionGuard(
                limits: limits,
                maxBodyBytes: bodyBytes,
                ticket: ticket,
                isForAPI: { [web] in web.isForAPI($0) }
            )
            try pipeline.configureHTTP(guardedBy: connection, headerBytes: headerBytes)
            try pipeline.addHandler(DeviceShortcut(web))
            try pipeline.addHandler(HTTPConnectionStateHandler(logger: logger))
            return try NIOAsyncChannel(
                wrappingChannelSynchronously: channel,
                configuration: .init(isOutboundHalfClosureEnabled: true)
            )
        }
    }

    func handle(value: Value, logger: Logger) async {
        guard let executor = executors[ObjectIdentifier(value.channel.eventLoop)] else {
            return await handleHTTP(asyncChannel: value, logger: logger)
        }
        await withTaskExecutorPreference(executor) {
            await handleHTTP(asyncChannel: value, logger: logger)
        }
    }
}

/// Runs tasks on an event loop, so that a connection's tasks stay on the thread that reads and writes it.
///
/// Hummingbird serves each connection in a task; on the global pool every request costs two thread switches. Measured
/// on two busy cores with requests that are answered at once: 49 microseconds of processor time each on the pool, 41
/// with this executor.
final class LoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(_ loop: any EventLoop) {
        self.loop = loop
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

/// Answers the requests of devices, receipts and registrations, on the event loop; passes all others to Hummingbird.
///
/// They are by far the most frequent, and need neither a router nor a task. Through Hummingbird's connection task and
/// asynchronous writer a receipt took 72 microseconds of processor time (two busy cores, 256 connections). Most of that
/// was spent in tasks, streams and the writer; about a tenth was for the receipt itself.
final class DeviceShortcut: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// A device's request that is being read.
    private struct Reading {
        let device: DeviceExchange
        var body = ByteBuffer()
    }

    private let responder: WebResponder
    private var peer: IPAddress?
    /// The number of requests that Hummingbird has not answered yet. A device's request behind them must go the same
    /// way, to keep the order.
    private var forwarded = 0
    private var reading: Reading?
    /// Whether a device's request is being stored. Parts that arrive meanwhile are held, so that responses keep the
    /// order of their requests.
    private var isAnswering = false
    private var held: [HTTPRequestPart] = []
    private var holdsRead = false
    private var heldEvents: [Any] = []
    /// Whether the client reads its responses. If it does not, nothing is read from it, or its pending responses would
    /// grow without limit.
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
        if let reading { responder.giveUp(reading.device) }
        reading = nil
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
        // Further requests are handled only once the client has read its responses.
        if isWritable { resume(context) }
        context.fireChannelWritabilityChanged()
    }

    private var isHolding: Bool { isAnswering || !isWritable || !held.isEmpty }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        if case .end = unwrapOutboundIn(data) { forwarded = max(0, forwarded - 1) }
        context.write(data, promise: promise)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if mustWait(event) {
            heldEvents.append(event)
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    /// Whether an event must wait. The handlers after this one do not know of requests handled here. They would
    /// consider the connection idle and close it when the process ends, or when the client closes its side.
    private func mustWait(_ event: Any) -> Bool {
        switch event {
        case is ChannelShouldQuiesceEvent: reading != nil || isAnswering || !held.isEmpty
        case ChannelEvent.inputClosed: isAnswering || !held.isEmpty
        default: false
        }
    }

    private func take(_ part: HTTPRequestPart, _ context: ChannelHandlerContext) {
        switch part {
        case .head(let request):
            if forwarded == 0, let kind = responder.deviceRequest(request) {
                reading = Reading(device: responder.begin(request, kind, peer: peer))
                return
            }
            forwarded += 1
        case .body(var bytes):
            if let device = reading?.device {
                if device.refusal == nil { _ = reading?.body.writeBuffer(&bytes) }
                return
            }
        case .end:
            if let request = reading {
                reading = nil
                return answer(request, context)
            }
        }
        context.fireChannelRead(wrapInboundOut(part))
    }

    private func answer(_ request: Reading, _ context: ChannelHandlerContext) {
        isAnswering = true
        let loop = context.eventLoop
        let bound = NIOLoopBound((self, context), eventLoop: loop)
        responder.answer(request.device, body: request.body) { head, body in
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

    /// Handles the held parts, as far as possible now.
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
        let events = heldEvents
        heldEvents = []
        // They wait again if another request is being read by now.
        for event in events { userInboundEventTriggered(context: context, event: event) }
        if holdsRead {
            holdsRead = false
            context.read()
        }
    }
}
