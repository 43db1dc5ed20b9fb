import ProcessProtocol
import Subprocess
import SystemPackage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A child's running process: its pipes, its signals, its end.
struct ChildProcess: Sendable {
    /// The result after the process has ended and been reaped.
    struct Result: Sendable {
        var termination: ChildTermination
        var stderrTail: String
        var garbageLines: UInt64
        var lastGarbage: String
    }

    let launch: ChildLaunch
    let inbox: ChildInbox
    /// Called for every status line, in order.
    let heard: @Sendable (ChildStatus) -> Void
    /// Called for every line about a trace, in order.
    let traced: @Sendable (TraceReport) -> Void
    /// Takes the child's standard error, line by line.
    let forward: @Sendable ([UInt8]) -> Void

    /// Writing to a child that has closed its standard input fails; it must not kill this process.
    private static let ignoreBrokenPipes: Void = {
        signal(SIGPIPE, SIG_IGN)
    }()

    /// Starts the process, exchanges messages with it, and returns when it has been reaped.
    ///
    /// The closure given to the library never throws: the library would send SIGKILL at once.
    func run() async -> Result {
        Self.ignoreBrokenPipes
        let reader = ChildOutputReader(heard: heard, traced: traced, forward: forward)
        let termination: ChildTermination
        do {
            let result = try await Subprocess.run(
                .path(launch.executable),
                arguments: Arguments(launch.arguments),
                platformOptions: platformOptions,
                input: .inputWriter,
                output: .sequence,
                error: .sequence
            ) { execution in
                await converse(with: execution, reader)
            }
            termination = Self.termination(result.terminationStatus)
        } catch {
            termination = .notStarted("\(launch.executable) could not be started: \(error)")
        }
        inbox.close()
        return reader.result(termination)
    }

    /// A process group of its own, so that Ctrl-C in the terminal reaches only the supervisor, which drains its
    /// children.
    private var platformOptions: PlatformOptions {
        var options = PlatformOptions()
        options.processGroupID = 0
        options.teardownSequence = [.send(signal: .terminate, allowedDurationToNextStep: launch.killDelay)]
        return options
    }

    private static func termination(_ status: TerminationStatus) -> ChildTermination {
        switch status {
        case .exited(let code): .exited(status: code)
        case .signaled(let signal): .signalled(signal)
        }
    }
}
