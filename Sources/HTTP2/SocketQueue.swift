import NIOCore
import NIOPosix

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
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
