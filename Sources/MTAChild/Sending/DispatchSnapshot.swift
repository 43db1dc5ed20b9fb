import Store

/// What others read of a dispatch state: its figures at one moment.
struct DispatchSnapshot: Sendable {
    let admission: Admission
    let window: DispatchWindow
    let counters: SendCounters
    let partCount: Int
    /// Whether this child answers for a part.
    let holdsLeases: Bool
    /// Loaded messages that wait for the window.
    let waitingMessages: Int
    /// Limited deliveries of which enough is loaded: what more of them is claimed takes room from others, and time from other hosts.
    let deliveriesAtTheirPace: Set<Int64>
}

/// The parts and deliveries that a dispatch state has to do with at one moment.
struct DispatchWork: Sendable {
    /// The parts that this child answers for.
    let held: [PartToken]
    /// All that are here, those without a lease, too.
    let all: Set<PartToken>
    /// Those that go back, until the database has them.
    let releasing: Set<PartToken>
    /// The deliveries of the parts that this child answers for.
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

    /// Whether this child answers for a part of the delivery.
    func holds(_ delivery: Int64) -> Bool {
        parts.values.contains { $0.claimed.deliveryID == delivery && !$0.isFenced }
    }

    /// Nothing is held, on its way, or being given back: everything that the journal tells is in the database.
    var isIdle: Bool { isEmpty && endings.releasing.isEmpty }

    /// The part with the most messages in the gateway.
    var busiestPart: ClaimedPart? { parts.values.max { $0.inGateway < $1.inGateway }?.claimed }
}
