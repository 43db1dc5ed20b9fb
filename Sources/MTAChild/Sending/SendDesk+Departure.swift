import Gateways
import PushCore
import Store

/// The last moment: messages get their streams.
extension SendDesk {
    /// The intents of the messages that are about to leave, to be journaled first.
    ///
    /// Nothing leaves for which anything speaks against it now: the lease has run out, a delivery is halted or expired, a
    /// part is fenced, sending is paused, or the child is leaving.
    ///
    /// - Parameter isLeaseValid: asked here, so that no renewal comes between the answer and what follows from it.
    /// - Returns: the journal's records; nil if the messages, and all that wait in the gateway, have to come back.
    mutating func departing(
        _ departures: [GatewayDeparture],
        now: Int64,
        isLeaseValid isValid: () -> Bool
    ) -> [UInt8]? {
        guard isValid() else {
            isLeaseValid = false
            return nil
        }
        guard maySend, departures.allSatisfy({ mayLeave($0.batch.id, now) }) else { return nil }
        var journal: [UInt8] = []
        for departure in departures {
            guard let flight = flights[departure.batch.id], let part = parts[flight.holding] else { continue }
            var ranges: [ClosedRange<Int32>] = []
            for range in departure.ranges where !range.isEmpty {
                flights[departure.batch.id]?.depart(range)
                let sequences = range.lazy.map { part.sequences[Int(flight.rows[Int($0)])] }
                ranges += Self.ranges(sequences)
            }
            JournalEncoder.appendIntent(
                part: flight.holding.part,
                token: flight.holding.token,
                ranges: ranges,
                to: &journal
            )
        }
        return journal
    }

    private func mayLeave(_ batchID: Int64, _ now: Int64) -> Bool {
        guard let flight = flights[batchID], let part = parts[flight.holding], !part.isFenced else { return false }
        return halts[part.claimed.deliveryID] == nil && part.refusal == nil && !part.isExpired(atMilliseconds: now)
    }
}
