import ProcessProtocol

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

    init() {
        (commands, commandWriter) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(Self.waitingCommands))
        (signals, signalWriter) = AsyncStream.makeStream()
    }

    func send(_ message: SupervisorMessage) { commandWriter.yield(message) }

    func send(signal: Int32) { signalWriter.yield(signal) }

    func close() {
        commandWriter.finish()
        signalWriter.finish()
    }
}
