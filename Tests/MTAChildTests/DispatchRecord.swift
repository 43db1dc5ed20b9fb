import PushCore

@testable import Gateways
@testable import MTAChild
@testable import Store

/// The output of a dispatch state as text, in order: what goes to the database, the journal and the gateway, and what
/// it requests.
///
/// Values without an order are sorted, so that the same schedule gives the same text in every process.
struct DispatchRecord {
    private(set) var lines: [String] = []

    mutating func note(_ actions: [DispatchState.Action]) {
        for action in actions { note(action) }
    }

    mutating func note(journal bytes: [UInt8]) {
        lines.append("journal " + bytes.map { String($0, radix: 16) }.joined(separator: " "))
    }

    /// Outcomes as they go to the database.
    mutating func note(_ batch: OutcomeBatch, windowRows: Int) {
        lines.append("store, \(windowRows) of the window, answered before \(batch.answeredBefore)")
        for row in batch.allRows { lines.append("  row \(row)") }
        for effect in batch.effects { lines.append("  effect \(effect)") }
        for (application, subscriptions) in batch.acceptances.sorted(by: { $0.key < $1.key }) {
            lines.append("  first of \(application): \(subscriptions)")
        }
        for closing in batch.closing { lines.append("  end \(closing)") }
    }

    mutating func note(asked slices: [(limit: Int64, messages: Int32)]) {
        guard !slices.isEmpty else { return }
        lines.append("slices \(slices)")
    }

    private mutating func note(_ action: DispatchState.Action) {
        switch action {
        case .journal(let bytes): note(journal: bytes)
        case .submit(let batch): lines.append("submit \(batch.id): \(Self.words(batch))")
        case .cutJournal(let length, let claims):
            let kept = claims.sorted()
            lines.append("cut \(length) keeping \(kept)")
        // Texts for people are left out.
        case .tellLost: break
        default: lines.append("\(action)")
        }
    }

    private static func words(_ batch: GatewayRequestBatch) -> String {
        let messages = (0..<batch.count).map { index in
            let (id, token) = (batch.messageIDs[index], String(decoding: batch.tokens[index], as: UTF8.self))
            return "\(id.high).\(id.low) \(token)"
        }
        return "\(batch.attributes.pushType) " + messages.joined(separator: ", ")
    }
}
