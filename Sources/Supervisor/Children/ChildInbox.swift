import ProcessProtocol
import Synchronization

/// Commands and signals for a running child. Commands go to its standard input.
///
/// They are two streams, because a signal must also reach a child that does not read its standard input.
struct ChildInbox: Sendable {
    /// A child that lags needs only the latest commands: one wake-up fewer changes nothing, and no command follows the
    /// one to drain.
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
        // A trace must not push the command to drain out of the stream.
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
