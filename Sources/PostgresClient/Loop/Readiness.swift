#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// What `poll` reports for a connection's socket.
struct Readiness {
    var canRead = false
    var canWrite = false

    /// Whether the socket is readable now.
    static func canRead(socket: Int32) -> Bool {
        var descriptor = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return poll(&descriptor, 1, 0) > 0
    }

    /// Waits until the socket or the wake-up is ready, or the milliseconds have passed (-1: no limit).
    ///
    /// Errors and hang-ups count as readable, so that libpq finds out what they are.
    static func wait(
        socket: Int32,
        reading: Bool,
        writing: Bool,
        wakeUp: WakeUp,
        milliseconds: Int32
    ) -> Readiness {
        let watched = (reading ? POLLIN : 0) | (writing ? POLLOUT : 0)
        // A negative descriptor is skipped. A socket that is not watched would otherwise keep reporting a hang-up.
        let first = pollfd(fd: watched == 0 ? -1 : socket, events: Int16(watched), revents: 0)
        let second = pollfd(fd: wakeUp.readDescriptor, events: Int16(POLLIN), revents: 0)
        var descriptors = (first, second)
        let count = withUnsafeMutableBytes(of: &descriptors) { bytes in
            poll(bytes.baseAddress?.assumingMemoryBound(to: pollfd.self), 2, milliseconds)
        }
        guard count > 0 else { return Readiness() }
        if descriptors.1.revents != 0 { wakeUp.drain() }
        let found = Int32(descriptors.0.revents)
        let trouble = found & Int32(POLLERR | POLLHUP | POLLNVAL) != 0
        return Readiness(
            canRead: found & Int32(POLLIN) != 0 || trouble,
            canWrite: found & Int32(POLLOUT) != 0 || trouble && writing
        )
    }
}
