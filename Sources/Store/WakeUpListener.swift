import PostgresClient

/// Waits for notifications of new work. Polling continues as well, because a notification may be lost with the
/// connection.
package final class WakeUpListener: Sendable {
    private let reconnecting: ReconnectingConnection

    /// `start_delivery` notifies this channel, with the delivery's id as payload.
    private static let channel = "pushmta_wake"
    /// The payload of `send_message`.
    private static let messagePayload = "message"
    /// The payload of `resume_application`.
    private static let resumePayload = "resume"
    /// The payload of `look_at`.
    private static let lookPayload = "look"

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
    /// After a lost connection, the next call makes a new one and counts as a missed wake-up: poll if this throws.
    package func next(deadline: ContinuousClock.Instant) async throws -> Bool {
        try await nextWakeUp(deadline: deadline) != nil
    }

    /// The reason of a wake-up.
    package enum WakeUp: Sendable {
        /// A message of a continuous delivery is ready to be sent.
        case message
        /// An operator has resumed an application.
        case resume
        /// Somebody asked about a delivery.
        case look
        /// Something else has changed.
        case change
    }

    /// Waits for the next wake-up as ``next(deadline:)`` does, and returns its reason; nil at the deadline.
    package func nextWakeUp(deadline: ContinuousClock.Instant) async throws -> WakeUp? {
        try await reconnecting.withConnection { connection in
            try await connection.nextNotification(deadline: deadline).map {
                switch $0.payload {
                case Self.messagePayload: .message
                case Self.resumePayload: .resume
                case Self.lookPayload: .look
                default: .change
                }
            }
        }
    }

    package func close() async {
        await reconnecting.close()
    }
}
