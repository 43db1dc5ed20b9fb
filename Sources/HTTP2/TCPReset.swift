import NIOCore
import NIOPosix
import NIOSSL

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Ends a server's connection abruptly: with a TCP reset, without a TLS close, discarding queued output.
package enum TCPReset {
    /// Resets the connection of a handler. Call it on the channel's event loop.
    package static func send(_ context: ChannelHandlerContext) {
        guard let socket = context.channel as? any SocketOptionProvider else { return closeBelowTLS(context) }
        socket.setSoLinger(linger(l_onoff: 1, l_linger: 0))
            .whenComplete { [context = NIOLoopBound(context, eventLoop: context.eventLoop)] _ in
                closeBelowTLS(context.value)
            }
    }

    private static func closeBelowTLS(_ context: ChannelHandlerContext) {
        // A close that starts at the TLS handler's context bypasses the handler, so no close_notify is sent.
        let operations = context.pipeline.syncOperations
        if let tls = try? operations.context(handlerType: NIOSSLServerHandler.self) {
            tls.close(promise: nil)
        } else {
            context.close(promise: nil)
        }
    }
}
