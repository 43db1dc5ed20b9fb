import LaboratoryStore
import PushCore

/// Checks what waves, local times, frequency caps and experiments promise, by the gateway's record.
///
/// That each message was sent once is the part of ``DeliveryAccount``.
struct CampaignAccount: Sendable {
    /// A delivery of a campaign, when everything has ended.
    struct Delivery: Sendable {
        let id: Int64
        let kind: CampaignKind
        /// The subscriptions that it was made for.
        var audience: Set<Int64> = []
        var facts = CampaignFacts()
        /// What the gateway did with each message.
        var tallies: [Int32: GatewayTally] = [:]
        /// The messages that the database records as ignored.
        var ignored: Set<Int32> = []
    }

    /// The gateway records times in milliseconds.
    private static let tolerance = 0.002
    /// The maximum number of persons that are named.
    private static let maxNamed = 5

    /// Everything that is wrong, in words.
    private(set) var faults: [String] = []

    init(_ deliveries: [Delivery]) {
        for delivery in deliveries {
            checkAudience(delivery)
            switch delivery.kind {
            case .waves: checkWaves(delivery)
            case .localTime(let skipsPast):
                checkLocalTime(delivery, skipsPast: skipsPast)
                checkSkipped(delivery, skipsPast: skipsPast)
            case .experiment: checkExperiment(delivery)
            case .capped: break
            case .whole:
                checkWaves(delivery)
                checkLocalTime(delivery, skipsPast: false)
                checkExperiment(delivery)
            }
        }
        let capped = Dictionary(grouping: deliveries.filter { $0.kind.category != nil }) { $0.kind.category ?? "" }
        for (_, group) in capped.sorted(by: { ($0.value.first?.id ?? 0) < ($1.value.first?.id ?? 0) }) {
            checkCap(group)
        }
    }

    /// Expects that each subscription of the audience has one message or one reason why it has none.
    private mutating func checkAudience(_ delivery: Delivery) {
        let reached = delivery.facts.messages.map(\.subscription)
        let left = delivery.facts.exclusions.map(\.subscription)
        let seen = Set(reached).union(left)
        note(delivery, reached.count + left.count - seen.count, "subscriptions were prepared twice")
        note(delivery, delivery.audience.subtracting(seen).count, "subscriptions have neither message nor reason")
        note(delivery, seen.subtracting(delivery.audience).count, "subscriptions do not belong to its audience")
        let reasons = Set(delivery.facts.exclusions.map(\.reason)).subtracting(delivery.kind.exclusions)
        for reason in reasons.sorted() { add(delivery, "subscriptions were left out with the reason \(reason)") }
    }

    // MARK: Waves

    /// Expects that a wave began after each message of the one before had arrived, after its pause, and after its guard.
    private mutating func checkWaves(_ delivery: Delivery) {
        let waves = delivery.facts.waves
        let arrivals = Dictionary(grouping: delivery.facts.messages, by: \.wave).mapValues { messages in
            messages.compactMap { firstArrival($0, delivery) }
        }
        note(delivery, delivery.facts.messages.count { $0.wave == nil }, "messages have no wave")
        for (before, wave) in zip(waves, waves.dropFirst()) {
            guard let first = arrivals[wave.number]?.min() else { continue }
            let words = "a message of wave \(wave.number) arrived at \(first)"
            if let last = arrivals[before.number]?.max(), first < last {
                add(delivery, "\(words), but one of wave \(before.number) for the first time at \(last)")
            }
            guard let passed = before.passedAt, let begun = before.openedAt, let opened = wave.openedAt else {
                add(delivery, "\(words), but its guard did not let it begin")
                continue
            }
            if first < max(passed, opened) - Self.tolerance {
                add(delivery, "\(words), before its guard let it begin at \(max(passed, opened))")
            }
            if first < begun + wave.pause - Self.tolerance {
                add(delivery, "\(words), less than \(wave.pause) s after wave \(before.number) had begun at \(begun)")
            }
        }
    }

    // MARK: Local times

    /// Expects that no message arrived before its local time, nor any whose time had passed if they are skipped.
    private mutating func checkLocalTime(_ delivery: Delivery, skipsPast: Bool) {
        let early = delivery.facts.messages.count { message in
            guard let arrival = firstArrival(message, delivery) else { return false }
            let due = message.localAt ?? .infinity
            if skipsPast, due < delivery.facts.startedAt { return true }
            return arrival < max(due, delivery.facts.startedAt) - Self.tolerance
        }
        note(delivery, early, "messages arrived before their local time, or after it was over")
    }

    /// Expects that exactly the messages whose time had passed were skipped, if the delivery wants that.
    private mutating func checkSkipped(_ delivery: Delivery, skipsPast: Bool) {
        let wrong = delivery.facts.messages.count { message in
            let hasPassed = (message.localAt ?? .infinity) < delivery.facts.startedAt
            return (skipsPast && hasPassed) != delivery.ignored.contains(message.sequence)
        }
        note(delivery, wrong, "messages were skipped, or not, against their local time")
    }

    // MARK: Experiments

    /// Expects that all devices of a person are in one cell and get one variant, and that the rest waits for the winner.
    private mutating func checkExperiment(_ delivery: Delivery) {
        var cells: [String: Set<Int16>] = [:]
        var variants: [String: Set<Int16>] = [:]
        var (misplaced, early): (Int, Int) = (0, 0)
        for message in delivery.facts.messages {
            let cell = message.cell ?? 0
            cells[message.person, default: []].insert(cell)
            // The number has the cell, so that what was sent shows to which one it belongs.
            if Int16(truncatingIfNeeded: message.sequence >> 27) != cell { misplaced += 1 }
            if cell != 9, message.variant != cell { misplaced += 1 }
            guard let arrival = firstArrival(message, delivery) else { continue }
            variants[message.person, default: []].insert(message.variant ?? 0)
            if cell == 9, let decides = delivery.facts.decidesAt, arrival < decides - Self.tolerance { early += 1 }
        }
        for exclusion in delivery.facts.exclusions where exclusion.reason == "hold_out" {
            cells[exclusion.person, default: []].insert(0)
        }
        let rest = Set(delivery.facts.messages.filter { $0.cell == 9 }.map(\.variant))
        note(delivery, cells.values.count { $0.count > 1 }, "persons are in more than one cell")
        note(delivery, variants.values.count { $0.count > 1 }, "persons got more than one variant")
        note(delivery, misplaced, "messages have the number or the content of another cell")
        note(delivery, early, "messages of the rest arrived before the decision")
        note(delivery, max(0, rest.count - 1), "further variants went to the rest")
    }

    // MARK: Frequency caps

    /// Expects that nobody got messages of more deliveries than the cap allows, and that nobody was left out below it.
    /// A delivery to several devices of a person counts once.
    private mutating func checkCap(_ deliveries: [Delivery]) {
        var got: [String: Int] = [:]
        var prepared: [String: Set<Int64>] = [:]
        for delivery in deliveries {
            let reached = delivery.facts.messages.filter { firstArrival($0, delivery) != nil }
            for person in Set(reached.map(\.person)) { got[person, default: 0] += 1 }
            for message in delivery.facts.messages { prepared[message.person, default: []].insert(delivery.id) }
        }
        let over = got.filter { $0.value > CampaignKind.cap }.keys.sorted()
        for person in over.prefix(Self.maxNamed) {
            faults.append("\(person) got messages of \(got[person] ?? 0) deliveries under a cap of \(CampaignKind.cap)")
        }
        if over.count > Self.maxNamed {
            faults.append("\(over.count - Self.maxNamed) more persons got more than a cap allows")
        }
        for delivery in deliveries {
            // The other deliveries to a person only become more, so they were no more when this one asked.
            let wrong = delivery.facts.exclusions.count { exclusion in
                exclusion.reason == "frequency_cap"
                    && (prepared[exclusion.person] ?? []).subtracting([delivery.id]).count < CampaignKind.cap
            }
            note(delivery, wrong, "subscriptions were left out below the cap")
        }
    }

    // MARK: Words

    /// When the gateway received a message for the first time; nil if it never accepted it.
    private func firstArrival(_ message: CampaignFacts.Message, _ delivery: Delivery) -> Double? {
        guard let tally = delivery.tallies[message.sequence], tally.accepted > 0 else { return nil }
        return tally.first
    }

    private mutating func note(_ delivery: Delivery, _ count: Int, _ words: String) {
        if count > 0 { add(delivery, "\(count) \(words)") }
    }

    private mutating func add(_ delivery: Delivery, _ words: String) {
        faults.append("delivery \(delivery.id): \(words)")
    }
}
