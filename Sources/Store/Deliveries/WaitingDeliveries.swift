import PostgresClient

/// A delivery that cannot be prepared now, or has messages that cannot be loaded.
public struct WaitingDelivery: Sendable, Hashable {
    /// The delivery.
    public let deliveryID: Int64
    /// What is wrong, in words without values of people.
    public let reason: String
    /// How many messages wait; nil while it is not prepared.
    public let messages: Int64?

    /// A delivery that waits.
    public init(deliveryID: Int64, reason: String, messages: Int64?) {
        self.deliveryID = deliveryID
        self.reason = reason
        self.messages = messages
    }
}

extension Store {
    /// The deliveries that wait because somebody else's view cannot be read, or one of them with its days.
    public func waitingDeliveries(delivery: Int64? = nil) async throws -> [WaitingDelivery] {
        let result = try await query(Self.waitingSQL, [.int64OrNull(delivery)])
        return try all(result) { rows, row in
            WaitingDelivery(
                deliveryID: try rows.int64(row, 0),
                reason: try rows.text(row, 1),
                messages: try rows.int64OrNil(row, 2)
            )
        }
    }

    /// Of several reasons one is shown, always the same: who puts that right sees the next. A part that was sent in part was loaded.
    static let waitingSQL = """
        SELECT w.id, w.reason, w.messages FROM (
            SELECT d.id, d.wait_reason AS reason, NULL::bigint AS messages FROM pushmta_engine.delivery d
            WHERE d.state IN ('pending', 'preparing') AND d.wait_reason <> ''
            UNION ALL
            SELECT p.delivery_id, max(p.load_error), sum(p.size - (\(StatusCounts.sumSQL)) - p.handed_over)::bigint
            FROM pushmta_engine.delivery_part p
            WHERE p.load_failures > 0 AND p.state <> 'done' AND p.dispatch_mark = 0
            GROUP BY p.delivery_id
        ) w JOIN pushmta_engine.delivery d ON d.id = w.id
        WHERE d.state IN ('pending', 'preparing', 'in_progress')
            AND ($1::bigint IS NULL OR d.id = $1 OR d.parent_delivery_id = $1 AND d.kind = 'continuous')
        ORDER BY w.id, w.messages NULLS FIRST
        """
}

/// A delivery that waits because an external account is not active.
public struct InactiveAccount: Sendable, Hashable {
    /// The delivery.
    public let deliveryID: Int64
    /// The account's name.
    public let account: String

    /// A delivery with an account.
    public init(deliveryID: Int64, account: String) {
        self.deliveryID = deliveryID
        self.account = account
    }
}

extension Store {
    /// The unfinished deliveries, or one of them, with the inactive external accounts that their messages would go over.
    public func inactiveAccounts(delivery: Int64? = nil) async throws -> [InactiveAccount] {
        let result = try await query(
            """
            SELECT DISTINCT d.id, e.name FROM pushmta_engine.delivery d
            JOIN pushmta_engine.delivery_application x ON x.delivery_id = d.id
            JOIN pushmta_engine.external_account e ON e.id = x.external_account_id
            WHERE d.state IN ('pending', 'preparing', 'in_progress') AND NOT e.active AND ($1::bigint IS NULL OR d.id = $1)
                AND (d.state <> 'in_progress' OR EXISTS (SELECT FROM pushmta_engine.delivery_part p
                    WHERE p.delivery_id = d.id AND p.external_account_id = e.id AND p.state <> 'done'))
            ORDER BY d.id, e.name
            """,
            [.int64OrNull(delivery)]
        )
        return try all(result) { rows, row in
            InactiveAccount(deliveryID: try rows.int64(row, 0), account: try rows.text(row, 1))
        }
    }
}
