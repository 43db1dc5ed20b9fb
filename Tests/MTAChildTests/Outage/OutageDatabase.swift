import PushCore

@testable import MTAChild
@testable import Store

/// The database in a simulated outage: messages, their parts, and the gateway's trouble, on a wall clock that may be
/// changed.
///
/// It behaves as the statements of `Store`, which are tested with PostgreSQL.
struct OutageDatabase {
    /// A message, and how it ended.
    struct Message {
        let group: String
        var status: MessageStatus?
        var attempt: Int16 = 0
        /// Whether it may ever have arrived without an answer.
        var wasAmbiguous = false
    }

    /// A part that has not ended.
    struct Part {
        let id: Int64
        let delivery: CompiledDelivery
        let sequences: [Int32]
        var attempt: Int16 = 1
        var refusals: Int16 = 0
        var priority: Int16 = 0
        var validUntil: Int64?
        var notBefore: Int64
        var createdAt: Int64
        var token: Int64 = 0
        var owner: Int64?
        var recovery = PartRecovery()
        /// Handed over as ambiguous by the previous part.
        var inherited: Set<Int32> = []
    }

    /// A row of `gateway_trouble`.
    struct Trouble {
        var isTrouble = false
        var nextProbeAt: Int64 = 0
        var prober: Int64?
        var proberUntil: Int64 = 0
        var openedAt: Int64?
        var changedAt: Int64 = 0
    }

    /// The wall clock, in milliseconds since 1970; set by the owner.
    var now = DispatchFixture.start
    var messages: [Int32: Message] = [:]
    var parts: [Int64: Part] = [:]
    var trouble = Trouble()
    var failures: [String] = []
    private var lastPart: Int64 = 0
    private var lastBatch: Int64 = 0
    private var lastSequence: Int32 = 0

    /// Parts that may be claimed now, in the order of their claim.
    var ready: [Int64] {
        // Keys only: copying parts would be slow, and this runs a hundred thousand times.
        parts.values.filter { $0.owner == nil && $0.notBefore <= now }
            .map { (priority: $0.priority, notBefore: $0.notBefore, id: $0.id) }
            .sorted { ($1.priority, $0.notBefore, $0.id) < ($0.priority, $1.notBefore, $1.id) }
            .map(\.id)
    }

    mutating func add(
        _ count: Int,
        group: String,
        of delivery: CompiledDelivery,
        priority: Int16 = 0,
        validUntil: Int64? = nil
    ) {
        let sequences = (1...Int32(count)).map { lastSequence + $0 }
        lastSequence += Int32(count)
        for sequence in sequences { messages[sequence] = Message(group: group) }
        lastPart += 1
        parts[lastPart] = Part(
            id: lastPart,
            delivery: delivery,
            sequences: sequences,
            priority: priority,
            validUntil: validUntil,
            notBefore: now,
            createdAt: now
        )
    }

    // MARK: Claims

    mutating func claim(_ id: Int64, by child: Int64) -> PreparedPart? {
        guard var part = parts[id], part.owner == nil else { return nil }
        part.owner = child
        part.token += 1
        parts[id] = part
        return prepare(part)
    }

    /// The part for a probe: one without messages that may have arrived, and of these the one claimed least often.
    mutating func claimProbe(by child: Int64) -> PreparedPart? {
        let (ready, parts) = (ready, parts)
        let first = ready.lazy.filter { parts[$0]?.attempt == 1 && parts[$0]?.refusals == 0 }.prefix(100)
        let candidates = (first + ready.prefix(100)).compactMap { parts[$0] }
        let best = candidates.enumerated().min {
            (hasAmbiguous($0.element) ? 1 : 0, $0.element.refusals != 0 ? 1 : 0, $0.element.token, $0.offset)
                < (hasAmbiguous($1.element) ? 1 : 0, $1.element.refusals != 0 ? 1 : 0, $1.element.token, $1.offset)
        }
        return best.flatMap { claim($0.element.id, by: child) }
    }

    private func hasAmbiguous(_ part: Part) -> Bool { !part.recovery.ambiguous.isEmpty || !part.inherited.isEmpty }

    private mutating func prepare(_ part: Part) -> PreparedPart {
        var loaded = LoadedPart()
        loaded.sequences = part.sequences
        loaded.decisions = part.sequences.map { _ in .sendable }
        var sorter = RowSorter(
            sendsLost: true,
            known: Set(part.sequences.filter { messages[$0]?.status != nil }),
            recovery: part.recovery,
            inherited: part.inherited,
            now: now
        )
        lastBatch += 1
        var prepared = PreparedPart(
            claimed: DispatchFixture.claimed(
                part.id,
                size: part.sequences.count,
                token: part.token,
                delivery: part.delivery.id,
                priority: part.priority,
                attempt: part.attempt,
                refusals: part.refusals,
                validUntilMilliseconds: part.validUntil
            ),
            delivery: part.delivery,
            sequences: part.sequences,
            subscriptionIDs: part.sequences.map { Int64($0) },
            open: part.sequences.count
        )
        var rows: [Int32] = []
        for row in part.sequences.indices {
            switch sorter.sort(row: row, loaded) {
            case .known: prepared.open -= 1
            case .send: rows.append(Int32(row))
            case .decided(let status, let reason):
                prepared.decided.append(.init(row: Int32(row), status: status, reason: reason))
            case .soft(let notBefore, let longest, let kind):
                prepared.softAnswers.append(
                    .init(
                        row: Int32(row),
                        notBeforeMilliseconds: notBefore,
                        maxDelayMilliseconds: longest,
                        kind: kind
                    )
                )
            }
        }
        prepared.lost = sorter.lost
        prepared.ambiguousRows = sorter.ambiguousRows
        prepared.unanswered = sorter.unanswered
        prepared.resent = sorter.resent
        if let last = rows.last {
            let batch = DispatchFixture.batch(lastBatch, rows.count)
            prepared.slices = [.init(rows: rows, batch: batch, markThrough: last + 1)]
        }
        return prepared
    }

    mutating func release(_ claim: PartToken, _ recovery: PartRecovery) {
        guard var part = parts[claim.part], part.token == claim.token else { return }
        part.owner = nil
        part.recovery.ambiguous += recovery.ambiguous
        part.recovery.softAnswers += recovery.softAnswers
        for sequence in recovery.ambiguous { messages[sequence]?.wasAmbiguous = true }
        parts[part.id] = part
    }

    // MARK: Outcomes

    mutating func store(_ batch: OutcomeBatch) -> StoreReport {
        var report = StoreReport()
        for row in batch.allRows {
            guard let message = messages[row.sequence], message.status == nil else {
                failures.append("\(row.sequence) has two outcomes")
                continue
            }
            messages[row.sequence]?.status = row.status
            messages[row.sequence]?.attempt = row.attempt
            report.inserted += 1
        }
        for closing in batch.closing { close(closing, &report) }
        return report
    }

    private mutating func close(_ closing: ClosingPart, _ report: inout StoreReport) {
        guard let part = parts[closing.claim.part], part.token == closing.claim.token else {
            return failures.append("part \(closing.claim.part) is closed by who does not hold it")
        }
        var open = Set(part.sequences.filter { messages[$0]?.status == nil })
        for sequence in closing.ambiguous { messages[sequence]?.wasAmbiguous = true }
        if let rest = closing.restStatus {
            for sequence in open { messages[sequence]?.status = rest }
            open = []
        }
        for set in closing.retries where closing.restStatus == nil {
            open.subtract(set.sequences)
            lastPart += 1
            var retry = Part(
                id: lastPart,
                delivery: part.delivery,
                sequences: set.sequences.sorted(),
                notBefore: now + set.delayMilliseconds,
                createdAt: now
            )
            retry.attempt = part.attempt + (set.countsAttempt ? 1 : 0)
            retry.refusals = set.refusals
            retry.priority = part.priority
            retry.validUntil = part.validUntil
            retry.inherited = Set(set.sequences).intersection(part.inherited.union(closing.ambiguous))
            parts[retry.id] = retry
        }
        if !open.isEmpty { failures.append("part \(part.id) ends without \(open.count) of its messages") }
        parts[part.id] = nil
        report.closedParts.append(part.id)
    }

    // MARK: The gateway's trouble

    var isProbeDue: Bool {
        trouble.isTrouble && trouble.nextProbeAt <= now && (trouble.prober == nil || trouble.proberUntil <= now)
    }

    mutating func enterTrouble(nextProbeIn pause: Duration, keepsProber: Bool) {
        let next = now + pause.milliseconds
        if !trouble.isTrouble {
            trouble = Trouble(isTrouble: true, nextProbeAt: next)
        } else if !keepsProber {
            trouble.nextProbeAt = max(trouble.nextProbeAt, next)
        }
        trouble.changedAt = now
    }

    mutating func claimProber(_ child: Int64) -> Bool {
        guard isProbeDue else { return false }
        trouble.prober = child
        return renewProber(child)
    }

    mutating func renewProber(_ child: Int64) -> Bool {
        guard trouble.isTrouble, trouble.prober == child else { return false }
        trouble.proberUntil = now + Prober.lease.milliseconds
        trouble.changedAt = now
        return true
    }

    mutating func leaveTrouble(_ child: Int64) {
        guard trouble.isTrouble, trouble.prober == child else { return }
        trouble.prober = nil
        trouble.nextProbeAt = max(trouble.nextProbeAt, now + 1_000)
        trouble.changedAt = now
    }

    mutating func endTrouble() {
        guard trouble.isTrouble else { return }
        trouble = Trouble(openedAt: now, changedAt: now)
    }

    /// The trouble as a child sees it, with this many children sending.
    func troubleSeen(sharers: Int) -> DispatchState.TroubleSeen {
        if trouble.isTrouble { return .trouble }
        guard let opened = trouble.openedAt, opened > now - OpeningRamp.length.milliseconds else { return .none }
        return .opening(since: .milliseconds(max(0, now - opened)), sharers: sharers)
    }

    /// A time in the future was written before the clock was set back; the wait counts from now.
    mutating func fixClockStep() {
        for part in parts.values where part.createdAt > now + 1_000 {
            parts[part.id]?.notBefore = now + max(0, part.notBefore - part.createdAt)
            parts[part.id]?.createdAt = now
        }
        guard trouble.changedAt > now + 1_000 else { return }
        trouble.nextProbeAt = now + max(0, trouble.nextProbeAt - trouble.changedAt)
        trouble.proberUntil = now + max(0, trouble.proberUntil - trouble.changedAt)
        trouble.openedAt = trouble.openedAt.map { min($0, now) }
        trouble.changedAt = now
    }
}

extension Duration {
    var milliseconds: Int64 { Int64(self / .milliseconds(1)) }
}
