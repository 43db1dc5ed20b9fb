import PushCore
import Store

enum DeliveryJSON {
    static func json(_ row: APIDeliveryRow) -> JSONValue {
        .members(
            ("id", .integer(row.id)),
            ("label", .string(row.label)),
            ("kind", .string(row.kind)),
            ("parentId", row.parentID.map { JSONValue.integer($0) } ?? .null),
            ("state", .string(row.state.rawValue)),
            ("stateReason", .filledText(row.stateReason)),
            ("applications", .texts(row.applications)),
            ("priority", .integer(row.priority)),
            ("counts", counts(row.counts)),
            ("oneTimeCode", .boolean(row.isOneTimeCode)),
            ("category", .text(row.category)),
            ("prepared", .boolean(row.isPrepared)),
            ("signal", row.signal.map(signal) ?? .null),
            ("createdAt", .time(row.createdAt)),
            ("startAt", .time(row.startAt)),
            ("startedAt", .time(row.startedAt)),
            ("finishedAt", .time(row.finishedAt)),
            ("validUntil", .time(row.validUntil)),
            ("archivedAt", .time(row.archivedAt)),
            ("asOf", .time(row.asOf))
        )
    }

    private static func signal(_ signal: DeliverySignalRow) -> JSONValue {
        .members(
            ("name", .string(signal.signal)),
            ("good", .string(signal.good.rawValue)),
            ("target", .double(signal.target)),
            ("floor", .double(signal.floor)),
            ("ceiling", .double(signal.ceiling)),
            ("value", signal.value.map(JSONValue.double) ?? .null),
            ("ageSeconds", signal.ageSeconds.map(JSONValue.double) ?? .null),
            ("messagesPerSecond", .double(signal.rate)),
            ("state", .string(signal.state)),
            ("reason", .string(signal.reason))
        )
    }

    private static func counts(_ counts: APIDeliveryRow.Counts) -> JSONValue {
        .members(
            ("target", .integer(counts.target)),
            ("pending", .integer(counts.pending)),
            ("sent", .integer(counts.sent)),
            ("failed", .integer(counts.failed)),
            ("ignored", .integer(counts.ignored)),
            ("notApplicable", .integer(counts.notApplicable)),
            ("canceled", .integer(counts.canceled)),
            ("unknown", .integer(counts.unknown)),
            ("excluded", .integer(counts.excluded)),
            ("seeds", .integer(counts.seeds))
        )
    }
}
