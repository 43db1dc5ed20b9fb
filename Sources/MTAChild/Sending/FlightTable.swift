import Gateways

/// The batches in the gateway, by their number.
struct FlightTable: Sendable {
    private var flights: [Int64: DispatchState.Flight] = [:]
    /// About the memory that they hold.
    private(set) var byteCount = 0

    var isEmpty: Bool { flights.isEmpty }

    var all: Dictionary<Int64, DispatchState.Flight>.Values { flights.values }

    subscript(batchID: Int64) -> DispatchState.Flight? { flights[batchID] }

    /// Keeps a batch as it is now, unless all of its messages have their decision.
    mutating func put(_ flight: DispatchState.Flight) {
        let batchID = flight.batch.id
        let isOpen = flight.open > 0
        if isOpen { byteCount += flight.byteCount }
        let old = isOpen ? flights.updateValue(flight, forKey: batchID) : flights.removeValue(forKey: batchID)
        byteCount -= old?.byteCount ?? 0
    }

    /// Takes a batch out: what is changed in it then is not copied.
    mutating func take(_ batchID: Int64) -> DispatchState.Flight? {
        guard let flight = flights.removeValue(forKey: batchID) else { return nil }
        byteCount -= flight.byteCount
        return flight
    }

    /// Messages of a batch have got streams.
    mutating func depart(_ range: Range<Int32>, of batchID: Int64) { flights[batchID]?.depart(range) }
}
