import NIOCore
import NIOPosix

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The system's output queue of a connection.
package enum SocketQueue {
    /// The bytes that the system has accepted and the peer has not acknowledged; nil if unknown.
    ///
    /// Call it on the channel's event loop.
    package static func unacknowledgedBytes(_ channel: any Channel) -> Int? {
        #if os(Linux)
        let held = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
            handle -> Int? in
            var bytes: CInt = 0
            // SIOCOUTQ of linux/sockios.h equals TIOCOUTQ, whose header is available everywhere.
            return ioctl(handle, UInt(TIOCOUTQ), &bytes) == 0 ? Int(bytes) : nil
        }
        return held.flatMap { $0 }.flatMap { $0 }
        #else
        return nil
        #endif
    }
}
