import Store

/// A child as the database knows it.
struct DrillChild: Sendable, Equatable {
    /// The id of its row.
    let id: Int64
    /// Its process, 0 before its first beat.
    let pid: Int32
    /// The id of its host.
    let hostID: String
    /// Messages that it has sent.
    let sent: Int64
    /// Requests that waited for their answer at its last beat.
    let streams: Int32
}

extension DrillSite {
    /// The children that have not ended, as far as the database knows.
    func children() async throws -> [DrillChild] {
        try await store().children().map {
            DrillChild(
                id: $0.beat.childID,
                pid: $0.beat.pid,
                hostID: $0.row.hostID,
                sent: $0.beat.sent,
                streams: $0.beat.streamsInFlight
            )
        }
    }

    /// The children of a host that have sent something and live.
    func busyChildren(of host: DrillHost) async throws -> [Int32] {
        let alive = Set(host.childIDs())
        return try await children().filter { alive.contains($0.pid) && $0.sent > 0 }.map(\.pid).sorted()
    }

    /// Waits for a child of the host that has sent something, and chooses one at random.
    func untilBusyChild(of host: DrillHost) async throws -> Int32 {
        var found: [Int32] = []
        try await until("a child of host \(host.name) that sends", within: .seconds(120)) {
            try await refill()
            found = try await busyChildren(of: host)
            return !found.isEmpty
        }
        return randomElement(of: found) ?? 0
    }
}
