import PushCore
import Store

/// What became of a delivery's messages, by reason.
enum DeliveryReport {
    /// The outcomes of messages and, as `excluded`, those whom the preparation left out.
    static func outcomes(_ outcomes: [OutcomeCount], _ exclusions: [OutcomeCount]) -> Table {
        var table = Table(["outcome", "reason", "messages", "failure_type", "failure_reason"])
        for count in outcomes + exclusions {
            table.add([
                .text(count.status?.name ?? "excluded"), .text(count.reason), .integer(count.count),
                Cell(count.failure?.type.name), Cell(count.failure?.reason.name),
            ])
        }
        return table
    }
}
