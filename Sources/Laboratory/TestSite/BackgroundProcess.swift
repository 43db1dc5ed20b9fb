import Administration
import Foundation
import Subprocess
import Synchronization
import SystemPackage

/// A process in its own session, which outlives the caller and keeps neither the caller's descriptors nor its folder. A
/// record file stores its id, so that a later run can end it.
struct BackgroundProcess: Sendable {
    /// How long a process may take to end after SIGTERM before it is killed. It is longer than a supervisor gives its
    /// children.
    private static let timeout = Duration.seconds(80)
    /// The interval between checks whether a process has ended.
    private static let lookInterval = Duration.milliseconds(20)

    /// The process's name, for messages.
    let name: String
    /// The file that stores its id and start time.
    let recordFile: String
    /// The file for its standard output and standard error.
    let logFile: String
    /// Whether a new start appends to the log.
    var appendsLog = false
    private let ends = ProcessEnds()

    /// Starts the process.
    ///
    /// - Returns: Its id.
    @discardableResult
    func start(_ executable: String, _ arguments: [String], environment: [String: String?] = [:]) async throws -> Int32
    {
        let log = try FileDescriptor.open(
            FilePath(logFile),
            .writeOnly,
            options: appendsLog ? [.create, .append] : [.create, .truncate],
            permissions: [.ownerReadWrite, .groupRead, .otherRead]
        )
        var options = PlatformOptions()
        options.createSession = true
        let updates = Dictionary(
            uniqueKeysWithValues: environment.map { (Environment.Key(stringLiteral: $0.key), $0.value) }
        )
        let configuration = Configuration(
            executable: .path(FilePath(executable)),
            arguments: Arguments(arguments),
            environment: .inherit.updating(updates),
            workingDirectory: "/",
            platformOptions: options
        )
        let (started, signal) = AsyncThrowingStream<Int32, any Error>.makeStream()
        // The task waits for the process, so that no zombie stays while this one runs. It is never cancelled, because
        // that would end the process.
        let ends = ends
        Task.detached {
            do {
                let result = try await Subprocess.run(
                    configuration,
                    input: .none,
                    output: .fileDescriptor(log, closeAfterSpawningProcess: true),
                    error: .combinedWithOutput
                ) { execution in
                    let id = execution.processIdentifier.value
                    ends.started(id)
                    signal.yield(id)
                    signal.finish()
                }
                let status = result.terminationStatus
                ends.ended(result.processIdentifier.value, isOrderly: status == .exited(0), words: "\(status)")
            } catch {
                signal.finish(throwing: error)
            }
        }
        for try await id in started {
            try remember(id)
            return id
        }
        throw CommandFailure(.software, "\(name) could not be started: \(executable)")
    }

    /// The process in the record file if it still runs.
    var running: ProcessRecord? {
        guard let text = try? String(contentsOfFile: recordFile, encoding: .utf8) else { return nil }
        let parts = text.split(whereSeparator: \.isWhitespace)
        guard parts.count == 2, let id = Int32(parts[0]), let process = ProcessRecord(id),
            String(process.startTicks) == parts[1]
        else { return nil }
        return process
    }

    /// Gives the process CPU priority if this process may do so; root may.
    ///
    /// - Returns: Whether the process has priority.
    func comeFirst() -> Bool {
        // About nine times the weight of a normal process (sched(7)), so it hardly waits for others.
        let niceness: Int32 = -10
        guard let process = running else { return false }
        // The process leads a process group. Linux sets the niceness of a process for one thread only, but that of a
        // group for all threads.
        #if canImport(Darwin)
        let ofGroup = PRIO_PGRP
        #else
        let ofGroup = __priority_which_t(PRIO_PGRP.rawValue)
        #endif
        guard setpriority(ofGroup, id_t(process.id), niceness) == 0 else { return false }
        // With autogroup, Linux schedules sessions against each other, and niceness applies only within a session.
        let session = "/proc/\(process.id)/autogroup"
        guard FileManager.default.fileExists(atPath: session) else { return true }
        return (try? FileHandle(forWritingTo: URL(filePath: session)).write(contentsOf: Data("\(niceness)".utf8)))
            != nil
    }

    /// Ends the process with SIGTERM, and if that takes too long, kills its session with SIGKILL. Returns when it has
    /// ended.
    ///
    /// - Returns: How it ended.
    @discardableResult
    func stop() async throws -> ProcessStop {
        var stop = ProcessStop.wasGone
        if let process = running {
            Foundation.kill(process.id, SIGTERM)
            if try await ended(process, within: Self.timeout) {
                stop = try await ends.end(of: process.id)
            } else {
                stop = .killed
                Foundation.kill(-process.id, SIGKILL)
                Foundation.kill(process.id, SIGKILL)
                _ = try await ended(process, within: Self.timeout)
            }
        }
        try? FileManager.default.removeItem(atPath: recordFile)
        return stop
    }

    /// Kills only the process, with SIGKILL, and returns when it has ended.
    func kill() async throws {
        guard let process = running else { return }
        _ = Foundation.kill(process.id, SIGKILL)
        _ = try await ended(process, within: Self.timeout)
    }

    /// The last lines of the log, for a message.
    var stderrTail: String { logTail(lines: 3) }

    func logTail(lines: Int) -> String {
        let text = (try? String(contentsOfFile: logFile, encoding: .utf8)) ?? ""
        return text.split(separator: "\n").suffix(lines).joined(separator: "\n")
    }

    private func remember(_ id: Int32) throws {
        let start = ProcessRecord(id)?.startTicks ?? 0
        try "\(id) \(start)\n".write(toFile: recordFile, atomically: true, encoding: .utf8)
    }

    private func ended(_ process: ProcessRecord, within limit: Duration) async throws -> Bool {
        let deadline = ContinuousClock.now.advanced(by: limit)
        while ContinuousClock.now < deadline {
            guard ProcessRecord(process.id)?.startTicks == process.startTicks else { return true }
            try await Task.sleep(for: Self.lookInterval)
        }
        return false
    }
}

/// The ends of the processes that this program started, by process id.
final class ProcessEnds: Sendable {
    private enum State: Sendable {
        case running
        case ended(isOrderly: Bool, words: String)
    }

    /// How long after a process's end its exit status may be unknown.
    private static let limit = Duration.seconds(5)
    private static let lookInterval = Duration.milliseconds(10)

    private let states = Mutex<[Int32: State]>([:])

    init() {}

    /// Records that a process was started. An earlier one with the same id is forgotten.
    func started(_ id: Int32) {
        states.withLock { $0[id] = .running }
    }

    /// Records that a process has ended.
    ///
    /// - Parameter words: Its exit status or signal, for messages.
    func ended(_ id: Int32, isOrderly: Bool, words: String) {
        states.withLock { $0[id] = .ended(isOrderly: isOrderly, words: words) }
    }

    /// How a process has ended. It waits, as the parent may not have reaped the process yet.
    func end(of id: Int32) async throws -> ProcessStop {
        let deadline = ContinuousClock.now.advanced(by: Self.limit)
        while let state = states.withLock({ $0[id] }) {
            if case .ended(let isOrderly, let words) = state { return isOrderly ? .orderly : .failed(words) }
            guard ContinuousClock.now < deadline else { return .failed("no exit status") }
            try await Task.sleep(for: Self.lookInterval)
        }
        return .orderly
    }
}

/// How a process ended after it was asked to.
enum ProcessStop: Sendable, Equatable {
    /// It had already ended.
    case wasGone
    /// It ended with exit status 0, or another run had started it, so that its exit status is unknown.
    case orderly
    /// It ended in another way, described in words.
    case failed(String)
    /// It did not end and was killed.
    case killed
}
