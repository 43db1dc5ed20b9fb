#if canImport(Darwin)
import Darwin
#else
import Glibc
#endif

/// A pipe with which other threads wake one that waits in `poll`.
final class WakeUp: Sendable {
    /// Becomes readable after ``signal()``.
    let readDescriptor: Int32
    private let writeDescriptor: Int32

    init() throws(PostgresError) {
        var descriptors: [Int32] = [-1, -1]
        guard pipe(&descriptors) == 0 else {
            throw PostgresError(
                code: .connection,
                message: "cannot open a pipe for a connection's wake-up: \(String(cString: strerror(errno)))"
            )
        }
        for descriptor in descriptors {
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
            _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        }
        readDescriptor = descriptors[0]
        writeDescriptor = descriptors[1]
    }

    deinit {
        _ = close(readDescriptor)
        _ = close(writeDescriptor)
    }

    /// Wakes the thread; a full pipe does as well.
    func signal() {
        var byte: UInt8 = 1
        _ = write(writeDescriptor, &byte, 1)
    }

    /// Discards the signals so far.
    func drain() {
        withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
            while let base = buffer.baseAddress, read(readDescriptor, base, buffer.count) == buffer.count {}
        }
    }
}
