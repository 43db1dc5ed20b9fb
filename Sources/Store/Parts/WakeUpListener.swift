import PostgresClient

/// Hears that there is something to do; polling goes on besides, since a notification may be lost with the connection.
public final class WakeUpListener: Sendable {
    private let keeper: ConnectionKeeper

    /// `start_delivery` notifies on this channel, with the delivery's id as payload.
    static let channel = "pushmta_wake"

    init(configuration: PostgresConfiguration) {
        keeper = ConnectionKeeper(configuration, prepare: { try await $0.listen(Self.channel) })
    }

    func start() async throws {
        _ = try await keeper.connection()
    }

    /// Waits for the next wake-up; false at the deadline.
    ///
    /// After a lost connection the next call makes a new one and counts as a wake-up missed: poll when this throws.
    public func next(deadline: ContinuousClock.Instant) async throws -> Bool {
        try await keeper.withConnection { try await $0.nextNotification(deadline: deadline) != nil }
    }

    /// Closes the connection.
    public func close() async {
        await keeper.close()
    }
}
