import ProcessProtocol
import Subprocess
import Synchronization
import SystemPackage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// One running process of a child: its pipes, its signals, its end.
struct ChildProcess: Sendable {
    /// What is known when the process is gone and reaped.
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
    /// Where the child's standard error goes, line by line.
    let forward: @Sendable ([UInt8]) -> Void

    /// A child that has closed its standard input is an error of that write, and no reason for this process to die.
    private static let ignoreBrokenPipes: Void = {
        signal(SIGPIPE, SIG_IGN)
    }()

    /// Starts the process, talks with it and returns when it has been reaped.
    ///
    /// The closure given to the library never throws: it would answer with SIGKILL at once.
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

    /// Its own process group, so that Ctrl-C at the terminal reaches the supervisor only, which drains its children.
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

/// How a child's process is started and ended.
struct ChildLaunch: Sendable {
    var executable: FilePath
    var arguments: [String]
    /// Time between SIGTERM and SIGKILL when the supervisor's own task is cancelled.
    var killDelay: Duration
    /// Time that a child has to end after it has closed both its outputs.
    var drainTime: Duration
}

/// What the supervisor wants of a running child: commands for its standard input, and signals.
///
/// They are two streams, as a child that does not read its standard input must still be reached by a signal.
struct ChildInbox: Sendable {
    /// A child that lags behind needs the latest commands only: a wake-up more or less changes nothing, and nothing follows
    /// the command to drain.
    private static let waitingCommands = 16

    let commands: AsyncStream<SupervisorMessage>
    let signals: AsyncStream<Int32>
    private let commandWriter: AsyncStream<SupervisorMessage>.Continuation
    private let signalWriter: AsyncStream<Int32>.Continuation
    private let departure = Departure()

    /// Whether the child was asked to leave.
    private final class Departure: Sendable {
        let isAsked = Atomic(false)
    }

    init() {
        (commands, commandWriter) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(Self.waitingCommands))
        (signals, signalWriter) = AsyncStream.makeStream()
    }

    func send(_ message: SupervisorMessage) {
        switch message.command {
        case .drain, .fastShutdown: departure.isAsked.store(true, ordering: .relaxed)
        // It must not push the command to drain out of the stream.
        case .trace: if departure.isAsked.load(ordering: .relaxed) { return }
        case .wake, .leaveWhenDone: break
        }
        commandWriter.yield(message)
    }

    func send(signal: Int32) { signalWriter.yield(signal) }

    func close() {
        commandWriter.finish()
        signalWriter.finish()
    }
}
