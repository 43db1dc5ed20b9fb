import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The service manager's end of the socket that NOTIFY_SOCKET names. It receives what a process reports to systemd.
package final class NotifySocket: Sendable {
    /// The value of NOTIFY_SOCKET.
    package let path: String
    private let descriptor: Int32

    /// Opens the socket at a path that does not exist yet.
    package init(path: String) throws {
        self.path = path
        #if canImport(Darwin)
        descriptor = socket(AF_UNIX, SOCK_DGRAM, 0)
        #else
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        #endif
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw CocoaError(.fileWriteUnknown) }
        // The timeout lets the loop check whether the wait is over.
        var time = timeval(tv_sec: 0, tv_usec: 100_000)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    /// The next notice that contains a text; earlier notices are dropped. Nil if none comes in time.
    package func notice(containing text: String, within limit: Duration = .seconds(60)) async -> String? {
        let end = ContinuousClock.now + limit
        while ContinuousClock.now < end {
            let notice: String? = await withCheckedContinuation { continuation in
                DispatchQueue.global().async { continuation.resume(returning: self.receive()) }
            }
            if let notice, notice.contains(text) { return notice }
        }
        return nil
    }

    private func receive() -> String? {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
    }
}
