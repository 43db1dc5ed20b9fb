#if DEBUG
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The crash point at which a process must die, and how often it has been reached.
@usableFromInline
final class CrashPointTrap: Sendable {
    /// The name of the environment variable.
    static let variable = "PUSHMTA_CRASH_POINT"
    private static let ofProcess = ProcessInfo.processInfo.environment[variable].flatMap { CrashPointTrap($0) }

    let point: CrashPoint
    /// The visit at which it springs, counted from 1.
    let visit: Int
    /// The file whose presence arms it.
    let file: String
    private let visits = Mutex(0)

    /// Parses `NAME:N:FILE`; nil if the text is malformed.
    init?(_ text: String) {
        let fields = text.split(separator: ":", maxSplits: 2)
        guard
            fields.count == 3, let point = CrashPoint(rawValue: String(fields[0])),
            let visit = Int(fields[1]), visit > 0
        else { return nil }
        self.point = point
        self.visit = visit
        file = String(fields[2])
    }

    /// Counts a visit; true if the process must die now. Only one process gets true, and only once.
    func springs(at reached: CrashPoint) -> Bool {
        guard reached == point else { return false }
        let isDue = visits.withLock {
            $0 += 1
            return $0 == visit
        }
        // Only one of several processes succeeds in removing the file.
        return isDue && unlink(file) == 0
    }

    @usableFromInline
    static func dieIfArmed(_ reached: CrashPoint) {
        guard let trap = ofProcess, trap.springs(at: reached) else { return }
        kill(getpid(), SIGKILL)
        // Nothing may run after the signal: it ends all threads, but not always before the call returns.
        while true { pause() }
    }
}
#endif
