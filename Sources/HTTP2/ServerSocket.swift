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

/// What the system holds of a connection's output.
public enum SocketQueue {
    /// The bytes that the system has taken and the peer's has not acknowledged; nil where it does not say.
    ///
    /// To be called on the channel's event loop.
    public static func unacknowledgedBytes(_ channel: any Channel) -> Int? {
        #if os(Linux)
        let held = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
            handle -> Int? in
            var bytes: CInt = 0
            // SIOCOUTQ of linux/sockios.h is TIOCOUTQ under the name that has a header everywhere.
            return ioctl(handle, UInt(TIOCOUTQ), &bytes) == 0 ? Int(bytes) : nil
        }
        return held.flatMap { $0 }.flatMap { $0 }
        #else
        return nil
        #endif
    }
}

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
