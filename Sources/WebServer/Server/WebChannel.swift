import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTPTypes

/// Hummingbird's HTTP/1 connections, with deadlines and limits of ours.
struct WebChannel: ServerChildChannel, HTTPChannelHandler {
    typealias Value = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    let web: WebResponder
    let limits: ConnectionPhase.Limits
    let headerBytes: Int
    /// Of each event loop.
    let executors: [ObjectIdentifier: LoopExecutor]

    var responder: HTTPChannelHandler.Responder {
        { [web] request, writer, channel in try await web.respond(request, writer, channel) }
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        // It is called on the channel's own event loop.
        let connection = NIOLoopBound(ConnectionGuard(limits: limits), eventLoop: channel.eventLoop)
        do {
            try channel.pipeline.syncOperations.addHandler(ByteWatch(connection.value))
        } catch {
            return channel.eventLoop.makeFailedFuture(error)
        }
        return HTTP1Channel(
            responder: responder,
            configuration: HTTP1Channel.Configuration(
                additionalChannelHandlers: [connection.value, TrackingShortcut(web)],
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: headerBytes,
                    maxHeaderListSize: headerBytes,
                    // A head of the largest size with the shortest fields would have thousands.
                    maxHeaderFieldCount: 100
                )
            )
        ).setup(channel: channel, logger: logger)
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
