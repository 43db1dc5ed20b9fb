import PostgresClient
import PushCore

/// When the messages of a delivery may leave, and how many wait for that.
package struct DeliveryPlanRow: Sendable, Hashable {
    /// A date and a time of day on the recipient's clock, as in `2026-12-01T09:00:00`; nil: the delivery's start.
    package let localTime: String?
    package let onPast: DeliveryPlan.PastRule?
    /// Nil: what the service says.
    package let hours: DeliveryPlan.HoursRule?
    /// The messages that wait for their time.
    package let plannedMessages: Int64
    /// When the next of them leave; nil if that is not known yet.
    package let nextAt: DatabaseTime?
    /// Messages in the service's zone because PostgreSQL does not know the declared one of their recipient.
    package let unknownZones: Int64
    package var waves: [DeliveryWaveRow] = []

    init(_ row: inout RowReader) throws {
        localTime = try row.textOrNil()
        onPast = try row.textOrNil().flatMap(DeliveryPlan.PastRule.init(rawValue:))
        hours = try row.textOrNil().flatMap(DeliveryPlan.HoursRule.init(rawValue:))
        plannedMessages = try row.int64()
        nextAt = try row.timeOrNil()
        unknownZones = try row.int64()
    }

    static let columns = """
        to_char(p.local_time, 'YYYY-MM-DD"T"HH24:MI:SS'), p.on_past, p.hours, p.planned_messages, p.next_at,
        p.unknown_zones
        """

    /// What was set.
    package var plan: DeliveryPlan {
        var plan = DeliveryPlan()
        plan.localTime = localTime
        plan.onPast = onPast
        plan.hours = hours
        plan.waves = waves.map(\.wave)
        return plan
    }
}
