import Gateways

/// The batches in the gateway, by their number.
struct FlightTable: Sendable {
    private var flights: [Int64: DispatchState.Flight] = [:]
    /// The approximate memory that the batches hold, in bytes.
    private(set) var byteCount = 0

    var isEmpty: Bool { flights.isEmpty }

    var all: Dictionary<Int64, DispatchState.Flight>.Values { flights.values }

    subscript(batchID: Int64) -> DispatchState.Flight? { flights[batchID] }

    /// Stores a batch in its present state, or removes it if all its messages are decided.
    mutating func put(_ flight: DispatchState.Flight) {
        let batchID = flight.batch.id
        let isOpen = flight.open > 0
        if isOpen { byteCount += flight.byteCount }
        let old = isOpen ? flights.updateValue(flight, forKey: batchID) : flights.removeValue(forKey: batchID)
        byteCount -= old?.byteCount ?? 0
    }

    /// Removes a batch and returns it, so that changing it makes no copy.
    mutating func take(_ batchID: Int64) -> DispatchState.Flight? {
        guard let flight = flights.removeValue(forKey: batchID) else { return nil }
        byteCount -= flight.byteCount
        return flight
    }

    /// Notes that messages of a batch got their streams.
    mutating func depart(_ range: Range<Int32>, of batchID: Int64) { flights[batchID]?.depart(range) }
}
