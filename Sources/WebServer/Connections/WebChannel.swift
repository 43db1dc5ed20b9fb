import HTTPConnections
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import PushCore

/// Hummingbird's HTTP/1 connections, with deadlines and limits of ours.
struct WebChannel: ServerChildChannel, HTTPChannelHandler {
    typealias Value = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    let web: WebResponder
    /// Of the port that it is for.
    let admission: PortAdmission
    let limits: ConnectionPhase.Limits
    let headerBytes: Int
    /// More than these no path takes.
    let bodyBytes: Int
    /// Of each event loop.
    let executors: [ObjectIdentifier: LoopExecutor]

    var responder: HTTPChannelHandler.Responder {
        { [web] request, writer, channel in try await web.respond(request, writer, channel) }
    }

    /// Hummingbird's own pipeline, with our codec and our handlers in it.
    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        guard let ticket = admission.open(channel.remoteAddress.flatMap { IPAddress($0) }) else {
            return channel.eventLoop.makeCompletedFuture {
                // A failure would be the listening socket's, and end it.
                try channel.pipeline.syncOperations.addHandler(RefusedConnection())
                return try NIOAsyncChannel(wrappingChannelSynchronously: channel)
            }
        }
        channel.closeFuture.whenComplete { _ in ticket.close() }
        return channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            let connection = ConnectionGuard(
                limits: limits,
                mostBodyBytes: bodyBytes,
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

/// Runs tasks on an event loop: those of a connection stay on the thread that reads and writes it.
///
/// Hummingbird serves each connection with a task; on the general pool every request costs two changes of thread. Measured on
/// two busy cores, requests that are answered at once: 49 microseconds of processor time each on the pool, 41 with this.
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

/// Answers what devices send, receipts and registrations, on the event loop; everything else goes on to Hummingbird.
///
/// None of it needs a router or a task, and there is more of it than of anything else. Through Hummingbird's connection task and its
/// asynchronous writer a receipt took 72 microseconds of processor time (two busy cores, 256 connections), most of it in tasks, streams
/// and the writer and about a tenth in what is done for the receipt itself.
final class DeviceShortcut: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// A request of a device that is being read.
    private struct Reading {
        let device: DeviceExchange
        var body = ByteBuffer()
    }

    private let responder: WebResponder
    private var peer: IPAddress?
    /// Requests that Hummingbird has and has not answered: a device's behind them must wait its turn there.
    private var forwarded = 0
    private var reading: Reading?
    /// What a device sent is being stored; what comes meanwhile is held, so that answers keep the order of their requests.
    private var isAnswering = false
    private var held: [HTTPRequestPart] = []
    private var holdsRead = false
    private var heldEvents: [Any] = []
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
        if mustWait(event) {
            heldEvents.append(event)
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    /// Behind us nobody knows of a request that is read or answered here: the connection would be taken for an idle one, and closed, by
    /// who ends the process or hears that the client sends nothing more.
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
        let events = heldEvents
        heldEvents = []
        // One that is being read by now makes them wait again.
        for event in events { userInboundEventTriggered(context: context, event: event) }
        if holdsRead {
            holdsRead = false
            context.read()
        }
    }
}
