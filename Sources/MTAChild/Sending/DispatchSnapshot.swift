import Store

/// A dispatch state's figures at one moment, for other tasks to read.
struct DispatchSnapshot: Sendable {
    let admission: Admission
    let window: DispatchWindow
    let counters: SendCounters
    let partCount: Int
    /// Whether this child holds the lease of a part.
    let holdsLeases: Bool
    /// Loaded messages that wait for the window.
    let waitingMessages: Int
    /// Rate-limited deliveries with enough messages loaded. Claiming more of them would take room from others, and
    /// messages from other hosts.
    let deliveriesAtTheirPace: Set<Int64>
}

/// The parts and deliveries that a dispatch state handles at one moment.
struct DispatchWork: Sendable {
    /// The parts whose lease this child holds.
    let held: [PartToken]
    /// All parts here, including those without a lease.
    let all: Set<PartToken>
    /// The parts being given back, until the database has them.
    let releasing: Set<PartToken>
    /// The deliveries of the parts whose lease this child holds.
    let deliveries: Set<Int64>
}

extension DispatchState {
    var snapshot: DispatchSnapshot {
        DispatchSnapshot(
            admission: admission,
            window: window,
            counters: counters,
            partCount: parts.count,
            holdsLeases: parts.values.contains { !$0.isFenced },
            waitingMessages: waitingMessages,
            deliveriesAtTheirPace: deliveriesAtTheirPace
        )
    }

    var work: DispatchWork {
        DispatchWork(
            held: heldTokens,
            all: Set(parts.keys),
            releasing: endings.releasing,
            deliveries: heldDeliveries
        )
    }

    /// Whether this child holds the lease of a part of the delivery.
    func holds(_ delivery: Int64) -> Bool {
        parts.values.contains { $0.claimed.deliveryID == delivery && !$0.isFenced }
    }

    /// Whether nothing is held, on its way or being given back: the database has everything that the journal records.
    var isIdle: Bool { isEmpty && endings.releasing.isEmpty }

    /// The part with the most messages in the gateway.
    var busiestPart: ClaimedPart? { parts.values.max { $0.inGateway < $1.inGateway }?.claimed }
}
