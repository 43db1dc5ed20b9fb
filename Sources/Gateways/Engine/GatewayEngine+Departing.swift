import HTTP2
import PushCore

/// What is about to leave, in the owner's terms.
extension GatewayEngine {
    /// Asks the owner whether messages may leave.
    func departing(_ requests: [HTTP2Departure]) -> Bool {
        var departures: [GatewayDeparture] = []
        for departure in requests {
            guard let flight = flights[departure.batch.tag] else { continue }
            // A batch can be several flights, which mostly follow one another.
            if departures.last?.batch !== flight.batch {
                departures.append(GatewayDeparture(batch: flight.batch, ranges: []))
            }
            flight.appendRows(departure.range, to: &departures[departures.count - 1].ranges)
        }
        guard let delegate, delegate.departing(departures) else { return false }
        CrashPoint.beforeWrite.reached()
        return true
    }
}
