import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The service manager that started this process, such as systemd: it is told when the process is ready, reloads, makes progress and ends.
///
/// It is told by datagrams to the socket that the environment names (sd_notify(3)). Nothing that goes wrong with it disturbs the process:
/// who does not hear what it waits for acts by itself.
public final class ServiceManager: Sendable {
    /// The longest text that is sent: one line for a person.
    private static let longestStatus = 200

    private let path: [UInt8]
    private let descriptor: Int32
    /// How long the service manager waits for a sign of life before it restarts the process; nil if it does not watch.
    public let watchdogInterval: Duration?
    private let lastProgress = Mutex<ContinuousClock.Instant?>(nil)

    /// The one that started this process; nil if none did, or none that wants to be told.
    ///
    /// - Parameter environment: `NOTIFY_SOCKET` (a path, or a name behind `@`), `WATCHDOG_USEC` and `WATCHDOG_PID` are read.
    public init?(environment: [String: String]) {
        guard let socketPath = environment["NOTIFY_SOCKET"], socketPath.hasPrefix("/") || socketPath.hasPrefix("@"),
            socketPath.utf8.count < Self.longestPath
        else { return nil }
        path = Array(socketPath.utf8)
        #if canImport(Darwin)
        descriptor = socket(AF_UNIX, SOCK_DGRAM, 0)
        #else
        // A child that is started must not have it: what it says would count as ours.
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

    /// The process serves from now on.
    public func ready(_ status: String) { send("READY=1\n\(Self.line(status))") }

    /// What the process does now, for `systemctl status`.
    public func status(_ status: String) { send(Self.line(status)) }

    /// The process reads its settings again; say `ready` when it has.
    public func reloading() {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        send("RELOADING=1\nMONOTONIC_USEC=\(Int64(now.tv_sec) * 1_000_000 + Int64(now.tv_nsec) / 1_000)\n")
    }

    /// The process is about to end.
    public func stopping(_ status: String) { send("STOPPING=1\n\(Self.line(status))") }

    /// The work of the process goes on. Called as often as one likes: what is sent is a quarter of the interval apart.
    public func progress() {
        guard let interval = watchdogInterval else { return }
        let now = ContinuousClock.now
        let isDue = lastProgress.withLock { last in
            if let last, now - last < interval / 4 { return false }
            last = now
            return true
        }
        if isDue { send("WATCHDOG=1\n") }
    }

    /// Tells of progress until the task is cancelled, each time after `turn` has returned: what takes part in the work takes part in that.
    public func keepWatch(_ turn: @Sendable () async -> Void) async {
        guard let interval = watchdogInterval else { return }
        while !Task.isCancelled {
            await turn()
            progress()
            try? await Task.sleep(for: interval / 4)
        }
    }

    private static func line(_ status: String) -> String {
        "STATUS=\(status.split(whereSeparator: \.isNewline).joined(separator: " ").prefix(longestStatus))\n"
    }

    /// The room in an address of the family, with the byte that ends a path (unix(7)).
    private static let longestPath = MemoryLayout.size(ofValue: sockaddr_un().sun_path)

    private func send(_ text: String) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { room in
            room.copyBytes(from: path)
            // A name that is no file begins with a zero byte (unix(7), "abstract").
            if path.first == UInt8(ascii: "@") { room[0] = 0 }
        }
        let length = socklen_t(MemoryLayout<sockaddr_un>.size - Self.longestPath + path.count)
        let bytes = Array(text.utf8)
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(descriptor, bytes, bytes.count, 0, $0, length)
            }
        }
    }
}
