import PostgresClient

/// Hears that there is something to do; polling goes on besides, since a notification may be lost with the connection.
public final class WakeUpListener: Sendable {
    private let reconnecting: ReconnectingConnection

    /// `start_delivery` notifies on this channel, with the delivery's id as payload.
    private static let channel = "pushmta_wake"
    /// `send_message` notifies with this one.
    private static let messagePayload = "message"
    /// `resume_application` notifies with this one.
    private static let resumePayload = "resume"

    init(
        configuration: PostgresConfiguration,
        onEvent: @escaping @Sendable (ReconnectingConnectionEvent) -> Void = { _ in }
    ) {
        reconnecting = ReconnectingConnection(
            configuration,
            prepare: { try await $0.listen(Self.channel) },
            onEvent: onEvent
        )
    }

    func start() async throws {
        _ = try await reconnecting.connection()
    }

    /// Waits for the next wake-up; false at the deadline.
    ///
    /// After a lost connection the next call makes a new one and counts as a wake-up missed: poll when this throws.
    public func next(deadline: ContinuousClock.Instant) async throws -> Bool {
        try await nextWakeUp(deadline: deadline) != nil
    }

    /// What there is to do, for the next wake-up.
    public enum WakeUp: Sendable {
        /// A message of a continuous delivery is ready to be sent.
        case message
        /// An operator has resumed an application.
        case resume
        /// Something else has changed.
        case change
    }

    /// Waits for the next wake-up as ``next(deadline:)`` does, and says what for; nil at the deadline.
    public func nextWakeUp(deadline: ContinuousClock.Instant) async throws -> WakeUp? {
        try await reconnecting.withConnection { connection in
            try await connection.nextNotification(deadline: deadline).map {
                switch $0.payload {
                case Self.messagePayload: .message
                case Self.resumePayload: .resume
                default: .change
                }
            }
        }
    }

    public func close() async {
        await reconnecting.close()
    }
}
