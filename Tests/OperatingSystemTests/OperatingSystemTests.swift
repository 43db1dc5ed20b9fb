import Foundation
import OperatingSystem
import SystemPackage
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

@Suite struct OperatingSystemTests {
    /// A new file, as a lock belongs to an opening and not to a process: two of them see one another.
    private static func withFile(_ body: (FilePath) throws -> Void) throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "pushmta-lock-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data().write(to: URL(filePath: path))
        try body(FilePath(path))
    }

    @Test func aLockIsHeldAsLongAsItsObject() throws {
        try Self.withFile { path in
            var lock = try FileLock.acquire(path, create: false)
            #expect(lock != nil)
            let other = try withExtendedLifetime(lock) { try FileLock.acquire(path, create: true) }
            #expect(other == nil)
            lock = nil
            let next = try #require(try FileLock.acquire(path, create: true))
            next.release()
            #expect(try FileLock.acquire(path, create: false) != nil, "it was given up, though its object is there")
            withExtendedLifetime(next) {}
        }
    }

    @Test func sharedLocksExcludeTheOthersOnly() throws {
        try Self.withFile { path in
            let files = try (0..<3).map { _ in try FileDescriptor.open(path, .readOnly, options: [.closeOnExec]) }
            #expect(try files[0].tryLock(shared: true))
            #expect(try files[1].tryLock(shared: true))
            #expect(try !files[2].tryLock())
            try files[0].close()
            #expect(try !files[2].tryLock(), "one of two is left")
            try files[1].close()
            #expect(try files[2].tryLock())
            try files[2].close()
        }
    }

    @Test func whatIsNoFileIsAnError() {
        #expect(throws: Errno.noSuchFileOrDirectory) { try FileLock.acquire("/nowhere/at/all", create: true) }
    }

    /// A signal that a thread of a library took would interrupt its waiting, and be missing where it is expected.
    @Test func aThreadTakesNoSignals() async throws {
        let areBlocked = try await withCheckedThrowingContinuation {
            (continuation: CheckedContinuation<[Bool], any Error>) in
            do {
                try DetachedThread.start {
                    var signals = sigset_t()
                    pthread_sigmask(SIG_BLOCK, nil, &signals)
                    continuation.resume(
                        returning: [SIGTERM, SIGINT, SIGHUP, SIGPIPE].map { sigismember(&signals, $0) == 1 }
                    )
                }
            } catch {
                continuation.resume(throwing: error)
            }
        }
        #expect(areBlocked == [true, true, true, true])
    }

    @Test func figuresAreThere() {
        #expect(Machine.residentBytes() > 1 << 20)
        #expect(Machine.freeBytes(at: "/") > 0)
        #expect(Machine.freeBytes(at: "/nowhere/at/all") == 0)
        #expect(Machine.load() >= 0)
    }
}
