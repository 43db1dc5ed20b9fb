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
            var decoding = NIOHTTPDecoderLimitConfiguration()
            decoding.maxHeaderFieldSize = headerBytes
            decoding.maxHeaderListSize = headerBytes
            // A head of the largest size with the shortest fields would have thousands.
            decoding.maxHeaderFieldCount = 100
            try pipeline.addHandler(ByteWatch(connection))
            try pipeline.configureHTTPServerPipeline(
                withPipeliningAssistance: false,
                withErrorHandling: false,
                // The fields' types see to that.
                withOutboundHeaderValidation: false,
                withEncoderConfiguration: .init(),
                withDecoderLimitConfiguration: decoding
            )
            try pipeline.addHandler(WebCodec(connection))
            try pipeline.addHandler(connection)
            try pipeline.addHandler(TrackingShortcut(web))
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
