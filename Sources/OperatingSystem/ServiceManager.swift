import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Notifies the service manager that started this process, such as systemd: the process is ready, reloads, makes
/// progress or stops.
///
/// Notifications are datagrams to the socket named in the environment (sd_notify(3)). Failures are ignored: a service
/// manager acts on its own when a notification is missing.
package final class ServiceManager: Sendable {
    /// The maximum length of a status text: one readable line.
    private static let maxStatusLength = 200

    private let path: [UInt8]
    private let descriptor: Int32
    /// How long the service manager waits for a sign of life before it restarts the process; nil without a watchdog.
    package let watchdogInterval: Duration?
    private let lastProgress = Mutex<ContinuousClock.Instant?>(nil)

    /// Connects to the service manager; nil if none started this process, or if it wants no notifications.
    ///
    /// - Parameter environment: reads `NOTIFY_SOCKET` (a path, or a name after `@`), `WATCHDOG_USEC` and
    ///   `WATCHDOG_PID`.
    package init?(environment: [String: String]) {
        guard let socketPath = environment["NOTIFY_SOCKET"], socketPath.hasPrefix("/") || socketPath.hasPrefix("@"),
            socketPath.utf8.count < Self.maxPathLength
        else { return nil }
        path = Array(socketPath.utf8)
        #if canImport(Darwin)
        descriptor = socket(AF_UNIX, SOCK_DGRAM, 0)
        #else
        // Children must not inherit the socket: their notifications would count as ours.
        descriptor = socket(
            AF_UNIX,
            Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue),
            0
        )
        #endif
        let isOurs = environment["WATCHDOG_PID"].map { $0 == String(getpid()) } ?? true
        watchdogInterval = environment["WATCHDOG_USEC"].flatMap { Int64($0) }.flatMap {
            isOurs && $0 > 0 ? .microseconds($0) : nil
        }
        if descriptor < 0 { return nil }
    }

    deinit { close(descriptor) }

    /// Reports that the process is ready.
    package func ready(_ status: String) { send("READY=1\n\(Self.line(status))") }

    /// Reports what the process does now, for `systemctl status`.
    package func status(_ status: String) { send(Self.line(status)) }

    /// Reports a reload of the settings; call `ready` when it is done.
    package func reloading() {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        send("RELOADING=1\nMONOTONIC_USEC=\(Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1_000)\n")
    }

    /// Reports that the process is stopping.
    package func stopping(_ status: String) { send("STOPPING=1\n\(Self.line(status))") }

    /// Reports progress. It may be called at any rate: notifications are sent at most four times per watchdog interval.
    package func progress() {
        guard let interval = watchdogInterval else { return }
        let now = ContinuousClock.now
        let isDue = lastProgress.withLock { last in
            if let last, now - last < interval / 4 { return false }
            last = now
            return true
        }
        if isDue { send("WATCHDOG=1\n") }
    }

    /// Reports progress until the task is cancelled, each time after `turn` has returned. So a `turn` that runs through
    /// the process's work proves that the work continues.
    package func keepWatch(_ turn: @Sendable () async -> Void) async {
        guard let interval = watchdogInterval else { return }
        while !Task.isCancelled {
            await turn()
            progress()
            try? await Task.sleep(for: interval / 4)
        }
    }

    private static func line(_ status: String) -> String {
        "STATUS=\(status.split(whereSeparator: \.isNewline).joined(separator: " ").prefix(maxStatusLength))\n"
    }

    /// The size of a path in a socket address, including its final zero byte (unix(7)).
    private static let maxPathLength = MemoryLayout.size(ofValue: sockaddr_un().sun_path)

    private func send(_ text: String) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { room in
            room.copyBytes(from: path)
            // An abstract name, which is not a file, begins with a zero byte (unix(7)).
            if path.first == UInt8(ascii: "@") { room[0] = 0 }
        }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size - Self.maxPathLength + path.count)
        let bytes = Array(text.utf8)
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, bytes, bytes.count, 0, $0, length)
            }
        }
    }
}
