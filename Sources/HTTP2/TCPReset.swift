import NIOCore
import NIOSSL

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The end of a server's connection without a word: a TCP reset and no TLS close, and nothing that waits is sent.
public enum TCPReset {
    /// Resets the connection of a handler; to be called on its event loop.
    public static func send(_ context: ChannelHandlerContext) {
        guard let socket = context.channel as? any SocketOptionProvider else { return closeBelowTLS(context) }
        socket.setSoLinger(linger(l_onoff: 1, l_linger: 0))
            .whenComplete { [context = NIOLoopBound(context, eventLoop: context.eventLoop)] _ in
                closeBelowTLS(context.value)
            }
    }

    private static func closeBelowTLS(_ context: ChannelHandlerContext) {
        // A close that starts at the TLS handler's own context passes it by, so that it sends no close_notify.
        let operations = context.pipeline.syncOperations
        if let tls = try? operations.context(handlerType: NIOSSLServerHandler.self) {
            tls.close(promise: nil)
        } else {
            context.close(promise: nil)
        }
    }
}
