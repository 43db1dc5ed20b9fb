import Gateways
import PushCore
import Store

/// Failures that are the gateway's and not a message's: who waits, who probes, and how fast sending begins again.
extension DispatchState {
    /// How the application stands with the gateway of its account, as far as this child goes.
    enum Trouble: Sendable, Equatable {
        case none
        /// This child alone tries, one message after each ``Event/probe``; `mayProbe` is that permission, until it is used.
        case probing(mayProbe: Bool)
        /// Nothing is sent any more by this child.
        case left
    }

    /// What the database says of the gateway's trouble.
    enum TroubleSeen: Sendable, Equatable {
        case none
        case trouble
        /// Sending has begun again so long ago, by so many children.
        case opening(since: Duration, sharers: Int)
    }

    /// Whether messages go one by one, so that they find something out.
    var isProbing: Bool { circuit == .probing || isProbingTrouble }

    var isProbingTrouble: Bool { if case .probing = trouble { true } else { false } }

    /// Whether a probe may go now.
    var mayProbe: Bool { if case .probing(let mayProbe) = trouble { mayProbe } else { true } }

    /// So long the answer to a probe is waited for before another message may find out: answers take a second, and nobody is to wait for a
    /// request's timeout when a gateway that was silent is back.
    static let probeTimeout = Duration.seconds(8)

    /// Whether a probe is on its way whose answer is still waited for; one that has not left waits for a connection.
    var awaitsProbe: Bool {
        guard window.inGateway > 0, !window.isMarking else { return window.isMarking }
        return moment - gateway.probedAt < Self.probeTimeout
            || flights.all.contains { $0.departed.isEmpty && $0.open > $0.waiting }
    }

    /// Whether a part is needed to probe with.
    var hasNothingToProbe: Bool { waiting.isEmpty && flights.all.allSatisfy { $0.waiting == 0 } }

    /// A message leaves as a probe: the next one waits for the next permission.
    mutating func useProbe() {
        guard isProbingTrouble else { return }
        trouble = .probing(mayProbe: false)
        gateway.probedAt = moment
    }

    /// What this refusal means was said of the gateway: the message keeps its attempts.
    ///
    /// In trouble it stays where it is and goes back with its part; before, it waits in a part of its own, so that it takes no room from others.
    mutating func refusedByGateway(
        _ outcome: Outcome,
        _ flight: inout Flight,
        _ part: inout HeldPart,
        _ now: Int64,
        _ answer: inout JournalAnswer
    ) {
        let row = flight.rows[Int(outcome.index)]
        gateway.silence.answered(at: moment)
        gateway.detector.failed(
            Self.words(outcome),
            retryAfterMilliseconds: outcome.isPauseAdvice ? nil : outcome.retryAfterMilliseconds,
            isProjectWide: outcome.applicationWide,
            at: moment
        )
        if outcome.applicationWide, outcome.status == 429 { pace.refused(Self.words(outcome)) }
        // Whoever replays the journal has to send it again, and at no cost.
        answer.outcomeClass = .unprocessed
        if outcome.fault == .unknown { gateway.unknownReasons[part.claimed.deliveryID, default: 0] += 1 }
        guard trouble == .none, circuit != .open, !permission.isShuttingDownFast, !part.isFenced,
            !gateway.detector.isCertain
        else {
            flight.unsent.append(outcome.index)
            part.times.refused(outcome, now: now)
            return
        }
        flight.decide(outcome.index)
        let isUnexplained = outcome.fault == .foreign || outcome.fault == .unknown
        if isUnexplained, part.claimed.refusals >= RetryPolicy.maximumUnexplainedRefusals - 1 {
            return giveUp(&part, row, outcome)
        }
        var pause = RetryPolicy.gatewayPause(
            refusals: Int(part.claimed.refusals),
            leastMilliseconds: outcome.retryAfterMilliseconds,
            using: &random
        )
        if let end = part.validUntilMilliseconds, now + pause > end {
            // What the gateway has asked for is obeyed; what is only advised gives way to the validity.
            if outcome.isPauseAdvice || outcome.retryAfterMilliseconds == nil { pause = max(0, end - now) / 2 }
            if now >= end || now + pause > end { return expire(&part, row, outcome) }
        }
        part.times.refused(outcome, now: now)
        postpone(&part, row, now + pause, now, countsAttempt: false)
    }

    /// Gives back what the last probe was taken from, so that the next one is of another delivery, or another message: a refusal that is one
    /// message's own must not stand for the gateway's. What holds a message without an answer stays: its resend counts, and has its time.
    mutating func probeFailed(_ actions: inout [Action]) {
        guard isProbingTrouble else { return }
        for claim in parts.keys.sorted(by: { ($0.part, $0.token) < ($1.part, $1.token) }) {
            guard let part = parts[claim], part.inGateway == 0, !part.isFenced, !part.isClosing,
                part.lastBatch <= storing.stored, part.retries.isEmpty, part.ambiguous.reported.isEmpty
            else { continue }
            forget(claim)
            giveBack(claim, part.recovery, &actions)
        }
    }

    /// What is answered later than this after a limit of a device was sent after it: gateways answer within 300 ms, and answers that were
    /// under way when a limit of all began say nothing about it.
    static let answerTime = Duration.seconds(1)

    /// Holds a limit of one device back until it is known to be no limit of all.
    mutating func holdSoft(_ outcome: Outcome, _ flight: inout Flight, _ part: HeldPart) {
        let row = flight.rows[Int(outcome.index)]
        let subscription = part.subscriptionIDs[Int(row)]
        if !gateway.soft.contains(where: { $0.subscription == subscription }) {
            gateway.detector.suspected(Self.words(outcome))
        }
        flight.decide(outcome.index)
        window.unresolved -= 1
        gateway.soft.append(
            HeldSoft(
                subscription: subscription,
                message: .init(claim: part.claim, row: row, outcome: outcome),
                since: moment
            )
        )
    }

    /// Others pass, or nobody else is there: these limits are the devices' own.
    ///
    /// - Parameter answered: when the last of the others passed; nil if there are none.
    mutating func decideSoft(answered: Duration? = nil, _ now: Int64, _ actions: inout [Action]) {
        let isDecided = { (held: HeldSoft) in answered.map { $0 - held.since >= Self.answerTime } ?? true }
        let decided = gateway.soft.filter(isDecided)
        gateway.soft.removeAll(where: isDecided)
        for message in decided.map(\.message) {
            guard var part = parts[message.claim] else { continue }
            var answer = JournalAnswer(
                sequence: part.sequences[Int(message.row)],
                outcomeClass: message.outcome.outcomeClass,
                status: message.outcome.status,
                attempt: part.claimed.attempt,
                reason: message.outcome.reason,
                tokenEffect: message.outcome.tokenEffect,
                failure: message.outcome.failure
            )
            let rows = storing.windowRows
            decide(&part, message.row, message.outcome, now, &answer)
            // It left the window when it was held: neither its outcome nor its retry leaves it once more.
            if storing.windowRows > rows { storing.windowRows = rows } else { window.unresolved += 1 }
            parts[message.claim] = part
            Self.journal(answer, of: part, now, &actions)
            closeIfDone(message.claim, now)
        }
    }

    /// The gateway has said something about a message: the way to it works.
    mutating func gatewayAnswered(_ outcome: Outcome, _ part: HeldPart) {
        gateway.answered(at: moment)
        if outcome.outcomeClass == .accepted, !gateway.unknownReasons.isEmpty {
            gateway.unknownReasons[part.claimed.deliveryID] = nil
        }
    }

    /// What follows from the answers of one read.
    mutating func followTrouble(_ now: Int64, _ actions: inout [Action]) {
        switch trouble {
        case .probing where gateway.detector.isWell && gateway.detector.hasAnswers:
            trouble = .none
            // The probes that failed before are no reason to think the gateway in trouble again.
            gateway.detector.forget()
            gateway.ramp = OpeningRamp(start: moment, at: moment)
            gateway.silence.answered(at: moment)
            actions.append(.troubleOver)
        case .probing, .left: break
        case .none:
            if let lastAnswer = gateway.lastAnswer, !gateway.soft.isEmpty, !gateway.detector.isTrouble(at: moment) {
                decideSoft(answered: lastAnswer, now, &actions)
            }
        }
        holdUnexplained(&actions)
    }

    /// A delivery that gets an answer which nobody knows, message after message, while others pass, is alone to blame.
    private mutating func holdUnexplained(_ actions: inout [Action]) {
        guard trouble == .none, !permission.isShuttingDownFast, !gateway.unknownReasons.isEmpty,
            !gateway.detector.isTrouble(at: moment)
        else {
            return
        }
        for (delivery, count) in gateway.unknownReasons where count > MassFailureGuard.fewest {
            gateway.unknownReasons[delivery] = nil
            let reason =
                "The gateway gives \(count) of its messages an answer that is in no document (\(gateway.detector.reason)), while others pass. "
                + "No message has failed. Correct the content, or stop the delivery; resume it to try again."
            holdDelivery(delivery, reason: reason, &actions)
        }
    }

    /// Looks whether what has failed is trouble by now.
    mutating func watchTrouble(_ now: Int64, _ actions: inout [Action]) {
        gateway.silence.look(isWaiting: window.inGateway > 0 && !gateway.takesInSilence, at: moment)
        guard trouble == .none, circuit != .open, !permission.isShuttingDownFast else { return }
        if let since = gateway.silence.since { gateway.detector.silent(since: since, at: moment) }
        guard !parts.isEmpty || !flights.isEmpty else {
            if !gateway.detector.isWell { gateway.detector.forget() }
            return
        }
        let othersFollow = !waiting.isEmpty || window.isMarking
        if gateway.detector.isTrouble(at: moment, othersFollow: othersFollow, waitingSince: gateway.silence.since) {
            leave(&actions)
            actions.append(
                .enterTrouble(
                    reason: gateway.detector.reason,
                    notBefore: gateway.detector.notBefore.map { $0 - moment }
                )
            )
        } else if !gateway.soft.isEmpty, flights.isEmpty, waiting.isEmpty {
            decideSoft(now, &actions)
        }
    }

    mutating func troubleSeen(_ seen: TroubleSeen, _ actions: inout [Action]) {
        switch seen {
        case .none: gateway.ramp = nil
        case .trouble: if trouble == .none { leave(&actions) }
        case .opening(let since, let sharers):
            guard trouble == .none else { return }
            gateway.ramp =
                gateway.ramp?.shared(by: sharers, at: moment)
                ?? OpeningRamp(start: moment - since, sharers: sharers, at: moment)
            if gateway.ramp?.isOver(at: moment) == true { gateway.ramp = nil }
        }
    }

    /// Nothing more leaves, nothing is decided, all parts go back as they are.
    private mutating func leave(_ actions: inout [Action]) {
        trouble = .left
        fastShutdown(&actions)
    }

    /// A status and reason in one, for people.
    static func words(_ outcome: Outcome) -> String {
        [outcome.status == 0 ? "" : String(outcome.status), outcome.reason].filter { !$0.isEmpty }.joined(
            separator: " "
        )
    }

    /// A limit of one device, not decided yet.
    struct HeldSoft: Sendable {
        let subscription: Int64
        let message: MassFailureGuard.Held
        /// When its answer came, on the owner's monotonic clock.
        let since: Duration
    }
}
