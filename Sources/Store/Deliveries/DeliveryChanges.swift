import PostgresClient
import PushCore

/// What to change of a delivery that has sent nothing; nil leaves a value as it is.
package struct DeliveryChanges: Sendable, Hashable {
    package var label: String?
    /// The whole content, JSON.
    package var content: String?
    /// Selects the subscribers that it goes to; "" for all.
    package var filter: String?
    /// The saved audience whose filter is copied, in place of a filter.
    package var audience: String?
    /// The names of all its exclusion lists.
    package var excludedLists: [String]?
    package var priority: Int16?
    /// The length of its validity, in place of a fixed end.
    package var validitySeconds: Int64?
    /// The end of its validity, a time with its zone as in RFC 3339, in place of a length.
    package var endsAt: String?
    package var onePerUser: Bool?
    package var ambiguityPolicy: AmbiguityPolicy?
    package var maxRetries: Int32?
    package var retryPeriodSeconds: Int32?
    package var retrySchedule: RetryPolicy.ScheduleSetting?
    /// The name of its category.
    package var category: String?

    /// No change.
    package init() {}

    package var isEmpty: Bool { self == DeliveryChanges() }
}

extension Store {
    /// Changes a delivery that has sent nothing. If its messages change, an analysis is dropped.
    ///
    /// Throws ``StoreError`` of code `notFound`, `conflict` if it has begun, or `invalid` for a value that it cannot
    /// have.
    package func updateDelivery(_ id: Int64, _ changes: DeliveryChanges) async throws {
        try NameCheck.label(changes.label, of: "delivery")
        try await change(
            """
            pushmta.update_delivery(delivery => $1, label => $2::text, content => $3::text, filter => $4::text,
                exclude => $5::text[], priority => $6::integer, validity => make_interval(secs => $7::double precision),
                ends_at => $8::text::timestamptz, one_per_user => $9::boolean, ambiguity_policy => $10::text,
                max_retries => $11::integer, retry_period_seconds => $12::integer, retry_schedule => $13::text,
                category => $14::text, audience => $15::text)
            """,
            [
                .int64(id), .textOrNull(changes.label), .textOrNull(changes.content), .textOrNull(changes.filter),
                changes.excludedLists.map { PostgresValue.textArray($0) } ?? .null,
                changes.priority.map { PostgresValue.int32(Int32($0)) } ?? .null,
                changes.validitySeconds.map { PostgresValue.double(Double($0)) } ?? .null, .textOrNull(changes.endsAt),
                changes.onePerUser.map(PostgresValue.bool) ?? .null,
                .textOrNull(changes.ambiguityPolicy?.rawValue),
                changes.maxRetries.map(PostgresValue.int32) ?? .null,
                changes.retryPeriodSeconds.map(PostgresValue.int32) ?? .null,
                .textOrNull(changes.retrySchedule?.rawValue), .textOrNull(changes.category),
                .textOrNull(changes.audience),
            ]
        )
    }

    /// Makes a delivery with the content, target, settings and rate of another one, whatever its state; returns its id.
    ///
    /// - Parameter label: its label; nil for that of the other one.
    ///
    /// Throws ``StoreError`` of code `notFound`, or `conflict` for a day of a continuous delivery.
    package func copyDelivery(_ id: Int64, label: String? = nil) async throws -> Int64 {
        try NameCheck.label(label, of: "delivery")
        return try await change("pushmta.copy_delivery($1, $2::text)", [.int64(id), .textOrNull(label)])
            .one { try $0.int64() }
    }

    /// The delivery that another one was copied from; nil if it is no copy, or its original is gone.
    package func copySource(ofDelivery id: Int64) async throws -> Int64? {
        try await query("SELECT pushmta_engine.copy_source($1)", [.int64(id)]).one { try $0.int64OrNil() }
    }

    /// Why an earlier version of a delivery came back to its author; empty if none did.
    package func earlierReturn(ofDelivery id: Int64) async throws -> String {
        try await query("SELECT coalesce(pushmta_engine.returned_because($1), '')", [.int64(id)]).one { try $0.text() }
    }

    /// Moves the start of a delivery that has sent nothing, to a time given as RFC 3339; nil makes it editing again.
    ///
    /// Throws ``StoreError`` of code `notFound`, `conflict` if it has begun or has no start to move, or `invalid` for a
    /// time in the past.
    package func rescheduleDelivery(_ id: Int64, to moment: String?) async throws {
        try await change(
            "pushmta.reschedule_delivery($1, $2::text::timestamptz)",
            [.int64(id), .textOrNull(moment)]
        )
    }
}
